"""`StateComparison`: what a run left behind, compared with what was expected of it, place by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agenttrace.core.cached import cached_property
from agenttrace.core.errors import ScorerError
from agenttrace.core.state import Path, StateReading
from agenttrace.core.tool_call import ArgumentMode
from agenttrace.expectations.assign import best_pairs
from agenttrace.expectations.expected_state import ExpectedPlace, ExpectedState, is_glob, places_at, without
from agenttrace.expectations.matcher import Context, Matcher
from agenttrace.expectations.reading import cannot_tell
from agenttrace.expectations.state_changes import NOWHERE, Change, Changes, path_text, value_at
from agenttrace.expectations.values import Difference, agree, prepare

StateRowKind = Literal["matched", "differs", "missing", "extra", "forbidden"]


_MOST_PAIRS = 20_000
"""Pairs of an expectation and a place that are weighed; of more, the scorer is errored."""

UNCHANGED = "did not change"


@dataclass(frozen=True, slots=True)
class StateRow:
    """One row of the diff of a state: what was expected at a place, a change that was not, or both.

    `word` is the kind of change that was expected (``end`` for none), or that was made.
    """

    kind: StateRowKind
    word: str
    path: str
    expected: Any = NOWHERE
    before: Any = NOWHERE
    after: Any = NOWHERE
    differences: tuple[Difference, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One expected place: the places of the run that it may mean, with the rows that they would give."""

    place: ExpectedPlace
    options: Sequence[tuple[Path, float, StateRow]]
    missing: StateRow


