"""Takes secrets out of a span that came by OpenTelemetry: its attributes hold arguments as texts of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import to_json
from agenttrace.core.span import Span
from agenttrace.otlp_in.facts import with_facts
from agenttrace.otlp_in.model_tables import NUMBERED_INPUT
from agenttrace.otlp_in.numbered import numbered_lists
from agenttrace.otlp_in.tables import EVENT
from agenttrace.otlp_in.values import value_of
from agenttrace.redaction import Redaction
from agenttrace.redaction.answers import holds_answers
from agenttrace.redaction.harmless_copy import harmless_copies
from agenttrace.redaction.repeated import attributes_without, taken_out_of, without_repeated_in
from agenttrace.redaction.spans import may_tell

_SECOND = frozenset(f"{beginning}1.{part}role" for beginning in NUMBERED_INPUT for part in ("", "message."))
"""What the second message of a conversation has, of OpenLLMetry and of OpenInference."""
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
    messages = _messages_in(span.attributes)
    if messages and redaction.call is None:
        answers = taken_out_of(messages, redaction.inside(messages))
        attributes = redacted.attributes = attributes_without(attributes, answers)
    secrets = taken_out_of([span.input, span.output], [redacted.input, redacted.output])
    changed = False
    for key, value in span.attributes.items():
        shown = attributes.get(key)
        if type(value) is str and value[:1] in ("{", "[") and (redaction.call is not None or shown != value):
            data = _redacted(value_of(value), redaction)
            attributes[key] = shown if data is None else to_json(without_repeated_in(data, secrets))
        changed = changed or attributes.get(key) != value
    return with_facts(redacted) if changed else redacted


def _are_harmless(spans: Sequence[Span], redaction: Redaction) -> bool:
    """Returns True if a look at all texts of spans at once tells that there is nothing to take out."""
    if harmless_copies([_data_of(span) for span in spans], redaction) is None:
        return False
    return redaction.call is not None or not any(
        may_tell(span, redaction) or holds_answers(_messages_in(span.attributes), redaction) for span in spans
    )


def _messages_in(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a conversation of which each part is an attribute, ``gen_ai.prompt.0.content``."""
    if _SECOND.isdisjoint(attributes):
        return []
    lists = numbered_lists(attributes)
    entries = next((lists[beginning] for beginning in NUMBERED_INPUT if beginning in lists), [])
    return [entry.get("message", entry) for entry in entries if type(entry) is dict]


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
    if type(data) is list:  # first as one: what stands in it may name what stands behind
        return [redaction.fields(one) if type(one) is dict else one for one in redaction.inside(data)]
    return None
