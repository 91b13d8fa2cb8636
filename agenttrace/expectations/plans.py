"""Plans: a pattern as places for calls, with the choices and rounds that are left to the run.

A place may be *required*; *optional* (a call that may be left out); or *all_or_nothing*: it belongs to an
optional group, which counts only where all of it fits. Alternatives of single calls share one place. The part
of a repetition stands once for each round that must be, and once for all the others, as `Rounds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from agenttrace.core.cached import cached_property
from agenttrace.core.errors import ExpectationError
from agenttrace.core.marks import cause_of
from agenttrace.core.snapshot import LEAVES
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Pattern, Seq
from agenttrace.expectations.references import sources_of

MAX_PLACES = 100_000

Role = Literal["required", "optional", "all_or_nothing"]

Address = tuple[int, ...]
"""Where a place is in a plan: the numbers of parts, alternatives, rounds, from the outermost on."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A slot for one call; `options` are the expected calls that may fill it."""

    options: tuple[Call, ...]
    role: Role = "required"


class Step(NamedTuple):
    """The call of a required place that has no other; `kinds` are those of `scalar_kinds`, and it is placed
    where an agent or a turn is stated."""

    expected: Call
    kinds: Sequence[type] | None
    is_placed: bool

    @classmethod
    def of(cls, expected: Call) -> Step:
        """Make the step of a call."""
        is_placed = expected.agent is not None or expected.turn is not None
        return cls(expected, scalar_kinds(expected), is_placed)


def scalar_kinds(expected: Call) -> list[type] | None:
    """The types of an expected call's arguments, in order, where equal ones of them agree in every mode.

    None where that cannot be said: not all of them are scalars that are known whole, some are ignored, or an
    output is expected, too. Free arguments have no types.
    """
    arguments: Any = expected.arguments
    if expected.output is not ANY:
        return None
    if arguments is ANY:
        return []
    if type(arguments) is not dict or expected.ignore:
        return None
    kinds: list[type] = []
    for value in arguments.values():
        kind = type(value)  # 1 == True
        kinds.append(kind)
        if kind not in LEAVES or (kind is str and cause_of(value) is not None):
            return None
    return kinds


