"""The best alignment of any nesting of sequences and unordered groups: a search over what is still open.

A state is the set of places that can take no further call: those that took one, and those that come before
one in a sequence. Calls are seen in order; each may go to any open place or to none. States that close the
same places are merged, the best is kept: optimal, but exponential in the worst case, hence the limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace.core.errors import ExpectationError
from agenttrace.expectations.plans import Group, Place, Plan

MAX_STATES = 50_000

Link = tuple["Link | None", int, int]


def best_interleaving(plan: Group, worths: Sequence[Mapping[int, int]]) -> list[tuple[int, int]]:
    """(place, call), places numbered in the order written, worth the most in all.

    Raises:
        ExpectationError: more than `MAX_STATES` ways are open at once.
    """
    closes = _closings(plan)
    at_call: dict[int, list[tuple[int, int]]] = {}
    for place, worth in enumerate(worths):
        for call, value in worth.items():
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
    """For each place, the set of places that a call there closes: itself, and all before it in a sequence."""
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
