"""The best alignment of nested sequences and unordered groups, by a search over sets of closed places.

A place is closed once it has a call, or once a later place of its sequence has one. Calls are visited in
order; each may go to any open place or to none. Of the states with the same closed places only the best is
kept: the result is optimal, but the number of states is exponential in the worst case, hence the limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace.core.errors import ExpectationError
from agenttrace.expectations.plans import Group, Place, Plan

MAX_STATES = 50_000

Link = tuple["Link | None", int, int]


def best_interleaving(plan: Group, weights: Sequence[Mapping[int, int]]) -> list[tuple[int, int]]:
    """The pairs (place, call) of the greatest total weight; places are numbered in the order written.

    Raises:
        ExpectationError: more than `MAX_STATES` states at once.
    """
    closes = _closings(plan)
    at_call: dict[int, list[tuple[int, int]]] = {}
    for place, weight_at in enumerate(weights):
        for call, value in weight_at.items():
            at_call.setdefault(call, []).append((place, value))
    states: dict[int, tuple[int, Link | None]] = {0: (0, None)}
    for call in sorted(at_call):
        for closed, (total, link) in list(states.items()):
            for place, value in at_call[call]:
                if closed >> place & 1:
                    continue
                after = closed | closes[place]
                rival = states.get(after)
                if rival is None or rival[0] < total + value:
                    states[after] = (total + value, (link, place, call))
        if len(states) > MAX_STATES:
            raise ExpectationError(
                f"sequences inside par can interleave in more than {MAX_STATES} ways here; "
                "say less at once, or split the expectation"
            )
    _, best = max(states.values(), key=lambda state: state[0])
    pairs: list[tuple[int, int]] = []
    while best is not None:
        best, place, call = best
        pairs.append((place, call))
    return sorted(pairs)


def _closings(plan: Group) -> list[int]:
    """For each place, the places that a call there closes: itself, and all before it in a sequence."""
    closes: list[int] = []

    def visit(part: Plan, before: int) -> int:
        """Number the places of a part; return the set of them."""
        if isinstance(part, Place):
            own = 1 << len(closes)
            closes.append(own | before)
            return own
        inside = 0
        for sub in part.parts:
            inside |= visit(sub, before | inside if part.ordered else before)
        return inside

    visit(plan, 0)
    return closes
