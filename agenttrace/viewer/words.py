"""How pages say durations, sums, moments, counts and rows of tool calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC
from itertools import groupby
from typing import NamedTuple

from agenttrace.core.trace_facts import CallFacts
from agenttrace.reports.clock import clock_text, local_time
from agenttrace.reports.tree import duration_text, span_duration_text, trace_duration_text

__all__ = [
    "CallWords",
    "ColumnMoney",
    "ColumnUnit",
    "Trajectory",
    "age_text",
    "bytes_text",
    "clock_text",
    "column_money",
    "column_unit",
    "count_text",
    "day_text",
    "duration_text",
    "moment_text",
    "money_text",
    "number_text",
    "percent_text",
    "span_duration_text",
    "step_unit",
    "trace_duration_text",
    "trajectory",
]

_UNITS = (("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9))
_LONGEST = 100_000
"""A column has no room for numbers from this one on."""


class ColumnUnit(NamedTuple):
    """The one unit of a column of durations."""

    name: str
    nanoseconds: float
    decimals: int

    def text(self, nanoseconds: float) -> str:
        """A duration in this unit, without its name."""
        value = nanoseconds / self.nanoseconds
        least = 10.0**-self.decimals
        if 0 < value < least / 2:
            return f"<{least:.{self.decimals}f}"
        return f"{value:,.{self.decimals}f}"


def column_unit(durations: Iterable[float]) -> ColumnUnit:
    """The unit in which most of these durations are between 1 and 1,000, and the longest has five digits."""
    ordered = sorted(durations)
    middle, longest = (ordered[len(ordered) // 2], ordered[-1]) if ordered else (0, 0)
    name, nanoseconds = next((unit for unit in reversed(_UNITS) if middle >= unit[1]), _UNITS[0])
    for larger in _UNITS:
        if longest >= _LONGEST * nanoseconds and larger[1] > nanoseconds:
            name, nanoseconds = larger
    shown = middle / nanoseconds
    return ColumnUnit(name, nanoseconds, 2 if shown < 10 else 1 if shown < 100 else 0)


def step_unit(step: float) -> ColumnUnit:
    """The largest unit in which multiples of a round step of an axis have one decimal at most."""
    name, nanoseconds = next(
        (unit for unit in reversed(_UNITS) if math.isclose(step / unit[1], round(step / unit[1], 1))),
        _UNITS[0],
    )
    return ColumnUnit(name, nanoseconds, 0 if step >= nanoseconds else 1)


class ColumnMoney(NamedTuple):
    """The number of decimals of a column of US dollars."""

    decimals: int

    def text(self, amount: float | None) -> str:
        """An amount with these decimals; empty where it is not known."""
        if not amount:
            return "" if amount is None else "$0"
        least = 10.0**-self.decimals
        if abs(amount) < least / 2:
            return f"<${least:.{self.decimals}f}"
        return f"${amount:,.{self.decimals}f}"


def column_money(amounts: Iterable[float | None]) -> ColumnMoney:
    """As many decimals for all as show two digits of the middle amount: two at least, six at most."""
    ordered = sorted(amount for amount in amounts if amount)
    middle = ordered[len(ordered) // 2] if ordered else 1.0
    return ColumnMoney(2 if middle >= 1 else min(max(1 - math.floor(math.log10(abs(middle))), 2), 6))


def money_text(amount: float | None) -> str:
    """US dollars with as many digits as tell something; empty where they are not known."""
    if amount is None:
        return ""
    if amount == 0:
        return "$0"
    digits = 2 if amount >= 1 else min(2 - math.floor(math.log10(amount)), 8) if amount > 1e-8 else 8
    return f"${amount:,.{digits}f}"


def number_text(value: float | None) -> str:
    """A score's value: four significant digits, without zeros at the end."""
    return "" if value is None else f"{value:.4g}"


def count_text(number: int, *, is_capped: bool = False) -> str:
    """A count, with a plus where there are more."""
    return f"{number:,}{'+' if is_capped else ''}"


def percent_text(part: float, whole: float) -> str:
    """A share in percent: ``0%`` and ``100%`` are exact, nothing is rounded to them."""
    if not whole:
        return ""
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1%"
    if 99.9 < share < 100:
        return ">99.9%"
    return f"{share:.1f}%".replace(".0%", "%")


def bytes_text(size: int) -> str:
    """A size with a unit."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def day_text(nanoseconds: int) -> str:
    """The day of a moment, in the zone of this machine."""
    at = local_time(nanoseconds)
    return "" if at is None else f"{at:%Y-%m-%d}"


def moment_text(nanoseconds: int) -> str:
    """A moment as a query has it after ``since:``, to the second, rounded down; in UTC."""
    at = local_time(nanoseconds)
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def age_text(nanoseconds: int, now_ns: int) -> str:
    """How long ago a moment was."""
    seconds = (now_ns - nanoseconds) / 1e9
    if seconds < 0:
        return "ahead"
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"


class CallWords(NamedTuple):
    """Calls of one tool in a row."""

    name: str
    times: int
    failed: bool


class Trajectory(NamedTuple):
    """Tool calls in their order, as many as there is room for, and how many are left out."""

    calls: Sequence[CallWords]
    left_out: int


def trajectory(calls: Sequence[CallFacts], room: int = 64) -> Trajectory:
    """Calls in their order, equal ones in a row as one.

    Whole calls are left out where there is no room for all; then there is room for how many they are.
    """
    rows, width = [], 0
    for (name, failed), group in groupby(calls, key=lambda call: (call.name, call.failed)):
        rows.append(CallWords(name, sum(1 for _ in group), failed))
        width += _width(rows[-1])
        if width > room:  # of a hundred thousand calls the others need no look
            room -= len("+1,000 more")
            break
    shown: list[CallWords] = []
    for row in rows:
        room -= _width(row)
        if room < 0 and shown:
            break
        shown.append(row)
    return Trajectory(shown, len(calls) - sum(row.times for row in shown))


def _width(row: CallWords) -> int:
    """The characters of a call with its arrow, its cross and its number."""
    return len(row.name) + 3 + 2 * row.failed + (len(f"×{row.times}") if row.times > 1 else 0)
