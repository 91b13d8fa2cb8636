"""Reads requests of OTLP in JSON: the protocol's own form, Tempo's export, the answer of Jaeger's API."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import clean, clean_text, jsonable
from agenttrace.core.numbers import is_number
from agenttrace.core.text import short_repr
from agenttrace.otlp_in.arrival import (
    DEEPEST,
    LATEST,
    Arrival,
    ArrivedLog,
    ArrivedSpan,
    Event,
    TelemetryError,
)
from agenttrace.otlp_in.langfuse_form import is_langfuse, read_langfuse
from agenttrace.otlp_in.langsmith_form import is_langsmith, read_langsmith
from agenttrace.otlp_in.protobuf import bad_ids, bad_ids_of_log

_REQUESTS = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_CODES = {"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2, "OK": 1, "ERROR": 2, "Ok": 1, "Error": 2}


def read_json(payload: Any, arrival: Arrival) -> None:
    """Add what a request, or a list of several, holds to the arrival.

    Raises:
        TelemetryError: it is no request of OTLP, or a part of one has the wrong type.
    """
    if isinstance(payload, list | tuple):
        for number, part in enumerate(payload):
            if not isinstance(part, Mapping):
                raise TelemetryError(f"got {short_repr(part)} at number {number}, wanted a request of OTLP")
            read_json(part, arrival)
        return
    if not isinstance(payload, Mapping):
        raise TelemetryError(f"got {short_repr(payload)}, wanted a request of OTLP as a mapping")
    requests = [name for name in _REQUESTS if name in payload]
    if requests:
        for name in requests:
            _read_resources(_list(payload[name], name), name, arrival)
    elif isinstance(payload.get("data"), list) and all(_is_jaeger(trace) for trace in payload["data"]):
        for trace in payload["data"]:
            _read_jaeger(trace, arrival)
    elif is_langfuse(payload):
        read_langfuse(payload, arrival)
    elif is_langsmith(payload):
        read_langsmith(payload, arrival)
    elif payload:
        raise _not_known(payload)


def _not_known(payload: Mapping[str, Any]) -> TelemetryError:
    """The error for a mapping that is none of the forms that are read."""
    if payload.keys() >= {"trace_id", "spans", "scores"}:
        return TelemetryError(
            "got a trace as 'traces export --to jsonl' writes it, for others to read; to have it imported "
            "again, export it with --to otlp"
        )
    keys = ", ".join(sorted(map(str, payload))[:5])
    return TelemetryError(
        f"got a mapping of {keys}, wanted resourceSpans or resourceLogs, or an export of Langfuse or "
        "LangSmith; objects with 'messages' and sessions of ATIF, Claude Code, Codex are transcripts"
    )


def _read_resources(parts: Sequence[Any], name: str, arrival: Arrival) -> None:
    """Add what each holds; one that cannot be read is noted, and costs itself alone."""
    for number, part in enumerate(parts):
        try:
            _read_resource(_mapping(part, f"{name}[{number}]"), arrival)
        except TelemetryError as error:
            if arrival.is_full:
                raise
            arrival.note(str(error))


def _read_resource(part: Mapping[str, Any], arrival: Arrival) -> None:
    resource = _attributes(_mapping(part.get("resource"), "resource").get("attributes"))
    for name in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs"):
        for entry in _list(part.get(name), name):
            under = _mapping(entry, name)
            library = _mapping(under.get("scope") or under.get("instrumentationLibrary"), "scope")
            scope = _text(library.get("name"))
            for record in _list(under.get("spans"), "spans"):
                arrival.check_room()
                try:
                    _read_span(_mapping(record, "spans"), scope, resource, arrival)
                except TelemetryError as error:
                    arrival.note(f"span {_name_of(record, 'name')}: {error}")
            for record in _list(under.get("logRecords", under.get("log_records")), "logRecords"):
                arrival.check_room()
                try:
                    _read_log(_mapping(record, "logRecords"), scope, resource, arrival)
                except TelemetryError as error:
                    arrival.note(f"log record {_name_of(record, 'eventName')}: {error}")


def _name_of(record: Any, key: str) -> str:
    name = record.get(key) if isinstance(record, Mapping) else None
    return repr(clean_text(name)) if isinstance(name, str) else "without a name"


def _read_span(span: Mapping[str, Any], scope: str, resource: Mapping[str, Any], arrival: Arrival) -> None:
    name = _text(span.get("name"))
    trace = _id(span.get("traceId", span.get("trace_id")), 16)
    key = _id(span.get("spanId", span.get("span_id")), 8)
    parent = _id(span.get("parentSpanId", span.get("parent_span_id")), 8)
    problem = bad_ids(trace, key, parent)
    if problem:
        arrival.note(f"span {name!r}: {problem}")
        return
    status = _mapping(span.get("status"), "status")
    arrival.spans.append(
        ArrivedSpan(
            int.from_bytes(trace, "big"),
            int.from_bytes(key, "big"),
            int.from_bytes(parent, "big") or None,
            name,
            _time(span.get("startTimeUnixNano", span.get("start_time_unix_nano"))),
            _time(span.get("endTimeUnixNano", span.get("end_time_unix_nano"))),
            _attributes(span.get("attributes")),
            [_event(_mapping(event, "events")) for event in _list(span.get("events"), "events")],
            _code(status.get("code")),
            _text(status.get("message")),
            scope,
            resource,
        )
    )


def _read_log(log: Mapping[str, Any], scope: str, resource: Mapping[str, Any], arrival: Arrival) -> None:
    trace = _id(log.get("traceId", log.get("trace_id")), 16)
    span = _id(log.get("spanId", log.get("span_id")), 8)
    time = log.get("timeUnixNano", log.get("time_unix_nano"))
    name = _text(log.get("eventName", log.get("event_name")))
    problem = bad_ids_of_log(trace, span)
    if problem:
        arrival.note(f"log record {name!r}: {problem}")
        return
    event = Event(
        name,
        _time(time or log.get("observedTimeUnixNano", log.get("observed_time_unix_nano"))),
        _attributes(log.get("attributes")),
        _any_value(log.get("body"), 0),
    )
    arrival.logs.append(
        ArrivedLog(
            int.from_bytes(trace, "big") or None,
            int.from_bytes(span, "big") or None,
            event,
            scope,
            resource,
        )
    )


def _event(event: Mapping[str, Any]) -> Event:
    time = _time(event.get("timeUnixNano", event.get("time_unix_nano")))
    return Event(_text(event.get("name")), time, _attributes(event.get("attributes")))


def _attributes(entries: Any) -> dict[str, Any]:
    """Attributes as a mapping: from OTLP's list of keys and values, or as they are."""
    if isinstance(entries, Mapping):
        return {clean_text(str(key)): jsonable(value) for key, value in entries.items()}
    attributes: dict[str, Any] = {}
    for entry in _list(entries, "attributes"):
        pair = _mapping(entry, "attributes")
        key, value = pair.get("key"), pair.get("value")
        if isinstance(key, str) and key:
            attributes[key if key.isascii() else clean_text(key)] = _any_value(value, 0)
    return attributes


