"""What is asked for with the option ``redact``: a level, names, shapes, each of them checked."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, get_args

from agenttrace.core.errors import ConfigError
from agenttrace.core.marks import REDACTED
from agenttrace.redaction.backtracking import runs_away
from agenttrace.redaction.names import plain
from agenttrace.redaction.personal import KINDS, PERSONAL, without_personal

Level = Literal["off", "standard", "strict"]
LEVELS: tuple[str, ...] = get_args(Level)

OwnShape = str | re.Pattern[str]
"""The name of a kind of what is personal, or a regular expression."""

Without = Callable[[str], tuple[str, int]]
"""Returns a text without what is looked for, and how many were found."""

_ALL = "personal"
_MISSPELT = 0.7
"""How alike a word and a kind are, from 0 to 1, for the word to be meant as that kind."""


def checked(names: Any, option: str) -> list[str]:
    """A list of names.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ConfigError(f"{option} is a list of names, got {names!r}; write [{names!r}]")
    texts = list(names)
    for name in texts:
        if not isinstance(name, str) or not plain(name):
            raise ConfigError(f"{option} is a list of names, got {name!r} in it")
    return texts


def checked_call(call: Any) -> Any:
    """The user's function, which is called with a name and a value.

    Raises:
        ConfigError: it cannot be called so: every value would be taken out, since it raises.
    """
    if call is None:
        return None
    if not callable(call):
        raise ConfigError(f"call is a function of a name and a value, got {call!r}")
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):  # one of C's, which does not say what it takes
        return call
    try:
        signature.bind("name", "value")
    except TypeError as error:
        raise ConfigError(
            f"redact is called as redact(name, value) for each value, and {call!r} cannot be: {error}"
        ) from None
    return call


def checked_level(level: Any) -> Level:
    """A level.

    Raises:
        ConfigError: it is something else.
    """
    if level not in LEVELS:
        raise ConfigError(f"level is one of {', '.join(LEVELS)}; got {level!r}")
    return level  # type: ignore[no-any-return] # it is one of these


def own_shapes(level: Any, shapes: Any, except_: frozenset[str]) -> list[Without]:
    """What takes the user's shapes, and what is personal, out of a text.

    Raises:
        ConfigError: a level, or a shape, that is none.
    """
    if isinstance(shapes, str | bytes | re.Pattern) or not isinstance(shapes, Iterable):
        raise ConfigError(f"shapes is a list, got {shapes!r}; write [{shapes!r}]")
    asked = list(shapes)
    if checked_level(level) == "strict":
        asked.append(_ALL)
    kinds = {kind for kind in KINDS if kind in asked or _ALL in asked}
    without: list[Without] = [
        partial(without_personal, row) for row in PERSONAL if row.what in kinds and row.what not in except_
    ]
    return without + [_without_pattern(shape) for shape in asked if shape not in KINDS and shape != _ALL]


def asks_for_cards(level: Any, shapes: Any, except_: frozenset[str]) -> bool:
    """Returns True if numbers of cards are to be found, which may be integers, too."""
    asked = {shape for shape in shapes if isinstance(shape, str)}
    return "card" not in except_ and (level == "strict" or "card" in asked or _ALL in asked)


def _without_pattern(shape: Any) -> Without:
    is_word = isinstance(shape, str) and re.fullmatch(r"[A-Za-z_-]+", shape) is not None
    if is_word and (close := get_close_matches(shape.lower(), (*KINDS, _ALL), n=1, cutoff=_MISSPELT)):
        raise ConfigError(
            f"shapes are {', '.join(KINDS)}, {_ALL} or a regular expression; got {shape!r}: "
            f"write {close[0]!r}, or re.compile({shape!r}) for that word"
        )
    try:
        pattern = re.compile(shape) if isinstance(shape, str) and shape else shape
    except re.error as error:
        raise ConfigError(f"shapes has a regular expression that is none: {shape!r}, {error}") from error
    if not isinstance(pattern, re.Pattern) or not isinstance(pattern.pattern, str):
        raise ConfigError(
            f"shapes are {', '.join(KINDS)}, {_ALL} or a regular expression over text; got {shape!r}"
        )
    if pattern.search("") is not None:
        raise ConfigError(f"shapes has a regular expression that matches nothing at all: {pattern.pattern!r}")
    if runs_away(pattern):
        raise ConfigError(
            f"shapes has a regular expression that could search for years: {pattern.pattern!r} has a "
            "repetition inside a repetition, or alternatives that begin alike inside one, with nothing "
            "between that says where a turn ends; write (a+)+ as a+, ([a-z]+ ?)* as [a-z ]*"
        )
    return partial(_sub, pattern)


def _sub(pattern: re.Pattern[str], text: str) -> tuple[str, int]:
    return pattern.subn(REDACTED, text)
