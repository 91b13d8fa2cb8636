"""OTLP's wire form: any value as an attribute value, requests and answers as protobuf or JSON bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from agenttrace.core.errors import MissingDependency
from agenttrace.core.jsonable import clean_text, jsonable, to_json
from agenttrace.core.marks import without_digests
from agenttrace.core.tagged import int_text

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_SCALARS = frozenset({str, bool, int, float})


def key_values(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP's list of key-value pairs, without None values and empty names."""
    return [
        {
            "key": wire_text(key),
            # Most values are plain text: a call for each would cost as much as making the whole entry.
            "value": {"string_value": value} if type(value) is str and value.isascii() else any_value(value),
        }
        for key, value in attributes.items()
        if value is not None and key
    ]


def any_value(value: Any) -> dict[str, Any]:
    """One value: integers beyond 64 bits as text, lists of one kind of scalar as arrays, the rest as JSON
    text. Never raises."""
    kind = type(value)
    if kind is str:
        return {"string_value": value if value.isascii() else clean_text(without_digests(value))}
    if kind is bool:
        return {"bool_value": value}
    if kind is int:
        return {"int_value": value} if _LEAST <= value <= _MOST else {"string_value": int_text(value)}
    if kind is float:
        return {"double_value": value}
    if (kind is list or kind is tuple) and _is_array(value):
        return {"array_value": {"values": [any_value(item) for item in value]}}
    if kind is not dict and kind is not list:
        simple = jsonable(value)
        if type(simple) in _SCALARS:  # a subclass of a builtin's, an enum, a date
            return any_value(simple)
    # Not a list of keys and values, though OTLP has one: OpenTelemetry's own attributes were scalars and
    # lists of those for so long that backends store and search text, and read JSON out of it.
    return {"string_value": json_text(value)}


def wire_text(text: Any) -> str:
    """Any name as text that UTF-8 can encode."""
    text = text if isinstance(text, str) else str(jsonable(text))
    return text if text.isascii() else clean_text(text)


def json_text(value: Any) -> str:
    """Strict JSON text of a value, usually JSON-safe already. Never raises."""
    try:
        text = to_json(value)
        if " #" in text:  # perhaps a digest, which is not sent
            text = to_json(without_digests(value))
    except (TypeError, ValueError, RecursionError):
        text = to_json(without_digests(jsonable(value)))
    return text if text.isascii() else clean_text(text)


def _is_array(items: Sequence[Any]) -> bool:
    kinds = set(map(type, items))
    return not kinds or (len(kinds) == 1 and kinds <= _SCALARS)


Kind = Literal["traces", "logs"]
Protocol = Literal["http/protobuf", "http/json"]

CONTENT_TYPES: dict[Protocol, str] = {
    "http/protobuf": "application/x-protobuf",
    "http/json": "application/json",
}

_IDS = frozenset({"trace_id", "span_id", "parent_span_id"})
_LONG = frozenset(
    {"int_value", "time_unix_nano", "start_time_unix_nano", "end_time_unix_nano", "observed_time_unix_nano"}
)
_NON_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}

_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode(kind: Kind, request: dict[str, Any], protocol: Protocol) -> bytes:
    """A request of `otlp_request` as the body of a POST.

    Raises:
        MissingDependency: protobuf is asked for, and its library is not installed.
    """
    if protocol == "http/json":
        return _encode_json(_plain("", request)).encode()
    body: bytes = _messages(kind)[0](**request).SerializeToString()
    return body


def rejected_of(kind: Kind, body: bytes, content_type: str) -> tuple[int, str]:
    """How many records a receiver that answered 200 rejected all the same, and its message about them.

    ``(0, "")`` where the answer cannot be read: the receiver accepted the request.
    """
    try:
        if "json" in content_type:
            return _rejected_json(kind, body)
        return _rejected_protobuf(kind, body) if "protobuf" in content_type else (0, "")
    except Exception:  # choke-point: a foreign server's bytes, and libraries that each raise their own
        return 0, ""


def _messages(kind: Kind) -> tuple[Any, Any]:
    """The protobuf classes of a request and of its answer."""
    try:
        if kind == "traces":
            from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces

            return traces.ExportTraceServiceRequest, traces.ExportTraceServiceResponse
        from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs

        return logs.ExportLogsServiceRequest, logs.ExportLogsServiceResponse
    except ImportError as error:
        raise MissingDependency(
            "OTLP as protobuf needs opentelemetry-proto: pip install 'agenttrace-evals[otlp]', "
            'or send JSON: protocol="http/json"'
        ) from error


def _plain(field: str, value: Any) -> Any:
    """A part of a request in OTLP's JSON mapping: protobuf's JSON mapping, except that ids are hex."""
    kind = type(value)
    if kind is dict:
        # Most values are text: a call for each of them would cost as much as all the rest.
        return {
            _camel_case(name): inner if type(inner) is str else _plain(name, inner)
            for name, inner in value.items()
        }
    if kind is list:
        return [_plain(field, item) for item in value]
    if kind is str or kind is bool:
        return value
    if kind is int:
        return str(value) if field in _LONG else value
    if kind is float:
        return _NON_FINITE.get(str(value), value)
    return value.hex() if field in _IDS else base64.b64encode(value).decode()


@cache
def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def _rejected_json(kind: Kind, body: bytes) -> tuple[int, str]:
    reply = json.loads(body)["partialSuccess"]
    count = reply.get("rejectedSpans" if kind == "traces" else "rejectedLogRecords", 0)
    return max(int(count), 0), str(reply.get("errorMessage") or "")


def _rejected_protobuf(kind: Kind, body: bytes) -> tuple[int, str]:
    reply = _messages(kind)[1].FromString(body).partial_success
    count = reply.rejected_spans if kind == "traces" else reply.rejected_log_records
    return max(count, 0), reply.error_message
