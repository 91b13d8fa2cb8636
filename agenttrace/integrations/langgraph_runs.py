"""The open runs of a LangChain handler: each with its span, its parent, its place in the graph."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from agenttrace.core import semconv
from agenttrace.core.span import Status
from agenttrace.integrations.llm_call import LLMCall
from agenttrace.integrations.spans import Spans
from agenttrace.tracing.failure import status_of
from agenttrace.tracing.open_span import CurrentCall, OpenSpan

MAX_RUNS = 100_000
"""Open runs that are remembered; beyond it the oldest is ended as abandoned."""

WITH_USER_CODE = frozenset({"node", "chain", "tool", "retriever"})
"""Types of runs that run the user's code: the spans of that code stand under them."""


class Run:
    """One run: its span, and the runs inside it that have not ended."""

    __slots__ = ("call", "inside", "made_current", "parent_id", "span")

    def __init__(self, span: OpenSpan, parent_id: UUID | None) -> None:
        self.span = span
        self.parent_id = parent_id
        self.inside: set[UUID] = set()
        self.call: LLMCall | None = None
        self.made_current: CurrentCall | None = None

    def end(self, *, error: BaseException | None = None, status: Status | None = None) -> None:
        """End the span, and the answer of the model with it."""
        if self.call is None:
            self.span.end(error=error, status=status)
        elif error is None:
            self.call.finish(status or "ok")
        else:
            self.call.fail(error)


class Runs:
    """Opens, finds and ends runs; events come from any thread, and not always in pairs.

    A cancelled run may have no end event: it ends with the run that it is inside of.
    """

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._open: dict[UUID, Run] = {}
        self._passed_over: dict[UUID, UUID | None] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._open) + len(self._passed_over)

    def of(self, run_id: UUID) -> Run | None:
        """Return an open run, or None."""
        return self._open.get(run_id)

    def begin(
        self, run_id: UUID, parent_id: UUID | None, name: str, span_type: str, values: Mapping[str, Any]
    ) -> Run:
        """Open a run under its parent, or under a traced call between the two."""
        parent_id = self._recorded_ancestor(parent_id)
        parent = None if parent_id is None else self._open.get(parent_id)
        under = None if parent is None or parent.span.is_above_running() else parent.span
        run = Run(self._spans.span(name, span_type=span_type, input=values).open(under), parent_id)
        with self._lock:
            self._open[run_id] = run
            if parent is not None:
                parent.inside.add(run_id)
            oldest = next(iter(self._open)) if len(self._open) > MAX_RUNS else None
        if oldest is not None:
            self._end(oldest, status="abandoned")
        # Not at the top: between the items of a stream, its caller's code runs, which is not part of the run.
        if parent is not None and span_type in WITH_USER_CODE:
            run.made_current = run.span.make_current()
        return run

    def pass_over(self, run_id: UUID, parent_id: UUID | None) -> None:
        """Leave a run out: the runs inside it stand under its parent."""
        self._passed_over[run_id] = parent_id

    def is_graph(self, run_id: UUID | None) -> None:
        """Mark a run as a graph, because it has nodes."""
        run = None if run_id is None else self._open.get(run_id)
        if run is not None:
            run.span.set_type("agent")

    def end(self, run_id: UUID, *, output: Any = None) -> None:
        """End a run that returned."""
        run = self._open.get(run_id)
        if run is not None and output is not None:
            run.span.output = output
        self._end(run_id)

    def fail(self, run_id: UUID, error: BaseException, *, output: Any = None) -> None:
        """End a run that raised. An exception that interrupts a graph or leaves a sub-graph is no failure."""
        run = self._open.get(run_id)
        if run is not None and output is not None:
            run.span.output = output
        if any(cls.__name__ == "GraphBubbleUp" for cls in type(error).__mro__):
            if run is not None:
                run.span.set_attribute("langgraph.left_by", type(error).__name__)
            self._end(run_id)
            return
        if run is not None:
            run.span.set_attribute(semconv.ERROR_TYPE, type(error).__qualname__)
        self._end(run_id, error=error)

    def _end(self, run_id: UUID, *, error: BaseException | None = None, status: Status | None = None) -> None:
        self._passed_over.pop(run_id, None)
        with self._lock:
            run = self._open.pop(run_id, None)
            if run is None:
                return
            parent = None if run.parent_id is None else self._open.get(run.parent_id)
            if parent is not None:
                parent.inside.discard(run_id)
            inside_ids = list(run.inside)
        rest: Status = "cancelled" if error is not None and status_of(error) == "cancelled" else "abandoned"
        for inside_id in inside_ids:
            self._end(inside_id, status=rest)
        run.end(error=error, status=status)
        if run.made_current is not None:
            run.made_current.restore()

    def _recorded_ancestor(self, run_id: UUID | None) -> UUID | None:
        """Return the nearest run from here upwards that is not left out."""
        for _ in range(len(self._passed_over) + 1):
            if run_id is None or run_id not in self._passed_over:
                break
            run_id = self._passed_over[run_id]
        return run_id


_PLACES = {"langgraph_node": "langgraph.node", "langgraph_step": "langgraph.step"}
_ATTEMPT = "retry:attempt:"


def name_of(serialized: Any) -> str | None:
    """Return the name of a run as LangChain's data have it, or None."""
    if not isinstance(serialized, Mapping):
        return None
    place = serialized.get("id")
    name = serialized.get("name") or (place[-1] if isinstance(place, Sequence) and place else None)
    return name if isinstance(name, str) else None


def describe_place(run: Run, tags: Sequence[str] | None, metadata: Mapping[str, Any] | None) -> None:
    """Record the node, the step and the attempt, and at the top the conversation."""
    fields = metadata or {}
    for key, name in _PLACES.items():
        if fields.get(key) is not None:
            run.span.set_attribute(name, fields[key])
    if run.parent_id is None and fields.get("thread_id") is not None:
        run.span.set_attribute(semconv.SESSION_ID, str(fields["thread_id"]))
    for tag in tags or ():
        if tag.startswith(_ATTEMPT) and tag[len(_ATTEMPT) :].isdigit():
            run.span.set_attribute(semconv.ATTEMPT, int(tag[len(_ATTEMPT) :]))
