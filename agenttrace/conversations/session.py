"""`session_trace`: the traces of one conversation as one trace, in which each of them is a turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import new_span_key, new_trace_key
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import TURN, Trace

_OF_TRACE = (semconv.SESSION_ID, semconv.CUSTOMER_ID, semconv.TAGS, semconv.METADATA)


def session_trace(traces: Iterable[Trace]) -> Trace:
    """One trace of all traces of a session, so that scorers see the whole conversation.

    They are taken in the order of their beginnings. Each becomes a turn, with its output as the answer; one
    that says itself which turn it is (``tracer.turn(2)``), or which turns it has, keeps them.

    Raises:
        ConfigError: no traces with spans, or traces of different sessions.
    """
    each = sorted((trace for trace in traces if trace.spans), key=lambda trace: trace.spans[0].start_ns)
    sessions = {trace.session_id for trace in each}
    if not each:
        raise ConfigError("there are no traces of this session")
    if len(sessions) > 1:
        names = ", ".join(repr(session) for session in sorted(sessions, key=str))
        raise ConfigError(f"these are traces of different sessions: {names}")
    key = new_trace_key()
    spans: list[Span] = []
    tools: dict[str, ToolDefinition] = {}
    for number, trace in enumerate(each, 1):
        tools.update(trace.tools)
        if trace.turns:
            at = len(spans)
            spans += [_moved(span, key, span.parent_key, at + n) for n, span in enumerate(trace.spans)]
            continue
        turn = _turn(trace, key, number, len(spans))
        spans.append(turn)
        roots = {root.span_key for root in trace.roots}
        for span in trace.spans:
            parent = turn.span_key if span.span_key in roots else span.parent_key
            spans.append(_moved(span, key, parent, len(spans)))
    return Trace(spans, trace_key=key, tools=tools)


def _turn(trace: Trace, key: int, number: int, index: int) -> Span:
    return Span(
        trace_key=key,
        span_key=new_span_key(),
        name=f"turn {number}",
        span_type=TURN,
        start_ns=trace.spans[0].start_ns,
        end_ns=max(span.end_ns for span in trace.spans),
        index=index,
        input=trace.input,
        output=trace.output,
        attributes={**_of_trace(trace), semconv.TURN: number},
    )


def _of_trace(trace: Trace) -> dict[str, Any]:
    """What is said of a trace as a whole, which stands on its root."""
    attributes = {} if trace.root is None else trace.root.attributes
    return {name: attributes[name] for name in _OF_TRACE if name in attributes}


def _moved(span: Span, key: int, parent: int | None, index: int) -> Span:
    """A copy of a span as part of another trace."""
    fields = {name: getattr(span, name) for name in Span.__slots__}
    return Span(**{**fields, "trace_key": key, "parent_key": parent, "index": index})