@dataclass(frozen=True, eq=False)
class Group:
    """Parts one after the other (`ordered`) or in any order, as `pattern` has them, if that is known."""

    ordered: bool
    parts: tuple[Plan, ...]
    pattern: Pattern | None = None

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every place, in the order written; each of a repetition once."""
        places = [part for part in self.parts if type(part) is Place]
        return tuple(places if len(places) == len(self.parts) else places_of(self))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The first parts, as far as each is a required place for one call."""
        steps: list[Step] = []
        for part in self.parts:
            if type(part) is not Place or part.role != "required" or len(part.options) != 1:
                break
            steps.append(Step.of(part.options[0]))
        return tuple(steps)

    @cached_property
    def first_calls(self) -> tuple[Call, ...]:
        """What the `steps` expect."""
        return tuple([step.expected for step in self.steps])

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of its calls with which paths of `ref` begin."""
        options = [option for place in self.places for option in place.options]
        labels = {option.label for option in options if option.label is not None}
        return frozenset(labels & sources_of(options)) if labels else frozenset()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tool of each place; of alternatives, the one that is written first."""
        return tuple([place.options[0].name for place in self.places])

    @cached_property
    def required(self) -> int:
        """How many of the places are required."""
        return len([place for place in self.places if place.role == "required"])

    @cached_property
    def is_fixed(self) -> bool:
        """Whether nothing is left to the run."""
        return all(
            isinstance(part, Place) or (isinstance(part, Group) and part.is_fixed) for part in self.parts
        )


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several plans."""

    branches: tuple[Plan, ...]
    pattern: Pattern | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """A plan as often as it fits in full, from `least` to `most` times (None: without limit)."""

    part: Plan
    most: int | None
    pattern: Pattern | None = None
    least: int = 0


Plan: TypeAlias = Place | Group | Choice | Rounds

EMPTY = Group(True, ())


@dataclass(frozen=True, slots=True)
class Planner:
    """Makes the plan of a pattern.

    `in_scope` says whether a tool is compared at all. `whole`: an optional group counts only where all of it
    fits; else each of its calls counts for itself, and then there are never more rounds than `calls`.
    """

    in_scope: Callable[[str], bool] = lambda _: True
    whole: bool = True
    calls: int = 0

    def plan(self, pattern: Pattern) -> Group:
        """The plan; a group inside a group of the same kind is merged into it.

        Raises:
            ExpectationError: a repetition stands for more than `MAX_PLACES` calls.
        """
        self._check_size(pattern, "required")
        return self._group(True, [self._plan(pattern, "required")], pattern)

    def _plan(self, pattern: Pattern, role: Role) -> Plan:
        if isinstance(pattern, Call):
            return Place((pattern,), role) if self.in_scope(pattern.name) else EMPTY
        if isinstance(pattern, Seq | Par):
            parts = [self._plan(part, role) for part in pattern.parts]
            return self._group(isinstance(pattern, Seq), parts, pattern)
        if isinstance(pattern, Many):
            return self._repeated(pattern, role)
        assert isinstance(pattern, AnyOf)
        calls = _single_calls(pattern)
        if calls is None:
            branches = tuple(self._plan(part, role) for part in pattern.parts)
            return Choice(branches, pattern) if len(branches) != 1 else branches[0]
        options = tuple(call for call in calls if self.in_scope(call.name))
        if not options:
            return EMPTY
        place = Place(options, role)
        return place if len(options) == len(calls) else Choice((place, EMPTY), pattern)

    def _repeated(self, pattern: Many, role: Role) -> Plan:
        is_single = _single_calls(pattern.part) is not None
        if role == "all_or_nothing" and not is_single:
            return _rounds(self._plan(pattern.part, role), pattern.least, pattern.most, pattern)
        if role == "optional" and not is_single:
            return self._optional_rounds(pattern, pattern.most)
        parts = [self._plan(pattern.part, role)] * pattern.least if pattern.least else []
        more = None if pattern.most is None else pattern.most - pattern.least
        if more != 0 and is_single:
            place = self._place(pattern.part)
            parts += [Rounds(place, more)] if place.options else []
        elif more != 0 and self.whole:
            parts.append(_rounds(self._plan(pattern.part, "all_or_nothing"), 0, more, pattern))
        elif more != 0:
            parts.append(self._optional_rounds(pattern, more))
        return self._group(True, parts, pattern)

    def _optional_rounds(self, pattern: Many, most: int | None) -> Plan:
        """Rounds of which each call counts for itself."""
        if most is not None and most < self.calls:
            return Group(False, (self._plan(pattern.part, "optional"),) * most)
        place = self._place(pattern.part)
        return Rounds(place, None) if place.options else EMPTY

    def _place(self, pattern: Pattern) -> Place:
        """One optional place for any of the calls of a pattern."""
        return Place(tuple(call for call in pattern.calls() if self.in_scope(call.name)), "optional")

    def _check_size(self, pattern: Pattern, role: Role) -> int:
        """How many places a pattern has."""
        if isinstance(pattern, Call):
            return 1
        if isinstance(pattern, Many):
            size = self._check_size(pattern.part, role) * (pattern.least if role == "required" else 1)
            if role == "required":
                size += self._check_size(pattern.part, "all_or_nothing")
            if not self.whole and pattern.most is not None:
                size *= min(pattern.most, self.calls) or 1
        else:
            assert isinstance(pattern, Seq | Par | AnyOf)
            groups = [part for part in pattern.parts if type(part) is not Call]
            size = len(pattern.parts) - len(groups) + sum(self._check_size(part, role) for part in groups)
        if size > MAX_PLACES:
            raise ExpectationError(
                f"{shorten(repr(pattern), 120)} stands for more than {MAX_PLACES:,} calls; say less at once"
            )
        return size

    def _group(self, ordered: bool, parts: Iterable[Plan], pattern: Pattern) -> Group:
        return Group(ordered, tuple(_flatten(parts, ordered)), pattern)


Chosen = Mapping[int, "Chosen | int"]
"""Positions of calls by the addresses of their places, one step at a time."""


def chosen_calls(pairs: Iterable[tuple[Address, int]]) -> Chosen:
    """Addresses with the position of the call there, one step at a time."""
    chosen: dict[int, Any] = {}
    for address, call in pairs:
        inner = chosen
        for step in address[:-1]:
            inner = inner.setdefault(step, {})
        inner[address[-1]] = call
    return chosen


@dataclass(slots=True)
class Settled:
    """What the calls that were chosen make of a plan.

    `calls` has the position of the call at each of its places, None for one without; `branches` the number of
    each alternative that was taken, and how many rounds there were, both in the order written.
    """

    calls: list[int | None] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)

    def plan(self, plan: Plan, chosen: Chosen | int | None) -> Place | Group:
        """The plan with its choices made and its rounds written out.

        Of alternatives without any call the one is taken that requires the fewest, the first among equals.
        """
        if isinstance(plan, Place):
            self.calls.append(chosen if isinstance(chosen, int) else None)
            return plan
        inner: Chosen = chosen if isinstance(chosen, Mapping) else {}
        if isinstance(plan, Choice):
            numbers = range(len(plan.branches))
            number = next(iter(inner), None)
            if number is None:
                number = min(numbers, key=lambda n: least_required(plan.branches[n]))
            self.branches.append(number)
            return self.plan(plan.branches[number], inner.get(number))
        if isinstance(plan, Rounds):
            self.branches.append(len(inner))
            return Group(True, tuple(self.plan(plan.part, inner[number]) for number in sorted(inner)))
        parts = [self.plan(part, inner.get(number)) for number, part in enumerate(plan.parts)]
        return Group(plan.ordered, tuple(_flatten(parts, plan.ordered)))


def least_required(plan: Plan) -> float:
    """The least number of required places; infinite where an optional group would be left unfinished."""
    if isinstance(plan, Place):
        return {"required": 1, "optional": 0, "all_or_nothing": math.inf}[plan.role]
    if isinstance(plan, Rounds):
        return least_required(plan.part) if plan.least else 0
    if isinstance(plan, Choice):
        return min(map(least_required, plan.branches))
    return sum(map(least_required, plan.parts))


def most_remainders(plan: Plan) -> int:
    """In how many states its calls could leave a plan, at most, in each of which others remain."""
    if isinstance(plan, Place):
        return 2
    if isinstance(plan, Rounds):
        return most_remainders(plan.part)
    if isinstance(plan, Group) and not plan.ordered:
        return math.prod(map(most_remainders, plan.parts))
    return 1 + sum(
        most_remainders(part) - 1 for part in (plan.parts if isinstance(plan, Group) else plan.branches)
    )


def _flatten(parts: Iterable[Plan], ordered: bool) -> Iterator[Plan]:
    """The parts for a group of this kind, opening inner groups of the same kind or of one part."""
    for part in parts:
        if isinstance(part, Group) and (part.ordered == ordered or len(part.parts) < 2):
            yield from _flatten(part.parts, ordered)
        else:
            yield part


def places_of(plan: Plan) -> Iterator[Place]:
    """Every place, in the order written; each of a repetition once."""
    if isinstance(plan, Place):
        yield plan
    elif isinstance(plan, Rounds):
        yield from places_of(plan.part)
    else:
        for part in plan.parts if isinstance(plan, Group) else plan.branches:
            yield from places_of(part)


def _rounds(part: Plan, least: int, most: int | None, pattern: Pattern) -> Plan:
    """Rounds of a part; of rounds without limit there are no rounds, but more of them."""
    if next(places_of(part), None) is None:
        return EMPTY
    if isinstance(part, Rounds) and part.most is None and least <= 1 and part.least <= 1:
        return Rounds(part.part, None, pattern, least * part.least)
    return Rounds(part, most, pattern, least)


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
