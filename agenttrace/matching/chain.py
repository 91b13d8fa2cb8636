"""`Chain`: the best alignments of a plan, part by part, by dynamic programming.

Each part extends the partial alignments of what stands before it, all at once. Alternatives extend the same ones
and are merged; a round extends those that the last round made better. So neither multiplies the work, and
nothing is ever chosen greedily. The parts of an unordered group are assigned; where one of them has an order
or a choice of its own, what remains of the group is searched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from agenttrace.core.errors import ExpectationError
from agenttrace.core.text import shorten
from agenttrace.expectations.assign import Assignment
from agenttrace.expectations.plans import Address, Choice, Group, Place, Plan, Rounds
from agenttrace.matching.columns import Columns, column_ways
from agenttrace.matching.frontier import ROUND, Frontier
from agenttrace.matching.interleave import Interleaving, TooManySteps
from agenttrace.matching.weights import Weights, after

Ways: TypeAlias = dict[int, Frontier]
"""Partial alignments by the number of required places so far: alternatives may differ in it."""

MAX_STEPS = 1_000_000
MAX_WAYS = 256
_FEW_WAYS = 16
_SHOWN = 120


class Chain:
    """Aligns a plan with calls; `steps` counts the partial alignments that were tried."""

    def __init__(self, weights: Weights, *, ordered: bool) -> None:
        self.steps = 0
        self._weights = weights
        self._ordered = ordered
        self._searches: dict[Plan, Interleaving] = {}
        self._columns: dict[Plan, Sequence[Columns] | None] = {}

    def extend(self, ways: Ways, plan: Plan, address: Address) -> Ways:
        """The alignments with one more part. Those before it are used up.

        Raises:
            ExpectationError: a part takes more than `MAX_STEPS`, and stands for more than `MAX_WAYS` ways.
        """
        if isinstance(plan, Place):
            return self._place(ways, plan, address)
        if isinstance(plan, Choice):
            return self._choice(ways, plan, address)
        if isinstance(plan, Rounds):
            single = isinstance(plan.part, Place)
            return (self._single_rounds if single else self._rounds)(ways, plan, address)
        if not (plan.ordered and self._ordered):
            return self._unordered(ways, plan, address)
        for number, part in enumerate(plan.parts):
            ways = self.extend(ways, part, (*address, number))
        return ways

    def _place(self, ways: Ways, place: Place, address: Address) -> Ways:
        must_fit = place.role == "all_or_nothing"
        extended: Ways = {}
        for required, frontier in ways.items():
            target = Frontier() if must_fit else frontier
            self._pair_once(frontier, target, place, address)
            extended[required + (place.role == "required")] = target
        return extended

    def _pair_once(self, frontier: Frontier, target: Frontier, place: Place, address: Address) -> bool:
        """Pair a place with each call after an alignment; whether any was worth it."""
        ends, totals, links = frontier.ends, frontier.totals, frontier.links
        weights, better = self._weights.of(place), False
        calls = after(self._weights.calls(place), ends[0]) if ends else ()
        self.steps += len(calls)
        for call in reversed(calls):  # what is inserted is never seen by a call before it
            before = bisect_left(ends, call) - 1
            better |= target.insert(call, totals[before] + weights[call], (links[before], address, call))
        return better

    def _choice(self, ways: Ways, plan: Choice, address: Address) -> Ways:
        merged: Ways = {}
        for number, branch in enumerate(plan.branches):
            copies = {required: frontier.copy() for required, frontier in ways.items()}
            _merge(self.extend(copies, branch, (*address, number)), merged)
        return merged

    def _single_rounds(self, ways: Ways, plan: Rounds, address: Address) -> Ways:
        assert isinstance(plan.part, Place)
        place, address = plan.part, (*address, ROUND)
        weights, calls = self._weights.of(place), self._weights.calls(place)
        for frontier in ways.values():
            ends, totals, links = frontier.ends, frontier.totals, frontier.links
            if plan.most is None or plan.most >= len(calls):
                self.steps += len(calls)
                for call in after(calls, ends[0]) if ends else ():  # each may follow the one before
                    before = bisect_left(ends, call) - 1
                    frontier.insert(call, totals[before] + weights[call], (links[before], address, call))
            else:
                any(not self._pair_once(frontier, frontier, place, address) for _ in range(plan.most))
        return ways

    def _rounds(self, ways: Ways, plan: Rounds, address: Address) -> Ways:
        steps, count = self.steps, 0
        last: Ways = {required: frontier.copy() for required, frontier in ways.items()}
        while any(frontier.ends for frontier in last.values()) and count != plan.most:
            longer = self.extend(last, plan.part, (*address, ROUND))
            last = {}
            for required, frontier in longer.items():
                last[required] = better = Frontier()
                for end, total, link in frontier.entries():
                    ended = (link, address, None)
                    if ways[required].insert(end, total, ended):
                        better.insert(end, total, ended)
            count += 1
            if self.steps - steps > MAX_STEPS:
                raise _too_much(plan)
        return ways

    def _unordered(self, ways: Ways, plan: Group, address: Address) -> Ways:
        if plan not in self._columns:
            self._columns[plan] = column_ways(plan, self._weights, _FEW_WAYS, ordered=self._ordered)
        few = self._columns[plan]
        if few is None:
            try:
                return self._search(ways, plan, address)
            except TooManySteps:
                few = column_ways(plan, self._weights, MAX_WAYS, ordered=self._ordered)
                if few is None:
                    raise _too_much(plan) from None
                self._columns[plan] = few
        merged: Ways = {}
        for columns in few:
            for required, frontier in ways.items():
                extended = {required + columns.required: self._assign(frontier, columns, address)}
                _merge(extended, merged)
        return merged

    def _assign(self, frontier: Frontier, columns: Columns, address: Address) -> Frontier:
        """Assign calls to places in any order, from each alignment on, call by call."""
        target = Frontier() if columns.must_fit else frontier.copy()
        for end, total, link in frontier.entries():
            assignment = Assignment(len(columns.places), columns.room)
            calls = after(columns.calls, end)
            for call in calls:
                better = assignment.add(call, columns.at_call[call]) > 0
                if (better if self._ordered else call == calls[-1]) and columns.fit(assignment):
                    sum_ = total + assignment.total - columns.surplus
                    if target.accepts(call, sum_):
                        pairs = partial(columns.pairs, assignment.pairs())
                        target.insert(call, sum_, (link, address, pairs))
                if self._ordered and columns.are_best(assignment):
                    break
            self.steps += assignment.steps
        return target

    def _search(self, ways: Ways, plan: Group, address: Address) -> Ways:
        search = self._searches.get(plan)
        if search is None:
            search = self._searches[plan] = Interleaving(plan, self._weights, ordered=self._ordered)
        extended: Ways = {}
        before = search.steps
        for required, frontier in ways.items():
            for end, total, inside, link, pairs in search.alignments(frontier.entries(), MAX_STEPS):
                target = extended.setdefault(required + inside, Frontier())
                target.insert(end, total, (link, address, pairs))
        self.steps += search.steps - before
        return extended


def _merge(ways: Ways, into: Ways) -> None:
    for required, frontier in ways.items():
        target = into.get(required)
        if target is None:
            into[required] = frontier
        else:
            for end, total, link in frontier.entries():
                target.insert(end, total, link)


def _too_much(plan: Group | Rounds) -> ExpectationError:
    return ExpectationError(
        f"{shorten(repr(plan.pattern), _SHOWN)} can be aligned with this run in too many ways: a search takes "
        f"more than {MAX_STEPS:,} steps; say less at once, or split the expectation"
    )
