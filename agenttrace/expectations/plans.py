"""Plans: every way in which a pattern can be fulfilled, each as places for calls.

Options, repetitions and alternatives are written out. A place may be *required*; *optional* (a repetition
that may be left out); or *all_or_nothing*: it belongs to an optional group that this plan includes, which
counts only where all of the group fits. Alternatives of single calls share one place; all others multiply the
plans.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from agenttrace.core.errors import ExpectationError
from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Pattern, Seq

_T = TypeVar("_T")

MAX_PLANS = 256

Role = Literal["required", "optional", "all_or_nothing"]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A slot for one call; `options` are the expected calls that may fill it."""

    options: tuple[Call, ...]
    role: Role = "required"


@dataclass(frozen=True, eq=False)
class Group:
    """Places and groups, one after the other (`ordered`) or in any order."""

    ordered: bool
    parts: tuple[Plan, ...]

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every place, in the order written."""
        places: list[Place] = []
        for part in self.parts:
            places.extend((part,) if isinstance(part, Place) else part.places)
        return tuple(places)

    @cached_property
    def required(self) -> int:
        """How many places are required."""
        return sum(place.role == "required" for place in self.places)


Plan = Place | Group


@dataclass(frozen=True, slots=True)
class Expansion:
    """Makes the plans of a pattern.

    `candidates` returns the positions of the actual calls that could be an expected call, ascending;
    `in_scope` whether a tool is compared at all. `ordered`: sequences are compared as such. `whole`: an
    optional group counts only where all of it fits; else each of its calls counts for itself.
    """

    candidates: Callable[[Call], Sequence[int]]
    in_scope: Callable[[str], bool]
    ordered: bool = True
    whole: bool = True

    def plans(self, pattern: Pattern) -> list[Group]:
        """Every plan, in the order written; a group inside a group of the same kind is merged into it.

        Raises:
            ExpectationError: more than `MAX_PLANS` ways.
        """
        return [
            Group(True, tuple(_flatten(plan, ordered=True))) for plan in self._expand(pattern, "required")
        ]

    def _expand(self, pattern: Pattern, role: Role) -> list[Plan]:
        if isinstance(pattern, Call):
            return [Place((pattern,), role) if self.in_scope(pattern.name) else EMPTY]
        if isinstance(pattern, Seq | Par):
            return self._product(
                isinstance(pattern, Seq), [self._expand(part, role) for part in pattern.parts]
            )
        if isinstance(pattern, Many):
            return self._repeat(pattern, role)
        assert isinstance(pattern, AnyOf)
        calls = _single_calls(pattern)
        if calls is not None:
            options = tuple(call for call in calls if self.in_scope(call.name))
            left_out: list[Plan] = [EMPTY] if len(options) < len(calls) else []
            return ([Place(options, role)] if options else []) + left_out
        return _check_count([plan for part in pattern.parts for plan in self._expand(part, role)])

    def _repeat(self, pattern: Many, role: Role) -> list[Plan]:
        calls = _single_calls(pattern.part)
        if calls is not None and all(self.in_scope(call.name) for call in calls):
            available = sum(len(self.candidates(call)) for call in calls)
            spare = available if pattern.most is None else min(available, pattern.most - pattern.least)
            places = [Place(calls, role) for _ in range(pattern.least)]
            places += [Place(calls, "optional") for _ in range(spare)]
            return [Group(True, tuple(places))]
        must = [self._expand(pattern.part, role) for _ in range(pattern.least)]
        return self._product(True, [*must, self._more_rounds(pattern)])

    def _more_rounds(self, pattern: Many) -> list[Plan]:
        """The rounds beyond the least number: none, one, two …, as long as the run has calls for them."""
        most = self._most_rounds(pattern.part)
        if pattern.most is not None:
            most = min(most, pattern.most - pattern.least)
        ways: list[Plan] = [EMPTY]
        last: list[tuple[int, Group]] = [(0, EMPTY)]  # each with the number of its last round's plan
        for _ in range(most):
            plans = self._expand(pattern.part, "all_or_nothing" if self.whole else "optional")
            longer = (
                (number, Group(True, (*way.parts, plan)))
                for before, way in last
                for number, plan in enumerate(plans)
                if self.ordered or number >= before  # in any order, the order of the rounds says nothing
            )
            last = _check_count([(number, way) for number, way in longer if self._may_fit(way)])
            if not last:
                break
            if all(place.role == "optional" for _, way in last for place in way.places):
                ways = []  # whatever fits fewer rounds fits these, too
            ways = _check_count([*ways, *(way for _, way in last)])
        return ways

    def _most_rounds(self, pattern: Pattern) -> int:
        """A limit on the rounds of a pattern of which each has a call of its own."""
        if isinstance(pattern, Call):
            return len(self.candidates(pattern)) if self.in_scope(pattern.name) else 0
        if isinstance(pattern, Many):
            return self._most_rounds(pattern.part)
        assert isinstance(pattern, Seq | Par | AnyOf)
        numbers = [self._most_rounds(part) for part in pattern.parts]
        together = not self.whole and not isinstance(pattern, AnyOf)
        return max(numbers, default=0) if together else sum(numbers)

    def _may_fit(self, way: Group) -> bool:
        """Whether, going by names, the run has a call for each place that must not stay empty."""
        needed = [self._positions(place) for place in way.places if place.role == "all_or_nothing"]
        if not (self.ordered and _is_sequence(way)):
            return all(count <= len(positions) for positions, count in Counter(needed).items())
        after = -1
        for positions in needed:
            at = bisect_right(positions, after)
            if at == len(positions):
                return False
            after = positions[at]
        return True

    def _positions(self, place: Place) -> tuple[int, ...]:
        return tuple(sorted({at for option in place.options for at in self.candidates(option)}))

    def _product(self, ordered: bool, choices: list[list[Plan]]) -> list[Plan]:
        ways: list[tuple[Plan, ...]] = [()]
        for plans in choices:
            ways = _check_count([(*way, plan) for way in ways for plan in plans])
        return [Group(ordered, way) for way in ways]


EMPTY = Group(True, ())


def _is_sequence(plan: Plan) -> bool:
    if isinstance(plan, Place):
        return True
    return (plan.ordered or len(plan.parts) < 2) and all(map(_is_sequence, plan.parts))


def _single_calls(pattern: Pattern) -> tuple[Call, ...] | None:
    """The calls of a call, or of alternatives of single calls; None for anything else."""
    if isinstance(pattern, Call):
        return (pattern,)
    if isinstance(pattern, Seq) and len(pattern.parts) == 1:
        return _single_calls(pattern.parts[0])
    if isinstance(pattern, AnyOf):
        branches = [_single_calls(part) for part in pattern.parts]
        if all(calls is not None for calls in branches):
            return tuple(call for calls in branches if calls is not None for call in calls)
    return None


def _check_count(ways: list[_T]) -> list[_T]:
    if len(ways) > MAX_PLANS:
        raise ExpectationError(
            f"the alternatives and optional groups multiply to more than {MAX_PLANS} ways; "
            "say less at once, or split the expectation"
        )
    return ways


def _flatten(plan: Plan, *, ordered: bool) -> Iterator[Plan]:
    """A plan's parts for a group of this kind, opening inner groups of the same kind or of one part."""
    if isinstance(plan, Place):
        yield plan
        return
    inner = [part for sub in plan.parts for part in _flatten(sub, ordered=plan.ordered)]
    if plan.ordered == ordered:
        yield from inner
    elif len(inner) <= 1:
        yield from (part for one in inner for part in _flatten(one, ordered=ordered))
    else:
        yield Group(plan.ordered, tuple(inner))


def fixed_plans(pattern: Pattern) -> list[Group] | None:
    """The plans of a pattern, or None where they depend on the run (repetitions do)."""
    if any(isinstance(part, Many) for part in _terms(pattern)):
        return None
    return Expansion(candidates=lambda _: (), in_scope=lambda _: True).plans(pattern)


def _terms(pattern: Pattern) -> Iterator[Pattern]:
    yield pattern
    if isinstance(pattern, Seq | Par | AnyOf):
        for part in pattern.parts:
            yield from _terms(part)
