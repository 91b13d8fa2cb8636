"""Prints a table that fits the terminal: cells are cut, then columns left out, the least needed first."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace

from agenttrace.core.text import shorten
from agenttrace.reports.text import safe_line, show, table_lines

_LEAST = 8
_MOST = 60
_GAP = 2

Column = tuple[str, Sequence[str]]
"""A heading and the cells below it."""


def show_table(
    columns: Sequence[Column], optional: Sequence[str] = (), links: Sequence[tuple[str, str]] = ()
) -> None:
    """Print columns that have anything in them; `links` are a part of each row and where it leads.

    On a terminal, those named in `optional` (the first one first) are cut and then left out until the others
    have room; in a pipe or a file all are printed.
    """
    filled: list[Column] = [
        (head, [safe_line(cell) for cell in cells]) for head, cells in columns if any(cells)
    ]
    if sys.stdout.isatty():
        filled = fitted(filled, shutil.get_terminal_size().columns, optional)
    heads, rows = [head for head, _ in filled], list(zip(*(cells for _, cells in filled), strict=True))
    head, *lines = table_lines(heads, rows, limit=_MOST)
    if links:
        lines = [replace(line, links=(link,)) for line, link in zip(lines, links, strict=True)]
    show([head, *lines])


def fitted(columns: Sequence[Column], width: int, optional: Sequence[str]) -> list[Column]:
    """The columns in at most `width` characters, as far as leaving out the `optional` ones makes room."""
    fitting: list[Column] = [(head, [shorten(cell, _MOST) for cell in cells]) for head, cells in columns]
    for name in optional:
        excess = _width(fitting) - width
        if excess <= 0:
            break
        at = next((n for n, (head, _) in enumerate(fitting) if head == name), None)
        if at is None:
            continue
        room = _column_width(fitting[at]) - excess
        if room >= max(_LEAST, len(name)):
            fitting[at] = (name, [shorten(cell, room) for cell in fitting[at][1]])
        else:
            del fitting[at]
    return fitting


def _column_width(column: Column) -> int:
    head, cells = column
    return max(len(head), *(len(cell) for cell in cells))


def _width(columns: Sequence[Column]) -> int:
    return sum(map(_column_width, columns)) + _GAP * (len(columns) - 1)
