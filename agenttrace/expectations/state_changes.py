"""`Changes`: what differs between a state at the start and at the end: added, removed, changed.

Mappings are compared key by key. Of lists the items that stayed are found first (as a diff of lines finds
them); what stands between them is paired by likeness, so that an inserted row moves no other. An item that
changed its place counts as removed and added: where order means nothing, a mapping or a set says so.
What was cut, redacted or not opened gives a change of kind *unknown*, unless the reading noted it before
secrets were removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, overload

from agenttrace.core.jsonable import to_json
from agenttrace.core.marks import TRUNCATED, Cause, Redacted, cause_of, cause_within
from agenttrace.core.state import Path, StateReading
from agenttrace.core.tagged import untagged
from agenttrace.expectations.assign import best_pairs
from agenttrace.expectations.partly_recorded import taken_from_a_record
from agenttrace.expectations.reading import either_way, in_favour
from agenttrace.expectations.scalars import same_text
from agenttrace.expectations.values import agreement

ChangeKind = Literal["added", "removed", "changed", "unknown"]

_MOST_ALIGNED = 4_000
_MOST_COMPARED = 900
_ALIKE = 0.3
"""How far two items of a list agree at least that are shown as one that changed."""
_COUNTED = frozenset({int, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs: the value at the start, the value at the end; None where there is none."""

    kind: ChangeKind
    path: Path
    before: Any = None
    after: Any = None
    cause: Cause = "cut"


class Changes(Sequence[Change]):
    """Every place that differs, at the lowest level at which it can be named.

    Positions in lists are those at the end; of an item that was removed, its last is that at the start.
    `noted` says of places that cannot be compared any more whether they changed.
    """

    def __init__(self, start: Any, end: Any, noted: StateReading | None = None) -> None:
        self._start = start
        walk = _Walk(noted)
        self._changes = list(walk.changes(start, end, ()))
        self._positions = walk.positions
        self._at = {change.path: change for change in self._changes}
        self._above: dict[Path, Change] = {}
        for change in sorted(
            self._changes, key=lambda one: one.kind != "unknown"
        ):  # what is known comes last
            for depth in range(len(change.path)):
                self._above[change.path[:depth]] = change

    @overload
    def __getitem__(self, at: int) -> Change: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Change]: ...

    def __getitem__(self, at: int | slice) -> Change | Sequence[Change]:
        return self._changes[at]

    def __len__(self) -> int:
        return len(self._changes)

    def above(self, path: Path, kind: ChangeKind) -> Change | None:
        """The change of this kind of the place, or of one that holds it; None where there is none."""
        for depth in range(len(path) + 1):
            change = self._at.get(path[:depth])
            if change is not None and change.kind == kind:
                return change
        return None

    def touching(self, path: Path) -> Change | None:
        """A change of the place, of one that holds it, or of one in it; a known one, if there is any."""
        holding = [self._at[path[:n]] for n in range(len(path) + 1) if path[:n] in self._at]
        holding += [self._above[path]] if path in self._above else []
        return min(holding, key=lambda one: one.kind == "unknown", default=None)

    def before(self, path: Path) -> Any:
        """What stood at a place of the end before; `NOWHERE` where nothing did."""
        state = self._start
        for depth, part in enumerate(path):
            step: str | int = part
            positions = self._positions.get(path[:depth])
            if positions is not None and isinstance(step, int):
                if step not in positions:
                    return NOWHERE
                step = positions[step]
            state = value_at(state, (step,))
            if state is NOWHERE:
                break
        return state


NOWHERE: Any = object()
"""In place of a value: there is none at this place."""


def value_at(state: Any, path: Path) -> Any:
    """The value at a place of a state; `NOWHERE` where there is none."""
    for step in path:
        if isinstance(step, int) is not isinstance(state, list):
            return NOWHERE
        try:
            state = state[step]
        except (KeyError, IndexError, TypeError):
            return NOWHERE
    return state


