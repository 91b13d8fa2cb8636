"""`Chain`: the best alignments of a plan, part by part, by dynamic programming.

Each part extends the partial alignments of what stands before it, all at once. Alternatives extend the same
ones and are merged; a round extends those that the last round made better. So neither multiplies the work,
and nothing is ever chosen greedily. The parts of an unordered group are assigned; where one of them has an
order or a choice of its own, what remains of the group is searched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from agenttrace.core.errors import ExpectationError
from agenttrace.core.text import shorten
from agenttrace.expectations.assign import Assignment
from agenttrace.expectations.plans import Address, Choice, Group, Place, Plan, Rounds, most_remainders
from agenttrace.matching.columns import Columns, column_ways
from agenttrace.matching.frontier import ROUND, Frontier, Link
from agenttrace.matching.interleave import MAX_STATES, MAX_STEPS, Interleaving, TooManySteps
from agenttrace.matching.weights import Weights, after

Frontiers: TypeAlias = dict[int, Frontier]
"""Partial alignments by the number of required places so far: alternatives may differ in it."""

MAX_WAYS = 256
_FEW_WAYS = 16
_FEW_REMAINDERS = 200
_SHOWN = 120


class Chain:
    """Aligns a plan with calls; `steps` counts the partial alignments that were tried."""

    def __init__(self, weights: Weights, *, ordered: bool) -> None:
        self.steps = 0
        self._steps_in_choices = 0
        self._counted = 0
        self._weights = weights
        self._ordered = ordered
        self._searches: dict[Plan, Interleaving] = {}
        self._columns: dict[Plan, Sequence[Columns] | None] = {}

    def align(self, plan: Group, start: int) -> Frontiers:
        """The best alignments of a plan, whose first `start` parts are aligned with as many calls.

        Raises:
            ExpectationError: a part takes more than `MAX_STEPS`, and stands for more than `MAX_WAYS` ways.
        """
        frontiers = {start: Frontier.starting_after(start - 1)}
        if not self._ordered:
            return self._unordered(frontiers, plan, ())
        for number, part in enumerate(plan.parts[start:], start):
            is_last = number == len(plan.parts) - 1
            frontiers = self._extend(frontiers, part, (number,), is_last=is_last)
        return frontiers

    def _extend(
        self, frontiers: Frontiers, plan: Plan, address: Address, *, is_last: bool = False
    ) -> Frontiers:
        """The alignments with one more part. Those before it are used up."""
        if isinstance(plan, Place):
            return self._place(frontiers, plan, address)
        if isinstance(plan, Choice):
            return self._choice(frontiers, plan, address)
        if isinstance(plan, Rounds):
            single = isinstance(plan.part, Place)
            return (self._single_rounds if single else self._rounds)(frontiers, plan, address)
        if not (plan.ordered and self._ordered):
            return self._unordered(frontiers, plan, address, is_last=is_last)
        for number, part in enumerate(plan.parts):
            frontiers = self._extend(frontiers, part, (*address, number))
        return frontiers

    def _place(self, frontiers: Frontiers, place: Place, address: Address) -> Frontiers:
        must_fit = place.role == "all_or_nothing"
        extended: Frontiers = {}
        for required, frontier in frontiers.items():
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

    def _choice(self, frontiers: Frontiers, plan: Choice, address: Address) -> Frontiers:
        merged: Frontiers = {}
        before = self.steps
        for number, branch in enumerate(plan.branches):
            copies = {required: frontier.copy() for required, frontier in frontiers.items()}
            _merge(self._extend(copies, branch, (*address, number)), merged)
        self._count(before, plan)
        return merged

    def _single_rounds(self, frontiers: Frontiers, plan: Rounds, address: Address) -> Frontiers:
        assert isinstance(plan.part, Place)
        place, address = plan.part, (*address, ROUND)
        weights, calls = self._weights.of(place), self._weights.calls(place)
        for frontier in frontiers.values():
            ends, totals, links = frontier.ends, frontier.totals, frontier.links
            if plan.most is None or plan.most >= len(calls):
                self.steps += len(calls)
                for call in after(calls, ends[0]) if ends else ():  # each may follow the one before
                    before = bisect_left(ends, call) - 1
                    frontier.insert(call, totals[before] + weights[call], (links[before], address, call))
            else:
                any(not self._pair_once(frontier, frontier, place, address) for _ in range(plan.most))
        return frontiers

    def _rounds(self, frontiers: Frontiers, plan: Rounds, address: Address) -> Frontiers:
        if most_remainders(plan) <= _FEW_REMAINDERS:
            try:
                return self._search(frontiers, plan, address)
            except TooManySteps:
                pass
        ended = frontiers
        for _ in range(plan.least):
            ended = self._round(ended, plan, address)
        better = {required: frontier.copy() for required, frontier in ended.items()}
        count = plan.least
        while any(frontier.ends for frontier in better.values()) and count != plan.most:
            longer = self._round(better, plan, address)
            better = {}
            for required, frontier in longer.items():
                better[required] = Frontier()
                for end, total, link in frontier.entries():
                    if ended[required].insert(end, total, link):
                        better[required].insert(end, total, link)
            count += 1
        return ended

    def _round(self, frontiers: Frontiers, plan: Rounds, address: Address) -> Frontiers:
        """The alignments with one more round."""
        before = self.steps
        longer = self._extend(frontiers, plan.part, (*address, ROUND))
        self._count(before, plan)
        for frontier in longer.values():
            frontier.links = [(link, address, None) for link in frontier.links]
        return longer

    def _count(self, before: int, plan: Choice | Rounds) -> None:
        """Count steps in alternatives and rounds; all other work is bounded by the path and the run."""
        self._steps_in_choices += self.steps - max(before, self._counted)
        self._counted = self.steps
        if self._steps_in_choices > MAX_STEPS:
            raise _too_much(plan)

    def _unordered(
        self, frontiers: Frontiers, plan: Group, address: Address, *, is_last: bool = False
    ) -> Frontiers:
        if plan not in self._columns:
            self._columns[plan] = column_ways(plan, self._weights, _FEW_WAYS, ordered=self._ordered)
        written_out = self._columns[plan]
        if written_out is None:
            try:
                return self._search(frontiers, plan, address)
            except TooManySteps:
                written_out = column_ways(plan, self._weights, MAX_WAYS, ordered=self._ordered)
                if written_out is None:
                    raise _too_much(plan) from None
                self._columns[plan] = written_out
        merged: Frontiers = {}
        for columns in written_out:
            for required, frontier in frontiers.items():
                starts = self._best_start(frontier, columns) if is_last else frontier
                _merge({required + columns.required: self._assign(starts, columns, address)}, merged)
        return merged

    def _best_start(self, frontier: Frontier, columns: Columns) -> Frontier:
        """The alignment that the last group extends best: by one assignment, from the last call backwards."""
        assignment = Assignment(len(columns.places), columns.room)
        calls = list(columns.calls)
        best, best_total = Frontier(), -1
        for end, total, link in reversed(frontier.entries()):
            while calls and calls[-1] > end:
                call = calls.pop()
                assignment.add(call, columns.at_call[call])
            if columns.fit(assignment) and total + assignment.total >= best_total:
                best, best_total = Frontier.starting_after(end, total, link), total + assignment.total
        self.steps += assignment.steps * len(columns.places)
        return best

    def _assign(self, frontier: Frontier, columns: Columns, address: Address) -> Frontier:
        """Assign calls to places in any order, from each alignment on, call by call."""
        target = Frontier() if columns.must_fit else frontier.copy()
        for end, total, link in frontier.entries():
            assignment = Assignment(len(columns.places), columns.room)
            for call in after(columns.calls, end):
                better = assignment.add(call, columns.at_call[call]) > 0
                if better and self._ordered:
                    self._keep(target, call, total, link, columns, assignment, address)
                if self._ordered and columns.are_best(assignment):
                    break
            if not self._ordered:
                self._keep(target, end, total, link, columns, assignment, address)
            self.steps += assignment.steps * len(columns.places)
        return target

    def _keep(
        self, target: Frontier, end: int, total: int, link: Link | None,
        columns: Columns, assignment: Assignment, address: Address,
    ) -> None:  # fmt: skip
        total += assignment.total - columns.surplus
        if columns.fit(assignment) and target.accepts(end, total):
            target.insert(end, total, (link, address, partial(columns.pairs, assignment.pairs())))

    def _search(self, frontiers: Frontiers, plan: Group | Rounds, address: Address) -> Frontiers:
        search = self._searches.get(plan)
        if search is None:
            search = self._searches[plan] = Interleaving(plan, self._weights, ordered=self._ordered)
        extended: Frontiers = {}
        before = search.steps
        try:
            for required, frontier in frontiers.items():
                for end, total, inside, link, pairs in search.alignments(frontier.entries()):
                    target = extended.setdefault(required + inside, Frontier())
                    target.insert(end, total, (link, address, pairs))
        finally:
            self.steps += search.steps - before
        return extended


def _merge(frontiers: Frontiers, into: Frontiers) -> None:
    for required, frontier in frontiers.items():
        target = into.get(required)
        if target is None:
            into[required] = frontier
        else:
            for end, total, link in frontier.entries():
                target.insert(end, total, link)


def _too_much(plan: Group | Choice | Rounds) -> ExpectationError:
    return ExpectationError(
        f"{shorten(repr(plan.pattern), _SHOWN)} can be aligned with this run in too many ways: a search "
        f"would take more than {MAX_STEPS:,} steps or {MAX_STATES:,} states; say less at once, or split it"
    )
