"""The best alignment where a label stands for the call that is paired with the expected one.

It does not stand for any call that is like that one. Which call that is depends on the
alignment, and the alignment on which values agree. So first any call that fits may be the source. Where the
alignment that is best then has for every label the call that its values come from, no other is better. Else
each call that a label may stand for is tried, with that pair given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from agenttrace.core.errors import ExpectationError
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Group
from agenttrace.expectations.references import sources_of
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import Alignment, align, rank
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
    for fixed in _ways(plan, calls, _sources(alignment), agreement_with):
        labels = {call.label or "": [position] for call, position in fixed}
        of_calls = {id(call): position for call, position in fixed}
        agreement = agreement_with(calls, sources={**_sources(alignment), **labels}, fixed=of_calls)
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
    plan: Group,
    calls: Sequence[ToolCall],
    sources: Mapping[str, Sequence[int]],
    agreement_with: AgreementWith,
) -> Iterator[tuple[tuple[Call, int], ...]]:
    """The ways to give each call whose label is used a call that it may stand for; those of which something
    agrees, and those of the first alignment. A label of several calls, or in a repetition, is left out."""
    options = [option for place in plan.places for option in place.options]
    choices: list[list[tuple[Call, int]]] = []
    for label in sorted(plan.labels):
        same = [option for option in options if option.label == label]
        if len(same) > 1 or len(sources[label]) > 1:
            continue
        (expected,) = same
        users = [option for option in options if label in sources_of([option])]
        positions = [
            position
            for position in agreement_with(calls).candidates(expected)
            if position in sources[label]
            or _is_used(position, users, agreement_with(calls, sources={label: [position]}))
        ]
        if positions:
            choices.append([(expected, position) for position in positions])
    if prod(map(len, choices)) > MOST_WAYS:
        names = ", ".join(sorted(plan.labels))
        raise ExpectationError(
            f"the labels {names} may stand for calls in more than {MOST_WAYS:,} ways; say more of the"
            " arguments of the calls that bear them"
        )
    return product(*choices)


def _is_used(position: int, users: Sequence[Call], agreement: CallAgreement) -> bool:
    """Whether any call agrees fully where the label in it stands for the one at this position."""
    return any(
        agreement.agreement(user, at) == 1.0
        for user in users
        for at in agreement.candidates(user)
        if at > position
    )
