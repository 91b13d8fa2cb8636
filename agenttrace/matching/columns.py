"""`Columns`: the places of an unordered group as the columns of an assignment.

Alternatives and rounds in the group are written out, each way with columns of its own. A repeated single call
is one column with room for many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice, product
from math import comb
from typing import TypeAlias

from agenttrace.core.cached import cached_property
from agenttrace.expectations.assign import Assignment
from agenttrace.expectations.plans import Address, Choice, Group, Place, Plan, Rounds
from agenttrace.matching.frontier import ROUND
from agenttrace.matching.weights import GROUP, Weights, without_position

Column: TypeAlias = tuple[Place, Address, int]
"""A place, its address in the group, how many calls it takes."""


@dataclass(eq=False)
class Columns:
    """One way to fulfil an unordered group."""

    columns: Sequence[Column]
    weights: Weights

    @cached_property
    def places(self) -> Sequence[Place]:
        """The place of each column."""
        return [place for place, _, _ in self.columns]

    @cached_property
    def room(self) -> Mapping[int, int]:
        """How many calls a column takes, where it is more than one."""
        return {number: room for number, (_, _, room) in enumerate(self.columns) if room > 1}

    @cached_property
    def required(self) -> int:
        """How many places are required."""
        return sum(place.role == "required" for place in self.places)

    @cached_property
    def must_fit(self) -> Sequence[int]:
        """The columns that belong to an optional group: without them, nothing of it counts."""
        return [number for number, place in enumerate(self.places) if place.role == "all_or_nothing"]

    @cached_property
    def surplus(self) -> int:
        """What the assignment counts too much, so that these columns go before all others."""
        return GROUP * len(self.must_fit)

    @cached_property
    def at_call(self) -> Mapping[int, Mapping[int, int]]:
        """The weight of each call at each column that it fits, by the position of the call."""
        at_call: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for number, place in enumerate(self.places):
            surplus = GROUP if place.role == "all_or_nothing" else 0
            for call, weight in self.weights.of(place).items():
                at_call[call][number] = weight + surplus
        return at_call

    @cached_property
    def calls(self) -> Sequence[int]:
        """The positions of the calls that fit any column, ascending."""
        return sorted(self.at_call)

    @cached_property
    def _best(self) -> int | None:
        """The total of the best call at each column; None where one takes several, or has none."""
        if self.room:
            return None
        values = [self.weights.of(place).values() for place in self.places]
        return sum(without_position(max(weights)) for weights in values) if all(values) else None

    def fit(self, assignment: Assignment) -> bool:
        """Whether no place of an optional group is empty."""
        return all(map(assignment.is_full, self.must_fit))

    def are_best(self, assignment: Assignment) -> bool:
        """Whether no later call could make the assignment better."""
        if self._best is None or assignment.added < len(self.columns):
            return False
        return self._best == sum(
            without_position(self.weights.of(self.places[column])[call])
            for column, call in assignment.pairs()
        )

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[Address, int]]:
        """Pairs of columns and calls, by the columns' addresses."""
        return ((self.columns[column][1], call) for column, call in pairs)


def column_ways(plan: Group, weights: Weights, most: int, *, ordered: bool) -> Sequence[Columns] | None:
    """Every way to fulfil an unordered group; None for more than `most`, or if a part of it has an order."""
    ways = _ways(plan, weights, most, ordered=ordered)
    return None if ways is None else [Columns(way, weights) for way in ways]


_Way: TypeAlias = tuple[Column, ...]

_MOST_TRIED = 5_000  # combinations of rounds, most of which the run may have no calls for


def _ways(plan: Plan, weights: Weights, most: int, *, ordered: bool) -> list[_Way] | None:
    if isinstance(plan, Place):
        return [((plan, (), 1),)]
    if isinstance(plan, Rounds):
        return _rounds(plan, weights, most, ordered=ordered)
    parts = plan.parts if isinstance(plan, Group) else plan.branches
    if isinstance(plan, Group) and plan.ordered and ordered and not _are_alike(parts):
        return None
    inner: list[list[_Way]] = []
    for number, part in enumerate(parts):
        ways = _ways(part, weights, most, ordered=ordered)
        if ways is None:
            return None
        inner.append([_at(number, way) for way in ways])
    if isinstance(plan, Choice):
        made = [way for ways in inner for way in ways]
    else:
        made = [sum(way, ()) for way in islice(product(*inner), most + 1)]
    return made if len(made) <= most else None


def _at(number: int, way: _Way) -> _Way:
    return tuple((place, (number, *address), room) for place, address, room in way)


def _are_alike(parts: Sequence[Plan]) -> bool:
    """Whether the parts are the same call again and again, so that their order says nothing."""
    places = [part.part if isinstance(part, Rounds) else part for part in parts]
    return all(isinstance(place, Place) for place in places) and (
        len({tuple(map(id, place.options)) for place in places if isinstance(place, Place)}) < 2
    )


def _rounds(plan: Rounds, weights: Weights, most: int, *, ordered: bool) -> list[_Way] | None:
    if isinstance(plan.part, Place):
        calls = len(weights.calls(plan.part))
        room = calls if plan.most is None else min(calls, plan.most)
        return [((plan.part, (ROUND,), room),) if room else ()]
    if ordered and plan.most != 1:
        return None  # one round after the other
    ways = _ways(plan.part, weights, most, ordered=ordered)
    if ways is None or not all(any(place.role == "all_or_nothing" for place, _, _ in way) for way in ways):
        return None
    made: list[_Way] = [()] if plan.least == 0 else []
    count = 0
    while count != plan.most and len(made) <= most:
        count += 1
        if comb(count + len(ways) - 1, count) > _MOST_TRIED:
            return None
        longer = [
            sum((_at(round_, ways[number]) for round_, number in enumerate(numbers)), ())
            for numbers in combinations_with_replacement(range(len(ways)), count)
        ]
        longer = [way for way in longer if _may_fit(way, weights)]
        if not longer:
            break
        if count >= plan.least:
            made += longer
    return made if len(made) <= most else None


def _may_fit(way: _Way, weights: Weights) -> bool:
    """Whether the run has a call for each place that must not stay empty."""
    needed = Counter(place for place, _, _ in way if place.role == "all_or_nothing")
    return all(count <= len(weights.calls(place)) for place, count in needed.items())
