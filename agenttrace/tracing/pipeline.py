"""The way of finished records from the traced threads to the store: one bounded hand-off, one worker."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core.protocols import Exporter, SpanSink
from agenttrace.tracing.counting import Counter
from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.lifecycle import flush_when_a_child_process_ends, look_after
from agenttrace.tracing.outlet import Outlet
from agenttrace.tracing.record import Record
from agenttrace.tracing.redaction import Redaction

MAX_QUEUED = 100_000
"""Records that may wait; about 30 MB of small ones. What comes beyond is dropped, counted."""

MAX_WEIGHT = 64 * 1024 * 1024
"""Bytes of heavy values that may wait. Beyond it a value is replaced by a mark, counted; the span stays."""

POLL_SECONDS = 0.05
IDLE_SECONDS = 0.1
RETRY_SECONDS = 0.2
JOIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class FlushResult:
    """What a flush did: true only if everything that had ended before it is stored."""

    stored: int
    pending: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.pending == 0 and not self.dropped


class _Barrier:
    """A place in the queue: `reached` is set when all that stood before it was handed to the store."""

    __slots__ = ("reached",)

    def __init__(self) -> None:
        self.reached = threading.Event()


class Pipeline:
    """One bounded hand-off, one worker thread, one store, any number of other exporters.

    Traced threads append to `queue` (a deque: reentrant, lock-free) and never wait. The worker looks every
    50 ms, so a span is stored within 250 ms of its end. It is started by the first root, in each process
    anew.
    """

    def __init__(
        self,
        store: SpanSink,
        *,
        exporters: Sequence[Exporter] = (),
        redaction: Redaction | None = None,
        limit: int = MAX_QUEUED,
    ) -> None:
        self.store = store
        self.exporters = exporters
        self.redaction = redaction or Redaction()
        self.limit = limit
        self.queue: deque[Any] = deque()
        self.closed = False
        self._begin()
        look_after(self)

    def _begin(self) -> None:
        self.weight = 0
        self.overflowed = Counter()
        self.outweighed = Counter()
        self.sampled_out = Counter()
        self.after_shutdown = Counter()
        self.guarded = Counter()
        self._outlet = Outlet(self.store, self.exporters, self.redaction)
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._stopping = False

    # On the traced thread.

    def ensure_worker(self) -> None:
        """Start the worker if this process has none. Called at each root; cheap when it runs."""
        worker = self._worker
        if worker is not None and worker.is_alive():
            return
        if self.closed or not self._starting.acquire(blocking=False):
            return
        try:
            if self._worker is None or not self._worker.is_alive():
                worker = threading.Thread(target=self._run, name="agenttrace-writer", daemon=True)
                worker.agenttrace_internal = True  # type: ignore[attr-defined] # seen by the thread patch
                worker.start()
                self._worker = worker
                flush_when_a_child_process_ends(self)
        except RuntimeError:  # no new thread: limit reached, or the interpreter is going down
            self._drain()
        finally:
            self._starting.release()

    def weigh(self, value: Frozen) -> Any:
        """Admit a heavy value, or return the mark that takes its place."""
        if self.weight + value.size > MAX_WEIGHT:
            self.outweighed.add()
            return {"$truncated": "memory"}
        self.weight += value.size  # approximate across threads; set right whenever the queue runs empty
        return value

    def overflow(self, _record: Record) -> None:
        """Count a record for which there is no room."""
        self.overflowed.add()

    # On the worker.

    def _run(self) -> None:
        wake = self._wake
        while True:
            busy = bool(self.queue) or bool(self._outlet.pending)
            wake.wait(POLL_SECONDS if busy else IDLE_SECONDS)
            wake.clear()
            try:
                self._drain()
            except BaseException as error:  # choke-point: the worker outlives whatever is thrown into it
                self._outlet.warn("worker", f"the writer met {type(error).__name__}: {error}; it goes on")
            if self._stopping and not self.queue:
                return

    def _drain(self) -> None:
        """Store until the queue is empty or the store refuses."""
        outlet = self._outlet
        while self.queue or outlet.pending:
            barrier: _Barrier | None = None
            if not outlet.pending:
                barrier, weight = outlet.take(self.queue, _Barrier)
                self.weight -= weight
            if not outlet.export():
                if barrier is not None:  # it waits behind what is pending
                    self.queue.appendleft(barrier)
                self._wake.wait(RETRY_SECONDS)
                return
            if barrier is not None:
                barrier.reached.set()
        self.weight = 0

    # Flush, shutdown, exit, fork.

    @property
    def waiting(self) -> bool:
        """Whether anything is not stored yet."""
        return bool(self.queue) or bool(self._outlet.pending)

    def flush(self, timeout: float = 5.0) -> FlushResult:
        """Wait until what has ended is stored, `timeout` seconds at most."""
        deadline = time.monotonic() + max(timeout, 0.0)
        if threading.current_thread() is not self._worker and not self.closed:
            if self.waiting:
                self.ensure_worker()
                barrier = _Barrier()
                self.queue.append(barrier)
                self._wake.set()
                barrier.reached.wait(max(deadline - time.monotonic(), 0.0))
            self._outlet.flush(max(deadline - time.monotonic(), 0.0))
        return self._result()

    def shutdown(self, timeout: float = 5.0) -> FlushResult:
        """Store what waits, stop the worker, close the store. A second call does nothing."""
        if self.closed:
            return self._result()
        self.flush(timeout)
        self.closed = True
        self._stopping = True
        self._wake.set()
        worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(min(timeout, JOIN_SECONDS))
        if worker is None or not worker.is_alive():
            self._outlet.close()
        return self._result()

    def _result(self) -> FlushResult:
        queued = sum(1 for item in list(self.queue) if type(item) is not _Barrier)
        dropped = {reason: count for reason, count in self.dropped().items() if count}
        if self.closed and queued:
            dropped["after_shutdown"] = dropped.get("after_shutdown", 0) + queued
            queued = 0
        return FlushResult(self._outlet.stored, queued + len(self._outlet.pending), dropped)

    def dropped(self) -> dict[str, int]:
        """How many spans were not kept, by reason."""
        return {
            "queue_full": self.overflowed.value(),
            "unreadable": self._outlet.unreadable,
            "after_shutdown": self.after_shutdown.value(),
        }

    def stats(self) -> dict[str, Any]:
        """What waits, what was stored, what was not and why."""
        return {
            "queued": len(self.queue),
            "pending": len(self._outlet.pending),
            "queued_bytes": self.weight,
            "written": self._outlet.stored,
            "not_exported": self._outlet.unexported,
            "values_dropped": self.outweighed.value(),
            "sampled_out": self.sampled_out.value(),
            "redaction_failed": self.redaction.failed,
            "recording_errors": self.guarded.value(),
            "dropped": self.dropped(),
        }

    def after_fork(self) -> None:
        """In a forked child: leave the parent's spans to the parent, start anew at the next root."""
        self.queue.clear()
        self._begin()
        forget = getattr(self.store, "after_fork", None)
        if forget is not None:
            forget()
