"""`align`: the optimal alignment of expected calls with actual ones, and which pairing outweighs which.

Maximised are, in this order: the total agreement over required places (or, with credit *full*, first the
number of places that agree fully), optional places that fit, pairs whose names alone agree, calls that did
not fail, and last the earliest calls (the least sum of positions). All of this is one integer for each pair,
its weight, so ties are exact and the order in which an unordered group is listed changes nothing. Agreement
is rounded to 1/720720.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Group, Place, Role
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.chain import Chain
from agenttrace.matching.interleave import best_interleaving
from agenttrace.matching.lcs import earliest_lcs_pairs

Credit = Literal["partial", "full"]
"""Whether what counts is agreement, or the number of calls that agree fully."""

_UNIT = 720_720  # divisible by 1 to 16, so that such shares of agreement add up exactly
_SUCCESS = 1 << 36
_NAME = 1 << 56
_OPTIONAL = 1 << 76
_AGREED = 1 << 97
_FULL = 1 << 137
_MAX_NAME_PAIRS = 250_000  # beyond so many pairs of plain names, failed calls are as good as others


class Pair(NamedTuple):
    """An expected call with the actual call at a position; `place` is its number in the order written."""

    place: int
    expected: Call
    position: int
    agreement: float


class Alignment:
    """The pairs of one plan's places with calls, by place."""

    __slots__ = ("full", "matched", "pairs", "plan")

    def __init__(self, plan: Group, pairs: Sequence[Pair]) -> None:
        self.plan = plan
        self.pairs: tuple[Pair, ...] = tuple(pairs)
        places = plan.places
        full = [pair.place for pair in pairs if pair.agreement == 1.0]
        self.full = len(full)
        """How many pairs agree fully."""
        self.matched = len([place for place in full if places[place].role == "required"])
        """How many of them are of required places."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place of the plan, in the order written."""
        return self.plan.places

    @property
    def required(self) -> int:
        """How many calls are needed."""
        return self.plan.required

    @property
    def fits(self) -> bool:
        """Whether every optional group that the plan includes fits in full."""
        full = {pair.place for pair in self.pairs if pair.agreement == 1.0}
        return all(
            number in full for number, place in enumerate(self.places) if place.role == "all_or_nothing"
        )

    def total_agreement(self, credit: Credit = "partial") -> float:
        """The total agreement over the required places, or the number of those that agree fully."""
        if credit == "full":
            return float(self.matched)
        places = self.places
        return math.fsum(pair.agreement for pair in self.pairs if places[pair.place].role == "required")


def align(plan: Group, call_agreement: CallAgreement, credit: Credit = "partial") -> Alignment:
    """The best alignment of one plan.

    Raises:
        ExpectationError: sequences inside unordered groups interleave in too many ways.
    """
    places = plan.places
    start = _common_start(plan, call_agreement)
    pairs = [Pair(at, places[at].options[0], at, 1.0) for at in range(start)]
    if start == len(places) or start == len(call_agreement.calls):
        return Alignment(plan, pairs)
    rest = Group(plan.ordered, plan.parts[start:]) if start else plan
    shortcut = _NAMES_ONLY.get(_shape(rest))
    if shortcut is not None and all(_is_bare(place, call_agreement) for place in places[start:]):
        expected_names = [call_agreement.name(place.options[0]) for place in places[start:]]
        rest_calls = call_agreement.calls[start:]
        if (
            call_agreement.failed.isdisjoint(expected_names)
            or len(expected_names) * len(rest_calls) > _MAX_NAME_PAIRS
        ):
            name_pairs = shortcut(expected_names, [call.name for call in rest_calls])
            pairs += [Pair(start + e, places[start + e].options[0], start + a, 1.0) for e, a in name_pairs]
            return Alignment(plan, pairs)
    options, weights = _weights(places[start:], start, call_agreement, credit)
    for number, position in _solve(rest, weights):
        expected, agreement = options[number][position]
        pairs.append(Pair(start + number, expected, position, agreement))
    return Alignment(plan, pairs)


def _common_start(plan: Group, call_agreement: CallAgreement) -> int:
    """How many calls at the start are exactly the expected ones: no better pairing exists for them."""
    start = 0
    aliases = call_agreement.selection.names
    for part, call in zip(plan.parts, call_agreement.calls, strict=False):
        if not isinstance(part, Place) or part.role != "required" or len(part.options) != 1:
            break
        expected = part.options[0]
        if (call_agreement.name(expected) if aliases else expected.name) != call.name:
            break
        if not call_agreement.agrees(expected, start) or (
            call.failed and call.name in call_agreement.retried
        ):
            break
        start += 1
    return start


