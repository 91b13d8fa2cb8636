"""A score's diff laid out anew for a terminal's width.

A score keeps its diff as text, 80 columns wide; what was compared is not kept. On a wider terminal the lines
of one differing call are joined where they fit, as `explain` with that width would print them; on a narrower
one long lines are broken below where the call begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agenttrace.reports.text import broken_line

_GAP = "   "
_REMARK = re.compile(rf"\S{_GAP}+(?=(?:missing|extra)(?:,|$)|forbidden: )")
_WRITTEN_FOR = 80


def fitted_diff(lines: Sequence[str], width: int) -> list[str]:
    """The lines of a diff, which begin with their marks, in at most `width` columns."""
    rows = list(_rows(lines))
    if width > _WRITTEN_FOR:
        column = _second_column(rows)
        rows = [_joined(row, column, width) for row in rows]
    return [part for row in rows for line in row for part in broken_line(line, width, hang=_hang(line))]


def _rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Each call's line with the indented lines below it."""
    row: list[str] = []
    for line in lines:
        if row and not line.startswith(" "):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _is_difference(row: Sequence[str]) -> bool:
    return row[0].startswith("~") and len(row) > 1 and row[1].lstrip().startswith("got ")


def _second_column(rows: Sequence[Sequence[str]]) -> int:
    """Where remarks such as *missing* stand, else the end of the longest call that differs."""
    remarks = [match.end() - len(_GAP) for row in rows if (match := _REMARK.search(row[0]))]
    return max(remarks or [len(row[0]) for row in rows if _is_difference(row)], default=0)


def _joined(row: list[str], column: int, width: int) -> list[str]:
    """Expected call, actual call and differences on one line, where that fits."""
    if not _is_difference(row):
        return row
    actual = row[1].lstrip().removeprefix("got ")
    differences = "; ".join(line.strip() for line in row[2:]).replace("; (", " (")
    line = f"{row[0]:<{column}}{_GAP}{actual}{_GAP}{differences}"
    return [line] if len(line) <= width else row


def _hang(line: str) -> int:
    """Where a broken line goes on: below the call, or a little further in than a line below a call."""
    match = re.match(r"(\S +\d+ +|\S +)?( *)", line)
    return 0 if match is None else match.end() + (0 if match[1] else 2)
