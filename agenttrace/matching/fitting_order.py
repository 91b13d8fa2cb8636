"""The order of overlapping calls that fits an expectation best, of those that the record admits.

A strict order is fulfilled where some admissible order fulfils it: each call stands after those that had
ended before it began, after the one inside which it was made, and after those that the same answer of a model
asked for before it.

First, calls are assigned to places whatever their order, and stand in that of their places as far as it is
admissible: where it wholly is, no order is better. Else the orders are searched, group by group. A state is
the calls of the group that have had their turn, and the places that are closed; of equal states the best is
kept. So the best order is found, unless there are too many states: then the best of them are followed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.assign import Assignment
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Group, Place, Role
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.lcs import lcs_length
from agenttrace.matching.parallel import Precedence, groups_of, has_unordered

MAX_STATES = 1_000
MAX_STEPS = 100_000
MAX_GROUP = 500
"""Calls of a group that are put into another order; those of a larger one stay as they are."""

Credit = Literal["partial", "full"]

_Link = tuple["_Link | None", int]
"""The calls that have a place, from the last one backwards."""
_State = tuple[int, "_Link | None"]
"""A total, and how it came about."""
_States = dict[int, _State]
"""For each set of closed places the best state."""

Key = TypeVar("Key", int, tuple[int, int])


def fitting_orders(plan: Group, call_agreement: CallAgreement, credit: Credit) -> list[list[int]]:
    """The admissible orders that may fit the plan best, each as positions; none where there is but one order.

    The calls of `call_agreement` stand in the order of the trace.
    """
    if not has_unordered(call_agreement.calls):
        return []
    return _Search(plan, call_agreement, credit).orders()


def possible_positions(call_agreement: CallAgreement) -> Callable[[Call], Sequence[int]]:
    """For an expected call the positions at which it may stand in some admissible order, and a few more."""
    group_of = {position: group for group in groups_of(call_agreement.calls) for position in group}

    def possible(expected: Call) -> Sequence[int]:
        return sorted({at for position in call_agreement.candidates(expected) for at in group_of[position]})

    return possible


def in_fitting_order(expected_names: Sequence[str], calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """The calls in the admissible order of which the longest part is a part of the expected one."""
    if not has_unordered(calls):
        return calls
    plan = Group(True, tuple(Place((Call(name=name),)) for name in expected_names))
    orders = fitting_orders(plan, CallAgreement(calls, mode="ignore"), "full")
    candidates = [calls, *([calls[position] for position in order] for order in orders)]
    return max(candidates, key=lambda ordered: lcs_length(expected_names, [call.name for call in ordered]))


class _Search:
    def __init__(self, plan: Group, call_agreement: CallAgreement, credit: Credit) -> None:
        self._plan = plan
        self._calls = call_agreement.calls
        self._precedence = Precedence(call_agreement.calls)
        self._agreement = call_agreement
        self._credit = credit
        self._closes = _closings(plan)
        self._is_sequence = all(isinstance(part, Place) for part in plan.parts)
        self._full = _value(1.0, "required", credit)
        self._steps = 0

    def orders(self) -> list[list[int]]:
        groups: list[range] = []
        for group in groups_of(self._calls):
            is_large = len(group) > MAX_GROUP
            groups += [range(at, at + 1) for at in group] if is_large else [group]
        order, rest, place = self._expected_beginning(groups)
        if rest == len(groups):
            return [order]
        groups = groups[rest:]
        weights = self._weights(place, groups[0].start)
        assigned = self._assigned(weights)
        by_place = [at for group in groups for at in self._by_place(group, assigned)]
        if self._is_kept(by_place, assigned):
            return [order + by_place]
        return [order + by_place, order + self._searched(groups, weights)]

    def _assigned(self, weights: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, int]:
        """The place of each call in the best assignment, whatever the order."""
        assignment = Assignment(len(self._plan.places))
        for position, places in weights.items():
            assignment.add(position, dict(places))
        # Of calls that are alike, the one that has to have its turn first gets the first place.
        alike: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {}
        for place, position in enumerate(assignment.calls()):
            if position >= 0:
                alike.setdefault(tuple(weights[position]), []).append((place, position))
        assigned: dict[int, int] = {}
        for pairs in alike.values():
            by_end = sorted((position for _, position in pairs), key=self._end_of)
            assigned.update(zip(by_end, sorted(place for place, _ in pairs), strict=True))
        return assigned

    def _by_place(self, group: range, assigned: Mapping[int, int]) -> list[int]:
        """The calls of a group in the order of their places, as far as that is admissible."""
        before, done = self._precedence.before(group), 0
        waiting = sorted(group, key=lambda position: assigned.get(position, -1))
        order: list[int] = []
        while waiting:
            at = next(n for n, position in enumerate(waiting) if not before[position - group.start] & ~done)
            position = waiting.pop(at)
            done |= 1 << position - group.start
            order.append(position)
        return order

    def _is_kept(self, order: Sequence[int], assigned: Mapping[int, int]) -> bool:
        """Whether all calls can have the places that they are assigned in this order."""
        closed = 0
        for position in order:
            place = assigned.get(position)
            if place is not None:
                if closed >> place & 1:
                    return False
                closed |= self._closes[place]
        return True

    def _searched(
        self, groups: Sequence[range], weights: Mapping[int, Sequence[tuple[int, int]]]
    ) -> list[int]:
        """The best order, or one of the best."""
        states: _States = {0: (0, None)}
        for group in groups:
            if self._steps > MAX_STEPS:
                break
            states = self._through(group, states, weights)
        _, link = max(states.values(), key=lambda state: state[0])
        placed: list[int] = []
        while link is not None:
            link, position = link
            placed.append(position)
        placed.reverse()
        return self._precedence.arranged(groups, placed)

    def _expected_beginning(self, groups: Sequence[range]) -> tuple[list[int], int, int]:
        """The order of the calls of the first groups as far as they are just the next ones that are expected,
        the number of these groups, and of these places: no better order exists for them."""
        names = {self._agreement.name(option) for place in self._plan.places for option in place.options}
        order: list[int] = []
        at = 0
        for number, group in enumerate(groups):
            relevant = [position for position in group if self._calls[position].name in names]
            placed = self._placed_exactly(group, relevant, self._plan.parts[at : at + len(relevant)])
            if len(placed) < len(relevant):
                return order, number, at
            order += self._precedence.arranged([group], placed)
            at += len(relevant)
        return order, len(groups), at

    def _placed_exactly(
        self, group: range, relevant: Sequence[int], parts: Sequence[Place | Group]
    ) -> list[int]:
        """The calls of a group that are one after the other just what these parts expect, as far as they are.

        Of several that agree, the one that has to have its turn first goes first.
        """
        before = self._precedence.before(group)
        waiting = sum(1 << position - group.start for position in relevant)
        by_end = sorted(relevant, key=self._end_of)
        placed: list[int] = []
        for part in parts:
            if not isinstance(part, Place) or part.role != "required" or len(part.options) != 1:
                break
            expected = part.options[0]
            name = self._agreement.name(expected)
            for position in by_end:
                number = position - group.start
                if (
                    self._calls[position].name == name
                    and waiting >> number & 1
                    and not waiting & before[number]
                    and self._agreement.agrees(expected, position)
                ):
                    waiting &= ~(1 << number)
                    placed.append(position)
                    break
            else:
                break
        return placed

    def _end_of(self, position: int) -> int:
        window = self._calls[position].window
        return 0 if window is None else window.end_ns

    def _weights(self, first_place: int, first_call: int) -> dict[int, list[tuple[int, int]]]:
        """For each call the places that it may have, each with what it counts there."""
        weights: dict[int, list[tuple[int, int]]] = {}
        for number, place in enumerate(self._plan.places[first_place:], first_place):
            best: dict[int, float] = {}
            for option in place.options:
                for position, agreement in self._agreement.agreements(option).items():
                    if position >= first_call and agreement > best.get(position, 0.0):
                        best[position] = agreement
            for position, agreement in best.items():
                value = _value(agreement, place.role, self._credit)
                if value:
                    weights.setdefault(position, []).append((number, value))
        return weights

    def _through(
        self, group: range, states: _States, weights: Mapping[int, Sequence[tuple[int, int]]]
    ) -> _States:
        """The states after a group, of which each call may have a place or none."""
        before = self._precedence.before(group)
        options = [(n, group[n], places) for n, at in enumerate(group) if (places := weights.get(at))]
        reached = {(0, closed): state for closed, state in states.items()}
        wave = reached.copy()
        width = max(min(MAX_STATES, MAX_STEPS // (8 * len(options) ** 2 + 1)), 1)
        while wave and self._steps <= MAX_STEPS:
            following: dict[tuple[int, int], _State] = {}
            for (had_turn, closed), (total, link) in wave.items():
                if self._steps > MAX_STEPS:
                    break
                for number, position, places in options:
                    if had_turn >> number & 1:
                        continue
                    for place, value in self._open(places, closed):
                        self._steps += 1
                        key = had_turn | before[number] | 1 << number, closed | self._closes[place]
                        rival = following.get(key) or reached.get(key)
                        if rival is None or rival[0] < total + value:
                            following[key] = total + value, (link, position)
            wave = _best_of(following, width)
            reached.update(wave)
        best: _States = {}
        for (_, closed), state in reached.items():
            if closed not in best or best[closed][0] < state[0]:
                best[closed] = state
        return _best_of(_undominated(best), MAX_STATES)

    def _open(self, places: Sequence[tuple[int, int]], closed: int) -> Sequence[tuple[int, int]]:
        """The places of a call that are open; in a sequence without those after one that counts as much."""
        if not self._is_sequence:
            return [(place, value) for place, value in places if not closed >> place & 1]
        open_places: list[tuple[int, int]] = []
        most = 0
        for place, value in places[bisect_left(places, (closed.bit_length(), 0)) :]:
            if value > most:
                open_places.append((place, value))
                most = value
                if value == self._full:
                    break
        return open_places


def _best_of(states: dict[Key, _State], most: int) -> dict[Key, _State]:
    """The states that are followed: all of them, or where there are too many the best, which of equal ones
    are those that have closed the fewest places."""
    if len(states) <= most:
        return states
    items = sorted(states.items(), key=lambda item: (-item[1][0], _closed(item[0]).bit_count()))
    return dict(items[:most])


def _closed(key: int | tuple[int, int]) -> int:
    return key if isinstance(key, int) else key[1]


def _undominated(states: _States) -> _States:
    """The states without those that have closed more and gained no more."""
    kept_states: _States = {}
    best_closed, best_total = 0, -1
    for closed, (total, link) in sorted(states.items(), key=lambda item: item[0].bit_count()):
        if total <= best_total and not best_closed & ~closed:
            continue
        kept_states[closed] = total, link
        if total > best_total:
            best_closed, best_total = closed, total
    return kept_states


def _closings(plan: Group) -> list[int]:
    """For each place the places that are closed once it has a call, as bits: itself, and those before it."""
    closings: list[int] = []

    def close(part: Place | Group, before: int) -> int:
        """Add the part's places, of which `before` are the ones before it; return all of them."""
        if isinstance(part, Place):
            own = 1 << len(closings)
            closings.append(before | own)
            return own
        inside = 0
        for sub in part.parts:
            inside |= close(sub, before | inside if part.ordered else before)
        return inside

    close(plan, 0)
    return closings


def _value(agreement: float, role: Role, credit: Credit) -> int:
    """What a call counts at a place: as for `align`, required places go before optional ones."""
    full = agreement == 1.0
    if role != "required":
        return int(full)
    units = int(agreement * 720_720 + 1e-6) + (1 << 40 if credit == "full" and full else 0)
    return units << 20
