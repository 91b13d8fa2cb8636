"""Reads logs of chat messages: JSON objects with ``messages``, as in files for fine-tuning."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.digests import digest_of
from agenttrace.core.epoch import epoch_ns
from agenttrace.core.errors import DatasetError
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.recorded_messages import spans_of_messages
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.transcripts.records import Records, moment_ns

_TIMES = ("timestamp", "created_at", "created", "time")
UNREAD_TIME = "unreadable_time"
"""The name in a trace's metadata of what stands in the place of its time."""
_LOW = (1 << 64) - 1


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each record is a conversation: its ``messages`` are mappings with a role or a type."""
    return bool(records) and all(_is_conversation(record.get("messages")) for record in records)


def traces_in(records: Records) -> list[Trace]:
    """The traces of conversations, one each.

    A conversation has the ids of its ``id``, or of what is in it: one that is read again is the same trace.
    It has the time of its ``timestamp`` (ISO text, or a number since 1970), else that of reading it; what is
    no time is kept in its metadata.
    """
    now = time.time_ns()
    times_seen: dict[str, int] = {}
    traces = []
    for number, record in enumerate(records.records, 1):
        identity = to_json(jsonable(record["id"] if record.get("id") else record["messages"], limit=None))
        again = times_seen[identity] = times_seen.get(identity, 0) + 1
        try:
            spans = spans_of_messages(record["messages"])
        except DatasetError as error:
            raise DatasetError(f"conversation {number}: {error}", path=records.path) from None
        _place(spans, int(digest_of(f"{identity} {again}"), 16) or 1, _time_of(record) or now)
        spans[0].attributes = {**spans[0].attributes, **_said_of(record, records.unreadable)}
        traces.append(Trace(spans))
    return traces


def _is_conversation(messages: Any) -> bool:
    return (
        isinstance(messages, list)
        and bool(messages)
        and all(isinstance(one, Mapping) and ("role" in one or "type" in one) for one in messages)
    )


def _place(spans: Sequence[Span], trace_key: int, start_ns: int) -> None:
    """Give spans that were just made ids that are the same whenever they are read, and their time."""
    keys = {span.span_key: (trace_key + number) % _LOW + 1 for number, span in enumerate(spans)}
    for span in spans:
        span.trace_key = trace_key
        span.span_key = keys[span.span_key]
        span.parent_key = None if span.parent_key is None else keys[span.parent_key]
        span.start_ns += start_ns
        span.end_ns += start_ns


def _time_of(record: Mapping[str, Any]) -> int | None:
    """The first time of a record that can be read; None where there is none."""
    return next(filter(None, (_moment_of(record.get(name)) for name in _TIMES)), None)


def _moment_of(value: Any) -> int | None:
    """Nanoseconds of a number, or of an ISO text."""
    moment = epoch_ns(value) or moment_ns(value)
    return moment if moment is not None and moment > 0 else None


def _unread_time(record: Mapping[str, Any]) -> Any:
    """What stands in the place of a time, where no time of a record can be read; None where nothing does."""
    values = [record[name] for name in _TIMES if record.get(name) not in (None, "")]
    return values[0] if values and _time_of(record) is None else None


def _said_of(record: Mapping[str, Any], unreadable: int) -> dict[str, Any]:
    """What a record says of its conversation beside the messages: metadata, tags."""
    metadata = record.get("metadata")
    metadata = dict(jsonable(metadata)) if isinstance(metadata, Mapping) else {}
    if record.get("id"):
        metadata["id"] = jsonable(record["id"])
    unread_time = _unread_time(record)
    if unread_time is not None:
        metadata[UNREAD_TIME] = jsonable(unread_time)
    if unreadable:
        metadata["unreadable_lines"] = unreadable
    tags = record.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return {
        **({semconv.METADATA: metadata} if metadata else {}),
        **({semconv.TAGS: tags} if tags else {}),
    }
