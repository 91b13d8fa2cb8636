"""Prints a table that fits the terminal: dates get short, columns are left out, the least needed first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agenttrace.core.text import shorten
from agenttrace.reports.text import safe_line, show, table_lines, terminal_width

_LEAST = 8
_MOST = 60
_GAP = 2

Column = tuple[str, Sequence[str]]
"""A heading and the cells below it."""


def show_table(
    columns: Sequence[Column],
    optional: Sequence[str] = (),
    links: Sequence[tuple[str, str]] = (),
    *,
    cut: Sequence[str] = (),
    last: Sequence[str] = (),
) -> None:
    """Print columns that have anything in them; `links` are a part of each row and where it leads.

    On a terminal they are fitted to its width, see `fitted`; in a pipe or a file all are printed.
    """
    filled: list[Column] = [
        (head, [safe_line(cell) for cell in cells]) for head, cells in columns if any(cells)
    ]
    width = terminal_width()
    if width is not None:
        filled = fitted(filled, width, optional, cut, last)
    heads, rows = [head for head, _ in filled], list(zip(*(cells for _, cells in filled), strict=True))
    head, *lines = table_lines(heads, rows, limit=_MOST)
    if links:
        lines = [replace(line, links=(link,)) for line, link in zip(lines, links, strict=True)]
    show([head, *lines])


def fitted(
    columns: Sequence[Column],
    width: int,
    optional: Sequence[str],
    cut: Sequence[str] = (),
    last: Sequence[str] = (),
) -> list[Column]:
    """The columns in at most `width` characters, as far as there is a way.

    What gives way, in this order: dates lose their seconds, then their year; those named in `optional` (the
    first one first) are cut, and left out; those in `cut` are cut, the widest first; those in `last` are left
    out, where the cut ones have no room else. A date is shown as it is or not at all.
    """
    fitting: list[Column] = [(head, [shorten(cell, _MOST) for cell in cells]) for head, cells in columns]
    for short in (_without_seconds, _without_year):
        if _width(fitting) > width:
            fitting = [(head, short(cells)) for head, cells in fitting]
    for name in optional:
        fitting = _with_less_of(name, fitting, width)
    narrow = _cut(fitting, width, cut)
    for name in last:
        if _width(narrow) > width:
            fitting = [column for column in fitting if column[0] != name]
            narrow = _cut(fitting, width, cut)
    return narrow


_DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
_SHORT_DATE = re.compile(r"(\d{4}-)?\d\d-\d\d( \d\d:\d\d)?")


def _are_dates(cells: Sequence[str]) -> bool:
    return any(cells) and all(not cell or _DATE.fullmatch(cell) for cell in cells)


def _without_seconds(cells: Sequence[str]) -> Sequence[str]:
    return [cell[:16] for cell in cells] if _are_dates(cells) else cells


def _without_year(cells: Sequence[str]) -> Sequence[str]:
    """Dates of one year as month, day and time; of several years as days."""
    if not _are_dates(cells):
        return cells
    is_one_year = len({cell[:4] for cell in cells if cell}) == 1
    return [cell[5:16] if is_one_year else cell[:10] for cell in cells]


def _with_less_of(name: str, columns: Sequence[Column], width: int) -> list[Column]:
    """The columns with this one cut, or without it, where they have no room."""
    excess = _width(columns) - width
    column = next((each for each in columns if each[0] == name), None)
    if excess <= 0 or column is None:
        return list(columns)
    room = _column_width(column) - excess
    if room < max(_LEAST, len(name)) or any(map(_SHORT_DATE.fullmatch, column[1])):
        return [each for each in columns if each is not column]
    return [(head, _shortened(cells, room)) if head == name else (head, cells) for head, cells in columns]


def _cut(columns: Sequence[Column], width: int, names: Sequence[str]) -> list[Column]:
    """The columns with those of these names cut, the widest first, until all have room."""
    widths = {column[0]: _column_width(column) for column in columns}
    least = {name: max(_LEAST, len(name)) for name in names if name in widths}
    excess = _width(columns) - width
    while excess > 0 and any(widths[name] > least[name] for name in least):
        widest = max(least, key=lambda name: widths[name] if widths[name] > least[name] else 0)
        widths[widest] -= 1
        excess -= 1
    return [(head, _shortened(cells, widths[head]) if head in least else cells) for head, cells in columns]


def _shortened(cells: Sequence[str], most: int) -> list[str]:
    return [shorten(cell, most) for cell in cells]


def _column_width(column: Column) -> int:
    head, cells = column
    return max(len(head), *(len(cell) for cell in cells))


def _width(columns: Sequence[Column]) -> int:
    return sum(map(_column_width, columns)) + _GAP * (len(columns) - 1)
