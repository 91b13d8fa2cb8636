"""Spans or scores as the OTLP request that carries them.

Requests are plain dicts under protobuf's field names: ids are bytes, enums and times integers. A bad value
never costs the rest of the batch.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from agenttrace.core import semconv
from agenttrace.core.score import Score
from agenttrace.core.span import Span, SpanError
from agenttrace.exporters.otlp_attributes import Semconv, attributes_of, wire_name
from agenttrace.exporters.otlp_encoding import key_values, wire_text
from agenttrace.exporters.otlp_tools import NO_TOOLS, Tools, known_tools_texts
from agenttrace.exporters.score_facts import metadata_of
from agenttrace.version import __version__

log = logging.getLogger("agenttrace")

_SCOPE = {"name": "agenttrace", "version": __version__}
_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2
_INFO, _WARN = 9, 13
_LAST_TIME = (1 << 64) - 1
_TYPE_NAME = re.compile(r"[\w.]+(?=:|$)")


def trace_request(
    spans: Sequence[Span],
    *,
    resource: Mapping[str, Any],
    content: bool,
    names: Semconv = "both",
    tools: Tools = NO_TOOLS,
) -> dict[str, Any]:
    """An ``ExportTraceServiceRequest``: the spans of each project under a resource of their own.

    `names` is that of `attributes_of`; `tools` are those that each project knows, called or not, whose
    definitions are content.
    """
    texts = known_tools_texts(spans, tools) if content and tools else {}
    by_project: dict[str, list[dict[str, Any]]] = {}
    for span in spans:
        record = _span(span, content, names, texts.get((span.trace_key, span.span_key)))
        by_project.setdefault(span.project, []).append(record)
    return {
        "resource_spans": [
            {
                "resource": _resource(project, resource),
                "scope_spans": [{"scope": _SCOPE, "spans": records, "schema_url": semconv.SCHEMA_URL}],
            }
            for project, records in by_project.items()
        ]
    }


def log_request(
    scores: Sequence[tuple[str | None, str | None, Score]],
    times: Sequence[int],
    *,
    project: str,
    resource: Mapping[str, Any],
    content: bool,
) -> dict[str, Any]:
    """An ``ExportLogsServiceRequest``: each score as an event of the span that was scored.

    `scores` come with the trace id and the span id in hex; None for a score of the whole trace. `times` are
    when they were stored.
    """
    records = [
        _event(score, trace_id, span_id, _time(time), content)
        for (trace_id, span_id, score), time in zip(scores, times, strict=True)
    ]
    scope_logs = [{"scope": _SCOPE, "log_records": records, "schema_url": semconv.SCHEMA_URL}]
    return {"resource_logs": [{"resource": _resource(project, resource), "scope_logs": scope_logs}]}


def resource_from_environment() -> dict[str, str]:
    """The resource attributes from ``OTEL_RESOURCE_ATTRIBUTES`` (``key=value,…``, percent-encoded).

    ``OTEL_SERVICE_NAME`` overrides the service's name. A malformed entry is skipped with a warning.
    """
    resource, malformed = {}, []
    for entry in filter(str.strip, os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "").split(",")):
        key, separator, value = (unquote(part.strip()) for part in entry.partition("="))
        if key and separator:
            resource[key] = value
        else:
            malformed.append(entry.strip())
    if malformed:
        log.warning(
            "OTEL_RESOURCE_ATTRIBUTES: got %s, wanted key=value; such entries are skipped",
            ", ".join(map(repr, malformed)),
        )
    service = os.environ.get("OTEL_SERVICE_NAME", "").strip()
    return {**resource, semconv.SERVICE_NAME: service} if service else resource


def _resource(project: str, resource: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {
        **({semconv.PHOENIX_PROJECT: project} if project else {}),
        **resource,
        semconv.SERVICE_NAME: resource.get(semconv.SERVICE_NAME) or project or "unknown_service",
        semconv.PROJECT: project,
        semconv.SDK_NAME: "agenttrace",
        semconv.SDK_LANGUAGE: "python",
        semconv.SDK_VERSION: __version__,
    }
    return {"attributes": key_values(attributes)}


def _span(span: Span, content: bool, names: Semconv, tools_text: str | None) -> dict[str, Any]:
    attributes = attributes_of(span, content=content, names=names)
    if tools_text is not None:
        attributes[semconv.KNOWN_TOOLS] = tools_text
    record: dict[str, Any] = {
        "trace_id": span.trace_key.to_bytes(16, "big"),
        "span_id": span.span_key.to_bytes(8, "big"),
        "name": wire_text(wire_name(span)),
        "kind": _CLIENT if span.span_type == "llm" else _INTERNAL,
        "start_time_unix_nano": _time(span.start_ns),
        "end_time_unix_nano": _time(span.end_ns),
        "attributes": key_values(attributes),
    }
    if span.parent_key is not None:
        record["parent_span_id"] = span.parent_key.to_bytes(8, "big")
    if span.status == "ok":
        record["status"] = {"code": _OK}  # explicit: a cancelled call has no status, and is no success
    elif span.status == "error":
        message = span.error.message if span.error and content else ""
        record["status"] = {"code": _ERROR, "message": wire_text(message)}
    if span.error is not None:
        record["events"] = [_exception(span.error, _time(span.end_ns), content)]
    return record


def _exception(error: SpanError, time: int, content: bool) -> dict[str, Any]:
    attributes = {semconv.EXCEPTION_TYPE: error.type}
    if content:
        attributes[semconv.EXCEPTION_MESSAGE] = error.message
        attributes[semconv.EXCEPTION_STACKTRACE] = _traceback(error)
    return {"name": "exception", "time_unix_nano": time, "attributes": key_values(attributes)}


def _traceback(error: SpanError) -> str:
    """The traceback as Python prints it, without the source lines."""
    frames = [f'  File "{frame.file}", line {frame.line}, in {frame.function}' for frame in error.frames]
    return "\n".join(["Traceback (most recent call last):", *frames, str(error)] if frames else [str(error)])


def _event(
    score: Score, trace_id: str | None, span_id: str | None, time: int, content: bool
) -> dict[str, Any]:
    errored = score.outcome == "errored"
    attributes = {
        semconv.EVALUATION_NAME: score.name,
        semconv.EVALUATION_VALUE: None if score.value is None else float(score.value),
        semconv.EVALUATION_LABEL: score.outcome,
        semconv.EVALUATION_EXPLANATION: score.reason or None if content else None,
        semconv.ERROR_TYPE: _error_type(score) if errored else None,
        **{f"{semconv.EVALUATION}{name}": value for name, value in metadata_of(score).items()},
    }
    result_text = score.outcome if score.value is None else f"{score.outcome} {score.value:g}"
    return {
        "time_unix_nano": time,
        "observed_time_unix_nano": time,
        "severity_number": _WARN if errored else _INFO,
        "severity_text": "WARN" if errored else "INFO",
        "event_name": semconv.EVALUATION_RESULT,
        "body": {"string_value": wire_text(f"{score.name}: {result_text}")},
        "attributes": key_values(attributes),
        "trace_id": _id(trace_id or "", 16),
        "span_id": _id(span_id or "", 8),
    }


def _error_type(score: Score) -> str:
    """The exception's type that a broken scorer's reason begins with, or ``_OTHER`` where there is none."""
    match = _TYPE_NAME.match(score.reason) if "Traceback" in (score.error or "") else None
    return match[0] if match else semconv.OTHER_ERROR


def _id(text: str, size: int) -> bytes:
    """An id's bytes; empty for a malformed id, because a receiver would reject the whole request for it."""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        return b""
    return key if len(key) == size else b""


def _time(time: int) -> int:
    return time if 0 <= time <= _LAST_TIME else 0
