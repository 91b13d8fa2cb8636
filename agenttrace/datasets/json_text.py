"""Strict JSON parsing: whatever readers could understand differently is an error."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from agenttrace.core.file_form import MAX_DEPTH

MAX_DIGITS = 4_300
"""The most digits of an integer; Python itself refuses to print more."""


class InvalidJSON(ValueError):
    """The text is not JSON, or readers would not all understand it the same way. `pos` may be None."""

    def __init__(self, message: str, pos: int | None = None) -> None:
        super().__init__(message)
        self.pos = pos


def strict_json(text: str) -> Any:
    """Read one JSON value.

    Raises:
        InvalidJSON: not JSON; NaN, Infinity or a number beyond a double; an integer of more than 4,300
            digits; a key twice in one object; too deeply nested.
    """
    start = skip_space(text, 0)
    value, end = decode_at(text, start)
    end = skip_space(text, end)
    if end != len(text):
        raise InvalidJSON("there is more text after the JSON value", end)
    return value


def decode_at(text: str, pos: int) -> tuple[Any, int]:
    """Read the JSON value that begins at `pos`; return it and where it ends. Raises as `strict_json`."""
    try:
        return _DECODER.raw_decode(text, pos)
    except json.JSONDecodeError as error:
        raise InvalidJSON(error.msg, error.pos) from None
    except RecursionError:
        raise InvalidJSON(f"nested more than {MAX_DEPTH} levels deep", pos) from None


def skip_space(text: str, pos: int) -> int:
    """The first position from `pos` that is not white space."""
    space = _SPACE.match(text, pos)
    return space.end() if space else pos


def without_comments(text: str) -> str:
    """Replace ``//`` comments, and commas before a closing bracket, by blanks, so that positions stay valid.

    Hand-written files have them, and so does the export in the judgeval platform's documentation.
    """
    text = _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else " " * len(match[0]), text)
    return _COMMA.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)


# A string that is never closed runs to the end of the text, so that scanning stays linear.
_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_COMMENT = re.compile(_STRING + r"|//[^\r\n]*", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=[ \t\r\n]*[}\]])", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidJSON(f"the key {twice!r} stands twice in one object")
    return entries


def _constant(name: str) -> Any:
    raise InvalidJSON(f"{name} is not JSON; write null, or a text")


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise InvalidJSON(f"an integer of {len(text)} digits; write it as a text")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise InvalidJSON(f"the number {text} is too large; write it as a text")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_int=_integer, parse_float=_float
)
