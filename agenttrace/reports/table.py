"""Rows of text in aligned columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agenttrace.reports.text import Line, one_line


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], *, limit: int = 40) -> Iterator[Line]:
    """The head and the rows, each column as wide as its widest cell and at most `limit` characters."""
    cells = [[_cut(one_line(cell), limit) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for number, row in enumerate(cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield Line(text.rstrip(), "" if number else "bold")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