def by_name(plan: Group) -> Group:
    """The same plan with names alone."""
    parts: list[Place | Group] = []
    for part in plan.parts:
        if isinstance(part, Place):
            parts.append(Place(tuple(Call(name=option.name) for option in part.options), part.role))
        else:
            parts.append(by_name(part))
    return Group(plan.ordered, tuple(parts))


def unordered(plan: Group) -> Group:
    """The same places in any order."""
    return Group(True, (Group(False, plan.places),)) if plan.parts else plan


def _is_bare(place: Place, call_agreement: CallAgreement) -> bool:
    return place.role == "required" and len(place.options) == 1 and call_agreement.is_plain(place.options[0])


def _shape(plan: Group) -> str:
    if all(isinstance(part, Place) for part in plan.parts):
        return "sequence"
    if len(plan.parts) == 1 and _is_flat(plan.parts[0]):
        return "set"
    return "groups" if all(_is_flat(part) for part in plan.parts) else "nested"


def _is_flat(part: Place | Group) -> bool:
    return isinstance(part, Place) or all(isinstance(sub, Place) for sub in part.parts)


def _earliest_of_names(expected: Sequence[str], actual: Sequence[str]) -> list[tuple[int, int]]:
    """Pair equal names one to one, whatever their order, each with the earliest that is left."""
    waiting: dict[str, list[int]] = {}
    for position in range(len(actual) - 1, -1, -1):
        waiting.setdefault(actual[position], []).append(position)
    pairs: list[tuple[int, int]] = []
    for number, name in enumerate(expected):
        positions = waiting.get(name)
        if positions:
            pairs.append((number, positions.pop()))
    return pairs


_NAMES_ONLY: Mapping[str, Callable[[Sequence[str], Sequence[str]], list[tuple[int, int]]]] = {
    "sequence": earliest_lcs_pairs,
    "set": _earliest_of_names,
}

_BestOptions = list[dict[int, tuple[Call, float]]]


def _weights(
    places: Sequence[Place], start: int, call_agreement: CallAgreement, credit: Credit
) -> tuple[_BestOptions, list[dict[int, int]]]:
    """For each place and each call that fits there: the option that agrees best, and the pair's weight."""
    count = len(call_agreement.calls)
    of_call = [count - at + (0 if call.failed else _SUCCESS) for at, call in enumerate(call_agreement.calls)]
    values: dict[Role, dict[float, int]] = {}  # there are few: a share of a few arguments
    options: _BestOptions = []
    weights: list[dict[int, int]] = []
    for place in places:
        best: dict[int, tuple[Call, float]] = {}
        weight_at: dict[int, int] = {}
        of_agreement = values.setdefault(place.role, {})
        for option in place.options:
            for position, agreement in call_agreement.agreements(option).items():
                if position < start or (position in best and best[position][1] >= agreement):
                    continue
                best[position] = (option, agreement)
                value = of_agreement.get(agreement)
                if value is None:
                    value = of_agreement[agreement] = _weight(agreement, place.role, credit)
                if value:
                    weight_at[position] = value + of_call[position]
        options.append(best)
        weights.append(weight_at)
    return options, weights


def _weight(agreement: float, role: Role, credit: Credit) -> int:
    if role != "required":
        return 0 if agreement < 1.0 else (_OPTIONAL if role == "optional" else 2 * _OPTIONAL) + _NAME
    units = _UNIT if agreement == 1.0 else min(int(agreement * _UNIT + 1e-6), _UNIT - 1)
    return units * _AGREED + _NAME + (_FULL if credit == "full" and agreement == 1.0 else 0)


def _solve(plan: Group, weights: Sequence[Mapping[int, int]]) -> list[tuple[int, int]]:
    if _shape(plan) == "nested":
        return best_interleaving(plan, weights)
    chain = Chain()
    number = 0
    for part in plan.parts:
        if isinstance(part, Place):
            chain.append_place(number, weights[number])
            number += 1
        else:
            numbers = range(number, number + len(part.parts))
            chain.append_group(numbers, [weights[at] for at in numbers])
            number = numbers.stop
    return chain.pairs()
