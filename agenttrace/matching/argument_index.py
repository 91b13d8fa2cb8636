"""`ArgumentIndex`: fast agreement of plain arguments with those of many calls at once.

Every distinct value is kept once, with those that hold it: the cost grows with the values that agree, at any
depth, not with all pairs. The result equals `CallAgreement.agreement` exactly. It earns its lines: in mode
*contains*, 1,000 expected and 1,000 actual calls of one tool with nested arguments compare in 1 s instead
of 8.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core.marks import cause_of
from agenttrace.core.moments import moment_of
from agenttrace.core.snapshot import EXACT_INT
from agenttrace.core.tool_call import ToolCall


class ArgumentIndex:
    """The calls of one tool by their arguments; `rest` are the positions of those that have other values."""

    def __init__(self, calls: Sequence[ToolCall], positions: Sequence[int]) -> None:
        self.rest: list[int] = []
        self._number_at: dict[int, int] = {}
        self._values = _Values()
        for position in positions:
            call = calls[position]
            if call.arguments_error is None and is_plain(call.arguments):
                self._number_at[position] = self._values.add(call.arguments)
            else:
                self.rest.append(position)

    def agreements(self, expected: Mapping[str, Any], *, listed: bool) -> dict[int, float]:
        """Agreement of plain arguments with each call in the index, by position."""
        agreements = self._values.agreements(expected, listed=listed)
        return {at: agreements.get(number, 0.0) for at, number in self._number_at.items()}


class _Values:
    """Distinct plain values that stand in one place, by numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._inside: dict[str | int, _Values] = {}
        self._holders: dict[int, list[int]] = {}  # of each value: those one level up that hold it
        self._keys: dict[int, frozenset[str]] = {}
        self._lengths: dict[int, int] = {}

    def add(self, value: Any) -> int:
        """The number of a value."""
        if type(value) is dict:
            inside = tuple(sorted((key, self._of(key).add(item)) for key, item in value.items()))
        elif type(value) is list:
            inside = tuple((at, self._of(at).add(item)) for at, item in enumerate(value))
        else:
            return self._numbers.setdefault(_scalar(value), len(self._numbers))
        before = len(self._numbers)
        number = self._numbers.setdefault((type(value), inside), before)
        if number == before:
            for place, item in inside:
                self._of(place)._holders.setdefault(item, []).append(number)
            if type(value) is dict:
                self._keys[number] = frozenset(value)
            else:
                self._lengths[number] = len(value)
        return number

    def agreements(self, expected: Any, *, listed: bool) -> dict[int, float]:
        """Agreement with each value, by number; those that do not agree at all are left out."""
        if type(expected) is dict:
            totals = self._totals(expected.items(), listed=listed)
            if not expected:
                return {number: 1.0 for number, keys in self._keys.items() if listed or not keys}
            if listed:
                return {number: total / len(expected) for number, total in totals.items()}
            sizes = {keys: len(keys | expected.keys()) for keys in set(self._keys.values())}
            return {number: total / sizes[self._keys[number]] for number, total in totals.items()}
        if type(expected) is list:
            totals = self._totals(enumerate(expected), listed=listed)
            if not expected:
                return {number: 1.0 for number, length in self._lengths.items() if not length}
            count = len(expected)
            return {number: total / max(count, self._lengths[number]) for number, total in totals.items()}
        number = self._numbers.get(_scalar(expected))
        return {} if number is None else {number: 1.0}

    def _totals(self, parts: Iterable[tuple[str | int, Any]], *, listed: bool) -> dict[int, float]:
        """The sum of the agreements of the parts, in their order, by the number of what holds them."""
        totals: dict[int, float] = {}
        for place, item in parts:
            inside = self._inside.get(place)
            if inside is not None:
                for part, agreement in inside.agreements(item, listed=listed).items():
                    for number in inside._holders[part]:
                        totals[number] = totals.get(number, 0.0) + agreement
        return totals

    def _of(self, place: str | int) -> _Values:
        inside = self._inside.get(place)
        if inside is None:
            inside = self._inside[place] = _Values()
        return inside


def is_plain(value: Any) -> bool:
    """Whether a value is made of scalars, mappings and lists alone, all of them known whole."""
    kind = type(value)
    if kind is str:
        return cause_of(value) is None and moment_of(value) is None
    if kind is int:
        return bool(-EXACT_INT < value < EXACT_INT)
    if kind is float:
        return bool(-1e15 < value < 1e15)
    if kind is dict:
        return all(type(key) is str and not key.startswith("$") and is_plain(value[key]) for key in value)
    if kind is list:
        return all(map(is_plain, value))
    return kind is bool or value is None


def _scalar(value: Any) -> Hashable:
    """A key that is equal for scalars that agree."""
    kind = type(value)
    return value if kind is str else (value,) if kind is int or kind is float else (value, None)
