"""Rows of the collector's table as spans of OpenTelemetry: one form for columns of maps and of JSON.

The columns are those that `clickhouseexporter` of opentelemetry-collector-contrib makes. In maps every
value is a text; what is a number by its name becomes one again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.otlp_in.arrival import ArrivedSpan, Event

COLUMNS = (
    "TraceId",
    "SpanId",
    "ParentSpanId",
    "SpanName",
    "toUnixTimestamp64Nano(Timestamp)",
    "Duration",
    "toString(StatusCode)",
    "StatusMessage",
    "ScopeName",
    "toJSONString(ResourceAttributes)",
    "toJSONString(SpanAttributes)",
    "arrayMap(moment -> toUnixTimestamp64Nano(moment), Events.Timestamp)",
    "Events.Name",
    "arrayMap(attributes -> toJSONString(attributes), Events.Attributes)",
)

_STATUS = {"ok": 1, "error": 2, "status_code_ok": 1, "status_code_error": 2, "1": 1, "2": 2}
_NUMBER_NAMES = re.compile(
    r"(?:.*[._])?(?:(?:input|output|prompt|completion|total|cached?|reasoning|max)\w*_?tokens"
    r"|\w*Tokens|token_count\.[\w.]+|temperature|top_[pk]|seed|frequency_penalty|presence_penalty|[\w.]*cost[\w.]*"
    r"|time_to_first_\w+|\w*duration\w*|choice\.count|status_code|score)"
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?")
_TRUTH = {"true": True, "false": False}
_DEEPEST = 64


def arrived(row: Sequence[Any]) -> ArrivedSpan | None:
    """The span of a row; None where its ids are none."""
    trace, span, parent = (_key(text) for text in row[:3])
    if not trace or not span:
        return None
    begin, duration = int(row[4]), max(int(row[5]), 0)
    moments, names, attributes = row[11:14]
    events = [
        Event(str(name), int(moment), _attributes(text))
        for moment, name, text in zip(moments, names, attributes, strict=False)
    ]
    return ArrivedSpan(
        trace,
        span,
        parent or None,
        str(row[3]),
        begin,
        begin + duration,
        _attributes(row[10]),
        events,
        _STATUS.get(str(row[6]).lower(), 0),
        str(row[7]),
        str(row[8]),
        _attributes(row[9]),
    )


def _key(text: Any) -> int:
    try:
        return int(text or "0", 16)
    except (ValueError, TypeError):
        return 0


def _attributes(text: str) -> dict[str, Any]:
    """Attributes by their whole name: of JSON columns, names with dots come as objects inside objects."""
    try:
        values = lenient_json(text)
    except InvalidJSON:
        return {}
    flat: dict[str, Any] = {}
    if isinstance(values, Mapping):
        _flatten(values, "", flat, 0)
    return flat


def _flatten(values: Mapping[str, Any], before: str, flat: dict[str, Any], depth: int) -> None:
    for name, value in values.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            _flatten(value, f"{before}{name}.", flat, depth + 1)
        elif value is not None:
            flat[before + name] = _typed(before + name, value)


def _typed(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value in _TRUTH:
            return _TRUTH[value]
        if _NUMBER.fullmatch(value) and _NUMBER_NAMES.fullmatch(name):
            return float(value) if set(value) & set(".eE") else int(value)
    return value
