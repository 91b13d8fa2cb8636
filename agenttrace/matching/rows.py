"""The rows of the aligned diff as data: matched, differing, missing (with the nearest name), extra calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.marks import without_digests
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Place
from agenttrace.expectations.values import Difference
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import Alignment
from agenttrace.matching.checks import Check

_MOST_NAMES_COMPARED = 20_000  # in one diff

ROWS_SIZE = 32 * 1024
"""Characters that the rows of one score may have as JSON; what is beyond is left out, and counted."""

_VALUE_SIZE = 1_024
"""Characters of one value in a row; a longer one is cut, with the marks of recorded values."""

_MOST_DIFFERENCES = 20

RowKind = Literal["matched", "differs", "missing", "extra", "forbidden"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: an expected call (`number` from 1), an actual call, or both with their differences.

    `nearest` is, for a missing call, the extra call that agrees best with it; for a call that was made with
    other values, an extra call that agrees fully.
    """

    kind: RowKind
    number: int | None = None
    expected: Call | None = None
    actual: ToolCall | None = None
    agreement: float = 0.0
    differences: tuple[Difference, ...] = ()
    nearest: ToolCall | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "kind": self.kind,
            "number": self.number,
            "expected": None if self.expected is None else _expected_data(self.expected),
            "actual": _actual_data(self.actual),
            "agreement": self.agreement,
            "differences": [difference.to_dict() for difference in self.differences],
            "nearest": _actual_data(self.nearest),
            "note": self.note,
        }


