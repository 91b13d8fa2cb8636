"""An order of overlapping calls in which each value of `ref` has its source before it.

A value may come from any call that the record does not place after the one that was given it. An alignment
that is made so holds only where one order has all the sources before their users. It is found call by call:
of those whose turn may be now, the first one of which all values have their sources already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.plans import Group
from agenttrace.expectations.references import sources_of
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import UNORDERED_MODES, Alignment, Pair, align
from agenttrace.matching.fitting_order import MAX_GROUP, closings, fitting_orders
from agenttrace.matching.labels import AgreementWith, align_with_labels
from agenttrace.matching.pairing import Pairing
from agenttrace.matching.parallel import Precedence, groups_of
from agenttrace.matching.weights import Credit


def source_orders(
    plan: Group, calls: Sequence[ToolCall], mode: Mode, credit: Credit, agreement_with: AgreementWith
) -> Iterator[list[ToolCall]]:
    """The admissible orders that may fit best; none for a plan without `ref`. The calls stand in the order of
    the trace.

    Raises:
        ExpectationError: as `align_with_labels` does.
    """
    if not sources_of(option for place in plan.places for option in place.options):
        return

    def in_any_order(calls: Sequence[ToolCall], pairing: Pairing | None = None) -> CallAgreement:
        return agreement_with(calls, pairing=pairing, in_any_order=True)

    hoped, agreement = align_with_labels(plan, calls, mode, credit, in_any_order)
    yield _Arranging(calls, hoped, mode, agreement_with).arranged()
    if mode in UNORDERED_MODES:
        return
    plans = (hoped.plan, align(plan, agreement, "contains", credit).plan)
    for order in chain.from_iterable(fitting_orders(fixed, agreement, credit) for fixed in plans):
        in_order = [calls[position] for position in order]
        hoped, _ = align_with_labels(plan, in_order, mode, credit, in_any_order)
        pairs = [pair._replace(position=order[pair.position]) for pair in hoped.pairs]
        yield _Arranging(calls, Alignment(hoped.plan, pairs), mode, agreement_with).arranged()


class _Arranging:
    """Arranges calls for one alignment, whose positions are those of the calls in the order of the trace."""

    def __init__(
        self, calls: Sequence[ToolCall], hoped: Alignment, mode: Mode, agreement_with: AgreementWith
    ) -> None:
        self._calls = calls
        self._agreement_with = agreement_with
        self._pairs: Mapping[int, Pair] = {pair.position: pair for pair in hoped.pairs}
        self._closes = closings(hoped.plan) if mode not in UNORDERED_MODES else []
        self._order: list[int] = []

    def arranged(self) -> list[ToolCall]:
        precedence = Precedence(self._calls)
        for group in groups_of(self._calls):
            if len(group) == 1 or len(group) > MAX_GROUP:
                self._order += group
                continue
            before, waiting = precedence.before(group), [*group]
            done = 0
            while waiting:
                admissible = [at for at in waiting if not before[at - group.start] & ~done]
                free = [at for at in admissible if not self._comes_later(at, waiting)]
                turn = next((at for at in free if self._has_sources(at)), (free or admissible)[0])
                waiting.remove(turn)
                done |= 1 << turn - group.start
                self._order.append(turn)
        return [self._calls[at] for at in self._order]

    def _comes_later(self, position: int, waiting: Sequence[int]) -> bool:
        """Whether the plan has another of the waiting calls before this one."""
        pair = self._pairs.get(position)
        if pair is None or not self._closes:
            return False
        others = (self._pairs[at].place for at in waiting if at != position and at in self._pairs)
        return any(self._closes[pair.place] >> place & 1 for place in others)

    def _has_sources(self, position: int) -> bool:
        """Whether the call agrees as was hoped where just those before it have had their turn."""
        pair = self._pairs.get(position)
        if pair is None or not sources_of([pair.expected]):
            return True
        calls = [self._calls[at] for at in (*self._order, position)]
        paired = [
            (self._pairs[at].expected, number) for number, at in enumerate(self._order) if at in self._pairs
        ]
        agreement = self._agreement_with(calls, pairing=Pairing.with_sources(paired))
        return agreement.agreement(pair.expected, len(self._order)) >= pair.agreement
