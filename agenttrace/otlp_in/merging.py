"""`merged`: a span that comes again, with what it said before and does not say now."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.otlp_in.facts import with_facts
from agenttrace.otlp_in.tables import EVENT

_UNFINISHED = frozenset({semconv.UNFINISHED, semconv.CALL_STATUS, semconv.STATUS})


def merged(before: Span, now: Span) -> Span:
    """The span as it comes now; what only its earlier form says stays.

    A back end tells of the same span in several files: a trace with its customer and its tags, and a page of
    observations without them. Only spans that came by OpenTelemetry are merged: others come whole, and the
    latest takes the place of the one before.
    """
    if not (_is_received(before) and _is_received(now)):
        return now
    whole = copy.copy(now)
    whole.attributes = _attributes(_of_an_end(before, now), _of_an_end(now, before))
    whole.parent_key = now.parent_key or before.parent_key
    whole.start_ns = before.start_ns if semconv.NO_START in now.attributes else now.start_ns
    if not (semconv.NO_START in now.attributes and semconv.NO_START in before.attributes):
        whole.attributes.pop(semconv.NO_START, None)
    whole.end_ns = max(now.end_ns, whole.start_ns)
    if semconv.UNFINISHED in now.attributes or now.end_ns == now.start_ns:
        whole.end_ns = max(before.end_ns, whole.start_ns)
    whole.project = now.project or before.project
    return with_facts(whole)


def _is_received(span: Span) -> bool:
    return semconv.RECEIVED in span.attributes and span.span_type != EVENT


def _of_an_end(span: Span, other: Span) -> Mapping[str, Any]:
    """The attributes of a span without what they say of an end that is not known, where the other has it."""
    if semconv.UNFINISHED not in span.attributes or semconv.UNFINISHED in other.attributes:
        return span.attributes
    return {name: value for name, value in span.attributes.items() if name not in _UNFINISHED}


def _attributes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {**before, **now}
    for name in (semconv.METADATA, semconv.RECEIVED):
        if isinstance(before.get(name), dict) and isinstance(now.get(name), dict):
            attributes[name] = {**before[name], **now[name]}
    received = [one.get(semconv.RECEIVED) or {} for one in (before, now)]
    earlier, later = (list(one.get("events") or ()) for one in received)
    if earlier and later:
        events = [*earlier, *(event for event in later if event not in earlier)]
        attributes[semconv.RECEIVED] = {**attributes[semconv.RECEIVED], "events": events}
    return attributes
