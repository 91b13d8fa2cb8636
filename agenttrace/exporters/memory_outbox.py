"""What an exporter has yet to send, in memory: where no store keeps it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from agenttrace.core.parcel import Parcel

MAX_BYTES = 64 * 1024 * 1024


class MemoryOutbox:
    """The parcels for one destination, oldest first. Gone with the process.

    Any thread may use it: each step is one operation on a dict, so there is no lock that a fork could copy.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._next = itertools.count(1).__next__
        self._waiting: dict[int, Parcel] = {}
        self._refused: dict[int, Parcel] = {}

    def put(self, parcels: Sequence[Parcel], refused: str | None = None) -> int:
        """Keep parcels, as *refused* ones with the reason; returns how many items had to go for them."""
        place = self._waiting if refused is None else self._refused
        for parcel in parcels:
            key = self._next()
            place[key] = replace(parcel, key=key)
        return self._make_room()

    def _make_room(self) -> int:
        gone = 0
        excess = sum(len(p.body) for place in (self._waiting, self._refused) for p in place.copy().values())
        for key in sorted({**self._refused, **self._waiting}):
            if excess <= self._max_bytes:
                break
            parcel = self._refused.pop(key, None) or self._waiting.pop(key, None)
            if parcel is not None:
                gone += parcel.items
                excess -= len(parcel.body)
        return gone

    def oldest(self, limit: int) -> list[Parcel]:
        """The parcels that have waited longest, without the refused ones."""
        return sorted(self._waiting.copy().values(), key=lambda parcel: parcel.key)[:limit]

    def drop(self, keys: Sequence[int]) -> None:
        """Forget what was sent."""
        for key in keys:
            self._waiting.pop(key, None)

    def readmit(self) -> int:
        """Let the refused ones wait again; returns how many items they hold."""
        items = 0
        for key, parcel in self._refused.copy().items():
            self._waiting[key] = parcel
            self._refused.pop(key, None)
            items += parcel.items
        return items

    def counts(self) -> tuple[int, int]:
        """How many items wait, how many were refused."""
        waiting, refused = self._waiting.copy(), self._refused.copy()
        return sum(p.items for p in waiting.values()), sum(p.items for p in refused.values())

    def lease(self, holder: str, seconds: float) -> bool:
        """Nobody else can send what is in this process's memory."""
        return True

    def release(self, holder: str) -> None:
        """There is nothing to release."""
