"""Log records: those that say something of a span wait for it; some are a call that has no span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.digests import digest_of
from agenttrace.core.numbers import is_number
from agenttrace.core.span import Span
from agenttrace.otlp_in import tables
from agenttrace.otlp_in.arrival import ArrivedLog, Event
from agenttrace.otlp_in.facts import with_facts

_LONGEST_MS = 1_000_000_000


def waiting_span(log: ArrivedLog) -> Span | None:
    """A log record as a span that waits for the one it belongs to; None where it says nothing of a call.

    Records of calls without a trace belong to one trace for each session that they name.
    """
    event = log.event
    name = next((name for name in _names(event) if name in _KNOWN), None)
    if name is None:
        return None
    trace_key, span_key = log.trace_key, log.span_key
    if trace_key is None and name in tables.CALL_EVENTS:
        trace_key, span_key = _session_key(event.attributes, log.resource), None
    if trace_key is None or (span_key is None and name not in tables.CALL_EVENTS):
        return None
    entry = [name, event.time_ns, dict(event.attributes), event.body]
    digest = digest_of(f"{trace_key:x} {span_key or 0:x} {entry!r}".encode())
    attributes: dict[str, Any] = {semconv.RECEIVED: {"event": entry}}
    if log.scope:
        attributes[semconv.SCOPE_NAME] = log.scope
    return Span(
        trace_key=trace_key,
        span_key=int(digest[:15], 16) + 1,
        parent_key=span_key,
        name=name,
        span_type=tables.EVENT,
        start_ns=event.time_ns,
        end_ns=event.time_ns,
        attributes=attributes,
        project=next((str(log.resource[key]) for key in tables.PROJECTS if log.resource.get(key)), ""),
    )


_KNOWN = tables.MESSAGE_EVENTS.keys() | tables.LOG_EVENTS


def _names(event: Event) -> Iterator[str]:
    """What may be the name of a record: its own may be the place in a program where it was written."""
    for name in (event.name, event.attributes.get("event.name"), event.body):
        if isinstance(name, str):
            yield f"claude_code.{name}" if name == "tool_result" else name


def _session_key(attributes: Mapping[str, Any], resource: Mapping[str, Any]) -> int | None:
    for fields in (attributes, resource):
        for key in tables.LOG_SESSIONS:
            session = fields.get(key)
            if isinstance(session, str) and session:
                return int(digest_of(f"session {session}".encode())[:32], 16) or 1
    return None


def logged_call(record: Span) -> Span | None:
    """The call that a waiting record tells of, as a tool's span; None where it tells of none."""
    event = record.attributes[semconv.RECEIVED].get("event")
    if not (isinstance(event, list) and len(event) == 4 and isinstance(event[2], dict)):
        return None
    if event[0] not in tables.CALL_EVENTS:
        return None
    attributes = {
        **record.attributes,
        semconv.RECEIVED: {"name": event[0], "events": [event]},
    }
    return with_facts(
        Span(
            trace_key=record.trace_key,
            span_key=record.span_key,
            parent_key=record.parent_key,
            index=record.index,
            name=record.name,
            start_ns=max(0, record.end_ns - _duration(event[2])),
            end_ns=record.end_ns,
            attributes=attributes,
            project=record.project,
        )
    )


def _duration(attributes: Mapping[str, Any]) -> int:
    """Nanoseconds: a record is written when its call has ended."""
    raw = attributes.get("duration_ms")
    try:
        duration = float(raw) if is_number(raw) or isinstance(raw, str) else 0.0
    except ValueError:
        return 0
    return int(duration * 1_000_000) if 0 <= duration <= _LONGEST_MS else 0
