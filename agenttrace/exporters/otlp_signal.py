"""`Signal`: how one kind of data (traces, logs) gets to its collector: settings, outboxes, sender."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Batch, HasPath, KeepsOutbox, Outbox, optional
from agenttrace.exporters.otlp_encoding import Protocol, encode, split_in_half
from agenttrace.exporters.otlp_http import Collector
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.exporters.sender import MAX_BYTES, Sender

_CONTENT_TYPES: dict[Protocol, str] = {
    "http/protobuf": "application/x-protobuf",
    "http/json": "application/json",
}


class Signal:
    """Queues one kind of data for its collector: ``traces`` or ``logs``.

    Requests wait in the outbox of the attached store, or in memory where the store cannot keep them.
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
        """Keep requests in this store from now on, apart from those to the same address under another name.

        Raises:
            ConfigError: another exporter of this process sends there with other headers, or other content.
        """
        keeping = optional(store, KeepsOutbox)
        if keeping is None:
            return
        destination = f"{self.settings.url} {name}"
        with_file = optional(store, HasPath)
        place = (str(id(store) if with_file is None else with_file.path), destination)
        other = _attached.get(place)
        mine = (self.settings.headers, self.content)
        if other is not None and (other.settings.headers, other.content) != mine:
            raise ConfigError(
                f"two exporters send to {self.settings.url} for {name!r} with different headers or content=; "
                "tell them apart: OTLPExporter(…, name=…)"
            )
        _attached[place] = self
        self._durable = keeping.outbox(destination)

    def _outboxes(self) -> list[Outbox]:
        return [self._memory] if self._durable is None else [self._memory, self._durable]

    def put(self, request: dict[str, Any], items: int) -> None:
        """Queue a request of `items` spans or scores, split into batches that fit into one request each."""
        kind, protocol = self.settings.kind, self.settings.protocol
        waiting = [Batch(kind, _CONTENT_TYPES[protocol], items, encode(kind, request, protocol))]
        batches: list[Batch] = []
        while waiting:
            batch = waiting.pop()
            if len(batch.body) > MAX_BYTES and batch.items > 1:
                waiting += reversed(split_in_half(batch))
            else:
                batches.append(batch)
        drop_count = self._store(batches)
        with self._counting:
            self._dropped += drop_count
        self._sender.notice()

    def _store(self, batches: Sequence[Batch]) -> int:
        if self._durable is not None:
            try:
                return self._durable.put(batches)
            except Exception as error:  # choke-point: a store that cannot keep them; memory can
                self._trouble = f"the store keeps no outbox: {error}"
        return self._memory.put(batches)

    def flush(self, timeout: float) -> bool:
        """Send what waits, for at most `timeout` seconds. Returns True if all of it was sent."""
        if not any(waiting for waiting, _ in self._counts()):
            return True
        return self._sender.flush(timeout)

    def retry_refused(self) -> int:
        """Queue again what was refused. Returns the number of items."""
        items = sum(outbox.retry_refused() for outbox in self._outboxes())
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
        """Stop sending. What was not sent stays in its outbox."""
        self._sender.close(timeout)

    def after_fork(self) -> None:
        """In a forked child: begin anew."""
        self._begin()


_attached: weakref.WeakValueDictionary[tuple[str, str], Signal] = weakref.WeakValueDictionary()

MAX_MEMORY_BYTES = 64 * 1024 * 1024


class MemoryOutbox:
    """An outbox in memory: lost with the process; a forked child starts with an empty one."""

    def __init__(self, max_bytes: int = MAX_MEMORY_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.RLock()  # reentrant: a signal handler may flush
        self._next_key = 1
        self._bytes = 0
        self._waiting: dict[int, Batch] = {}
        self._refused: dict[int, Batch] = {}

    def put(self, batches: Sequence[Batch]) -> int:
        """Keep batches. Returns how many items were dropped to make room."""
        with self._lock:
            for batch in batches:
                self._keep(self._waiting, batch)
            return self._make_room()

    def _keep(self, place: dict[int, Batch], batch: Batch) -> None:
        place[self._next_key] = replace(batch, key=self._next_key)
        self._next_key += 1
        self._bytes += len(batch.body)

    def _make_room(self) -> int:
        drop_count = 0
        while self._bytes > self._max_bytes and (place := self._refused or self._waiting):
            drop_count += self._take(place, next(iter(place)))
        return drop_count

    def _take(self, place: dict[int, Batch], key: int) -> int:
        batch = place.pop(key, None)
        if batch is None:
            return 0
        self._bytes -= len(batch.body)
        return batch.items

    def oldest(self, max_bytes: int) -> list[Batch]:
        """The batches that have waited longest, not counting refused ones: as many as fit, at least one."""
        with self._lock:
            batches: list[Batch] = []
            for batch in self._waiting.values():
                max_bytes -= len(batch.body)
                if batches and max_bytes < 0:
                    break
                batches.append(batch)
            return batches

    def settle(self, keys: Sequence[int], refused: Sequence[tuple[Batch, str]] = ()) -> int:
        """Forget what was delivered, keep what was refused of it. Returns how many items were forgotten."""
        with self._lock:
            item_count = sum(self._take(self._waiting, key) for key in keys)
            for batch, _ in refused if item_count else ():
                self._keep(self._refused, batch)
            return item_count

    def retry_refused(self) -> int:
        """Queue the refused batches again. Returns how many items they hold."""
        with self._lock:
            batches, self._refused = self._refused, {}
            self._waiting.update(batches)
            return sum(batch.items for batch in batches.values())

    def counts(self) -> tuple[int, int]:
        """How many items wait, how many were refused."""
        with self._lock:
            waiting, refused = self._waiting.values(), self._refused.values()
            return sum(batch.items for batch in waiting), sum(batch.items for batch in refused)

    def lease(self, holder: str, seconds: float) -> bool:
        """Always True: nobody else can send what is in this process's memory."""
        return True

    def release(self, holder: str) -> None:
        """Do nothing: there is no lease to release."""
