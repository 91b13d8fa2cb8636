"""`jsonable`: any value as strict JSON data, the one form for storing, exporting, comparing."""

from __future__ import annotations

import json
import json.encoder
import re
from typing import Any

from agenttrace.core.limits import DEEPEST, WHOLE, Limits
from agenttrace.core.snapshot import first_snapshot, snapshot
from agenttrace.core.tagged import LONG_INT, float_data, int_data

_LONG_NUMBER = re.compile(r"\d{300}|e\+30[89]")
_NUMBER_AS_KEY = re.compile(r'"-?(?:\d[\d.e+-]*|NaN|Infinity|true|false|null)":')
"""Where keys were no texts, two of them may have become the same one."""

quoted = json.encoder.encode_basestring
"""The JSON of one text, as `to_json` writes it, without lone surrogates."""

_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def jsonable(value: Any, *, limit: int | None = None, limits: Limits = WHOLE) -> Any:
    """Return a strict-JSON copy of a value: whole, of at most `limit` characters, or within `limits`.

    Tuples and sets become lists, dates ISO text, enums their value, NaN, Decimals and bytes tagged mappings
    (`core.tagged`), lone surrogates U+FFFD, objects that are not records ``{"$type": …}``. Depth is
    bounded in any case. Never raises.
    """
    copy, _ = snapshot(value, limit, limits=limits)
    return clean(copy)


def recorded_form(value: Any) -> Any:
    """What a program passed as strict JSON data, whole, as recording has it: a mapping in it that only looks
    like a mark or a tagged value has one more ``$``."""
    return clean(first_snapshot(value, limits=WHOLE)[0])


def clean(value: Any) -> Any:
    """Make a snapshot strict JSON. Returns the same object where there is nothing to change."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else clean_text(value)
    if kind is int:
        return value if -LONG_INT < value < LONG_INT else int_data(value)
    if kind is float:
        return value if -1e308 <= value <= 1e308 else float_data(value)
    if kind is list or kind is tuple:
        return [clean(item) for item in value]
    if kind is dict:
        return {(key if key.isascii() else clean_text(key)): clean(item) for key, item in value.items()}
    return value


def clean_text(text: str) -> str:
    """Replace lone surrogates by U+FFFD, joining those that form a pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def to_json(value: Any) -> str:
    """Strict, compact JSON text of a value that is already JSON-safe."""
    return _COMPACT.encode(value)


_STYLES: tuple[dict[str, Any], ...] = ({}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 4})


def json_like(value: Any, text: str) -> str:
    """The JSON of a value, written as `text` is: on one line, compact, or indented, where it is so."""
    is_ascii = text.isascii()
    data = json.loads(text)
    for style in _STYLES:
        if json.dumps(data, ensure_ascii=is_ascii, **style) == text.strip():
            return json.dumps(value, ensure_ascii=is_ascii, **style)
    return json.dumps(value, ensure_ascii=is_ascii)


def json_text(value: Any) -> str:
    """The text of ``to_json(jsonable(value))``, made at once where the value is plain JSON data.

    A key of a subclass of str is its text.
    """
    try:
        text = _COMPACT.encode(value)
        text.encode()
    except (TypeError, ValueError, RecursionError):  # also of a lone surrogate, of NaN
        return to_json(jsonable(value))
    if (
        text.count("{") + text.count("[") > DEEPEST
        or _LONG_NUMBER.search(text)
        or _NUMBER_AS_KEY.search(text)
    ):
        return to_json(jsonable(value))
    return text


def readable_json(value: Any, *, indent: int | None = None) -> str:
    """Strict JSON text for people to read: spaced, with readable Unicode, which is escaped only where a lone
    surrogate makes that impossible."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, indent=indent)
    return text
