"""The pipeline's worker turns records into spans and hands them to the store, then to the exporters."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.protocols import (
    BackgroundExporter,
    Exporter,
    GetsReady,
    SpanSink,
    TakesScores,
    TakesTools,
    optional,
)
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.process.said_once import SaidOnce
from agenttrace.tracing.finish import finish, forget_ancestors, scores_of
from agenttrace.tracing.flush_result import NotStored, StoreCheck
from agenttrace.tracing.observed_function import known_tools
from agenttrace.tracing.record import EXTRA, OBSERVED, START, OnEnd, Record, weight_of
from agenttrace.tracing.redaction import Redaction

BATCH = 4_000
"""The most records that are made spans and stored in one go."""

_SPAN_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What a store raises for a span that it cannot store. Anything else is a passing failure of the store."""


class Delivery:
    """Takes records off the queue, makes them spans, hands them to the store, then to the other exporters.

    One thread at a time uses it. Spans that the store refuses stay in `pending` and are offered again. What
    the user's code raises here is caught: also SystemExit, and the panic of a library in Rust.
    """

    def __init__(
        self, store: SpanSink, exporters: Sequence[Exporter], redaction: Redaction, since: int = 0
    ) -> None:
        self.store = store
        self.exporters = tuple(exporters)
        self._delivering = [one for one in exporters if isinstance(one, BackgroundExporter)]
        self._others = [one for one in exporters if not isinstance(one, BackgroundExporter)]
        self._sent_to_delivering = False
        self.redaction = redaction
        self.since = since
        self.pending: list[Span] = []
        self.accepted = 0
        self.store_check = StoreCheck(store)
        self.unreadable = 0
        self.rejected = 0
        self.not_exported = 0
        self._pending_scores: list[tuple[str, str | None, Score]] = []
        self._on_end_calls: list[tuple[OnEnd, Span]] = []
        self._tools_written: dict[str, Mapping[str, ToolDefinition]] = {}
        self._failed_record: Record | None = None
        self._warnings = SaidOnce()

    def get_ready(self) -> None:
        """Let the store open its file, if it has one, before the first span has ended."""
        getting_ready = optional(self.store, GetsReady)
        if getting_ready is not None:
            self._call("store", "the store did not get ready", getting_ready.get_ready)

    def take(self, queue: deque[Any], stop: type) -> int:
        """Move up to `BATCH` records, or those before an item of type `stop`, from the queue to `pending`.

        Returns the weight of the records taken. A record leaves the queue only after it was read, so that an
        interruption loses none. Records older than `since` belong to the process that this one was forked
        from, and are skipped.
        """
        weight = 0
        while queue and len(self.pending) < BATCH:
            record = queue[0]
            if type(record) is stop:
                break
            weight += weight_of(record)
            if record[START] >= self.since:
                self._take_one(record)
            queue.popleft()
        return weight

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
            self._pending_scores.append((span.trace_id, span.span_id, score))
        if on_end is not None:
            self._on_end_calls.append((on_end, span))
        forget_ancestors(record)

    def export(self) -> bool:
        """Hand the pending spans to store and exporters. Returns False if the store did not take them."""
        if self.pending and not self._export(self.pending):
            return False
        self._write_scores()
        self._call_on_end()
        return True

    def _export(self, spans: list[Span]) -> bool:
        if not self._sent_to_delivering:
            # Before the store: if the process is killed in between, an outbox has more than the store, never
            # less.
            self._sent_to_delivering = True
            self._export_to(self._delivering, spans)
        try:
            self.store.export(spans)
        except BaseException as error:  # choke-point: a store in trouble must not reach the agent
            pass_on_interruption(error)
            if isinstance(error, _SPAN_ERRORS):
                return self._export_singly(spans)
            self._warn_not_stored(error)
            return False
        self.accepted += len(spans)
        self.pending = []
        self._sent_to_delivering = False
        self._write_tools(spans[0].project)
        self._export_to(self._others, spans)
        return True

    def _export_singly(self, spans: list[Span]) -> bool:
        """Store the spans one by one, and count those that the store cannot take as rejected."""
        storable = []
        for position, span in enumerate(spans):
            self.pending = spans[position:]
            try:
                self.store.export([span])
            except BaseException as error:  # choke-point: a store in trouble must not reach the agent
                pass_on_interruption(error)
                if not isinstance(error, _SPAN_ERRORS):
                    self._warn_not_stored(error)
                    break
                self.rejected += 1
                self.warn("rejected", f"the span {span.name!r} was refused", error)
            else:
                storable.append(span)
                self.accepted += 1
        else:
            self.pending = []
            self._sent_to_delivering = False
        self._export_to(self._others, storable)
        return not self.pending

    def _warn_not_stored(self, error: BaseException) -> None:
        self.warn("store", "spans could not be stored yet", error)

    def _export_to(self, exporters: Sequence[Exporter], spans: list[Span]) -> None:
        for exporter in exporters if spans else ():
            if not self._call("export", f"{len(spans)} spans were not exported", exporter.export, spans):
                self.not_exported += len(spans)

    def _write_tools(self, project: str) -> None:
        """Store which tools exist, called or not, so that a stored trace is judged like a live one."""
        tools = known_tools()
        taking = optional(self.store, TakesTools)
        if taking is None or self._tools_written.get(project) == tools:
            return
        self._tools_written[project] = tools
        self._call(
            "tools",
            "the tools were not stored",
            lambda: taking.write_tools(project, [self.redaction.tool(tool) for tool in tools.values()]),
        )

    def _write_scores(self) -> None:
        scores, self._pending_scores = self._pending_scores, []
        if not scores:
            return
        try:
            self.store.write_scores(scores)
        except BaseException as error:  # choke-point: a store in trouble must not reach the agent
            if not isinstance(error, _SPAN_ERRORS):
                self._pending_scores = scores[-BATCH:]
            pass_on_interruption(error)
            self.warn("scores", f"{len(scores)} scores were not stored", error)
            return
        for exporter in self.exporters:
            taking = optional(exporter, TakesScores)
            if taking is not None:
                failure = f"{len(scores)} scores were not exported"
                self._call("export", failure, taking.write_scores, scores)

    def _call_on_end(self) -> None:
        """Call the `on_end` of observed functions whose spans are now stored."""
        calls, self._on_end_calls = self._on_end_calls, []
        for on_end, span in calls:
            self._call("on_end", f"after {span.name!r}", on_end, span)

    def flush_store(self, timeout: float) -> None:
        """Flush the store."""
        self._call("flush", f"flush of {type(self.store).__name__} failed", self.store_check.flush, timeout)

    def flush_exporters(self, timeout: float) -> None:
        """Flush the exporters, within `timeout` seconds in all."""
        deadline = time.monotonic() + timeout
        for exporter in self.exporters:
            self._call_method("flush", exporter, max(deadline - time.monotonic(), 0.0))

    def end(self) -> None:
        """Tell those exporters that deliver later that the process ends."""
        for exporter in self._delivering:
            self._call_method("end", exporter)

    def close(self) -> None:
        """Close the exporters, then the store, which may hold what they have not sent."""
        for sink in (*self.exporters, self.store):
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

    def stored(self, not_stored: NotStored) -> int:
        """How many spans are in the store's file, or in the memory of a store without one."""
        return max(self.accepted - not_stored.waiting - not_stored.quarantined - not_stored.memory_full, 0)

    def warn(self, cause: str, words: str, error: BaseException) -> None:
        """Log an error, once per cause. Never raises, not even if a logging handler of the user's does."""
        self._warnings.warn(cause, words, error)


class Nowhere:
    """A store that keeps nothing: for captures while recording is off."""

    def export(self, spans: Sequence[Span]) -> None:
        """Forget them."""

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None:
        """Forget them."""

    def flush(self, timeout: float) -> bool:
        """There is nothing to wait for."""
        return True

    def close(self) -> None:
        """There is nothing to release."""