class StateComparison:
    """One state of a run, compared with what is expected of it.

    `target` is the state that the calls of ``state_from`` lead to, where there are such; then it is compared
    as a whole. `rows` has what was expected first, in the order in which it is written.
    """

    def __init__(
        self, expected: ExpectedState, reading: StateReading, *, only: bool, target: Any = NOWHERE
    ) -> None:
        self.name = expected.name
        self.only = only or target is not NOWHERE
        self._mode: ArgumentMode = "exact" if self.only else "listed"
        self._expected = expected
        self._weighed = 0
        self._start, self._end = (without(s, expected.ignore) for s in (reading.start, reading.end))
        self.changes = Changes(self._start, self._end, reading)
        if target is NOWHERE:
            self.rows = list(self._rows())
        else:
            self.rows = list(self._rows_of_target(without(target, expected.ignore), reading))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many rows there are of each kind."""
        return Counter(row.kind for row in self.rows)

    @property
    def matched(self) -> int:
        """How many of the expected places are as they should be."""
        return self.counts["matched"]

    @property
    def expected(self) -> int:
        """How many places were expected to be so."""
        return sum(self.counts[kind] for kind in ("matched", "differs", "missing"))

    @property
    def forbidden(self) -> int:
        """How many places changed that nothing allows to."""
        return self.counts["forbidden"]

    def _rows_of_target(self, target: Any, reading: StateReading) -> Iterator[StateRow]:
        wrong = Changes(target, self._end, reading)
        for change in Changes(self._start, target):
            if change.kind != "unknown" and wrong.touching(change.path) is None:
                yield StateRow("matched", change.kind, path_text(change.path), **_values(change))
        for change in wrong:
            path = path_text(change.path)
            before = self.changes.before(change.path)
            wanted, actual = change.before, change.after
            if change.kind == "unknown":
                if cannot_tell(change.cause, path) == 0.0:
                    yield StateRow("differs", "end", path, wanted, before, actual, note=change.cause)
            else:
                yield _row_off_target(change, path, before)

    def _rows(self) -> Iterator[StateRow]:
        wanted = [one for place in self._expected.places for one in self._wanted(place)]
        places = list(dict.fromkeys(path for one in wanted for path, _, _ in one.options))
        column = {path: at for at, path in enumerate(places)}
        weights = [[0.0] * len(places) for _ in wanted]
        for number, one in enumerate(wanted):
            for path, value, _ in one.options:
                # A pair that agrees is worth more than two that do not.
                weights[number][column[path]] = 1.0 if value == 1.0 else 0.1 + 0.3 * value
        pair_of = dict(best_pairs(weights))
        used: list[Path] = []
        for number, one in enumerate(wanted):
            at = pair_of.get(number)
            if at is None:
                yield one.missing
                continue
            used.append(places[at])
            yield next(row for path, _, row in one.options if path == places[at])
        yield from self._other_changes(used)

    def _other_changes(self, used: Sequence[Path]) -> Iterator[StateRow]:
        for change in _not_covered(self.changes, set(used)):
            path = path_text(change.path)
            unknown = change.kind == "unknown"
            if unknown and (not self.only or cannot_tell(change.cause, path) == 1.0):
                continue
            kind: StateRowKind = "forbidden" if self.only else "extra"
            word = "changed" if unknown else change.kind
            note = f"it was {change.cause}" if unknown else ""
            yield StateRow(kind, word, path, **_values(change), note=note)

    def _wanted(self, place: ExpectedPlace) -> Iterator[_Wanted]:
        if is_glob(place.path):
            named = self._named(place)
            self._weighed += len(named)
            if self._weighed > _MOST_PAIRS:
                raise ScorerError(
                    f"the state {self.name}: {place.path} and others may mean too many places to pair "
                    "them; name the places, or expect fewer with *"
                )
            options = [(path, *self._compared(place, path, place.value)) for path in named]
            options = [option for option in options if option[2].kind != "missing"]
            yield _Wanted(place, options, StateRow("missing", place.word, place.path, place.value))
            return
        for root in self._named(place):
            for path, value in self._expanded(place, root, place.value):
                agreement, row = self._compared(place, path, value, below=path != root)
                yield _Wanted(place, () if row.kind == "missing" else [(path, agreement, row)], row)

    def _named(self, place: ExpectedPlace) -> list[Path]:
        return list(places_at(place.path, self._end, self._start))

    def _expanded(self, place: ExpectedPlace, path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
        """A mapping says of each of its keys what is expected; where none was, it is the whole value."""
        holder = value_at(self._end, path) if place.word == "end" else self.changes.before(path)
        inside = isinstance(value, Mapping) and isinstance(holder, Mapping)
        if place.word == "removed" or not value or not inside:
            yield path, value
            return
        for key, item in value.items():
            yield from self._expanded(place, (*path, str(key)), item)

    def _compared(
        self, place: ExpectedPlace, path: Path, value: Any, *, below: bool = False
    ) -> tuple[float, StateRow]:
        """How far a place agrees with what is expected of it, and its row. Below a place that is named, a key
        that is new is a change of it."""
        before, after = self.changes.before(path), value_at(self._end, path)
        if place.word == "removed":
            gone = self.changes.above(path, "removed") is not None
            before, after = (value_at(self._start, path), NOWHERE) if gone else (before, after)
        text = path_text(path)
        word = "added" if below and place.word == "changed" and before is NOWHERE else place.word
        failed = self._why_no_such_change(word, path, before, after)
        if failed is not None and not (place.word == "end" and _accepts_absence(value)):
            return 0.0, StateRow("missing", place.word, text, value, before, after, note=failed)
        actual = before if place.word == "removed" else after
        if actual is NOWHERE:
            return 1.0, StateRow("matched", place.word, text, value, before, after)
        differences: list[Difference] = []
        agreement = agree(prepare(value), actual, Context(mode=self._mode), "", differences)
        kind: StateRowKind = "matched" if agreement == 1.0 else "differs"
        return agreement, StateRow(kind, place.word, text, value, before, after, tuple(differences))

    def _why_no_such_change(self, word: str, path: Path, before: Any, after: Any) -> str | None:
        """Why a place has no change of the expected kind; None where it has."""
        if word == "end":
            return "is not there" if after is NOWHERE else None
        if word == "removed":
            return (
                "was not there" if before is NOWHERE else "is still there" if after is not NOWHERE else None
            )
        if after is NOWHERE:
            return "was removed" if before is not NOWHERE else "is not there"
        if word == "added":
            return "was there before" if before is not NOWHERE else None
        if before is NOWHERE:
            return "was added"
        change = self.changes.touching(path)
        if change is None:
            return UNCHANGED
        known = change.kind != "unknown" or cannot_tell(change.cause, path_text(path)) == 1.0
        return None if known else UNCHANGED


def _row_off_target(change: Change, path: str, before: Any) -> StateRow:
    """A place where the end is not what the expected calls would have left: one that they leave as it was was
    not to change; one that the run left as it was should have."""
    wanted, actual = change.before, change.after
    if change.kind == "added":
        if before is NOWHERE:
            return StateRow("forbidden", "added", path, after=actual)
        return StateRow("missing", "removed", path, before=before, after=actual, note="is still there")
    untouched = before is not NOWHERE and not Changes(before, wanted)
    if change.kind == "removed":
        if untouched:
            return StateRow("forbidden", "removed", path, before=before)
        word, note = ("added", "") if before is NOWHERE else ("changed", "was removed")
        return StateRow("missing", word, path, wanted, before, note=note)
    if untouched:
        return StateRow("forbidden", "changed", path, before=before, after=actual)
    if before is NOWHERE:
        return StateRow("differs", "added", path, wanted, before, actual, (Difference("", wanted, actual),))
    if not Changes(before, actual):
        return StateRow("missing", "changed", path, wanted, before, actual, note=UNCHANGED)
    return StateRow("differs", "changed", path, wanted, before, actual, (Difference("", wanted, actual),))


def _accepts_absence(value: Any) -> bool:
    return isinstance(value, Matcher) and value.accepts_absence


def _values(change: Change) -> dict[str, Any]:
    return {
        "before": NOWHERE if change.kind == "added" else change.before,
        "after": NOWHERE if change.kind == "removed" else change.after,
    }


def _not_covered(changes: Sequence[Change], used: set[Path]) -> Iterator[Change]:
    """The changes, and the parts of them, that no place names which was expected."""
    above = {place[:depth] for place in used for depth in range(len(place))}
    for change in changes:
        path = change.path
        if any(path[:depth] in used for depth in range(len(path) + 1)):
            continue
        value = change.after if change.kind == "added" else change.before
        if path in above and isinstance(value, dict) and change.kind in ("added", "removed"):
            parts = [
                Change(change.kind, (*path, key), *(_part(v, key) for v in (change.before, change.after)))
                for key in value
            ]
            rest = list(_not_covered(parts, used))
            # Where each part was to be removed, a mapping was to stay that is empty now: it is gone, too.
            yield from rest if rest or change.kind == "added" else [change]
        else:
            yield change


def _part(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
