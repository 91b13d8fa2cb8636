"""`align`: the optimal alignment of a plan with the calls of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Choice, Group, Place, Plan, Settled, chosen_calls
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.chain import Chain
from agenttrace.matching.frontier import Link, pairs_of
from agenttrace.matching.lcs import earliest_lcs_pairs
from agenttrace.matching.one_off import pairs_but_one
from agenttrace.matching.weights import Credit, Weights

UNORDERED_MODES: frozenset[Mode] = frozenset({"any_order", "contains", "only"})

_MAX_NAME_PAIRS = 250_000  # beyond so many pairs of plain names, failed calls are as good as others


class Pair(NamedTuple):
    """An expected call with the actual call at a position; `place` is its number in the order written."""

    place: int
    expected: Call
    position: int
    agreement: float


_made_pair: Callable[[Iterable[Any]], Pair] = partial(tuple.__new__, Pair)
"""`Pair._make`, in a third of the time."""


class Alignment:
    """The pairs of a plan's places with calls, by place.

    `plan` has its choices made and its rounds written out; `steps` counts the partial alignments that were
    tried.
    """

    __slots__ = ("full", "matched", "pairs", "plan", "steps")

    def __init__(
        self, plan: Group, pairs: Iterable[Pair], steps: int = 0, *, full: int | None = None
    ) -> None:
        self.plan = plan
        self.pairs: tuple[Pair, ...] = tuple(pairs)
        self.steps = steps
        if full is not None:  # of required places alone
            self.full = self.matched = full
            return
        places = plan.places
        agreeing = [pair.place for pair in self.pairs if pair.agreement == 1.0]
        self.full = len(agreeing)
        """How many pairs agree fully."""
        self.matched = len([place for place in agreeing if places[place].role == "required"])
        """How many of them are of required places."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place of the plan, in the order written."""
        return self.plan.places

    @property
    def required(self) -> int:
        """How many calls are needed."""
        return self.plan.required

    def total_agreement(self, credit: Credit = "partial") -> float:
        """The total agreement over the required places, or the number of those that agree fully."""
        if credit == "full":
            return float(self.matched)
        places = self.places
        return math.fsum(pair.agreement for pair in self.pairs if places[pair.place].role == "required")

    def coverage(self, credit: Credit) -> float:
        """The mean agreement over the required places; 1 where there is none."""
        return self.total_agreement(credit) / self.required if self.required else 1.0


def align(
    plan: Group, call_agreement: CallAgreement, mode: Mode = "in_order", credit: Credit = "partial"
) -> Alignment:
    """The best alignment: by coverage, then by the number of calls it explains (in mode *only* the other way
    round), then by their agreement, then with the alternatives that are written first. Calls that must be
    paired (`Pairing.paired`) go before all that; where they cannot all be, it has only some of them.

    Raises:
        ExpectationError: a part can be aligned in too many ways to search them all.
    """
    ordered = mode not in UNORDERED_MODES
    must_pair = call_agreement.pairing.paired.keys() if call_agreement.pairing is not None else ()
    start = _common_start(plan, call_agreement) if ordered and not must_pair else 0
    if plan.is_fixed and not must_pair:
        first = zip(range(start), plan.first_calls, range(start), repeat(1.0))
        if start == len(plan.places) or start == len(call_agreement.calls):
            return Alignment(plan, map(_made_pair, first), full=start)
        name_pairs = _pairs_of_names(plan, start, call_agreement, ordered=ordered)
        if name_pairs is not None:
            others = [(start + e, plan.places[start + e].options[0], start + a, 1.0) for e, a in name_pairs]
            return Alignment(plan, map(_made_pair, chain(first, others)))
        but_one = pairs_but_one(plan, start, call_agreement) if ordered else None
        if but_one is not None:
            full = start + len(but_one)
            if but_one and but_one[0][3] < 1:  # all others agree
                full -= 1
            return Alignment(plan, map(_made_pair, chain(first, but_one)), full=full)
    weights = Weights(call_agreement, start, credit, only=mode == "only")
    search = Chain(weights, ordered=ordered)
    ways = search.align(plan, start)
    links = [frontier.links[-1] for frontier in ways.values() if frontier.links]
    alignments = [_settled(plan, start, link, weights, search.steps) for link in links]
    if must_pair:
        complete = [one for one in alignments if must_pair <= {pair.position for pair in one[0].pairs}]
        alignments = complete or alignments
    return min(alignments, key=lambda pair: (rank(pair[0], mode, credit), pair[1]))[0]


