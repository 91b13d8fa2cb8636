"""Records become spans, spans go to the store: the worker's side of the pipeline."""

from __future__ import annotations

import logging
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
from agenttrace.tracing.accounts import Shortfall, StoreAccount
from agenttrace.tracing.failure import describe
from agenttrace.tracing.finish import finish, forget_ancestors, scores_of
from agenttrace.tracing.observed import known_tools
from agenttrace.tracing.record import EXTRA, OBSERVED, START, OnEnd, Record, weight_of
from agenttrace.tracing.redaction import Redaction

BATCH = 4_000
"""Records that are made spans and stored in one go."""

_OF_A_SPAN = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What a store raises over a span that it cannot take; anything else is its own trouble, and passes."""

log = logging.getLogger("agenttrace")


class Delivery:
    """Takes records off the queue, makes them spans, hands them to the store, then to the other exporters.

    Used by one thread at a time. What the store refuses stays in `pending` and is offered again. Nothing that
    code of the user's raises here goes any further: not even SystemExit, nor the panic of a library in Rust.
    """

    def __init__(
        self, store: SpanSink, exporters: Sequence[Exporter], redaction: Redaction, since: int = 0
    ) -> None:
        self.store = store
        self.exporters = tuple(exporters)
        self._delivering = [one for one in exporters if isinstance(one, BackgroundExporter)]
        self._others = [one for one in exporters if not isinstance(one, BackgroundExporter)]
        self._handed_over = False
        self.redaction = redaction
        self.since = since
        self.pending: list[Span] = []
        self.taken = 0
        self.account = StoreAccount(store)
        self.unreadable = 0
        self.rejected = 0
        self.unexported = 0
        self._pending_scores: list[tuple[str, str | None, Score]] = []
        self._to_tell: list[tuple[OnEnd, Span]] = []
        self._tools_written: dict[str, Mapping[str, ToolDefinition]] = {}
        self._met: Record | None = None
        self._warned: set[str] = set()

    def get_ready(self) -> None:
        """Let the store open its file, if it has one, before the first span has ended."""
        getting_ready = optional(self.store, GetsReady)
        if getting_ready is not None:
            self._call("store", "the store did not get ready", getting_ready.get_ready)

    def take(self, queue: deque[Any], stop: type) -> int:
        """Move up to `BATCH` records, or those before an item of type `stop`, from the queue to `pending`.

        Return the weight that left the queue. A record leaves it last, so whatever interrupts this loses
        none. Records older than `since` belong to the process that this one was forked from.
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
        """Make a record a span. One that cannot be read is counted; so is one over which something was raised
        twice that is no Exception, since the first may have been thrown into this thread from elsewhere."""
        while True:
            try:
                self._finish(record)
            except BaseException as error:  # choke-point: one bad record must not lose its neighbours
                met, self._met = self._met, record
                if met is not record:
                    pass_on_interruption(error)
                    if not issubclass(type(error), Exception):
                        continue
                self.unreadable += 1
                self.warn("record", "a record could not be read", error)
            self._met = None
            return

    def _finish(self, record: Record) -> None:
        span = finish(record, self.redaction)
        scores = () if record[EXTRA] is None else scores_of(record, self.redaction)
        on_end = record[OBSERVED].on_end
        self.pending.append(span)
        for score in scores:
            self._pending_scores.append((span.trace_id, span.span_id, score))
        if on_end is not None:
            self._to_tell.append((on_end, span))
        forget_ancestors(record)

    def export(self) -> bool:
        """Hand the pending spans over; true when the store took them."""
        if self.pending and not self._export(self.pending):
            return False
        self._write_scores()
        self._tell()
        return True

    def _export(self, spans: list[Span]) -> bool:
        if not self._handed_over:
            # First: a process that is killed in between has put more into an outbox than into the store,
            # never less.
            self._handed_over = True
            self._export_to(self._delivering, spans)
        try:
            self.store.export(spans)
        except BaseException as error:  # choke-point: a store in trouble must not reach the agent
            pass_on_interruption(error)
            if isinstance(error, _OF_A_SPAN):
                return self._export_singly(spans)
            self._not_yet(error)
            return False
        self.taken += len(spans)
        self.pending = []
        self._handed_over = False
        self._write_tools(spans[0].project)
        self._export_to(self._others, spans)
        return True

    def _export_singly(self, spans: list[Span]) -> bool:
        """Find the spans that the store cannot take, count them as rejected, keep their neighbours."""
        taken = []
        for position, span in enumerate(spans):
            self.pending = spans[position:]
            try:
                self.store.export([span])
            except BaseException as error:  # choke-point: as above
                pass_on_interruption(error)
                if not isinstance(error, _OF_A_SPAN):
                    self._not_yet(error)
                    break
                self.rejected += 1
                self.warn("rejected", f"the span {span.name!r} was refused", error)
            else:
                taken.append(span)
                self.taken += 1
        else:
            self.pending = []
            self._handed_over = False
        self._export_to(self._others, taken)
        return not self.pending

    def _not_yet(self, error: BaseException) -> None:
        self.warn("store", "spans could not be stored yet", error)

    def _export_to(self, exporters: Sequence[Exporter], spans: list[Span]) -> None:
        for exporter in exporters if spans else ():
            if not self._call("export", f"{len(spans)} spans were not exported", exporter.export, spans):
                self.unexported += len(spans)

    def _write_tools(self, project: str) -> None:
        """Keep which tools there are, called or not, so that a stored trace is judged like a live one."""
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
        except BaseException as error:  # choke-point: nor the scores
            if not isinstance(error, _OF_A_SPAN):
                self._pending_scores = scores[-BATCH:]
            pass_on_interruption(error)
            self.warn("scores", f"{len(scores)} scores were not stored", error)
            return
        for exporter in self.exporters:
            taking = optional(exporter, TakesScores)
            if taking is not None:
                failure = f"{len(scores)} scores were not exported"
                self._call("export", failure, taking.write_scores, scores)

    def _tell(self) -> None:
        """Call what waits for the end of a span of an observed function, now that the span is stored."""
        calls, self._to_tell = self._to_tell, []
        for on_end, span in calls:
            self._call("on_end", f"after {span.name!r}", on_end, span)

    def flush_store(self, timeout: float) -> None:
        """Let the store finish."""
        self._call("flush", f"flush of {type(self.store).__name__} failed", self.account.flush, timeout)

    def flush_exporters(self, timeout: float) -> None:
        """Let the exporters finish, within `timeout` seconds in all."""
        deadline = time.monotonic() + timeout
        for exporter in self.exporters:
            self._guarded("flush", exporter, max(deadline - time.monotonic(), 0.0))

    def end(self) -> None:
        """Tell those exporters that deliver later that the process ends."""
        for exporter in self._delivering:
            self._guarded("end", exporter)

    def close(self) -> None:
        """Close the exporters, then the store, which may keep what they have left."""
        for sink in (*self.exporters, self.store):
            self._guarded("close", sink)

    def _guarded(self, what: str, sink: Any, *args: Any) -> None:
        self._call(what, f"{what} of {type(sink).__name__} failed", lambda: getattr(sink, what)(*args))

    def _call(self, cause: str, failure: str, function: Callable[..., Any], *args: Any) -> bool:
        """Call what is not ours; whether it went well. What it raises is logged after the words `failure`."""
        try:
            function(*args)
        except BaseException as error:  # choke-point: whatever an exporter or a listener raises
            pass_on_interruption(error)
            self.warn(cause, failure, error)
            return False
        return True

    def stored(self, missing: Shortfall) -> int:
        """How many spans are where they belong."""
        return max(self.taken - missing.waiting - missing.quarantined - missing.memory_full, 0)

    def warn(self, cause: str, words: str, error: BaseException) -> None:
        """Log what was raised, once per cause. Never raises, whatever handlers the user has given to the
        logger."""
        if cause in self._warned:
            return
        self._warned.add(cause)
        try:
            said = describe(error)
            log.warning("%s: %s: %s (said once)", words, said.type, said.message)
        except BaseException as of_handler:  # choke-point: a logging handler of the user's
            pass_on_interruption(of_handler)


class Nowhere:
    """The store of a pipeline that keeps nothing: for captures while recording is off."""

    def export(self, spans: Sequence[Span]) -> None:
        """Forget them."""

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None:
        """Forget them."""

    def flush(self, timeout: float) -> bool:
        """There is nothing to wait for."""
        return True

    def close(self) -> None:
        """There is nothing to release."""
