"""Text made short, for messages and printed lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def shorten(text: str, most: int) -> str:
    """Return the text, or its start with an ellipsis, in at most `most` characters."""
    return text if len(text) <= most else text[: max(most - 1, 0)] + "…"


def short_line(text: str, most: int) -> str:
    """Return the text on one line, every run of white space one blank, in at most `most` characters."""
    return shorten(" ".join(text.split()), most)


def short_repr(value: Any) -> str:
    """Return a value in an error message: its type and the start of its text."""
    return f"{type(value).__name__} {shorten(repr(value), 80)}"


def described(value: Any) -> str:
    """Return a value in an error message without running its code: a scalar with its text, else its type."""
    is_scalar = value is None or type(value) in (str, int, float, bool)
    return short_repr(value) if is_scalar else type(value).__name__


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def error_line(error: str) -> str:
    """The line of an error's text that says what is wrong: the last of a traceback, else the first."""
    lines = error.strip().splitlines() or [""]
    return lines[-1] if any("Traceback" in line for line in lines[:3]) else lines[0]
