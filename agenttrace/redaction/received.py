"""Takes secrets out of a span that came by OpenTelemetry: its attributes hold arguments as texts of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import to_json
from agenttrace.core.span import Span
from agenttrace.otlp_in.facts import with_facts
from agenttrace.otlp_in.tables import EVENT
from agenttrace.otlp_in.values import value_of
from agenttrace.redaction import Redaction
from agenttrace.redaction.harmless_copy import harmless_copies

_TOGETHER = 16
"""Spans that are looked at together: more save little, and one with a secret costs all of them the look."""


def redact_all_arrived(spans: Sequence[Span], redaction: Redaction) -> list[Span]:
    """Spans that arrived together, each as `redact_arrived` has it: one look at many of them costs less."""
    redacted: list[Span] = []
    for at in range(0, len(spans), _TOGETHER):
        together = spans[at : at + _TOGETHER]
        if _are_harmless(together, redaction):
            redacted += together
        else:
            redacted += [redact_arrived(span, redaction) for span in together]
    return redacted


def redact_arrived(span: Span, redaction: Redaction) -> Span:
    """A span that arrived, without secrets, whichever it is: another library's, ours, a log record."""
    if semconv.RECEIVED in span.attributes and span.span_type != EVENT:
        return redact_received(span, redaction)
    return redaction.span(span)


def redact_received(span: Span, redaction: Redaction) -> Span:
    """The span without secrets, also in texts that spell data: what is left of them still does.

    The facts are worked out from what is left, as they will be whenever the span is read. A span that holds
    none is given back as it is.
    """
    if _are_harmless([span], redaction):
        return span
    redacted = redaction.span(span)
    attributes = redacted.attributes = dict(redacted.attributes)
    changed = False
    for key, value in span.attributes.items():
        shown = attributes.get(key)
        if type(value) is str and value[:1] in ("{", "[") and (redaction.call is not None or shown != value):
            data = _redacted(value_of(value), redaction)
            attributes[key] = shown if data is None else to_json(data)
        changed = changed or attributes.get(key) != value
    return with_facts(redacted) if changed else redacted


def _are_harmless(spans: Sequence[Span], redaction: Redaction) -> bool:
    """Returns True if a look at all texts of spans at once tells that there is nothing to take out."""
    return harmless_copies([_data_of(span) for span in spans], redaction) is not None


def _data_of(span: Span) -> dict[str, Any]:
    return {
        "name": span.name,
        "attributes": span.attributes,
        "input": span.input,
        "output": span.output,
        "error": None if span.error is None else span.error.message,
    }


def _redacted(data: Any, redaction: Redaction) -> Any:
    """Data with each of its values as the rules have it; None for what is no data."""
    if type(data) is dict:
        return redaction.fields(data)
    if type(data) is list:
        return [redaction.fields(one) if type(one) is dict else redaction.inside(one) for one in data]
    return None