def rank(alignment: Alignment, mode: Mode, credit: Credit) -> tuple[float, float, float]:
    """The less, the better."""
    coverage, full = alignment.coverage(credit), float(alignment.full)
    agreement = math.fsum(pair.agreement for pair in alignment.pairs)
    return (-full, -coverage, -agreement) if mode == "only" else (-coverage, -full, -agreement)


def _settled(
    plan: Group, start: int, link: Link | None, weights: Weights, steps: int
) -> tuple[Alignment, list[int]]:
    """The alignment that a link ends, after `start` calls that are as expected; the alternatives in it."""
    chosen = chosen_calls([*(((at,), at) for at in range(start)), *pairs_of(link)])
    settled = Settled()
    fixed = settled.plan(plan, chosen)
    assert isinstance(fixed, Group)
    pairs: list[Pair] = []
    for number, (place, call) in enumerate(zip(fixed.places, settled.calls, strict=True)):
        if call is not None:
            expected, agreement = (place.options[0], 1.0) if call < start else weights.pair(place, call)
            pairs.append(Pair(number, expected, call, agreement))
    return Alignment(fixed, pairs, steps), settled.branches


def required_names(plan: Group) -> Group:
    """The required places of a plan with names alone; what is left to the run is left to it here, too."""
    return Group(plan.ordered, tuple(_required_names(plan.parts, ordered=plan.ordered)), plan.pattern)


def _required_names(parts: Iterable[Plan], *, ordered: bool) -> Iterator[Plan]:
    for part in parts:
        if isinstance(part, Place):
            if part.role == "required":
                yield Place(tuple(Call(name=option.name) for option in part.options))
        elif isinstance(part, Choice):
            branches = (Group(True, (branch,)) for branch in part.branches)
            yield Choice(tuple(map(required_names, branches)), part.pattern)
        elif isinstance(part, Group):
            inner = tuple(_required_names(part.parts, ordered=part.ordered))
            if part.ordered == ordered or len(inner) < 2:
                yield from inner
            else:
                yield Group(part.ordered, inner, part.pattern)


def _common_start(plan: Group, call_agreement: CallAgreement) -> int:
    """How many calls at the start are exactly the expected ones: no better pairing exists for them."""
    return call_agreement.agreeing(zip(plan.steps, range(len(call_agreement.calls)), strict=False))


def _pairs_of_names(
    plan: Group, start: int, call_agreement: CallAgreement, *, ordered: bool
) -> list[tuple[int, int]] | None:
    """The best pairs from the position `start` on, where names alone decide; None where they do not."""
    if not call_agreement.is_plain(plan.places[start].options[0]):
        return None  # as a rule: one that is like all others
    places = plan.places[start:]
    is_sequence = ordered and all(isinstance(part, Place) for part in plan.parts)
    if not is_sequence and ordered and not (len(plan.parts) == 1 and _is_set(plan.parts[0])):
        return None
    if not all(len(place.options) == 1 and call_agreement.is_plain(place.options[0]) for place in places):
        return None
    expected = [call_agreement.name(place.options[0]) for place in places]
    actual = [call.name for call in call_agreement.calls[start:]]
    if call_agreement.failed.isdisjoint(expected) or len(expected) * len(actual) > _MAX_NAME_PAIRS:
        return earliest_lcs_pairs(expected, actual) if is_sequence else _earliest_of_names(expected, actual)
    return None


def _is_set(part: Plan) -> bool:
    return isinstance(part, Group) and not part.ordered and all(isinstance(one, Place) for one in part.parts)


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
