"""The best alignment where a label stands for the call that is paired with the expected one.

It does not stand for any call that is like that one. Which call that is depends on the
alignment, and the alignment on which values agree. So first any call that fits may be the source. Where the
alignment that is best then has for every label the call that its values come from, no other is better. Else
each call that a label may stand for is tried, with that pair given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from agenttrace.core.errors import ExpectationError
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Choice, Group, Place, Plan, Rounds
from agenttrace.expectations.references import sources_of
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import UNORDERED_MODES, Alignment, align, rank
from agenttrace.matching.weights import Credit

MOST_WAYS = 1_000
"""Ways to choose the calls that labels stand for. Beyond it, the expectation says too little."""

Aligned = tuple[Alignment, CallAgreement]
AgreementWith = Callable[..., CallAgreement]


def align_with_labels(
    plan: Group, calls: Sequence[ToolCall], mode: Mode, credit: Credit, agreement_with: AgreementWith
) -> Aligned:
    """The best alignment, and the agreement that it was made of.

    Raises:
        ExpectationError: a part can be aligned in too many ways to search them all, or labels may stand for
            too many calls.
    """
    anything = agreement_with(calls)
    alignment = align(plan, anything, mode, credit)
    if not plan.labels:
        return alignment, anything
    best = _judged(alignment, calls, agreement_with)
    if best[0].pairs == alignment.pairs:
        return best
    for chosen in _ways(plan, calls, agreement_with):
        sources = {label: () if position is None else (position,) for label, _, position in chosen}
        pairs = {id(call): position for _, call, position in chosen if position is not None}
        may_pair = _compatible(plan, pairs, ordered=mode not in UNORDERED_MODES)
        agreement = agreement_with(calls, sources={**_sources(alignment), **sources}, may_pair=may_pair)
        other = _judged(align(plan, agreement, mode, credit), calls, agreement_with)
        best = min(best, other, key=lambda one: rank(one[0], mode, credit))
    return best


def _sources(alignment: Alignment) -> dict[str, list[int]]:
    """The positions of the calls that are paired with labelled ones; none for a label of no pair."""
    sources: dict[str, list[int]] = {label: [] for label in alignment.plan.labels}
    for pair in alignment.pairs:
        if pair.expected.label in sources:
            sources[pair.expected.label].append(pair.position)
    return sources


def _judged(alignment: Alignment, calls: Sequence[ToolCall], agreement_with: AgreementWith) -> Aligned:
    """The same pairs, each with its agreement where labels stand for just the calls in these pairs."""
    agreement = agreement_with(calls, sources=_sources(alignment))
    pairs = [
        pair._replace(agreement=agreement.agreement(pair.expected, pair.position)) for pair in alignment.pairs
    ]
    return Alignment(alignment.plan, pairs, alignment.steps), agreement


def _ways(
    plan: Group, calls: Sequence[ToolCall], agreement_with: AgreementWith
) -> Iterator[tuple[tuple[str, Call, int | None], ...]]:
    """The ways to give each call whose label is used a call that it may stand for, of which something agrees,
    or none. A label of several calls, or of one that is repeated, is left out: any of its pairs may be the
    source."""
    options = [option for place in plan.places for option in place.options]
    places = _places_in(plan)
    choices: list[list[tuple[str, Call, int | None]]] = []
    for label in sorted(plan.labels):
        same = [option for option in options if option.label == label]
        if len(same) > 1 or id(same[0]) not in places:
            continue
        users = [option for option in options if label in sources_of([option])]
        choices.append([(label, same[0], None)])
        choices[-1] += [
            (label, same[0], position)
            for position in agreement_with(calls).candidates(same[0])
            if _is_used(position, users, agreement_with(calls, sources={label: [position]}))
        ]
    if prod(map(len, choices)) > MOST_WAYS:
        names = ", ".join(sorted(plan.labels))
        raise ExpectationError(
            f"the labels {names} may stand for calls in more than {MOST_WAYS:,} ways; say more of the"
            " arguments of the calls that bear them"
        )
    return product(*choices)


_Path = tuple[tuple[bool, int], ...]
"""From the outermost group inwards: whether the group is ordered, and which of its parts it is."""


def _places_in(plan: Plan, path: _Path = ()) -> dict[int, _Path]:
    """Where each expected call stands, by its `id`; but for those that are repeated."""
    if isinstance(plan, Rounds):
        return {}
    if isinstance(plan, Place):
        return {id(option): path for option in plan.options}
    if isinstance(plan, Choice):
        parts = [(path, branch) for branch in plan.branches]
    else:
        parts = [((*path, (plan.ordered, at)), part) for at, part in enumerate(plan.parts)]
    return {key: one for inner, part in parts for key, one in _places_in(part, inner).items()}


def _compatible(plan: Group, pairs: Mapping[int, int], *, ordered: bool) -> Callable[[Call, int], bool]:
    """Which pairs there may be beside those that are given, by the `id` of their expected calls: no other
    call has theirs, and what comes before one in the plan comes before it in the run."""
    places, reserved = _places_in(plan), set(pairs.values())
    between: dict[int, tuple[float, float]] = {}
    for key, path in places.items() if ordered else ():
        sides = [(_side(path, places[other]), position) for other, position in pairs.items()]
        low = max((position for side, position in sides if side > 0), default=-math.inf)
        high = min((position for side, position in sides if side < 0), default=math.inf)
        between[key] = low, high

    def may_pair(expected: Call, position: int) -> bool:
        key = id(expected)
        if key in pairs:
            return pairs[key] == position
        low, high = between.get(key, (-math.inf, math.inf))
        return position not in reserved and low < position < high

    return may_pair


def _side(path: _Path, other: _Path) -> int:
    """-1 where one place comes before another, 1 where it comes after it, 0 where neither is said."""
    for (is_ordered, at), (_, other_at) in zip(path, other, strict=False):
        if at != other_at:
            return ((at > other_at) - (at < other_at)) * is_ordered
    return 0


def _is_used(position: int, users: Sequence[Call], agreement: CallAgreement) -> bool:
    """Whether any call agrees fully where the label in it stands for the one at this position."""
    return any(
        agreement.agreement(user, at) == 1.0
        for user in users
        for at in agreement.candidates(user)
        if at > position
    )
