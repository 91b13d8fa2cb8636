"""From a live record to a finished span."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agenttrace.core.identity import SPAN_KEY_MASK
from agenttrace.core.jsonable import clean, clean_text
from agenttrace.core.score import Score
from agenttrace.core.span import EMPTY, Span, SpanError
from agenttrace.tracing.freeze import thaw
from agenttrace.tracing.record import (
    ARGUMENTS,
    END,
    EXTRA,
    FAILURE,
    INDEX,
    OUTPUT,
    PARENT,
    SCOPE,
    SITE,
    START,
    Record,
    Scope,
    Site,
    parent_key_of,
)
from agenttrace.tracing.redaction import SHORTEST_SECRET, Redaction


def finish(record: Record, redaction: Redaction) -> Span:
    """Make the finished span of a record whose call has ended: thawed, strict JSON, redacted."""
    site: Site = record[SITE]
    scope: Scope = record[SCOPE]
    failure = record[FAILURE]
    extra = record[EXTRA]
    arguments = record[ARGUMENTS]
    parent: Record = record[PARENT]
    span = Span(
        trace_key=scope.trace_key,
        span_key=(scope.base + record[INDEX]) & SPAN_KEY_MASK or 1,
        parent_key=(scope.base + parent[INDEX]) & SPAN_KEY_MASK or 1
        if parent[SITE] is not None
        else parent_key_of(record),
        index=record[INDEX],
        name=site.name,
        span_type=site.span_type,
        start_ns=scope.anchor + record[START],
        end_ns=scope.anchor + (record[END] or record[START]),
        input=None if arguments is None else _inputs(site, arguments, redaction),
        output=_value("output", record[OUTPUT], redaction),
        attributes=site.metadata or EMPTY,
        project=scope.project,
        tool=site.definition,
    )
    if failure is not None:
        span.status, error = failure
        if error is not None:
            span.error = SpanError(
                clean_text(error.type), redaction.inside(clean_text(error.message)), error.frames
            )
    if extra is not None or (parent[SITE] is None and scope.attributes is not None):
        _add_extra(span, extra or {}, scope.attributes if parent[SITE] is None else None, redaction)
    return span


def _inputs(site: Site, values: tuple[Any, ...], redaction: Redaction) -> dict[str, Any]:
    named: Iterable[tuple[str, Any]] = zip(site.names, values, strict=False)
    if site.rebinding is not None:
        bound = site.rebinding.bind([thaw(value) for value in values])
        named = named if bound is None else bound.items()
    return {name: _value(name, value, redaction) for name, value in named}


def _value(name: str, value: Any, redaction: Redaction) -> Any:
    kind = type(value)
    small = (
        (kind is str and len(value) < SHORTEST_SECRET and value.isascii()) or value is None or kind is bool
    )
    # No room for a secret's shape in a small value: the name alone can make it one.
    if small and redaction.call is None and (value is None or not redaction.is_secret(name)):
        return value
    return redaction.value(name, clean(thaw(value)))


def _add_extra(
    span: Span, extra: dict[str, Any], trace_attributes: dict[str, Any] | None, redaction: Redaction
) -> None:
    """Add what was said of the span while it ran. `extra` values are snapshots."""
    if "name" in extra:
        span.name = clean_text(extra["name"])
    if "input" in extra:
        span.input = _as_input(_value("input", extra["input"], redaction))
    if "output" in extra:
        span.output = _value("output", extra["output"], redaction)
    if "usage" in extra:
        span.usage = clean(thaw(extra["usage"]))
    attributes = dict(span.attributes)
    for source in (extra.get("attributes"), trace_attributes):
        for key, value in (source or {}).copy().items():  # it may still be written to on another thread
            attributes[clean_text(key)] = _value(key, value, redaction)
    if "logs" in extra:
        attributes["agenttrace.logs"] = redaction.inside(clean(list(extra["logs"])))
    span.attributes = attributes


def _as_input(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"input": value}


def scores_of(record: Record) -> list[Score]:
    """The scores that were put on the span while it ran."""
    extra = record[EXTRA]
    if not extra:
        return []
    return [
        replace(score, name=clean_text(score.name), reason=clean_text(score.reason))
        for score in tuple(extra.get("scores", ()))
    ]


def forget_ancestors(record: Record) -> None:
    """Keep of a parent that has ended only what its children's spans need.

    A task that starts the next one, for ever, makes a chain of calls without an end: each would keep all
    before it in memory.
    """
    parent = record[PARENT]
    if len(parent) > FAILURE and parent[END]:
        record[PARENT] = [None, parent[SCOPE], parent[SITE], parent[INDEX]]
