"""Reads a trace as Langfuse's API answers it: observations are spans, their metadata holds attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.otlp_in.arrival import Arrival, ArrivedSpan, key_of, moment_ns
from agenttrace.otlp_in.values import value_of

_FIELDS = {
    "type": "langfuse.observation.type",
    "input": "langfuse.observation.input",
    "output": "langfuse.observation.output",
    "level": "langfuse.observation.level",
    "statusMessage": "langfuse.observation.status_message",
    "model": "langfuse.observation.model.name",
    "usageDetails": "langfuse.observation.usage_details",
    "usage": "langfuse.observation.usage_details",
    "costDetails": "langfuse.observation.cost_details",
}
"""The attributes under which Langfuse takes what its API shows as fields; of two for one, the first."""
_FIRST_COUNTS = {"promptTokens": "llm.usage.prompt_tokens", "completionTokens": "llm.usage.completion_tokens"}
"""The fields that it had for tokens at first: beside the others they are 0."""
_TYPES = frozenset(
    (
        "SPAN",
        "GENERATION",
        "EVENT",
        "TOOL",
        "AGENT",
        "CHAIN",
        "RETRIEVER",
        "EMBEDDING",
        "EVALUATOR",
        "GUARDRAIL",
    )
)
_EVENT = "EVENT"
"""The type of an observation that is a moment, and so never has an end."""
_LABELS = ("release", "version", "environment")
"""What Langfuse says of a trace beside its metadata."""
_OPENTELEMETRY = frozenset(("attributes", "scope", "resourceAttributes"))
"""The keys of metadata under which it puts what a span of OpenTelemetry had."""


def is_langfuse(payload: Mapping[str, Any]) -> bool:
    """Whether this is of Langfuse's: a trace with its observations, a page of such, or one observation."""
    return _observations(payload) is not None


def _observations(payload: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    for key in ("observations", "data"):
        parts = payload.get(key)
        if isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts):
            return parts if key == "observations" or all(map(is_langfuse, parts)) else None
    kind = payload.get("type")
    return [payload] if isinstance(kind, str) and kind in _TYPES and "id" in payload else None


def read_langfuse(payload: Mapping[str, Any], arrival: Arrival) -> None:
    """Add the observations of a trace to the arrival; what is said of the trace goes to its roots."""
    trace = payload.get("trace")
    trace = _with_api_names(trace if isinstance(trace, Mapping) else payload)
    parts = _observations(payload) or []
    of_trace = _of_trace(trace) if "observations" in payload else {}
    if "observations" in payload:
        _count_left_out(payload, trace, parts, arrival)
    keys = {part.get("id") for part in parts}
    for part in parts:
        if "observations" in part:
            read_langfuse(part, arrival)
            continue
        observation = _with_api_names(part)
        arrival.check_room()
        if not observation.get("id"):
            arrival.note(f"observation {observation.get('name')!r}: got no id")
            continue
        if not (observation.get("traceId") or trace.get("id")):
            arrival.note(f"observation {observation.get('name')!r}: got no trace's id")
            continue
        span = _span(observation, trace)
        if observation.get("parentObservationId") not in keys:
            span.attributes = {**of_trace, **span.attributes}
        arrival.spans.append(span)


def _of_trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of its roots that say what is said of a trace: its tags, its metadata, its release."""
    raw = value_of(jsonable(trace.get("metadata")))
    metadata = raw if isinstance(raw, dict) else {} if raw is None else {"metadata": raw}
    metadata = {key: value for key, value in metadata.items() if key not in _OPENTELEMETRY}
    metadata |= {name: trace[name] for name in _LABELS if isinstance(trace.get(name), str) and trace[name]}
    tags = trace.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return {
        **({semconv.METADATA: metadata} if metadata else {}),
        **({semconv.TAGS: tags} if tags else {}),
    }


def _count_left_out(
    payload: Mapping[str, Any], trace: Mapping[str, Any], parts: Sequence[Any], arrival: Arrival
) -> None:
    scores = trace.get("scores") or payload.get("scores")
    if isinstance(scores, list) and scores:
        arrival.left_out["scores of Langfuse, whose scale and threshold it does not say"] += len(scores)
    if not parts:
        arrival.left_out["traces of Langfuse without an observation"] += 1


def _span(observation: Mapping[str, Any], trace: Mapping[str, Any]) -> ArrivedSpan:
    metadata = value_of(jsonable(observation.get("metadata")))
    metadata = metadata if isinstance(metadata, dict) else {}
    raw, scope, resource = (
        _mapping(metadata.get(key)) for key in ("attributes", "scope", "resourceAttributes")
    )
    attributes = dict(raw)
    for name, key in _FIELDS.items():
        value = observation.get(name)
        if value is not None and value != {} and key not in attributes:
            attributes[key] = value if isinstance(value, str) else to_json(jsonable(value))
    if _FIELDS["usage"] not in attributes:
        attributes |= {key: observation[name] for name, key in _FIRST_COUNTS.items() if observation.get(name)}
    for name, key in (("sessionId", semconv.SESSION_ID), ("userId", semconv.CUSTOMER_ID)):
        named = observation.get(name) or trace.get(name)
        if isinstance(named, str):
            attributes.setdefault(key, named)
    parent = observation.get("parentObservationId")
    failed = str(observation.get("level")).upper() == "ERROR"
    message = observation.get("statusMessage")
    start = moment_ns(observation.get("startTime"))
    end = moment_ns(observation.get("endTime"))
    is_moment = str(observation.get("type")).upper() == _EVENT
    return ArrivedSpan(
        key_of(observation.get("traceId") or trace.get("id"), 32),
        key_of(observation["id"], 16),
        key_of(parent, 16) if parent else None,
        str(observation.get("name") or ""),
        start,
        end or (start if is_moment else 0),
        attributes,
        status=2 if failed else 0,
        status_message=message if isinstance(message, str) else "",
        scope=str(scope.get("name") or ""),
        resource=resource,
    )


def _with_api_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields under the names of the API, also where Langfuse's Python client wrote them its own way."""
    named = {}
    for key, value in fields.items():
        first, *rest = str(key).split("_")
        named[first + "".join(word.capitalize() for word in rest)] = value
    return named


def _mapping(value: Any) -> dict[str, Any]:
    value = value_of(value)
    return value if isinstance(value, dict) else {}
