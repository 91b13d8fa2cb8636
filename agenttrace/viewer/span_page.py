"""The page of one span: what it was given, what it gave back, where it failed, what was tried again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL
from agenttrace.reports.tree import lacking_text
from agenttrace.store.light_traces import LightTrace
from agenttrace.viewer.missing_page import no_span, no_trace
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.scores import Change, changed_part, score_views
from agenttrace.viewer.tree import TraceTree
from agenttrace.viewer.values import arguments_text, messages_of, part_at, view_of, whole_text
from agenttrace.viewer.waterfall import self_time

KINDS = {"agent": "agent", "llm": "llm", "tool": "tool", "retriever": "retriever", "chain": "chain"}
"""The kinds of span that have a colour of their own."""

MOST_NUMBERED = 200
"""Spans up to which a tool call's number is worked out: that needs the values of all spans."""
_MOST_ALIKE = 12


def kind_of(span: Span) -> str:
    """The kind of a span that its colour and letter stand for."""
    return KINDS.get(span.span_type, "other")


class Alike(NamedTuple):
    """Another call of the same function in the trace; `arguments` with what differs from this one.

    `number` is its place among all of them, from 1.
    """

    number: int
    span: Span
    arguments: Change
    is_this: bool


def span_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The span ``span`` of the trace ``id``."""
    light = LightTrace.of(reads.store, asked["id"])
    if light is None:
        return no_trace(reads, asked["id"])
    trace = light.trace
    span = _span_of(light, asked["span"])
    if span is None:
        return no_span(reads, trace, asked["span"])
    scores = reads.store.scores(trace.trace_id)
    detail = span_context(light, span, scores, TraceTree(trace))
    return 200, render("span_page.html", reads, trace=trace, detail=detail, asked=asked)


def _span_of(light: LightTrace, span_id: str) -> Span | None:
    return next((span for span in light.trace.spans if span.span_id == span_id), None)


def span_context(
    light: LightTrace, span: Span, scores: Sequence[tuple[str | None, Score]], tree: TraceTree
) -> dict[str, Any]:
    """What the details of a span are drawn from."""
    number = tree.by_key[span.span_id]
    node = tree.nodes[number]
    children = [child.span for n in node.children if (child := tree.nodes[n]).span is not None]
    (span,) = light.with_values([span])
    sent, answered = messages_of(span)
    is_numbered = span.span_type == TOOL and len(light.trace.spans) <= MOST_NUMBERED
    calls = light.tool_calls if is_numbered else ()
    call = next((call for call in calls if call.span_id == span.span_id), None)
    attributes = dict(span.attributes)
    alike, total = _alike(light, span)
    return {
        "span": span,
        "kind": kind_of(span),
        "trace_id": light.trace.trace_id,
        "call": None if call is None else call.index + 1,
        "self_ns": self_time(span, [child for child in children if child is not None]),
        "input": None if span.input is None or sent else view_of(dict(span.input)),
        "output": None if span.output is None or answered else view_of(span.output),
        "lacking": lacking_text(span),
        "sent": sent,
        "answered": answered,
        "usage": view_of({name: _without_noise(value) for name, value in span.usage.items()})
        if span.usage
        else None,
        "attributes": view_of(attributes) if attributes else None,
        "alike": alike,
        "alike_total": total,
        "has_below": bool(node.children),
        "scores": score_views([(key, score) for key, score in scores if key == span.span_id], light),
        "ancestors": [tree.nodes[n] for n in tree.way_to(span.span_id)[:-1]][-6:],
    }


def _without_noise(value: Any) -> Any:
    """A sum of costs without what adding binary fractions leaves at its end."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _alike(light: LightTrace, span: Span) -> tuple[list[Alike], int]:
    """The calls of the same tool in the trace, where there are several: those near this one, and how many."""
    kind = (span.name, span.span_type)
    spans = [other for other in light.trace.spans if (other.name, other.span_type) == kind]
    if len(spans) < 2 or span.span_type == "llm":
        return [], len(spans)
    at = next(place for place, other in enumerate(spans) if other.span_key == span.span_key)
    start = max(0, min(at - _MOST_ALIKE // 2, len(spans) - _MOST_ALIKE))
    shown = spans[start : start + _MOST_ALIKE]
    inputs = light.inputs(shown)
    own = arguments_text(span.input or {}, 300)
    return [
        Alike(
            number,
            other,
            changed_part(own, arguments_text(inputs.get(other.span_key) or {}, 300)),
            other.span_key == span.span_key,
        )
        for number, other in enumerate(shown, start + 1)
    ], len(spans)


def value_text(reads: Reads, asked: Asked) -> tuple[int, str]:
    """A part of a span's values whole, as plain text: ``side`` is input, output or attributes."""
    light = LightTrace.of(reads.store, asked["id"])
    span = None if light is None else _span_of(light, asked["span"])
    if light is None or span is None:
        return 404, "there is no such span\n"
    (span,) = light.with_values([span])
    sides = {"input": span.input, "output": span.output, "attributes": dict(span.attributes)}
    try:
        return 200, whole_text(part_at(sides[asked.get("side", "output")], asked.get("at", "")))
    except LookupError:
        return 404, "there is no such part of the value\n"
