"""What an exporter has yet to send, in memory: where no store keeps it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from agenttrace.core.parcel import Parcel

MAX_BYTES = 64 * 1024 * 1024


class MemoryOutbox:
    """The parcels for one destination, oldest first. Gone with the process; a forked child makes its own."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._alone = threading.RLock()  # reentrant: a signal handler may flush
        self._next_key = 1
        self._bytes = 0
        self._waiting: dict[int, Parcel] = {}
        self._refused: dict[int, Parcel] = {}

    def put(self, parcels: Sequence[Parcel]) -> int:
        """Keep parcels; returns how many items had to go for them."""
        with self._alone:
            for parcel in parcels:
                self._keep(self._waiting, parcel)
            return self._make_room()

    def _keep(self, place: dict[int, Parcel], parcel: Parcel) -> None:
        place[self._next_key] = replace(parcel, key=self._next_key)
        self._next_key += 1
        self._bytes += len(parcel.body)

    def _make_room(self) -> int:
        gone = 0
        while self._bytes > self._max_bytes and (place := self._refused or self._waiting):
            gone += self._take(place, next(iter(place)))
        return gone

    def _take(self, place: dict[int, Parcel], key: int) -> int:
        parcel = place.pop(key, None)
        if parcel is None:
            return 0
        self._bytes -= len(parcel.body)
        return parcel.items

    def oldest(self, max_bytes: int) -> list[Parcel]:
        """The parcels that have waited longest, without the refused ones: as many as fit, at least one."""
        with self._alone:
            found: list[Parcel] = []
            for parcel in self._waiting.values():
                max_bytes -= len(parcel.body)
                if found and max_bytes < 0:
                    break
                found.append(parcel)
            return found

    def settle(self, keys: Sequence[int], refused: Sequence[tuple[Parcel, str]] = ()) -> int:
        """Forget what was delivered, keep what was refused of it; returns how many items were forgotten."""
        with self._alone:
            forgotten = sum(self._take(self._waiting, key) for key in keys)
            for parcel, _ in refused if forgotten else ():
                self._keep(self._refused, parcel)
            return forgotten

    def readmit(self) -> int:
        """Let the refused ones wait again; returns how many items they hold."""
        with self._alone:
            readmitted, self._refused = self._refused, {}
            self._waiting.update(readmitted)
            return sum(parcel.items for parcel in readmitted.values())

    def counts(self) -> tuple[int, int]:
        """How many items wait, how many were refused."""
        with self._alone:
            waiting, refused = self._waiting.values(), self._refused.values()
            return sum(parcel.items for parcel in waiting), sum(parcel.items for parcel in refused)

    def lease(self, holder: str, seconds: float) -> bool:
        """Nobody else can send what is in this process's memory."""
        return True

    def release(self, holder: str) -> None:
        """There is nothing to release."""
