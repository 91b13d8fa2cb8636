"""`Chain`: the best alignment of a sequence of places and unordered groups, by dynamic programming.

A partial alignment is kept only while none that ends earlier has as much weight (after Jacobson and Vo,
1992): a place extends them in O(matches · log n), a group by an optimal assignment that grows call by call
from each of them. Nothing is ever chosen greedily.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from agenttrace.expectations.assign import Assignment

Weights = Mapping[int, int]
"""For one place, the weight of each call there, by position."""

Link = tuple["Link | None", Sequence[int], tuple[int, ...]]
"""What came before, some places, and the call at each of them (-1: none)."""


class Chain:
    """The undominated partial alignments of a growing sequence: ends and totals both ascend."""

    def __init__(self) -> None:
        self._ends = [-1]
        self._totals = [0]
        self._links: list[Link | None] = [None]

    @property
    def total(self) -> int:
        """The weight of the best alignment."""
        return self._totals[-1]

    def pairs(self) -> list[tuple[int, int]]:
        """(place, call) of the best alignment; among equals the one that ends earliest."""
        pairs: list[tuple[int, int]] = []
        link = self._links[-1]
        while link is not None:
            before, places, calls = link
            pairs.extend((place, call) for place, call in zip(places, calls, strict=True) if call >= 0)
            link = before
        return sorted(pairs)

    def append_place(self, place: int, weights: Weights) -> None:
        """Append one place."""
        ends, totals, links = self._ends, self._totals, self._links
        # From the last call to the first: what is inserted is never seen by a call before it.
        for call in sorted(weights, reverse=True):
            before = bisect_left(ends, call) - 1
            self._insert(call, totals[before] + weights[call], (links[before], (place,), (call,)))

    def append_group(self, places: Sequence[int], weights: Sequence[Weights]) -> None:
        """Append places that stand in any order."""
        at_call: dict[int, dict[int, int]] = {}
        for slot, weight_at in enumerate(weights):
            for call, value in weight_at.items():
                at_call.setdefault(call, {})[slot] = value
        relevant = sorted(at_call)
        for end, total, link in list(zip(self._ends, self._totals, self._links, strict=True)):
            assignment = Assignment(len(places))
            for call in relevant[bisect_left(relevant, end + 1) :]:
                if assignment.add(call, at_call[call]) > 0:
                    self._insert(call, total + assignment.total, (link, places, assignment.calls()))

    def _insert(self, end: int, total: int, link: Link) -> None:
        ends, totals, links = self._ends, self._totals, self._links
        at = bisect_left(ends, end)
        if (at > 0 and totals[at - 1] >= total) or (
            at < len(ends) and ends[at] == end and totals[at] >= total
        ):
            return
        stop = at
        while stop < len(ends) and totals[stop] <= total:
            stop += 1
        ends[at:stop] = [end]
        totals[at:stop] = [total]
        links[at:stop] = [link]