def path_text(path: Sequence[str | int]) -> str:
    """A path as it is written: ``orders.7.items[0]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class _Walk:
    def __init__(self, noted: StateReading | None) -> None:
        has_notes = noted is not None and noted.changed is not None
        self._noted = noted if has_notes else None
        self.positions: dict[Path, dict[int, int]] = {}

    def changes(self, start: Any, end: Any, path: Path) -> Iterator[Change]:
        if _is_open(start, dict) and _is_open(end, dict):
            yield from self._of_mappings(start, end, path)
        elif _is_open(start, list) and _is_open(end, list):
            yield from self._of_lists(start, end, path)
        else:
            same = _same(start, end)
            if same is None:
                yield from self._unknown(start, end, path)
            elif not same:
                yield Change("changed", path, start, end)

    def _of_mappings(self, start: dict[str, Any], end: dict[str, Any], path: Path) -> Iterator[Change]:
        cut = _is_count(start.get(TRUNCATED)) or _is_count(end.get(TRUNCATED))
        if cut:
            yield from self._unknown(start, end, path)
        for key, before in start.items():
            if cut and key == TRUNCATED:
                continue
            if key in end:
                yield from self.changes(before, end[key], (*path, key))
            elif not cut:
                yield Change("removed", (*path, key), before)
        for key, after in end.items():
            if key not in start and not cut:
                yield Change("added", (*path, key), None, after)

    def _of_lists(self, start: list[Any], end: list[Any], path: Path) -> Iterator[Change]:
        if cause_of(start) == "cut" or cause_of(end) == "cut":
            start, end = _without_mark(start), _without_mark(end)
            yield from self._unknown(start, end, path)
        pairs = list(_paired(start, end))
        self.positions[path] = {b: a for a, b in pairs if a is not None and b is not None}
        for before, after in pairs:
            if after is None:
                assert before is not None
                yield Change("removed", (*path, before), start[before])
            elif before is None:
                yield Change("added", (*path, after), None, end[after])
            else:
                yield from self.changes(start[before], end[after], (*path, after))

    def _unknown(self, start: Any, end: Any, path: Path) -> Iterator[Change]:
        noted = self._noted
        if noted is not None and path not in noted.unknown and not _has_hidden(path):
            if any(changed[: len(path)] == path for changed in noted.changed or ()):
                yield Change("changed", path, start, end)
            return
        cause = cause_of(start) or cause_of(end) or cause_within(start) or cause_within(end) or "cut"
        yield Change("unknown", path, start, end, cause)


def _is_open(value: Any, kind: type) -> bool:
    """Whether a recorded value is a container whose parts can be compared: no tag, no mark."""
    if type(value) is not kind:
        return False
    if type(value) is not dict or len(value) > 2 or not value:
        return True
    return untagged(value) is value and (cause_of(value) is None or len(value) == 2)


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _has_hidden(path: Path) -> bool:
    return any(type(part) is not int and cause_of(part) is not None for part in path)


def _without_mark(items: list[Any]) -> list[Any]:
    return items[:-1] if cause_of(items) == "cut" else items


def _same(start: Any, end: Any) -> bool | None:
    """Whether two recorded values are the same; None where it cannot be told."""
    kind = type(start)
    if kind is type(end):
        if kind in _COUNTED:
            return bool(start == end)
        if kind is Redacted and start.digest is not None and end.digest is not None:
            return bool(start.digest == end.digest)
        if kind is str and cause_of(start) is None and cause_of(end) is None:
            return start == end or same_text(start, end)
    return either_way(lambda: agreement(taken_from_a_record(start), end) == 1.0)


Pairing = tuple[int | None, int | None]


def _paired(start: Sequence[Any], end: Sequence[Any]) -> Iterator[Pairing]:
    """The positions of items that are one and the same, or one that changed; None where there is none."""
    one, other = [to_json(item) for item in start], [to_json(item) for item in end]
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    yield from ((n, n) for n in range(head))
    stop, end_stop = len(one) - tail, len(other) - tail
    if stop - head > _MOST_ALIGNED or end_stop - head > _MOST_ALIGNED:
        blocks = [("replace", head, stop, head, end_stop)]
    else:
        aligned = SequenceMatcher(None, one[head:stop], other[head:end_stop], autojunk=False).get_opcodes()
        blocks = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in aligned]
    for tag, a, b, c, d in blocks:
        if tag == "equal":
            yield from zip(range(a, b), range(c, d), strict=True)
        else:
            yield from _paired_by_likeness(start, end, range(a, b), range(c, d))
    yield from ((stop + n, end_stop + n) for n in range(tail))


def _paired_by_likeness(
    start: Sequence[Any], end: Sequence[Any], before: Sequence[int], after: Sequence[int]
) -> Iterator[Pairing]:
    if not before or not after or len(before) * len(after) > _MOST_COMPARED:
        pairs = dict(zip(before, after, strict=False))
    else:
        alike = [[_likeness(start[a], end[b]) for b in after] for a in before]
        pairs = {before[row]: after[column] for row, column in best_pairs(alike)}
    paired = set(pairs.values())
    yield from ((at, pairs.get(at)) for at in before)
    yield from ((None, at) for at in after if at not in paired)


def _likeness(start: Any, end: Any) -> float:
    """How likely one item became the other; scalars may have become any other scalar."""
    if not isinstance(start, Mapping | list) and not isinstance(end, Mapping | list):
        return 0.5
    alike = in_favour(lambda: agreement(taken_from_a_record(start), end))
    if isinstance(start, Mapping) and isinstance(end, Mapping):
        for key, value in start.items():  # a row's own name says more than all of its other fields
            if key == "id" or key.endswith("_id"):
                alike = (alike + 2.0 * (key in end and end[key] == value)) / 3
                break
    return alike if alike >= _ALIKE else 0.0
