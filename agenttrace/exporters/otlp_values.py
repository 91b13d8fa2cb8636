"""Any value in OTLP's own form for attribute values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.jsonable import clean_text, jsonable, to_json
from agenttrace.core.snapshot import int_text

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
        return {"string_value": value if value.isascii() else clean_text(value)}
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
    except (TypeError, ValueError, RecursionError):
        text = to_json(jsonable(value))
    return text if text.isascii() else clean_text(text)


def _is_array(items: Sequence[Any]) -> bool:
    kinds = set(map(type, items))
    return not kinds or (len(kinds) == 1 and kinds <= _SCALARS)
