"""Values that JSON has no word for, as tagged mappings, and back: `opened` reads what the others write.

``{"$float": "NaN"}`` (or ``Infinity``, ``-Infinity``), ``{"$int": "0x1f…"}`` for integers of more than 2,000
bits, ``{"$decimal": "1.10"}``, ``{"$bytes": base64, "size": 3}``. A mapping of the user's that looks like
one, or like a mark (`core.marks`), is recorded with one more ``$`` before its key: ``{"$$float": "NaN"}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agenttrace.core.marks import CYCLE, NOT_RECORDED, TRUNCATED, TYPE, UNREADABLE, bytes_of, cut_digits

LONG_INT = 1 << 2_000
"""Integers from here on are tagged: Python may be set to refuse numbers of more than 640 digits."""

_WORDS = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
_FLOATS = frozenset(_WORDS.values())
_HEX = re.compile(r"-?0x[0-9a-f]+")
_MOST_DIGITS = 64 * 1024
TAGS = frozenset({"$float", "$int", "$decimal", "$bytes"})
RESERVED = TAGS | {TYPE, CYCLE, TRUNCATED, UNREADABLE, NOT_RECORDED}


def float_data(value: float) -> Any:
    """A float as JSON data."""
    text = _WORDS.get(str(value))
    return value if text is None else {"$float": text}


def int_data(value: int, room: int = _MOST_DIGITS) -> Any:
    """An integer as JSON data; of a very long one, the first digits with the count of the rest."""
    if -LONG_INT < value < LONG_INT:
        return value
    count = (value.bit_length() + 3) // 4
    room = max(room, 64)
    if count <= room:
        return {"$int": hex(value)}
    head = hex(abs(value) >> 4 * (count - 64))
    return {"$int": cut_digits(f"{'-' if value < 0 else ''}{head}", count - 64)}


def int_text(value: int) -> str:
    """An integer as decimal digits; a very long one as its first hex digits with the count of the rest."""
    if -LONG_INT < value < LONG_INT:
        return str(value)
    count = (value.bit_length() - 256) // 4
    return cut_digits(f"{'-' if value < 0 else ''}{hex(abs(value) >> 4 * count)}", count)


def decimal_data(value: Any) -> dict[str, str]:
    """A Decimal as JSON data."""
    return {"$decimal": str(value)}


def untagged(data: Mapping[str, Any]) -> Any:
    """The value of a tagged mapping; any other mapping as it is."""
    if len(data) == 1:
        ((key, content),) = data.items()
        if type(content) is not str:
            return data
        if key == "$float" and content in _FLOATS:
            return float(content)
        if key == "$int" and _HEX.fullmatch(content):
            return int(content, 16)
        return _decimal(data, content) if key == "$decimal" else data
    if len(data) == 2 and "$bytes" in data:
        value = bytes_of(data)
        return data if value is None or len(value) != data["size"] else value
    return data


def opened(data: dict[str, Any], words: frozenset[str] = RESERVED) -> Any:
    """The value of a tagged mapping, the user's own mapping of an escaped one, any other as it is."""
    if not may_be_ours(data):
        return data
    value = untagged(data)
    keys = _keys_of_ours(data, words)
    if value is not data or not any(key.startswith("$$") for key in keys):
        return value
    return {(key[1:] if key in keys else key): item for key, item in data.items()}


def opened_throughout(value: Any) -> Any:
    """A recorded value with everything inside it opened; the same object where there is nothing to open."""
    kind = type(value)
    if kind is dict:
        data = opened(value)
        if type(data) is not dict:
            return data
        items = {key: opened_throughout(item) for key, item in data.items()}
        changed = data is not value or any(items[key] is not item for key, item in data.items())
        return items if changed else value
    if kind is list:
        parts = [opened_throughout(item) for item in value]
        return parts if any(part is not item for part, item in zip(parts, value, strict=True)) else value
    return value


def may_be_ours(data: Mapping[Any, Any]) -> bool:
    """Whether a mapping may be a tag or a mark: False, at little cost, for nearly all."""
    if len(data) > 2:
        return TRUNCATED in data or f"${TRUNCATED}" in data
    return any(type(key) is str and key[:1] == "$" for key in data)


def escaped(data: dict[str, Any], words: frozenset[str] = RESERVED) -> dict[str, Any]:
    """A mapping of the user's in its written form: with one more ``$`` where it looks like one of ours."""
    keys = _keys_of_ours(data, words) if may_be_ours(data) else []
    return {(f"${key}" if key in keys else key): item for key, item in data.items()} if keys else data


def _keys_of_ours(data: Mapping[Any, Any], words: frozenset[str]) -> list[str]:
    """The keys that make a mapping look like a tag or a mark, but for the number of their ``$``."""
    if len(data) > 2:  # the one mark that stands beside other keys
        return [key for key in (TRUNCATED, f"${TRUNCATED}") if key in data and TRUNCATED in words]
    return [key for key in data if (word := _word(key)) in words and _has_shape(word, data)]


def _has_shape(word: str | None, data: Mapping[Any, Any]) -> bool:
    return len(data) == 1 or word == TRUNCATED or (word == "$bytes" and "size" in data)


def _word(key: Any) -> str | None:
    """A key with one ``$`` in place of all that it begins with; None for a key without any."""
    return f"${key.lstrip('$')}" if type(key) is str and key[:1] == "$" else None


def _decimal(data: Mapping[str, Any], text: str) -> Any:
    from decimal import Decimal, InvalidOperation

    try:
        value = Decimal(text)
    except InvalidOperation:
        return data
    return value if value.is_finite() else float(text.lower().replace("snan", "nan"))