def _any_value(value: Any, depth: int) -> Any:
    if not isinstance(value, Mapping):
        return jsonable(value)
    for kind, content in value.items():
        if kind == "stringValue" or kind == "string_value":
            if type(content) is str:
                return content if content.isascii() else clean_text(content)
            return jsonable(content)
        if depth > DEEPEST:
            raise TelemetryError(f"got an attribute that is nested more than {DEEPEST} levels deep")
        if kind == "intValue" or kind == "int_value":
            return _whole(content)
        if kind in ("boolValue", "bool_value", "bytesValue", "bytes_value"):
            return jsonable(content)
        if kind == "doubleValue" or kind == "double_value":
            return _double(content)
        if kind == "arrayValue" or kind == "array_value":
            items = _list(_mapping(content, kind).get("values"), kind)
            return [_any_value(item, depth + 1) for item in items]
        if kind == "kvlistValue" or kind == "kvlist_value":
            pairs = [_mapping(pair, kind) for pair in _list(_mapping(content, kind).get("values"), kind)]
            return {
                clean_text(_text(pair.get("key"))): _any_value(pair.get("value"), depth + 1) for pair in pairs
            }
    return None


def _whole(content: Any) -> Any:
    try:
        return clean(int(content)) if is_number(content) or isinstance(content, str) else jsonable(content)
    except (ValueError, OverflowError):
        return jsonable(content)


