"""`rewritten`: an expectation, in plain data, changed so that its path says what a run did."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.reading import in_favour
from agenttrace.matching.compare import compare
from agenttrace.matching.comparison import Comparison
from agenttrace.updates.rewritten_call import GROUPS, CannotRewrite, RewrittenCall, is_call, written_call

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An expectation's new data; `notes` say what was left as it is, or is expected to be anything."""

    data: Any
    notes: tuple[str, ...]


def rewritten(expected: Any, run: Trace, **how: Any) -> Rewritten:
    """Change as little of an expectation as makes its path hold for a run; `how` are options of `compare`.

    A value that differs becomes the recorded one, a matcher that agrees stays. A call that was not made goes,
    with what was made in its place; one that was made elsewhere moves there. Other calls that no expected
    one was paired with are added where the mode allows none (*exact*, *any_order*, *only*). Whatever stands
    beside the path is kept.

    Raises:
        CannotRewrite: the path cannot be made to hold so; the text says why.
    """
    comparison = _compared(expected, run, how)
    notes = [f"{check.name}: {check.found}; not updated" for check in comparison.checks if check.fails]
    if comparison.expectation.path is None or _holds(comparison):
        return Rewritten(expected, tuple(notes))
    path = expected["path"] if _has_path(expected) else expected
    work = _Work(path, comparison, how)
    new_path = work.rebuilt()
    new = {**expected, "path": new_path} if _has_path(expected) else new_path
    try:
        holds = in_favour(lambda: _holds(_compared(new, run, how)))
    except AgentTraceError as error:
        raise CannotRewrite(f"what ran is at odds with the rest of it: {error}") from error
    if not holds:
        reasons = "; ".join(work.notes) or "the mode, or an agent or a turn that is expected, does not fit"
        raise CannotRewrite(f"what ran cannot be written in its place: {reasons}")
    return Rewritten(new, (*work.notes, *notes))


def _compared(expected: Any, run: Trace, how: Mapping[str, Any]) -> Comparison:
    return compare(expected, run, credit="full", **how)


def _holds(comparison: Comparison) -> bool:
    return comparison.value == 1.0


def _has_path(expected: Any) -> bool:
    is_item = isinstance(expected, Mapping) and {"call", "tool_name", "name", *GROUPS} & expected.keys()
    return isinstance(expected, Mapping) and "path" in expected and not is_item


@dataclass(slots=True)
class _Slot:
    """An item of the path that stands in a list of items one after the other, or of `par`."""

    place: Place
    item: Any
    calls: list[Call]
    pairs: list[tuple[Call, int, float]] = field(default_factory=list)
    is_missing: bool = False


