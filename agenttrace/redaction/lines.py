"""Secrets that are found where lines stand together, in lists of lines such as ``readlines()`` gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.streamed import may_be_key_in_lines, without_split
from agenttrace.redaction.texts import has_any

_MOST_LINES = 200_000
_OF_LINES = (":", ",", "|", "│", "\t", "=", "<", "[", "  ")
"""One of these stands in a line that has a name whose value is on another: no word of a command has them."""


def may_be_lines(items: Sequence[Any]) -> bool:
    """Returns True for texts of which one may have a secret's name as a line has it, another its value."""
    if not 1 < len(items) <= _MOST_LINES or not all(type(item) is str for item in items):
        return False
    return any(
        (has_any(_OF_LINES, item) and has_any(NAME_SIGNS, item.lower())) or ", input_value=" in item
        for item in items[:-1]
    )


def without_joined(items: list[Any], clean: Callable[[str], str]) -> list[Any]:
    """The items without secrets that are found in several of them together: the same list, if none."""
    if may_be_key_in_lines(items):
        items = without_split(items, clean)
    if not may_be_lines(items):
        return items
    keeps_ends = all(item[-1:] == "\n" for item in items[:-1])
    joined = ("" if keeps_ends else "\n").join(items)
    cleaned = clean(joined)
    if cleaned is joined or REDACTED not in cleaned:
        return items
    lines = cleaned.splitlines(keepends=True) if keeps_ends else cleaned.split("\n")
    if len(lines) == len(items):
        return list(lines)
    return [cleaned, *[""] * (len(items) - 1)]
