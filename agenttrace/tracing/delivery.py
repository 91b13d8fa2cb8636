"""The pipeline's worker makes records spans, stores them in batches, then hands them to exporters."""

from __future__ import annotations

import time
from _thread import get_ident
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from agenttrace.core.batch import Batch, Destination, ScoreRow
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.losses import LOSSES
from agenttrace.core.protocols import (
    EndsWriting,
    Exporter,
    GetsReady,
    Sender,
    SpanSink,
    TakesRows,
    TakesScores,
    optional,
)
from agenttrace.core.span import Span
from agenttrace.core.span_rows import SpanRow, SpanRows
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.watch import CountsRecording
from agenttrace.process.said_once import SaidOnce, Traceback
from agenttrace.redaction import Redaction
from agenttrace.tracing.encoding import Encoder
from agenttrace.tracing.finish import finish, forget_ancestors, scores_of
from agenttrace.tracing.flush_result import NotStored, StoreCheck
from agenttrace.tracing.observed_function import known_tools
from agenttrace.tracing.record import EXTRA, OBSERVED, START, OnEnd, Record, weight_of

BATCH = 3_200
LARGEST_BATCH = 9 * BATCH
"""The most records that are stored in one go: more while many wait, so that the writer keeps up beside a busy
thread. Whole batches, since 3,200 rows are one statement."""

LARGEST_SIZE = 16 << 20
"""Bytes of JSON that are stored in one go: what waits is packed, and far smaller than what is made of it."""

_OF_A_SPAN = 128 << 10
_EXPANDED = 24
"""What a span with heavy values counts for: so much, and so many times the size of its packed values: it is
made of objects. A row has JSON alone."""

_FIRST_WRITE = 1.0
"""Seconds that a first write may take, with what it imports, where many processes begin on a busy machine."""

_LONG_WRITE = 0.8
_SHORT_WRITE = 0.4
"""Seconds. Other processes, and a fork, wait for a write. One that takes long, because busy threads leave the
writer little time or the disk is slow, is followed by a smaller one, and a short one by a larger one."""

