"""Calls, values and differences in few words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.core.jsonable import jsonable
from agenttrace.core.tool_call import ANY, ExpectedToolCall, ToolCall
from agenttrace.expectations.matcher import Matcher, Unordered
from agenttrace.expectations.values import Difference

MOST_VALUE = 60
"""Characters of one value in a difference."""


def shortened(text: str, most: int) -> str:
    """The text, cut to a number of characters with an ellipsis."""
    return text if len(text) <= most else text[: max(most - 1, 0)] + "…"


def value_text(value: Any, most: int = MOST_VALUE) -> str:
    """A value as one line: JSON where it is data, a matcher's own words where it is one."""
    return shortened(_text(value), most)


def _text(value: Any) -> str:
    if value is ANY or isinstance(value, Matcher):
        return repr(value)
    if isinstance(value, Unordered):
        return "{" + ", ".join(map(_text, value.members)) + "}"
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{json.dumps(str(k), ensure_ascii=False)}: {_text(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    if callable(value):
        return getattr(value, "__name__", repr(value))
    return json.dumps(jsonable(value), ensure_ascii=False)


def expected_text(expected: ExpectedToolCall, most: int) -> str:
    """An expected call as ``refund(id=7, amount=approx(12, abs=1))``; without arguments only its name."""
    said: list[str] = []
    if isinstance(expected.arguments, Mapping):
        said = [f"{key}={_text(value)}" for key, value in expected.arguments.items()]
    text = f"{expected.name}({', '.join(said)})" if expected.arguments is not ANY else expected.name
    if expected.output is not ANY:
        text += f" → {_text(expected.output)}"
    if expected.agent is not None:
        text += f" by {expected.agent}"
    if expected.turn is not None:
        text += f" in turn {expected.turn}"
    return shortened(text, most)


def actual_text(call: ToolCall, most: int) -> str:
    """An actual call as ``refund(id=7, amount=12.5)``."""
    return shortened(f"{call.name}({', '.join(_arguments(call.arguments, most))})", most)


def _arguments(arguments: Mapping[str, Any], most: int) -> Iterable[str]:
    for key, value in arguments.items():
        yield f"{key}={shortened(_text(value), most)}"


def difference_text(difference: Difference, most: int = 3 * MOST_VALUE) -> str:
    """A difference as ``amount: expected 12.0, got 12.5``."""
    place = f"{difference.path}: " if difference.path else ""
    each = max((most - len(place) - 15) // 2, 12)
    each = min(each, MOST_VALUE)
    if difference.kind == "missing":
        text = f"{place}expected {value_text(difference.expected, each)}, not given"
    elif difference.kind == "unexpected":
        text = f"{place}not expected, got {value_text(difference.got, each)}"
    else:
        text = (
            f"{place}expected {value_text(difference.expected, each)}, got {value_text(difference.got, each)}"
        )
    return f"{text} ({difference.note})" if difference.note else text
