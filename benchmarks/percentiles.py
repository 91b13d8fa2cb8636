"""Percentiles of samples, and how a table is printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def percentile(samples: Iterable[float], share: float) -> float:
    """The smallest sample that at least `share` of all do not exceed."""
    ordered = sorted(samples)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def median(samples: Iterable[float]) -> float:
    """The middle sample."""
    return percentile(samples, 0.5)


def figure(value: float | None, digits: int = 2) -> str:
    """A number for a table: short, a dash where there is none."""
    if value is None:
        return "—"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{1 if abs(value) >= 20 else digits}f}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, aligned so that it reads on a terminal too; numbers to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def joined(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * width if column == 0 else "-" * (width - 1) + ":") for column, width in enumerate(widths)]
    return "\n".join(
        [joined(lines[0]), f"|{'|'.join(f' {cell} ' for cell in rule)}|", *map(joined, lines[1:])]
    )
