"""When each span ran, on one axis: bars, ticks, the time of its own, the critical path, an overview."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agenttrace.core.span import Span
from agenttrace.viewer.tree import Node
from agenttrace.viewer.words import step_unit

WIDTH = 1_000
LEVELS = 6
"""Levels that the overview draws; deeper spans are in the last of them."""
_COLUMNS = 500
_TICKS = 5


class Bar(NamedTuple):
    """A bar in thousandths of the axis. `is_outside`: the span lies beyond the part that is shown."""

    x: float
    width: float
    is_outside: bool


class Tick(NamedTuple):
    """A place of the axis, with its time."""

    x: float
    text: str


@dataclass(frozen=True)
class Axis:
    """The time from the first start to the last end of some spans."""

    start_ns: int
    end_ns: int

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Axis:
        """The axis on which all of these spans have room."""
        times = [(span.start_ns, max(span.end_ns, span.start_ns)) for span in spans] or [(0, 0)]
        return cls(min(start for start, _ in times), max(end for _, end in times))

    @property
    def length(self) -> int:
        """Its nanoseconds, at least one."""
        return max(self.end_ns - self.start_ns, 1)

    def bar(self, start_ns: int, end_ns: int) -> Bar:
        """The bar of a time, cut at the ends of the axis."""
        left = (start_ns - self.start_ns) / self.length * WIDTH
        right = (max(end_ns, start_ns) - self.start_ns) / self.length * WIDTH
        is_outside = right < 0 or left > WIDTH
        left, right = min(max(left, 0.0), WIDTH), min(max(right, 0.0), WIDTH)
        return Bar(round(left, 2), round(right - left, 2), is_outside)

    def bar_of(self, nodes: Sequence[Node]) -> Bar | None:
        """The bar from the first start to the last end of some spans; None where none is stored."""
        spans = [node.span for node in nodes if node.span is not None]
        if not spans:
            return None
        whole = Axis.of(spans)
        return self.bar(whole.start_ns, whole.end_ns)

    @property
    def ticks(self) -> list[Tick]:
        """A handful of round times, all in one unit."""
        step = _round_step(self.length / _TICKS)
        unit = step_unit(step)
        return [
            Tick(round(n * step / self.length * WIDTH, 2), f"{unit.text(n * step)} {unit.name}")
            for n in range(int(self.length // step) + 1)
        ]


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(max(rough, 1)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def self_time(span: Span, children: Iterable[Span]) -> int:
    """The nanoseconds of a span in which none of its children ran."""
    covered, reached = 0, span.start_ns
    for start, end in sorted((child.start_ns, child.end_ns) for child in children):
        start, end = max(start, reached), min(end, span.end_ns)
        if end > start:
            covered += end - start
            reached = end
    return max(span.duration_ns - covered, 0)


def critical_path(nodes: Sequence[Node], top: Sequence[int]) -> set[str]:
    """The spans that the end of the last root waited for: shortening any other makes nothing end sooner.

    Walked back from the end: of the children that ended before, the last one; then before its start, and so
    on, in the same way within each of them.
    """
    roots = [(span.end_ns, number) for number in top if (span := nodes[number].span) is not None]
    if not roots:
        return set()
    end, root = max(roots)
    path: set[str] = set()
    stack = [(root, end)]
    while stack:
        number, end = stack.pop()
        node = nodes[number]
        path.add(node.key)
        children = sorted(
            ((span.end_ns, child) for child in node.children if (span := nodes[child].span) is not None),
            reverse=True,
        )
        for child_end, child in children:
            span = nodes[child].span
            if span is not None and span.start_ns < end and child_end <= end:
                stack.append((child, child_end))
                end = span.start_ns
    return path


class Level(NamedTuple):
    """A level of the overview: for each kind of span, what it covers, as the path of an SVG."""

    y: int
    paths: Sequence[tuple[str, str]]


def overview(nodes: Sequence[Node], axis: Axis, kind_of: dict[str, str]) -> list[Level]:
    """All spans of a trace in a few rows of levels; what lies under a pixel is merged."""
    columns: dict[tuple[int, str], set[int]] = {}
    start, scale = axis.start_ns, (_COLUMNS - 1) / axis.length  # a call of `axis.bar` each would take as long
    for node in nodes:  # as all the rest of a page of 5,000 spans
        span = node.span
        if span is None:
            continue
        kind = "failed" if span.status == "error" else kind_of.get(span.span_type, "other")
        first = int((span.start_ns - start) * scale)
        last = int((max(span.end_ns, span.start_ns) - start) * scale)
        place = min(node.depth, LEVELS - 1), kind
        covered = columns.get(place)
        if covered is None:
            covered = columns[place] = set()
        if first == last:
            covered.add(first)
        else:
            covered.update(range(first, last + 1))
    rows = []
    for level in sorted({level for level, _ in columns}):
        kinds = sorted(
            (kind for number, kind in columns if number == level), key=lambda kind: kind == "failed"
        )
        rows.append(Level(level * 10, [(kind, _path(columns[level, kind], level * 10)) for kind in kinds]))
    return rows


def _path(columns: set[int], y: int) -> str:
    parts = []
    ordered = sorted(columns)
    start = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place] != ordered[place - 1] + 1:
            x, width = 2 * ordered[start], 2 * (ordered[place - 1] - ordered[start] + 1)
            parts.append(f"M{x} {y}h{width}v8h-{width}z")
            start = place
    return "".join(parts)
