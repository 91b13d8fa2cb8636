"""The order of overlapping calls that fits an expectation best, of those that the record admits.

A strict order is fulfilled where some admissible order fulfils it: each call stands after those that had
ended before it began, after the one inside which it was made, and after those that the same answer of a model
asked for before it.

First, calls are assigned to places whatever their order, and stand in that of their places as far as it is
admissible: where it wholly is, no order is better. Else the orders are searched (`matching.order_search`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.assign import Assignment
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Group, Place, Plan, Role
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.lcs import lcs_length
from agenttrace.matching.order_search import OrderSearch, Weights
from agenttrace.matching.parallel import Precedence, groups_of, has_unordered

MAX_PAIRS = 40_000
"""Pairs of calls and places that are weighed against each other."""
MAX_GROUP = 500
"""Calls of a group that are put into another order; those of a larger one stay as they are."""

Credit = Literal["partial", "full"]


def fitting_orders(plan: Group, call_agreement: CallAgreement, credit: Credit) -> list[list[int]]:
    """The admissible orders that may fit the plan best, each as positions; none where there is but one order.

    The calls of `call_agreement` stand in the order of the trace.
    """
    if not has_unordered(call_agreement.calls):
        return []
    return _Search(plan, call_agreement, credit).orders()


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
        self._credit: Credit = credit
        self._closes = closings(plan)
        self._is_sequence = all(isinstance(part, Place) for part in plan.parts)
        self._names_decide = all(
            place.role == "required" and len(place.options) == 1 and call_agreement.is_plain(place.options[0])
            for place in plan.places
        )
        self._full = _value(1.0, "required", credit)

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
        assigned = self._assigned_by_name(weights) if self._names_decide else self._assigned(weights)
        by_place = [at for group in groups for at in self._by_place(group, assigned)]
        if self._is_kept(by_place, assigned):
            return [order + by_place]
        search = OrderSearch(
            self._precedence, weights, self._closes, is_sequence=self._is_sequence, most=self._full
        )
        return [order + by_place, order + search.order(groups)]

    def _assigned(self, weights: Weights) -> dict[int, int]:
        """The place of each call in the best assignment, whatever the order."""
        assignment = Assignment(len(self._plan.places))
        for position, places in weights.items():
            assignment.add(position, dict(places))
        # Of calls that are alike, the one that has to have its turn first gets the first place.
        alike: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {}
        for place, position in assignment.pairs():
            alike.setdefault(tuple(weights[position]), []).append((place, position))
        assigned: dict[int, int] = {}
        for pairs in alike.values():
            by_end = sorted((position for _, position in pairs), key=self._end_of)
            assigned.update(zip(by_end, sorted(place for place, _ in pairs), strict=True))
        return assigned

    def _assigned_by_name(self, weights: Weights) -> dict[int, int]:
        """The same where names alone decide: of one name, the calls take the places one after the other."""
        of_name: dict[str, list[int]] = {}
        for position in weights:
            of_name.setdefault(self._calls[position].name, []).append(position)
        return {
            position: place
            for positions in of_name.values()
            for position, (place, _) in zip(
                sorted(positions, key=self._end_of), weights[positions[0]], strict=False
            )
        }

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

    def _placed_exactly(self, group: range, relevant: Sequence[int], parts: Sequence[Plan]) -> list[int]:
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

    def _weights(self, first_place: int, first_call: int) -> Weights:
        """For each call the places that it may have, each with what it counts there.

        Where there are too many, only those with which calls agree fully, or none.
        """
        if self._names_decide:
            return self._weights_of_names(first_place, first_call)
        agreements: list[tuple[int, int, float, Role]] = []
        for number, place in enumerate(self._plan.places[first_place:], first_place):
            best: dict[int, float] = {}
            for option in place.options:
                for position, agreement in self._agreement.agreements(option).items():
                    if position >= first_call and agreement > best.get(position, 0.0):
                        best[position] = agreement
            agreements.extend(
                (number, position, agreement, place.role) for position, agreement in best.items()
            )
        if len(agreements) > MAX_PAIRS:
            agreements = [pair for pair in agreements if pair[2] == 1.0]
        weights: dict[int, list[tuple[int, int]]] = {}
        for number, position, agreement, role in agreements if len(agreements) <= MAX_PAIRS else ():
            value = _value(agreement, role, self._credit)
            if value:
                weights.setdefault(position, []).append((number, value))
        return weights

    def _weights_of_names(self, first_place: int, first_call: int) -> Weights:
        places: dict[str, list[tuple[int, int]]] = {}
        for number, place in enumerate(self._plan.places[first_place:], first_place):
            places.setdefault(self._agreement.name(place.options[0]), []).append((number, self._full))
        names = [(at, self._calls[at].name) for at in range(first_call, len(self._calls))]
        return {position: places[name] for position, name in names if name in places}


def closings(plan: Group) -> list[int]:
    """For each place the places that are closed once it has a call, as bits: itself, and those before it."""
    closings: list[int] = []

    def close(part: Plan, before: int) -> int:
        """Add the part's places, of which `before` are the ones before it; return all of them."""
        if isinstance(part, Place):
            own = 1 << len(closings)
            closings.append(before | own)
            return own
        assert isinstance(part, Group)  # the plan has its choices made
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