def _double(content: Any) -> Any:
    try:
        return clean(float(content))
    except (TypeError, ValueError, OverflowError):
        return jsonable(content)


def _time(value: Any) -> int:
    """Nanoseconds; 0 where they cannot be read."""
    try:
        return min(max(int(value), 0), LATEST)
    except (TypeError, ValueError, OverflowError):
        return 0


def _code(value: Any) -> int:
    if isinstance(value, str):
        return _CODES.get(value, 0)
    return int(value) if is_number(value) and value in (0, 1, 2) else 0


def _id(value: Any, size: int) -> bytes:
    """An id's bytes: from hex digits, as OTLP has them, or from base64, as protobuf's own JSON does.

    Anything else stays as long as it is, so that its length can be fields.
    """
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        return b""
    try:
        if len(value) == 4 * -(-size // 3):
            return base64.b64decode(value, validate=True)
        return bytes.fromhex(value)
    except (ValueError, binascii.Error):
        return value.encode("utf-8", "replace")


def _text(value: Any) -> str:
    return clean_text(value) if isinstance(value, str) else "" if value is None else str(jsonable(value))


def _list(value: Any, name: str) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise TelemetryError(f"got {short_repr(value)}, wanted a list", field=name)


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise TelemetryError(f"got {short_repr(value)}, wanted a mapping", field=name)


def _is_jaeger(trace: Any) -> bool:
    return isinstance(trace, Mapping) and isinstance(trace.get("spans"), list)


def _read_jaeger(trace: Mapping[str, Any], arrival: Arrival) -> None:
    """A trace as Jaeger's API answers: tags are attributes, times are microseconds."""
    processes = _mapping(trace.get("processes"), "processes")
    for record in trace["spans"]:
        arrival.check_room()
        try:
            _read_jaeger_span(_mapping(record, "spans"), processes, arrival)
        except TelemetryError as error:
            arrival.note(f"span {_name_of(record, 'operationName')}: {error}")


def _read_jaeger_span(span: Mapping[str, Any], processes: Mapping[str, Any], arrival: Arrival) -> None:
    tags = _tags(span.get("tags"))
    process = _mapping(processes.get(str(span.get("processID"))), "processes")
    resource = {semconv.SERVICE_NAME: _text(process.get("serviceName")), **_tags(process.get("tags"))}
    name, start = _text(span.get("operationName")), _time(span.get("startTime")) * 1_000
    references = [_mapping(one, "references") for one in _list(span.get("references"), "references")]
    parents = [one.get("spanID") for one in references if one.get("refType", "CHILD_OF") == "CHILD_OF"]
    ids = [_hex(span.get("traceID"), 16), _hex(span.get("spanID"), 8), _hex((parents or [None])[0], 8)]
    problem = bad_ids(*ids)
    if problem:
        arrival.note(f"span {name!r}: {problem}")
        return
    keys = [int.from_bytes(key, "big") for key in ids]
    arrival.spans.append(
        ArrivedSpan(
            keys[0],
            keys[1],
            keys[2] or None,
            name,
            min(start, LATEST),
            0 if span.get("duration") is None else min(start + _time(span["duration"]) * 1_000, LATEST),
            tags,
            [_jaeger_event(_mapping(log, "logs")) for log in _list(span.get("logs"), "logs")],
            2 if tags.get("error") is True else _code(str(tags.get("otel.status_code", ""))),
            _text(tags.get("otel.status_description")),
            _text(tags.get(semconv.SCOPE_NAME) or tags.get("otel.library.name")),
            resource,
        )
    )


def _hex(value: Any, size: int) -> bytes:
    """Jaeger leaves out leading zeros."""
    return b"" if value is None else _id(_text(value).rjust(2 * size, "0"), size)


def _jaeger_event(log: Mapping[str, Any]) -> Event:
    fields = _tags(log.get("fields"))
    name = _text(fields.pop("event", ""))
    return Event(name, min(_time(log.get("timestamp")) * 1_000, LATEST), fields)


def _tags(tags: Any) -> dict[str, Any]:
    pairs = [_mapping(tag, "tags") for tag in _list(tags, "tags")]
    return {
        clean_text(_text(pair.get("key"))): jsonable(pair.get("value")) for pair in pairs if pair.get("key")
    }