_SPAN_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What a store raises for a span that it cannot store. Anything else is a passing failure of the store."""

_COUNTED_ELSEWHERE = (
    "queue_full",
    "values_dropped",
    "recording_errors",
    "redaction_failed",
    "after_shutdown",
)


class Delivery:
    """Takes records off the queue, makes them spans, stores them, hands them to the exporters.

    One thread at a time uses it. Spans that the store refuses stay in `pending` and are offered again. What
    the user's code raises here is caught: also SystemExit, and the panic of a library in Rust.
    """

    def __init__(
        self,
        store: SpanSink,
        exporters: Sequence[Exporter],
        redaction: Redaction,
        *,
        senders: Sequence[Sender] = (),
        send_to: Sequence[Destination] = (),
        since: int = 0,
        recorder: CountsRecording | None = None,
    ) -> None:
        self.store = store
        self.exporters = tuple(exporters)
        self.senders = tuple(senders)
        self.send_to = tuple(send_to)
        self.redaction = redaction
        self.since = since
        self.recorder = recorder
        self.pending: list[Span | SpanRow] = []
        self.accepted = 0
        self.store_check = StoreCheck(store)
        self._largest_batch = BATCH
        self.last_write = _FIRST_WRITE
        self.unreadable = 0
        self.rejected = 0
        self.not_exported = 0
        self.is_hopeless = False
        """The store needs a library that this interpreter cannot load: waiting does not help."""
        self._pending_scores: list[ScoreRow] = []
        self._on_end_calls: list[tuple[OnEnd, Span]] = []
        self._flushing: set[int] = set()
        """The threads that are inside a flush of the store, of a sender or of an exporter."""
        self._tools_stored: dict[str, Mapping[str, ToolDefinition]] = {}
        self._failed_record: Record | None = None
        self._warnings = SaidOnce(partial(redaction.text, "error"))

    def get_ready(self) -> None:
        """Let the store open its file, if it has one, before the first span has ended."""
        getting_ready = optional(self.store, GetsReady)
        if getting_ready is not None:
            self._call("store", "the store did not get ready", getting_ready.get_ready)

    def take(self, queue: deque[Any], stop: type, *, is_full: bool = False) -> int:
        """Move a batch of records, or those before an item of type `stop`, from the queue to `pending`.

        Returns the weight of the records taken. A record leaves the queue only after it was read, so that an
        interruption loses none. Records older than `since` belong to the process that this one was forked
        from, and are skipped. Of a queue that was full the batch is as large as it may be: more ends while it
        is taken.
        """
        weight, room = 0, LARGEST_SIZE
        most = self._largest_batch if is_full else min(len(queue) // 2, self._largest_batch)
        most = max(most // BATCH, 1) * BATCH
        encoder, pending, since = self._encoder_of_rows(), self.pending, self.since
        while queue and len(pending) < most:
            record = queue[0]
            if type(record) is stop:
                break
            if record[START] >= since:
                if encoder is not None and type(record) is list and record[OBSERVED].on_end is None:
                    for row in encoder.rows(queue, since, most - len(pending), room):
                        pending.append(row)
                        forget_ancestors(queue[0])
                        queue.popleft()
                    if encoder.size > room:
                        break
                    if not encoder.is_stopped:
                        continue
                    record = queue[0]
                self._take_one(record)
            heavy = weight_of(record)
            weight += heavy
            queue.popleft()
            room -= heavy and _OF_A_SPAN + _EXPANDED * heavy
            if room < 0:
                break
        return weight if encoder is None else weight + encoder.weight

    def _encoder_of_rows(self) -> Encoder | None:
        """What makes rows of records; None where somebody wants spans."""
        if self.exporters or optional(self.store, TakesRows) is None:
            return None
        try:
            return Encoder(self.redaction)
        except ImportError:  # the store says so
            return None

    def _take_one(self, record: Record) -> None:
        """Make a record a span. A record that cannot be read is counted as `unreadable`.

        Something raised that is no Exception may have been thrown into this thread from elsewhere: then the
        record is tried once more.
        """
        while True:
            try:
                self._finish(record)
            except BaseException as error:  # choke-point: one bad record must not lose its neighbours
                failed_before, self._failed_record = self._failed_record, record
                if failed_before is not record:
                    pass_on_interruption(error)
                    if not issubclass(type(error), Exception):
                        continue
                self.unreadable += 1
                self.warn("record", "a record could not be read", error)
            self._failed_record = None
            return

    def _finish(self, record: Record) -> None:
        span = finish(record, self.redaction)
        scores = () if record[EXTRA] is None else scores_of(record, self.redaction)
        on_end = record[OBSERVED].on_end
        self.pending.append(span)
        for score in scores:
            self._pending_scores.append(ScoreRow(span.trace_id, span.span_id, score))
        if on_end is not None:
            self._on_end_calls.append((on_end, span))
        forget_ancestors(record)

    def deliver(self) -> bool:
        """Store what is pending, then hand it to exporters. Returns False if the store did not take it."""
        if (self.pending or self._pending_scores) and not self._store():
            return False
        self._call_on_end()
        return True

    def _store(self) -> bool:
        spans, scores, known = _as_spans(self.pending), self._pending_scores, known_tools()
        began = time.monotonic()
        try:
            tools = self._new_tools(spans, known)
            self.store.write(Batch(spans, scores, tools, self.send_to, recorder=self.recorder))
        except BaseException as error:  # choke-point: a store in trouble must not reach the agent
            pass_on_interruption(error)
            if isinstance(error, _SPAN_ERRORS):
                return self._store_singly(spans, scores)
            self._warn_not_stored(error)
            return False
        self.last_write = time.monotonic() - began
        self.accepted += len(spans)
        self._pace(self.last_write)
        if spans:
            self._tools_stored[spans[0].project] = known
        self.pending, self._pending_scores = [], []
        self._hand_over(spans, scores)
        return True

    def _pace(self, seconds: float) -> None:
        """Let the next writes be smaller if this one took long, and larger again if it was short."""
        if seconds > _LONG_WRITE:
            self._largest_batch = max(self._largest_batch // 3, BATCH)
        elif seconds < _SHORT_WRITE and self._largest_batch < LARGEST_BATCH:
            self._largest_batch = min(self._largest_batch + BATCH, LARGEST_BATCH)

    def _store_singly(self, spans: Sequence[Span], scores: list[ScoreRow]) -> bool:
        """Store spans, then scores, one by one; those that the store cannot take are counted and dropped."""
        stored_spans: list[Span] = []
        stored_scores: list[ScoreRow] = []
        for position, span in enumerate(spans):
            self.pending = list(spans[position:])
            stored = self._stored_alone(Batch([span], send_to=self.send_to), f"the span {span.name!r}")
            if stored is None:
                break
            self.rejected += not stored
            stored_spans += [span] if stored else []
        else:
            self.pending, self._pending_scores = [], []
            for row in scores:
                batch = Batch(scores=[row], send_to=self.send_to)
                if self._stored_alone(batch, f"the score {row.score.name!r}"):
                    stored_scores.append(row)
        self.accepted += len(stored_spans)
        self._hand_over(stored_spans, stored_scores)
        return not self.pending

    def _stored_alone(self, batch: Batch, what: str) -> bool | None:
        """Store one span or score. Returns False if the store cannot take it, None if it cannot take any."""
        try:
            self.store.write(batch)
        except BaseException as error:  # choke-point: a store in trouble must not reach the agent
            pass_on_interruption(error)
            if not isinstance(error, _SPAN_ERRORS):
                self._warn_not_stored(error)
                return None
            self.warn("rejected", f"{what} was refused", error)
            return False
        return True

    def _warn_not_stored(self, error: BaseException) -> None:
        self.is_hopeless = isinstance(error, ImportError)
        self.warn("store", "spans could not be stored yet", error)

    def _hand_over(self, spans: Sequence[Span], scores: Sequence[ScoreRow]) -> None:
        """Tell the senders, and give the exporters, what has been stored."""
        for exporter in self.exporters:
            failure = f"{len(spans)} spans were not exported"
            if spans and not self._call("export", failure, exporter.export, spans):
                self.not_exported += len(spans)
            taking = optional(exporter, TakesScores) if scores else None
            if taking is not None:
                self._call("export", f"{len(scores)} scores were not exported", taking.write_scores, scores)
        for sender in self.senders:
            self._call_method("notice", sender)

    def write_scores(self, scores: Sequence[ScoreRow]) -> None:
        """Store scores that were made after their spans, redacted, and tell the senders. Raises what the
        store raises."""
        self.store.write(Batch(scores=scores, send_to=self.send_to))
        for sender in self.senders:
            self._call_method("notice", sender)

    def _new_tools(
        self, spans: Sequence[Span], known: Mapping[str, ToolDefinition]
    ) -> Mapping[str, Sequence[ToolDefinition]]:
        """The tools there are, called or not, if the store does not have them yet.

        With them a stored trace is judged like a live one.
        """
        if not spans or self._tools_stored.get(spans[0].project) == known:
            return {}
        tools: list[ToolDefinition] = []
        redacted = map(self.redaction.tool, known.values())
        self._call("tools", "the tools were not stored", tools.extend, redacted)
        return {spans[0].project: tools}

    def _call_on_end(self) -> None:
        """Call the `on_end` of observed functions whose spans are now stored."""
        calls, self._on_end_calls = self._on_end_calls, []
        for on_end, span in calls:
            self._call("on_end", f"after {span.name!r}", on_end, span)

    def flush_store(self, timeout: float) -> None:
        """Flush the store. One whose flush itself asks the tracer to flush is not flushed again within it."""
        with self._entering_flush() as entered:
            if entered:
                failure = f"flush of {type(self.store).__name__} failed"
                self._call("flush", failure, self.store_check.flush, timeout)

    def flush_exporters(self, timeout: float) -> None:
        """Flush senders and exporters, within `timeout` seconds in all; none within its own flush."""
        deadline = time.monotonic() + timeout
        with self._entering_flush() as entered:
            for exporter in (*self.senders, *self.exporters) if entered else ():
                self._call_method("flush", exporter, max(deadline - time.monotonic(), 0.0))

    @contextmanager
    def _entering_flush(self) -> Iterator[bool]:
        """Whether this thread is not yet inside a flush. It is, until the block ends."""
        thread = get_ident()
        if thread in self._flushing:
            yield False
            return
        self._flushing.add(thread)
        try:
            yield True
        finally:
            self._flushing.discard(thread)

    def end(self, losses: Mapping[str, int]) -> None:
        """Tell the senders, and the store, that the process ends, and what it lost, by reason."""
        for sender in self.senders:
            self._call_method("end", sender)
        if optional(self.store, EndsWriting) is not None:
            self._call_method("end", self.store, losses)

    def close(self) -> None:
        """Close senders and exporters, then the store, which holds what was not sent."""
        for sink in (*self.senders, *self.exporters, self.store):
            self._call_method("close", sink)

    def _call_method(self, method: str, sink: Any, *args: Any) -> None:
        self._call(method, f"{method} of {type(sink).__name__} failed", lambda: getattr(sink, method)(*args))

    def _call(self, cause: str, failure: str, function: Callable[..., Any], *args: Any) -> bool:
        """Call code of the user's. Returns False if it raised: that is logged after the words `failure`."""
        try:
            function(*args)
        except BaseException as error:  # choke-point: whatever an exporter or a listener raises
            pass_on_interruption(error)
            self.warn(cause, failure, error)
            return False
        return True

    def tell_losses(self) -> None:
        """Say in the log, once of each, that something was lost before it came here: the caller's thread,
        which counts it, logs nothing."""
        counts = {} if self.recorder is None else self.recorder.counts()
        for name in _COUNTED_ELSEWHERE:
            if counts.get(name):
                self._warnings.warn(name, "{}; {}".format(*LOSSES[name]))

    def stored(self, not_stored: NotStored) -> int:
        """How many spans are in the store's file, or in the memory of a store without one."""
        return max(self.accepted - not_stored.waiting - not_stored.quarantined - not_stored.memory_full, 0)

    def say(self, cause: str, words: str) -> None:
        """Log a trouble that is no error of this process's, once per cause. Never raises."""
        self._warnings.warn(cause, words)

    def warn(self, cause: str, words: str, error: BaseException, *, traceback: Traceback = "without") -> None:
        """Log an error, once per cause. Never raises, not even if a logging handler of the user's does."""
        self._warnings.warn(cause, words, error, traceback=traceback)


def _as_spans(items: list[Span | SpanRow]) -> Sequence[Span]:
    if any(isinstance(item, tuple) for item in items):
        return SpanRows(items)
    return cast(list[Span], items)


class Nowhere:
    """A store that keeps nothing: for captures while recording is off."""

    def write(self, batch: Batch) -> None:
        """Forget it."""

    def flush(self, timeout: float) -> bool:
        """There is nothing to wait for."""
        return True

    def close(self) -> None:
        """There is nothing to release."""