def rows_data(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows as strict JSON of at most `ROWS_SIZE` characters: ``rows``, and ``rows_left_out`` where there
    are more.

    The rows that do not match go first where not all have room; the order stays that of the run.
    """
    room, chosen = ROWS_SIZE, {}
    for place, row in sorted(enumerate(rows), key=lambda one: one[1].kind == "matched"):
        data = _bounded(row.to_dict())
        room -= len(to_json(data))
        if room < 0:
            break
        chosen[place] = data
    facts: dict[str, Any] = {"rows": [chosen[place] for place in sorted(chosen)]}
    if len(chosen) < len(rows):
        facts["rows_left_out"] = len(rows) - len(chosen)
    return facts


def _bounded(row: dict[str, Any]) -> dict[str, Any]:
    calls = {key: row[key] and {**row[key], "arguments": _cut(row[key]["arguments"])} for key in _CALLS}
    differences = [
        {**difference, "expected": _cut(difference["expected"]), "got": _cut(difference["got"])}
        for difference in row["differences"][:_MOST_DIFFERENCES]
    ]
    return {**row, **calls, "expected": _cut(row["expected"]), "differences": differences}


_CALLS = ("actual", "nearest")


def _cut(value: Any) -> Any:
    return without_digests(jsonable(value, limit=_VALUE_SIZE))


def rows_of(
    alignment: Alignment,
    calls: Sequence[ToolCall],
    call_agreement: CallAgreement,
    free_calls: FreeCalls,
    checks: Sequence[Check],
    attempts: Mapping[int, int],
) -> tuple[Row, ...]:
    """Rows in the order of the run; a missing call stands after the one that was expected before it."""
    notes = _notes(checks)
    pair_of = {pair.place: pair for pair in alignment.pairs}
    rows: list[tuple[int, int, Row]] = []
    after = -1
    for number, place in enumerate(alignment.places):
        pair = pair_of.get(number)
        if pair is not None:
            after = max(after, pair.position)
            actual = calls[pair.position]
            kind: RowKind = "matched"
            differences: tuple[Difference, ...] = ()
            if pair.agreement < 1.0:
                kind, differences = "differs", tuple(call_agreement.differences(pair.expected, pair.position))
            note = _note(actual, notes, attempts, paired=True)
            nearest = None
            if kind == "differs":
                nearest = free_calls.out_of_order(place)
                hint = f"the right one is call {nearest.index + 1}, out of order" if nearest else ""
                note = "; ".join(filter(None, (hint, note)))
            row = Row(kind, number + 1, pair.expected, actual, pair.agreement, differences, nearest, note)
            rows.append((pair.position, 0, row))
        elif place.role == "required":
            rows.append((after, 1, free_calls.missing(number, place)))
    for position in free_calls.positions:
        actual = calls[position]
        forbids = any(
            check.fails and check.name in ("never", "only") and actual.index in check.broken_by
            for check in checks
        )
        note = _note(actual, notes, attempts, paired=False)
        rows.append((position, 0, Row("forbidden" if forbids else "extra", actual=actual, note=note)))
    rows.sort(key=lambda item: item[:2])
    return tuple(row for _, _, row in rows)


_BOUNDS = frozenset({"max_calls", "at_most"})
_VIOLATION_WORDS = {
    "never": "forbidden", "only": "forbidden", "max_calls": "too many", "at_most": "too many",
    "before": "too early", "tool_errors": "too many", "no_repeats": "repeated",
}  # fmt: skip
"""The word for a call that breaks a constraint, unless that is only a warning."""


def _notes(checks: Sequence[Check]) -> dict[int, list[Check]]:
    notes: dict[int, list[Check]] = {}
    for check in checks:
        for index in check.broken_by:
            notes.setdefault(index, []).append(check)
    return notes


def _note(
    actual: ToolCall, notes: Mapping[int, list[Check]], attempts: Mapping[int, int], *, paired: bool
) -> str:
    """The note beside a call; an expected call gets no note that there are too many calls."""
    parts = [
        f"{_VIOLATION_WORDS[check.name] if check.fails else 'warning'}: {check.wanted}"
        for check in notes.get(actual.index, ())
        if not (paired and check.name in _BOUNDS)
    ]
    if actual.remark:
        parts.append(actual.remark)
    if actual.error is not None:
        parts.append(f"failed with {actual.error}".splitlines()[0])
    if actual.index in attempts:
        parts.append(f"{attempts[actual.index]} attempts")
    return "; ".join(parts)


class FreeCalls:
    """The calls that no place has, and which of them a place might have meant.

    `steps` counts the calls and the names that were looked at.
    """

    def __init__(self, calls: Sequence[ToolCall], paired: Set[int], call_agreement: CallAgreement) -> None:
        self.steps = 0
        self.positions = [position for position in range(len(calls)) if position not in paired]
        self._calls = calls
        self._call_agreement = call_agreement
        self._by_name: dict[str, list[int]] = {}
        for position in self.positions:
            self._by_name.setdefault(calls[position].name, []).append(position)
        self._names_compared = 0

    def out_of_order(self, place: Place) -> ToolCall | None:
        """The first call that agrees fully: the order did not allow pairing it. None without one."""
        agreeing = [position for agreement, position, _ in self._fitting(place) if agreement == 1.0]
        return self._calls[min(agreeing)] if agreeing else None

    def missing(self, number: int, place: Place) -> Row:
        """The row of a place without a call, with the call that is nearest to it."""
        best = max(self._fitting(place), key=lambda one: (one[0], -one[1]), default=None)
        if best is not None:
            agreement, position, expected = best
            nearest = self._calls[position]
            differences = tuple(self._call_agreement.differences(expected, position))
            note = f"out of order: it is call {nearest.index + 1}"
            return Row("missing", number + 1, expected, None, agreement, differences, nearest, note)
        expected = place.options[0]
        name = self._nearest_name(expected.name)
        if name is None:
            return Row("missing", number + 1, expected)
        nearest = self._calls[self._by_name[name][0]]
        return Row("missing", number + 1, expected, nearest=nearest, note=f"nearest is {name}")

    def _fitting(self, place: Place) -> Iterator[tuple[float, int, Call]]:
        """How far each call agrees that fits; of those whose names alone are compared only the first."""
        for option in place.options:
            positions = self._by_name.get(self._call_agreement.name(option))
            if positions is None:
                continue
            if self._call_agreement.is_plain(option):
                self.steps += 1
                yield 1.0, positions[0], option
                continue
            agreements = self._call_agreement.agreements(option)
            self.steps += len(positions)
            for position in positions:
                if position in agreements:
                    yield agreements[position], position, option

    def _nearest_name(self, name: str) -> str | None:
        """A name that is nearly this one. None without one, and once very many were compared."""
        self._names_compared += len(self._by_name)
        if self._names_compared > _MOST_NAMES_COMPARED:
            return None
        self.steps += len(self._by_name)
        close = get_close_matches(name, self._by_name, n=1, cutoff=0.8)
        return close[0] if close else None


def _expected_data(expected: Call) -> Any:
    try:
        return expected.to_data()
    except ValueError:  # a predicate has no written form
        return repr(expected)


def _actual_data(call: ToolCall | None) -> dict[str, Any] | None:
    if call is None:
        return None
    return {
        "name": call.name,
        "arguments": dict(call.arguments),
        "index": call.index,
        "agent": call.agent,
        "status": call.status,
        "error": None if call.error is None else str(call.error),
    }
