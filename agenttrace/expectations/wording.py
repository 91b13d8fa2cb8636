"""Calls, values and differences in few words."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Mapping
from typing import Any

from agenttrace.core.jsonable import jsonable
from agenttrace.core.tool_call import ANY, ExpectedToolCall, ToolCall
from agenttrace.expectations.matcher import Matcher, Unordered
from agenttrace.expectations.values import Difference

MOST_VALUE = 60
"""Characters of one value in a difference."""

_CUTS = (40, 24, 16, 10)
"""Characters that a value is cut to, one after the other, until a call fits."""


_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'" r'|"(?:[^"\\]|\\.)*"')
_write = json.JSONEncoder(ensure_ascii=False).encode


def shortened(text: str, most: int) -> str:
    """The text, cut to a number of characters with an ellipsis."""
    return text if len(text) <= most else text[: max(most - 1, 0)] + "…"


def value_text(value: Any, most: int = MOST_VALUE) -> str:
    """A value as one line: JSON where it is data, a matcher's own words where it is one."""
    return shortened(_text(value), most)


def _text(value: Any) -> str:
    kind = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return _write(value)
    if value is ANY or isinstance(value, Matcher):
        return _QUOTED.sub(_requoted, repr(value))
    if isinstance(value, Unordered):
        return "{" + ", ".join(map(_text, value.members)) + "}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_write(str(k))}: {_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    if callable(value):
        return getattr(value, "__name__", repr(value))
    return _write(jsonable(value))


def _requoted(quoted: re.Match[str]) -> str:
    """A text inside a matcher, in the quotes in which values are shown."""
    try:
        return _write(literal_eval(quoted[0]))
    except (ValueError, SyntaxError):  # no text of Python's, for example in a name of the user's
        return quoted[0]


def expected_text(expected: ExpectedToolCall, most: int) -> str:
    """An expected call as ``refund(id=7, amount=approx(12, abs=1))``; without arguments only its name."""
    rest = "" if expected.output is ANY else f" → {value_text(expected.output)}"
    rest += "" if expected.agent is None else f" by {expected.agent}"
    rest += "" if expected.turn is None else f" in turn {expected.turn}"
    if not isinstance(expected.arguments, Mapping):
        return shortened(expected.name + rest, most)
    return shortened(_call_text(expected.name, expected.arguments, most - len(rest)) + rest, most)


def actual_text(call: ToolCall, most: int) -> str:
    """An actual call as ``refund(id=7, amount=12.5)``."""
    return _call_text(call.name, call.arguments, most)


def _call_text(name: str, arguments: Mapping[str, Any], most: int) -> str:
    """A call in so many characters: with its values in full, or cut, the longest ones first."""
    texts = {key: _text(value) for key, value in arguments.items()}
    said = ""
    for each in (most, *_CUTS):
        said = ", ".join(f"{key}={shortened(text, each)}" for key, text in texts.items())
        if len(name) + len(said) + 2 <= most:
            break
    return shortened(f"{name}({said})", most)


def difference_text(difference: Difference, most: int = 3 * MOST_VALUE) -> str:
    """A difference as ``amount: expected 12.0, got 12.5``; long texts from where they part."""
    place = f"{difference.path}: " if difference.path else ""
    each = min(max((most - len(place) - 15) // 2, 12), MOST_VALUE)
    expected, got = _text(difference.expected), _text(difference.got)
    if difference.kind == "missing":
        text = f"{place}expected {shortened(expected, each)}, not given"
    elif difference.kind == "unexpected":
        text = f"{place}not expected, got {shortened(got, each)}"
    else:
        start = _parting(expected, got, each)
        text = f"{place}expected {_from(expected, start, each)}, got {_from(got, start, each)}"
    return f"{text} ({difference.note})" if difference.note else text


def _parting(one: str, other: str, each: int) -> int:
    """Where to begin so that so many characters show the first difference: at 0 if they do from there."""
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if same is None:
        same = min(len(one), len(other))
    return 0 if same < each - 4 else same - each // 3


def _from(text: str, start: int, most: int) -> str:
    return shortened(text if start == 0 else "…" + text[start:], most)
