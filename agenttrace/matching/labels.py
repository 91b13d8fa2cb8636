"""The best alignment where a label stands for the call that is paired with the expected one.

It does not stand for any call that is like that one. Which call that is depends on the alignment, and the
alignment on which values agree. So first any call that fits may be the source: no alignment is better than
the best one then. Where that one needs a source that it does not pair, it is searched on: once with that
pair, once without it (branch and bound). What counts is each alignment with the sources that it has.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from agenttrace.core.errors import ExpectationError
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.plans import Group
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import UNORDERED_MODES, Alignment, align, rank
from agenttrace.matching.pairing import Labelled, Pairing, paths_in
from agenttrace.matching.weights import Credit

MOST_WAYS = 1_000
"""Alignments tried to find the calls that labels stand for. Beyond, the expectation says too little."""
MOST_CALLS = 50_000
"""Calls in all of them together: of a long run, fewer alignments are tried."""
MOST_STEPS = 1_000_000
"""Steps of all of them together, in all orders of overlapping calls: some seconds."""

Aligned = tuple[Alignment, CallAgreement]
AgreementWith = Callable[..., CallAgreement]


@dataclass(slots=True)
class Effort:
    """The steps that searches for the calls of labels took so far."""

    steps: int = 0


def align_with_labels(
    plan: Group,
    calls: Sequence[ToolCall],
    mode: Mode,
    credit: Credit,
    agreement_with: AgreementWith,
    effort: Effort | None = None,
) -> Aligned:
    """The best alignment, and the agreement that it was made of; its steps are added to the `effort`.

    Raises:
        ExpectationError: a part can be aligned in too many ways to search them all, or labels may stand for
            too many calls.
    """
    if not plan.labels:
        anything = agreement_with(calls)
        return align(plan, anything, mode, credit), anything
    return _LabelSearch(plan, calls, mode, credit, agreement_with, effort or Effort()).best()


class _LabelSearch:
    def __init__(
        self,
        plan: Group,
        calls: Sequence[ToolCall],
        mode: Mode,
        credit: Credit,
        agreement_with: AgreementWith,
        effort: Effort,
    ) -> None:
        self._plan = plan
        self._calls = calls
        self._mode: Mode = mode
        self._credit: Credit = credit
        self._agreement_with = agreement_with
        self._effort = effort
        self._tried = 0
        self._most = min(MOST_WAYS, MOST_CALLS // (len(calls) or 1) or 1)
        options = [option for place in plan.places for option in place.options]
        self._labelled = {id(option): option for option in options if option.label in plan.labels}

    def best(self) -> Aligned:
        """The alignment that is best with the sources that it has."""
        best, best_rank = None, (1.0, 1.0, 1.0)  # worse than any
        start = Pairing(paths={} if self._mode in UNORDERED_MODES else paths_in(self._plan))
        number = itertools.count(0, -1)  # of equally good ones the last is searched on: depth first
        waiting = [(bound, next(number), pairing, one) for bound, pairing, one in self._aligned(start)]
        while waiting:
            bound, _, pairing, (alignment, agreement) = heappop(waiting)
            if bound >= best_rank:
                break
            real = self._judged(alignment)
            real_rank = self._rank(real[0])
            if real_rank < best_rank and _is_kept(real[0]):
                best, best_rank = real, real_rank
            open_pair = self._open_pair(alignment, agreement, real[1], pairing)
            if open_pair is None:
                continue
            for decided in (pairing.without_pair(*open_pair), pairing.with_pair(*open_pair)):
                for inner_bound, _, one in self._aligned(decided):
                    if inner_bound < best_rank:
                        heappush(waiting, (inner_bound, next(number), decided, one))
        assert best is not None  # the one without any labelled pair is the last that is tried
        return best

    def _rank(self, alignment: Alignment) -> tuple[float, float, float]:
        return rank(alignment, self._mode, self._credit)

    def _aligned(self, pairing: Pairing) -> Iterator[tuple[tuple[float, float, float], Pairing, Aligned]]:
        """The best alignment with these pairs, if there is any, before what no such alignment is better."""
        self._tried += 1
        if self._tried > self._most:
            raise self._refusal(f"in more than {self._most:,} ways")
        agreement = self._agreement_with(self._calls, pairing=pairing)
        alignment = align(self._plan, agreement, self._mode, self._credit)
        self._effort.steps += alignment.steps + len(self._calls)
        if self._effort.steps > MOST_STEPS:
            raise self._refusal(f"in too many ways to try them in {MOST_STEPS:,} steps")
        if pairing.paired.keys() <= {pair.position for pair in alignment.pairs}:
            yield self._rank(alignment), pairing, (alignment, agreement)

    def _refusal(self, ways: str) -> ExpectationError:
        names = ", ".join(sorted(self._plan.labels))
        return ExpectationError(
            f"the labels {names} may stand for calls {ways}; say more of the arguments of the calls that bear"
            " them"
        )

    def _judged(self, alignment: Alignment) -> Aligned:
        """The same pairs, each with its agreement where labels stand for just the calls in these pairs."""
        agreement = self._with_sources(self._labelled_pairs(alignment))
        pairs = [
            pair._replace(agreement=agreement.agreement(pair.expected, pair.position))
            for pair in alignment.pairs
        ]
        return Alignment(alignment.plan, pairs, alignment.steps), agreement

    def _labelled_pairs(self, alignment: Alignment) -> list[Labelled]:
        return [
            (pair.expected, pair.position) for pair in alignment.pairs if id(pair.expected) in self._labelled
        ]

    def _with_sources(self, pairs: Sequence[Labelled]) -> CallAgreement:
        return self._agreement_with(self._calls, pairing=Pairing.with_sources(pairs))

    def _open_pair(
        self, alignment: Alignment, hoped: CallAgreement, real: CallAgreement, pairing: Pairing
    ) -> Labelled | None:
        """A pair on which it depends that a call agrees as was hoped, and that is not decided; None where all
        agree so."""
        pairs = self._labelled_pairs(alignment)
        places = {(id(expected), position) for expected, position in pairs}
        for pair in alignment.pairs:
            if real.agreement(pair.expected, pair.position) >= pair.agreement:
                continue
            others = [
                (expected, position)
                for expected in self._labelled.values()
                for position in hoped.candidates(expected)
                if (id(expected), position) not in places and position not in pairing.paired
            ]
            others.sort(key=lambda one: one[1])
            undecided = [one for one in pairs if one[1] not in pairing.paired]
            decided = [one for one in pairs if one[1] in pairing.paired]
            user = (pair.expected, pair.position)
            return (
                self._turning_point(user, pairs, others)
                or self._turning_point(user, decided, undecided)
                or next(iter([*others, *undecided]), None)
            )
        return None

    def _turning_point(
        self, user: Labelled, pairs: Sequence[Labelled], others: Sequence[Labelled]
    ) -> Labelled | None:
        """The first of some pairs with which, and those before it, a call comes to agree in another way."""

        def agreement(more: int) -> float:
            return self._with_sources([*pairs, *others[:more]]).agreement(*user)

        without, low, high = agreement(0), 0, len(others)
        if agreement(high) == without:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if agreement(middle) == without else (low, middle)
        return others[high - 1]


def _is_kept(alignment: Alignment) -> bool:
    """Whether each optional call agrees: else it would have no pair, nor would the rest of its group."""
    places = alignment.places
    return all(pair.agreement == 1.0 or places[pair.place].role == "required" for pair in alignment.pairs)
