"""Read JSON text: strictly, where two readers must not understand it differently, or as others write it."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any

from agenttrace.core.file_form import MAX_DEPTH

MAX_DIGITS = 4_300
"""The most digits of an integer; Python itself refuses to print more."""


class InvalidJSON(ValueError):
    """The text is not JSON, or readers would not all understand it the same way.

    The message is for the text's author, and quotes the key or the number that is wrong. `problem` quotes
    nothing: a model's reply may repeat what it judges, and must not carry that into a message. `pos` is
    where in the text, or None.
    """

    def __init__(self, message: str, pos: int | None = None, *, problem: str | None = None) -> None:
        super().__init__(message)
        self.pos = pos
        self.problem = message if problem is None else problem


def strict_json(text: str) -> Any:
    """Read one JSON value.

    Raises:
        InvalidJSON: not JSON, or more than one value; NaN, Infinity or a number beyond a double; an integer
            of more than 4,300 digits; a key twice in one object; too deeply nested.
    """
    value, end = decode_at(text, skip_space(text, 0))
    end = skip_space(text, end)
    if end != len(text):
        raise _not_one("there is more text after the JSON value", end)
    return value


def decode_at(text: str, pos: int) -> tuple[Any, int]:
    """Read the JSON value that begins at `pos`; return it and where it ends. Raises as `strict_json`."""
    try:
        return _STRICT.raw_decode(text, pos)
    except json.JSONDecodeError as error:
        raise _not_one(error.msg, error.pos) from None
    except RecursionError:
        message = f"nested more than {MAX_DEPTH} levels deep"
        raise InvalidJSON(message, pos, problem="nested too deeply") from None


def skip_space(text: str, pos: int) -> int:
    """Return the first position from `pos` that is not white space."""
    space = _SPACE.match(text, pos)
    return space.end() if space else pos


def lenient_json(text: str | bytes) -> Any:
    """Read what a foreign program, a model or a server calls JSON, as Python does: it was accepted elsewhere
    already, and is recorded or compared as it came. NaN and a key that stands twice are no errors.

    Raises:
        InvalidJSON: not JSON, or too deeply nested.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also bytes of no encoding, an integer of too many digits
        raise InvalidJSON(str(error)) from None


def lenient_json_at(text: str, pos: int) -> tuple[Any, int]:
    """Read what `lenient_json` reads from `pos` on; return it and where it ends.

    Raises:
        InvalidJSON: no JSON begins there; its `pos` is how far it could be read.
    """
    try:
        return _LENIENT.raw_decode(text, pos)
    except json.JSONDecodeError as error:
        raise InvalidJSON(error.msg, error.pos) from None
    except (ValueError, RecursionError) as error:
        raise InvalidJSON(str(error), len(text)) from None


def plain_json(text: str) -> Any:
    """Read what `lenient_json` reads, where all its numbers are kept as they are: integers of fewer than 600
    digits, floats that are finite.

    Raises:
        InvalidJSON: it is no JSON, there is space around it, or it has other numbers: ask `lenient_json`.
    """
    if len(text) >= 600 and _DIGITS.search(text[::200]):  # 600 digits in a row show in any 200th character
        raise InvalidJSON("a number may be too large")
    try:
        value, end = _PLAIN.raw_decode(text)
    except (ValueError, RecursionError):
        raise InvalidJSON("not plain JSON") from None
    if end != len(text):
        raise InvalidJSON("not plain JSON")
    return value


def json_object_in(text: str) -> dict[str, Any] | None:
    """Return the object that a text holds as JSON, or None: how models give the arguments of a tool call."""
    try:
        value = lenient_json(text)
    except InvalidJSON:
        return None
    return value if isinstance(value, dict) else None


def json_or_literal(text: str) -> Any:
    """Return the value of a text that is JSON or, as some libraries record a mapping, a Python literal; any
    other text as it is."""
    try:
        return lenient_json(text)
    except InvalidJSON:
        if not text.startswith(_LITERALS):
            return text
    try:
        return python_literal(text)
    except InvalidJSON:
        return text


def python_literal(text: str) -> Any:
    """Read a Python literal, as `repr` writes a value of plain types.

    Raises:
        InvalidJSON: it is none.
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
        raise InvalidJSON(f"not a Python literal: {error}") from None


_LENIENT = json.JSONDecoder()
_LITERALS = ("{", "[", "True", "False", "None")
_SPACE = re.compile(r"[ \t\r\n]*")


def _not_one(message: str, pos: int) -> InvalidJSON:
    return InvalidJSON(message, pos, problem=f"not one JSON document: {message} at character {pos}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        message = f"the key {twice!r} stands twice in one object"
        raise InvalidJSON(message, problem="a key stands twice in one object")
    return entries


def _constant(name: str) -> Any:
    raise InvalidJSON(
        f"{name} is not JSON; write null, or a text", problem="NaN and Infinity are not JSON numbers"
    )


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        message = f"an integer of {len(text)} digits; write it as a text"
        raise InvalidJSON(message, problem="a number is too large")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        message = f"the number {text} is too large; write it as a text"
        raise InvalidJSON(message, problem="a number is too large")
    return value


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_int=_integer, parse_float=_float
)


_PLAIN = json.JSONDecoder(parse_float=_float, parse_constant=_constant)
_DIGITS = re.compile("[0-9]{3}")
