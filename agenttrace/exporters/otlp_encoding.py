"""OTLP requests and answers as bytes: protobuf or JSON.

Encoded requests can be split in half, or joined, without building them again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any, Literal

from agenttrace.core.errors import MissingDependency
from agenttrace.core.protocols import Batch

Kind = Literal["traces", "logs"]
Protocol = Literal["http/protobuf", "http/json"]

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


def message_of(kind: Kind, body: bytes) -> Any:
    """A protobuf body as the library's message."""
    return _messages(kind)[0].FromString(body)


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


_LEVELS = {
    "traces": ("resource_spans", "scope_spans", "spans"),
    "logs": ("resource_logs", "scope_logs", "log_records"),
}
_JSON_LEVELS = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}


def split_in_half(batch: Batch) -> tuple[Batch, Batch]:
    """Two batches: the first half of a batch's items, and the rest."""
    middle = batch.items // 2
    return _part(batch, 0, middle, middle), _part(batch, middle, None, batch.items - middle)


def _part(batch: Batch, start: int, stop: int | None, items: int) -> Batch:
    if "json" in batch.content_type:
        request = json.loads(batch.body)
        _keep(request.get, dict.get, _JSON_LEVELS[batch.kind], start, stop)
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    else:
        message = message_of(batch.kind, batch.body)
        _keep(lambda name: getattr(message, name), getattr, _LEVELS[batch.kind], start, stop)
        body = message.SerializeToString()
    return replace(batch, items=items, body=body)


def _keep(top: Any, inner: Any, levels: tuple[str, str, str], start: int, stop: int | None) -> None:
    """Delete, in place, every record but those from `start` to `stop`, counted over all groups."""
    of_resource, of_scope, of_record = levels
    position = 0
    for group in top(of_resource) or ():
        for scope in inner(group, of_scope) or ():
            records = inner(scope, of_record)
            count = len(records)
            if stop is not None:
                del records[max(stop - position, 0) :]
            del records[: max(start - position, 0)]
            position += count


def join_batches(batches: Sequence[Batch]) -> tuple[Batch, list[int]]:
    """Join the first batches that use one protocol into one batch. Returns it with the keys of its parts."""
    first = batches[0]
    group = list(takewhile(lambda batch: batch.content_type == first.content_type, batches))
    if len(group) == 1:
        return first, [first.key]
    bodies = [batch.body for batch in group]
    if "json" in first.content_type:
        start = f'{{"{_JSON_LEVELS[first.kind][0]}":['.encode()  # as `encode` and `split_in_half` begin
        body = start + b",".join(body.removeprefix(start).removesuffix(b"]}") for body in bodies) + b"]}"
    else:
        body = b"".join(bodies)  # a message of protobuf after another is both
    return replace(first, items=sum(p.items for p in group), body=body), [p.key for p in group]