class _Work:
    """The change of one path."""

    def __init__(self, path: Any, comparison: Comparison, how: Mapping[str, Any]) -> None:
        self.path = path if isinstance(path, list | tuple) else [path]
        self.is_one = not isinstance(path, list | tuple)
        self.comparison = comparison
        self.notes: list[str] = []
        leaves = iter(comparison.expectation.calls)
        self.slots = [
            _Slot(place, item, [next(leaves) for _ in range(_count_calls(item))])
            for place, item in _slots(self.path, ())
        ]
        self.rewriting = RewrittenCall(comparison, how, self.notes)
        self.in_place: dict[Place, list[Any]] = {}
        self.after: dict[Place, list[tuple[int, Any]]] = {}

    def rebuilt(self) -> Any:
        """The new path."""
        self._pair()
        for slot in self.slots:
            if slot.pairs:
                self.in_place[slot.place] = [self._with_values(slot)]
        self._settle_missing()
        items = self._items(self.path, ())
        items = [*self._added(()), *items]
        return items[0] if self.is_one and len(items) == 1 else items

    def _pair(self) -> None:
        slot_of = {id(call): slot for slot in self.slots for call in slot.calls}
        paired = {pair.place for pair in self.comparison.pairs}
        for pair in self.comparison.pairs:
            slot_of[id(pair.expected)].pairs.append((pair.expected, pair.position, pair.agreement))
        for number, place in enumerate(self.comparison.alignment.places):
            if place.role == "required" and number not in paired:
                slot_of[id(place.options[0])].is_missing = True

    def _with_values(self, slot: _Slot) -> Any:
        """The item with the values of the calls that it is paired with."""
        if slot.is_missing:
            raise CannotRewrite(f"of the group {slot.item!r:.80} only a part was called")
        item = slot.item
        for expected, position, agreement in slot.pairs:
            if agreement == 1.0:
                continue
            if sum(other is expected for other, _, _ in slot.pairs) > 1:
                raise CannotRewrite(
                    f"{expected.name} stands for several calls, which had different arguments"
                )
            number = next(n for n, call in enumerate(slot.calls) if call is expected)
            item = self._replaced(item, number, expected, position)
        return item

    def _replaced(self, item: Any, number: int, expected: Call, position: int) -> Any:
        """An item in which the n-th call has the values of the call at a position."""
        if is_call(item):
            return self.rewriting.with_values(item, expected, position)
        if isinstance(item, list | tuple):
            items = list(item)
            for at, part in enumerate(items):
                count = _count_calls(part)
                if number < count:
                    items[at] = self._replaced(part, number, expected, position)
                    break
                number -= count
            return items
        word = _group_word(item)
        return {**item, word: self._replaced(item[word], number, expected, position)}

    def _settle_missing(self) -> None:
        """Say what comes in place of the calls that were not made, and where the other calls go."""
        calls, mode = self.comparison.calls, self.comparison.mode
        paired = {position for slot in self.slots for _, position, _ in slot.pairs}
        free = [position for position in range(len(calls)) if position not in paired]
        are_wanted = mode in ("exact", "any_order", "only") or not self.comparison.expects_calls
        wanted = set(free) if are_wanted else set()
        missing = [slot for slot in self.slots if slot.is_missing]
        for slot in missing:
            self.in_place[slot.place] = []
        for slot in missing:
            position = self._same_tool(slot, free)
            if position is not None:
                moved = self.rewriting.with_values(slot.item, slot.calls[0], position)
                self._put(position, moved)
                free.remove(position)
                wanted.discard(position)
            elif instead := self._in_the_gap(slot, free):
                for at in instead:
                    self._put(at, self._new(at))
                free = [at for at in free if at not in instead]
                wanted -= set(instead)
        for position in sorted(wanted):
            self._put(position, self._new(position))

    def _same_tool(self, slot: _Slot, free: Sequence[int]) -> int | None:
        if not is_call(slot.item) or len(slot.calls) != 1:
            return None
        name = self.comparison.call_agreement.name(slot.calls[0])
        return next((at for at in free if self.comparison.calls[at].name == name), None)

    def _in_the_gap(self, slot: _Slot, free: Sequence[int]) -> list[int]:
        """The calls that were made between those that are expected before and after it."""
        at = self.slots.index(slot)
        before = max((p for other in self.slots[:at] for _, p, _ in other.pairs), default=-1)
        after = min(
            (p for other in self.slots[at:] for _, p, _ in other.pairs if p > before),
            default=len(self.comparison.calls),
        )
        return [position for position in free if before < position < after]

    def _new(self, position: int) -> Any:
        return written_call(self.comparison.calls[position], self.path, self.notes)

    def _put(self, position: int, item: Any) -> None:
        """Add an item after the one that was called last before a position."""
        earlier = [(p, slot) for slot in self.slots for _, p, _ in slot.pairs if p < position]
        place: Place = max(earlier, key=lambda pair: pair[0])[1].place if earlier else ()
        insort(self.after.setdefault(place, []), (position, item), key=itemgetter(0))

    def _added(self, place: Place) -> list[Any]:
        return [item for _, item in self.after.get(place, [])]

    def _items(self, items: Sequence[Any], place: Place) -> list[Any]:
        """The new items of a list; of `par` what is to be added comes after it."""
        new: list[Any] = []
        for at, item in enumerate(items):
            inner: Place = (*place, at)
            if is_slot(item):
                new += [*self.in_place.get(inner, [item]), *self._added(inner)]
            elif isinstance(item, list | tuple):
                parts = self._items(item, inner)
                new += [parts] if parts else []
            else:
                word = _group_word(item)
                beside = {key: value for key, value in self.after.items() if key[: len(inner)] == inner}
                if word == "par":
                    self.after = {key: value for key, value in self.after.items() if key not in beside}
                parts = self._items(item[word], (*inner, word))
                new += [{word: parts}] if parts else []
                if word == "par":
                    added = [one for value in beside.values() for one in value]
                    new += [one for _, one in sorted(added, key=itemgetter(0))]
        return new


def is_slot(item: Any) -> bool:
    """Whether an item is no list of items one after the other, or in any order."""
    return not isinstance(item, list | tuple) and (is_call(item) or _group_word(item) not in ("seq", "par"))


def _slots(items: Sequence[Any], place: Place) -> Iterator[tuple[Place, Any]]:
    for at, item in enumerate(items):
        inner: Place = (*place, at)
        if is_slot(item):
            yield inner, item
        elif isinstance(item, list | tuple):
            yield from _slots(item, inner)
        else:
            word = _group_word(item)
            yield from _slots(item[word], (*inner, word))


def _group_word(item: Mapping[str, Any]) -> str:
    return next(word for word in ("seq", "par", "any_of", "opt", "many") if word in item)


def _count_calls(item: Any) -> int:
    """How many expected calls an item mentions."""
    if isinstance(item, list | tuple):
        return sum(map(_count_calls, item))
    return 1 if is_call(item) else _count_calls(item[_group_word(item)])
