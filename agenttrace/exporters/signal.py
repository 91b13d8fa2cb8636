"""One signal's way to its collector: settings, outboxes (one in memory where no store keeps it), sender."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Outbox, Parcel
from agenttrace.exporters.otlp_encoding import Protocol, encode, halves
from agenttrace.exporters.otlp_http import Collector
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.exporters.sender import MAX_BYTES, Sender

_CONTENT_TYPES: dict[Protocol, str] = {
    "http/protobuf": "application/x-protobuf",
    "http/json": "application/json",
}


class Signal:
    """One signal's way to its collector.

    What is put is kept in the store that it is attached to, or in memory where that cannot keep it.
    """

    def __init__(self, settings: SignalSettings, content: bool) -> None:
        self.settings = settings
        self.content = content
        self._collector = Collector(settings)
        self._durable: Outbox | None = None
        self._begin()

    def _begin(self) -> None:
        self._memory = MemoryOutbox()
        self._counting = threading.RLock()
        self._dropped = 0
        self._trouble: str | None = None
        self._sender = Sender(self._collector, self._outboxes, name=self.settings.url)

    def attach(self, store: Any, name: str) -> None:
        """Keep what is put in this store, apart from what goes to the same address under another name.

        Raises:
            ConfigError: another exporter of this process sends there with other headers, or other content.
        """
        make = getattr(store, "outbox", None)
        if make is None:
            return
        destination = f"{self.settings.url} {name}"
        place = (str(getattr(store, "path", id(store))), destination)
        other = _attached.get(place)
        mine = (self.settings.headers, self.content)
        if other is not None and (other.settings.headers, other.content) != mine:
            raise ConfigError(
                f"two exporters send to {self.settings.url} for {name!r} with different headers or content=; "
                "tell them apart: OTLPExporter(…, name=…)"
            )
        _attached[place] = self
        self._durable = make(destination)

    def _outboxes(self) -> list[Outbox]:
        return [self._memory] if self._durable is None else [self._memory, self._durable]

    def put(self, request: dict[str, Any], items: int) -> None:
        """Keep a request of `items` spans or scores, in as many parcels as its size takes, to be sent."""
        kind, protocol = self.settings.kind, self.settings.protocol
        waiting = [Parcel(kind, _CONTENT_TYPES[protocol], items, encode(kind, request, protocol))]
        parcels: list[Parcel] = []
        while waiting:
            parcel = waiting.pop()
            if len(parcel.body) > MAX_BYTES and parcel.items > 1:
                waiting += reversed(halves(parcel))
            else:
                parcels.append(parcel)
        drop_count = self._kept(parcels)
        with self._counting:
            self._dropped += drop_count
        self._sender.notice()

    def _kept(self, parcels: Sequence[Parcel]) -> int:
        if self._durable is not None:
            try:
                return self._durable.put(parcels)
            except Exception as error:  # choke-point: a store that cannot keep them; memory can
                self._trouble = f"the store keeps no outbox: {error}"
        return self._memory.put(parcels)

    def flush(self, timeout: float) -> bool:
        """Send what waits, at most `timeout` seconds; whether all was sent."""
        if not any(waiting for waiting, _ in self._counts()):
            return True
        return self._sender.flush(timeout)

    def readmit(self) -> int:
        """Let what was refused wait again; returns how many items that are."""
        items = sum(outbox.readmit() for outbox in self._outboxes())
        if items:
            self._sender.notice()
        return items

    def _counts(self) -> list[tuple[int, int]]:
        try:
            return [outbox.counts() for outbox in self._outboxes()]
        except Exception as error:  # choke-point: a file that cannot be read
            self._trouble = f"the store keeps no outbox: {error}"
            return [self._memory.counts()]

    def stats(self) -> dict[str, Any]:
        """See `OTLPExporter.stats`."""
        counts = self._counts()
        trouble = self._sender.trouble
        return {
            "sent": self._sender.sent,
            "waiting": sum(waiting for waiting, _ in counts),
            "refused": sum(refused for _, refused in counts),
            "dropped": self._dropped,
            "trouble": self._trouble if trouble is None else trouble.text,
        }

    def close(self, timeout: float = 1.0) -> None:
        """Stop sending; what was not sent stays where it is kept."""
        self._sender.close(timeout)

    def after_fork(self) -> None:
        """In a forked child: begin anew."""
        self._begin()


_attached: weakref.WeakValueDictionary[tuple[str, str], Signal] = weakref.WeakValueDictionary()

MAX_MEMORY_BYTES = 64 * 1024 * 1024


class MemoryOutbox:
    """The parcels for one destination, oldest first. Gone with the process; a forked child makes its own."""

    def __init__(self, max_bytes: int = MAX_MEMORY_BYTES) -> None:
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
        drop_count = 0
        while self._bytes > self._max_bytes and (place := self._refused or self._waiting):
            drop_count += self._take(place, next(iter(place)))
        return drop_count

    def _take(self, place: dict[int, Parcel], key: int) -> int:
        parcel = place.pop(key, None)
        if parcel is None:
            return 0
        self._bytes -= len(parcel.body)
        return parcel.items

    def oldest(self, max_bytes: int) -> list[Parcel]:
        """The parcels that have waited longest, without the refused ones: as many as fit, at least one."""
        with self._alone:
            parcels: list[Parcel] = []
            for parcel in self._waiting.values():
                max_bytes -= len(parcel.body)
                if parcels and max_bytes < 0:
                    break
                parcels.append(parcel)
            return parcels

    def settle(self, keys: Sequence[int], refused: Sequence[tuple[Parcel, str]] = ()) -> int:
        """Forget what was delivered, keep what was refused of it; returns how many items were forgotten."""
        with self._alone:
            item_count = sum(self._take(self._waiting, key) for key in keys)
            for parcel, _ in refused if item_count else ():
                self._keep(self._refused, parcel)
            return item_count

    def readmit(self) -> int:
        """Let the refused ones wait again; returns how many items they hold."""
        with self._alone:
            parcels, self._refused = self._refused, {}
            self._waiting.update(parcels)
            return sum(parcel.items for parcel in parcels.values())

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
