"""Reads a trace as Langfuse's API answers it: observations are spans, their metadata holds attributes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.digests import digest_of
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.otlp_in.arrival import LATEST, Arrival, ArrivedSpan
from agenttrace.otlp_in.values import value_of

_FIELDS = {
    "type": "langfuse.observation.type",
    "input": "langfuse.observation.input",
    "output": "langfuse.observation.output",
    "level": "langfuse.observation.level",
    "statusMessage": "langfuse.observation.status_message",
    "model": "langfuse.observation.model.name",
    "usageDetails": "langfuse.observation.usage_details",
}
"""The attributes under which Langfuse takes what its API shows as fields."""
_HEX = frozenset("0123456789abcdef")


def is_langfuse(payload: Mapping[str, Any]) -> bool:
    """Whether this is a trace of Langfuse's: a list of observations, with the trace beside them or around."""
    observations = payload.get("observations")
    return isinstance(observations, list) and all(isinstance(one, Mapping) for one in observations)


def read_langfuse(payload: Mapping[str, Any], arrival: Arrival) -> None:
    """Add the observations of a trace to the arrival."""
    trace = payload.get("trace")
    trace = trace if isinstance(trace, Mapping) else payload
    for observation in payload["observations"]:
        arrival.check_room()
        if not observation.get("id"):
            arrival.note(f"observation {observation.get('name')!r}: got no id")
            continue
        arrival.spans.append(_span(observation, trace))


def _span(observation: Mapping[str, Any], trace: Mapping[str, Any]) -> ArrivedSpan:
    metadata = value_of(jsonable(observation.get("metadata")))
    metadata = metadata if isinstance(metadata, dict) else {}
    raw, scope, resource = (
        _mapping(metadata.get(key)) for key in ("attributes", "scope", "resourceAttributes")
    )
    attributes = dict(raw)
    for name, key in _FIELDS.items():
        value = observation.get(name)
        if value is not None and key not in attributes:
            attributes[key] = value if isinstance(value, str) else to_json(jsonable(value))
    for name, key in (("sessionId", semconv.SESSION_ID), ("userId", semconv.CUSTOMER_ID)):
        if isinstance(trace.get(name), str):
            attributes.setdefault(key, trace[name])
    parent = observation.get("parentObservationId")
    failed = str(observation.get("level")).upper() == "ERROR"
    message = observation.get("statusMessage")
    start = _time(observation.get("startTime"))
    return ArrivedSpan(
        _key(observation.get("traceId") or trace.get("id"), 32),
        _key(observation["id"], 16),
        _key(parent, 16) if parent else None,
        str(observation.get("name") or ""),
        start,
        _time(observation.get("endTime")) or start,
        attributes,
        status=2 if failed else 0,
        status_message=message if isinstance(message, str) else "",
        scope=str(scope.get("name") or ""),
        resource=resource,
    )


def _mapping(value: Any) -> dict[str, Any]:
    value = value_of(value)
    return value if isinstance(value, dict) else {}


def _key(text: Any, digits: int) -> int:
    """An id as OpenTelemetry has them; of one that is not written so, a number made of it."""
    plain = str(text).replace("-", "").lower()
    if len(plain) != digits or not _HEX.issuperset(plain):
        plain = digest_of(str(text))[:digits]
    return int(plain, 16) or 1


def _time(text: Any) -> int:
    """Nanoseconds of an ISO text; 0 where it is none."""
    try:
        moment = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
        return min(max(int(moment.timestamp() * 1_000_000) * 1_000, 0), LATEST)
    except (ValueError, OverflowError, OSError):
        return 0
