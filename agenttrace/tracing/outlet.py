"""Records become spans, spans go to the store: the worker's side of the pipeline."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.protocols import Delivering, Exporter, SpanSink
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool_call import ToolDefinition
from agenttrace.tracing.finish import finish, forget_ancestors, scores_of
from agenttrace.tracing.record import EXTRA, SITE, START, OnEnd, Record
from agenttrace.tracing.redaction import Redaction
from agenttrace.tracing.sites import known_tools
from agenttrace.tracing.weights import weight_of

BATCH = 4_000
"""Records that are made spans and stored in one go."""

_OF_A_SPAN = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What a store raises over a span that it cannot take; anything else is its own trouble, and passes."""

log = logging.getLogger("agenttrace")


class Outlet:
    """Takes records off the queue, makes them spans, hands them to the store, then to the other exporters.

    Used by one thread at a time. What the store refuses stays in `pending` and is offered again.
    """

    def __init__(
        self, store: SpanSink, exporters: Sequence[Exporter], redaction: Redaction, since: int = 0
    ) -> None:
        self.store = store
        self.exporters = tuple(exporters)
        self._delivering = [one for one in exporters if isinstance(one, Delivering)]
        self._others = [one for one in exporters if not isinstance(one, Delivering)]
        self._handed_over = False
        self.redaction = redaction
        self.since = since
        self.pending: list[Span] = []
        self.stored = 0
        self.unreadable = 0
        self.rejected = 0
        self.unexported = 0
        self._pending_scores: list[tuple[str, str | None, Score]] = []
        self._to_tell: list[tuple[OnEnd, Span]] = []
        self._tools_written: dict[str, Mapping[str, ToolDefinition]] = {}
        self._warned: set[str] = set()

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
        try:
            span = finish(record, self.redaction)
        except Exception as error:  # choke-point: one bad record must not lose its neighbours
            self.unreadable += 1
            self.warn("record", f"a record could not be read: {type(error).__name__}: {error}")
            return
        self.pending.append(span)
        if record[EXTRA] is not None:
            scores = scores_of(record, self.redaction)
            self._pending_scores += [(span.trace_id, span.span_id, score) for score in scores]
        on_end = record[SITE].on_end
        if on_end is not None:
            self._to_tell.append((on_end, span))
        forget_ancestors(record)

    def export(self) -> bool:
        """Hand the pending spans over; true when the store took them."""
        spans = self.pending
        if spans:
            if not self._handed_over:
                # First: a process that is killed in between has put more into an outbox than into the store,
                # never less.
                self._handed_over = True
                self._export_to(self._delivering, spans)
            try:
                self.store.export(spans)
            except _OF_A_SPAN:  # choke-point: as below, and one of the spans is to blame
                return self._export_singly(spans)
            except Exception as error:  # choke-point: a store in trouble must not reach the agent
                self.warn("store", f"spans could not be stored yet: {type(error).__name__}: {error}")
                return False
            self.stored += len(spans)
            self.pending = []
            self._handed_over = False
            self._write_tools(spans[0].project)
            self._export_to(self._others, spans)
        self._write_scores()
        self._tell()
        return True

    def _export_singly(self, spans: list[Span]) -> bool:
        """Find the spans that the store cannot take, count them as rejected, keep their neighbours."""
        taken = []
        for position, span in enumerate(spans):
            try:
                self.store.export([span])
            except _OF_A_SPAN as error:  # choke-point
                self.rejected += 1
                self.warn("rejected", f"the span {span.name!r} was refused: {type(error).__name__}: {error}")
            except Exception as error:  # choke-point
                self.warn("store", f"spans could not be stored yet: {type(error).__name__}: {error}")
                self.pending = spans[position:]
                break
            else:
                taken.append(span)
                self.stored += 1
        else:
            self.pending = []
            self._handed_over = False
        self._export_to(self._others, taken)
        return not self.pending

    def _export_to(self, exporters: Sequence[Exporter], spans: list[Span]) -> None:
        for exporter in exporters if spans else ():
            try:
                exporter.export(spans)
            except Exception as error:  # choke-point: nor an exporter
                self.unexported += len(spans)
                self.warn("export", f"{len(spans)} spans were not exported: {type(error).__name__}: {error}")

    def _write_tools(self, project: str) -> None:
        """Keep which tools there are, called or not, so that a stored trace is judged like a live one."""
        tools = known_tools()
        write = getattr(self.store, "write_tools", None)
        if write is None or self._tools_written.get(project) == tools:
            return
        self._tools_written[project] = tools
        try:
            write(project, [self.redaction.tool(tool) for tool in tools.values()])
        except Exception as error:  # choke-point: nor the names of tools
            self.warn("tools", f"the tools were not stored: {type(error).__name__}: {error}")

    def _write_scores(self) -> None:
        scores, self._pending_scores = self._pending_scores, []
        if not scores:
            return
        try:
            self.store.write_scores(scores)
        except Exception as error:  # choke-point: nor its scores
            self.warn("scores", f"{len(scores)} scores were not stored: {type(error).__name__}: {error}")
            if not isinstance(error, _OF_A_SPAN):
                self._pending_scores = scores[-BATCH:]
            return
        for exporter in self.exporters:
            write = getattr(exporter, "write_scores", None)
            try:
                if write is not None:
                    write(scores)
            except Exception as error:  # choke-point
                self.warn(
                    "export", f"{len(scores)} scores were not exported: {type(error).__name__}: {error}"
                )

    def _tell(self) -> None:
        """Call what waits for the end of a span at its site, now that the span is stored."""
        calls, self._to_tell = self._to_tell, []
        for on_end, span in calls:
            try:
                on_end(span)
            except Exception as error:  # choke-point: nor what listens
                self.warn("on_end", f"after {span.name!r}: {type(error).__name__}: {error}")

    def flush_store(self, timeout: float) -> None:
        """Let the store finish."""
        self._guarded("flush", self.store, timeout)

    def flush_exporters(self, timeout: float) -> None:
        """Let the exporters finish, within `timeout` seconds in all."""
        deadline = time.monotonic() + timeout
        for exporter in self.exporters:
            self._guarded("flush", exporter, max(deadline - time.monotonic(), 0.0))

    def end(self) -> None:
        """Tell those exporters that deliver later that the process ends."""
        for exporter in self.exporters:
            if isinstance(exporter, Delivering):
                self._guarded("end", exporter)

    def close(self) -> None:
        """Close the exporters, then the store, which may keep what they have left."""
        for sink in (*self.exporters, self.store):
            self._guarded("close", sink)

    def _guarded(self, what: str, sink: Any, *args: Any) -> None:
        try:
            getattr(sink, what)(*args)
        except Exception as error:  # choke-point
            self.warn(what, f"{what} of {type(sink).__name__} failed: {type(error).__name__}: {error}")

    def warn(self, cause: str, message: str) -> None:
        """Log once per cause. Never raises, whatever handlers the user has given to the logger."""
        if cause in self._warned:
            return
        self._warned.add(cause)
        try:
            log.warning("%s (said once)", message)
        except Exception:  # choke-point
            pass


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
