"""The pipeline: a bounded queue from the traced threads, a worker that stores what is in it."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Sequence
from gc import get_referrers
from queue import Empty, SimpleQueue
from typing import Any

from agenttrace.core.batch import Destination, ScoreRow
from agenttrace.core.identity import clock_jumps, follow_clock, monotonic_ns
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.limits import RECORDED, Limits
from agenttrace.core.losses import LOSSES
from agenttrace.core.marks import left_out
from agenttrace.core.protocols import BeginsAnew, Exporter, Sender, SpanSink, optional
from agenttrace.process.fork_and_exit import at_end_of_child, at_fork
from agenttrace.process.signal_safe import AtOnce, Barrier, Counter, PlainThread, Turn
from agenttrace.redaction import Redaction
from agenttrace.tracing.context import current
from agenttrace.tracing.delivery import Delivery
from agenttrace.tracing.flush_result import FlushResult, NotStored
from agenttrace.tracing.freeze import Frozen, shortened
from agenttrace.tracing.process_end import LEFT, Patience, of_a_child, of_this_process, say_lost, wait_at_end
from agenttrace.tracing.queue_limit import MAX_QUEUED, lowered
from agenttrace.tracing.record import OFF, Scope

MAX_WEIGHT = 64 * 1024 * 1024
"""Bytes of heavy values that may wait. Further values are replaced by a mark and counted; the span stays."""

POLL_SECONDS = 0.05
IDLE_SECONDS = 0.1
RETRY_SECONDS = 0.2
JOIN_SECONDS = 1.0
_LAST_SECONDS, _MOST_FAILURES_AT_END = 0.1, 3  # the end of the process waits so long for a worker, at least
START_SECONDS = 1.0
"""How long a flush waits for a worker that is being started, before it stores by itself."""


class Pipeline:
    """One bounded queue, one worker thread, one store, any number of other exporters.

    Traced threads append to `entrance` (the queue: reentrant, lock-free) and never wait. The worker looks
    into the queue every 50 ms, so a span is stored within 250 ms of its end if the worker gets to run. It
    starts with the first trace of each process, and opens the store at once.
    """

    def __init__(
        self,
        store: SpanSink,
        *,
        exporters: Sequence[Exporter] = (),
        senders: Sequence[Sender] = (),
        send_to: Sequence[Destination] = (),
        redaction: Redaction | None = None,
        limit: int = MAX_QUEUED,
        limits: Limits = RECORDED,
        joins_otel: bool = True,
    ) -> None:
        self.joins_otel = joins_otel
        self.store = store
        self.exporters = exporters
        self.senders = senders
        self._send_to = send_to
        self.redaction = redaction or Redaction()
        self.limit = self._most = limit
        self.limits = limits
        self.queue: deque[Any] = deque()
        self.closed = False
        self._begin()
        wait_at_end(self)
        at_fork("pipelines", in_child=self.after_fork)

    def _begin(self, since: int = 0) -> None:
        self.entrance: Any = self.queue
        self.weight = 0
        self.queue_full = Counter()  # callers add to it directly: a call more is felt where the queue is full
        self.values_dropped = Counter()
        self.sampled_out = Counter()
        self.after_shutdown = Counter()
        self.recording_errors = Counter()
        self.foreign_contexts = Counter()
        self.unreadable_headers = Counter()
        self._delivery = Delivery(
            self.store,
            self.exporters,
            self.redaction,
            senders=self.senders,
            send_to=self._send_to,
            since=since,
            recorder=self,
        )
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._starting = Turn()
        self._storing = Turn()
        self._worker: PlainThread | None = None
        self._stopping = False

    # On the traced thread.

    def ensure_worker(self) -> None:
        """Start the worker if this process has none. Called at each root; cheap when it runs."""
        worker = self._worker
        if worker is not None and worker.alive:
            return
        if self.closed or self._stopping:
            return
        holder = object()
        try:
            if self._starting.take(holder) and (self._worker is None or not self._worker.alive):
                self._worker = PlainThread(self._run)
                at_end_of_child(self.flush_at_end_of_child)
        except RuntimeError:  # no new thread: limit reached, or the interpreter is going down
            self.store_here()
        finally:
            self._starting.give_back(holder)

    def weigh(self, value: Frozen) -> Any:
        """Admit a heavy value, or return the mark that takes its place."""
        if self.weight + value.size > MAX_WEIGHT:
            value = shortened(value, self.limits)
            return value if self.admit(value.size) else left_out("memory")
        self.weight += value.size
        return value

    def admit(self, size: int) -> bool:
        """Returns True if texts of so many characters may wait; else they are counted as dropped."""
        if self.weight + size > MAX_WEIGHT:
            self.values_dropped.add()
            return False
        self.weight += size  # approximate across threads; set right whenever the queue runs empty
        return True

    def recording_failed(self, error: BaseException) -> None:
        """Count a call that is recorded in part, and log the cause once. Never raises."""
        self.recording_errors.add()
        cause = f"recording {type(error).__name__}"
        self._delivery.warn(cause, "a call was recorded in part", error, traceback="with")

    # On the worker, or where there can be none.

    def _run(self, worker: PlainThread) -> None:
        self._worker = worker  # the thread that started it may be held up before it can note that
        current.set(OFF)  # what a store or an exporter does is never recorded itself
        pause, ready, failures, holder = 0.0, False, 0, object()
        while True:
            try:
                if not ready:
                    ready = True
                    self._delivery.get_ready()
                try:
                    self._wake.get(timeout=pause)
                except Empty:
                    pass
                pause = self._store(holder)
                self._delivery.tell_losses()
                if self._stopping and (not self.queue or self._delivery.is_hopeless):
                    return
            except BaseException as error:  # choke-point: the worker outlives whatever is thrown into it
                self._go_on_after(error, holder)
                failures += self._stopping
                if failures > _MOST_FAILURES_AT_END:  # of the interpreter it would be ended by force
                    return

    def _go_on_after(self, error: BaseException, holder: object) -> None:
        """Give the turn back, and say why. Another exception may be thrown in meanwhile."""
        try:
            self._storing.give_back(holder)
            self._delivery.warn("worker", "the writer goes on after an exception", error)
        except BaseException:  # choke-point: the same; of the first one less is said
            self._storing.give_back(holder)

    def _store(self, holder: object) -> float:
        """Store until the queue is empty or the store refuses; return the seconds until the next look."""
        delivery, queue = self._delivery, self.queue
        busy = bool(queue) or bool(delivery.pending)
        try:
            if not self._storing.take(holder):
                return POLL_SECONDS
            follow_clock()
            while queue or delivery.pending:
                if not delivery.pending:
                    is_full = len(queue) >= self.limit
                    weight = delivery.take(queue, Barrier, is_full=is_full)  # meanwhile callers add to ours
                    self.weight = max(self.weight - weight, 0)
                    if is_full:  # traces that begin from now on have the new limit
                        self.limit = lowered(self.limit, len(delivery.pending))
                if not delivery.deliver():
                    return RETRY_SECONDS
                if queue and type(queue[0]) is Barrier:
                    queue.popleft().open()
            self.weight, self.limit = 0, self._most
        finally:
            self._storing.give_back(holder)
        return POLL_SECONDS if busy else IDLE_SECONDS

    def store_here(self) -> None:
        """Store what is in the queue on the calling thread, without a worker. Never raises."""
        if sys.is_finalizing():  # modules are being taken apart: nothing can be stored any more
            return say_lost()
        token, holder = current.set(OFF), object()
        try:
            self._store(holder)
        except BaseException as error:  # choke-point: the agent's own thread
            self._storing.give_back(holder)
            pass_on_interruption(error)
            self.recording_failed(error)
        finally:
            current.reset(token)

    def write_scores(self, scores: Sequence[ScoreRow]) -> None:
        """Store scores of spans that are stored already, redacted. Raises what the store raises."""
        self._delivery.write_scores(
            [ScoreRow(row.trace_id, row.span_id, self.redaction.score(row.score)) for row in scores]
        )

    # Flush, shutdown, exit, fork.

    def flush(self, timeout: float = 5.0) -> FlushResult:
        """Wait until what has ended is stored and exported, `timeout` seconds at most."""
        deadline = time.monotonic() + timeout
        result = self.store_all(timeout)
        # Also if nothing was recorded: exporters may still have to send what an earlier process stored.
        if not self.closed:
            self._delivery.flush_exporters(max(deadline - time.monotonic(), 0.0))
        return result

    def store_all(self, timeout: float, patience: Patience | None = None) -> FlushResult:
        """Wait until what has ended is stored, `timeout` seconds at most. Does not wait for exporters.

        With `patience` it waits on for as long as spans are stored.
        """
        deadline = time.monotonic() + max(timeout, 0.0)
        if self.closed or (self._worker is None and not self.queue):
            return self._result()
        self.ensure_worker()
        self._await_start((deadline - time.monotonic()) / 2)
        worker = self._worker
        queued: int | None = None
        if worker is None or not worker.alive:
            self.store_here()
        elif worker.is_current:
            return self._result()
        else:
            barrier = Barrier()
            self.queue.append(barrier)
            self._wake.put(None)
            stored = self._delivery.accepted
            reached = barrier.reached(deadline - time.monotonic())
            while not reached and patience is not None and self._delivery.accepted != stored:
                stored = self._delivery.accepted
                reached = barrier.reached(patience.renew(self._delivery.last_write))
            # Spans that ended after this flush began do not count.
            queued = 0 if reached else max(self._waiting(), 1)
        self._delivery.flush_store(max(deadline - time.monotonic(), 0.0))
        return self._result(queued)

    def _await_start(self, seconds: float) -> None:
        """Wait for a worker that is being started, a second at most.

        A signal handler may come just when its thread starts one. To store here would lose what further
        handlers record meanwhile: nothing is recorded of what a store does.
        """
        latest = time.monotonic() + min(seconds, START_SECONDS)
        while (
            (self._worker is None or not self._worker.alive)
            and self._starting.is_taken
            and time.monotonic() < latest
        ):
            time.sleep(0.001)

    def flush_at_end_of_child(self) -> None:
        """Store, then export, at the end of a child of multiprocessing."""
        self._flush_patiently(of_a_child())
        self._say_what_is_left()

    def finish_up(self, patience: Patience) -> None:
        """Flush at the end of the process, and stop the worker, which could die at any moment from here on.

        What is recorded afterwards is stored by the thread that records it.
        """
        try:
            self._flush_patiently(patience)
        finally:
            self._stop(max(patience.left(), _LAST_SECONDS))
            self._say_what_is_left()
            self._delivery.end(self._losses())
            self.entrance = AtOnce(self.queue, self.store_here)
            # Traces under way. They are searched here, so that no call needs to register its trace.
            for scope in get_referrers(self.queue):
                if type(scope) is Scope:
                    scope.queue = self.entrance

    def end_after_shutdown(self, patience: Patience) -> None:
        """Wait for a worker that was still storing when the time of a shutdown was over; say what is left."""
        self._stop(patience.left())
        self._say_what_is_left()

    def _losses(self) -> dict[str, int]:
        """How many spans were lost, by reason, also those that still wait."""
        lost = {reason: count for reason, count in self.counts().items() if reason in LOSSES}
        return {reason: count for reason, count in {**lost, "left_at_end": self._waiting()}.items() if count}

    def _flush_patiently(self, patience: Patience) -> None:
        """Flush for as long as spans get through."""
        self.store_all(patience.allow_for(self._delivery.last_write), patience)
        if not self.closed:
            self._delivery.flush_exporters(min(patience.left(), of_this_process().left()))

    def _say_what_is_left(self) -> None:
        if left := self._result().pending:
            self._delivery.say("left at the end", LEFT.format(left))

    def shutdown(self, timeout: float = 5.0) -> FlushResult:
        """Store what waits, stop the worker, close the store. A second call does nothing."""
        if self.closed:
            return self._result()
        self.flush(timeout)
        self.closed = True
        if self._stop(min(timeout, JOIN_SECONDS)):
            self._delivery.close()
        return self._result()

    def _stop(self, timeout: float) -> bool:
        """Ask the worker to end. Returns False if it still runs after `timeout`, or is this thread."""
        self._stopping = True
        self._wake.put(None)
        worker = self._worker
        return worker is None or (not worker.is_current and worker.join(timeout))

    def _result(self, queued: int | None = None) -> FlushResult:
        not_stored = self._delivery.store_check.not_stored()
        pending = (self._waiting() if queued is None else queued) + not_stored.waiting
        pending = pending if not_stored.complete else max(pending, 1)
        lost = self._dropped(not_stored, self._queued()[1])
        dropped = {reason: count for reason, count in lost.items() if count}
        return FlushResult(self._delivery.stored(not_stored), pending, dropped)

    def _waiting(self) -> int:
        return len(self._delivery.pending) + self._queued()[0]

    def _queued(self) -> tuple[int, int]:
        """How many spans wait for the worker; and how many for none, since it ended after a shutdown."""
        worker = self._worker
        is_over = self.closed and (worker is None or not worker.alive)
        count = sum(1 for item in self.queue.copy() if type(item) is not Barrier)
        return (0, count) if is_over else (count, 0)

    def _dropped(self, not_stored: NotStored, too_late: int) -> dict[str, int]:
        """How many spans were not kept, by reason; `too_late` those that wait for no worker."""
        return {
            "queue_full": self.queue_full.value(),
            "unreadable": self._delivery.unreadable,
            "rejected": self._delivery.rejected,
            "quarantined": not_stored.quarantined,
            "memory_full": not_stored.memory_full,
            "after_shutdown": self.after_shutdown.value() + too_late,
        }

    def tell_losses(self) -> None:
        """Say in the log what was lost, where that has not been said."""
        self._delivery.tell_losses()

    def counts(self) -> dict[str, int]:
        """What became of spans before they reached the store, which counts the rest itself."""
        return {
            "queue_full": self.queue_full.value(),
            "after_shutdown": self.after_shutdown.value(),
            "unreadable": self._delivery.unreadable,
            "rejected": self._delivery.rejected,
            "sampled_out": self.sampled_out.value(),
            "values_dropped": self.values_dropped.value(),
            "recording_errors": self.recording_errors.value(),
            "redaction_failed": self.redaction.failed,
        }

    def stats(self) -> dict[str, Any]:
        """How many spans wait, were stored, or were not stored and why."""
        not_stored = self._delivery.store_check.not_stored()
        queued, too_late = self._queued()
        return {
            "queued": queued,
            "pending": len(self._delivery.pending) + not_stored.waiting,
            "queued_bytes": self.weight,
            "written": self._delivery.stored(not_stored),
            "not_exported": self._delivery.not_exported,
            "values_dropped": self.values_dropped.value(),
            "redacted": self.redaction.redacted,
            "redaction_failed": self.redaction.failed,
            "sampled_out": self.sampled_out.value(),
            "recording_errors": self.recording_errors.value(),
            "foreign_contexts": self.foreign_contexts.value(),
            "unreadable_headers": self.unreadable_headers.value(),
            "clock_jumps": clock_jumps(),
            "dropped": self._dropped(not_stored, too_late),
        }

    def after_fork(self) -> None:
        """In a forked child: leave the parent's spans, also those that ran at the fork, to the parent.

        The next trace starts a new worker.
        """
        self.queue.clear()
        beginning = optional(self.store, BeginsAnew)
        if beginning is not None:
            beginning.after_fork()
        self._begin(since=monotonic_ns())
        for sender in self.senders:
            sender.after_fork()
