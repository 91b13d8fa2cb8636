"""Text made short, for messages and printed lines."""

from __future__ import annotations

import re
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


UNSAFE = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]"
)
"""Characters that move a terminal's cursor, end a line of a log, or change the direction of writing; all but
the line break."""


def printable(text: str) -> str:
    """The text with control characters written as escapes (``\\x1b``), except line breaks."""
    return UNSAFE.sub(_escape, text)


def log_line(text: str) -> str:
    """The text on one line, for a log: nothing in it can look like another entry."""
    return printable(text).replace("\n", "\\n")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\t":
        return "    "
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
