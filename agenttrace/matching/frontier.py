"""`Frontier`: the partial alignments that are worth extending, from the first call on.

One that ends later than another without more weight is dropped (after Jacobson and Vo, 1992), so what is kept
ascends in both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from agenttrace.expectations.plans import Address

Pairs: TypeAlias = Iterable[tuple[Address, int]]
"""Places by their addresses, each with the position of its call."""

Link: TypeAlias = tuple["Link | None", Address, "int | Callable[[], Pairs] | None"]
"""What came before, the address of a part, and what is there: the position of a call, a function that gives
the pairs in a part, or None at the end of a round."""

ROUND = -1
"""Stands in the address for the number of a round, which is known only once all of an alignment is."""


class Frontier:
    """Partial alignments: `ends` are the positions of their last calls, `totals` their weights."""

    __slots__ = ("ends", "links", "totals")

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.totals: list[int] = []
        self.links: list[Link | None] = []

    @classmethod
    def starting_after(cls, end: int, total: int = 0, link: Link | None = None) -> Frontier:
        """One alignment, by default the empty one, for the calls after a position."""
        frontier = cls()
        frontier.insert(end, total, link)
        return frontier

    def copy(self) -> Frontier:
        """Another one with the same alignments."""
        other = Frontier()
        other.ends, other.totals, other.links = self.ends[:], self.totals[:], self.links[:]
        return other

    def entries(self) -> list[tuple[int, int, Link | None]]:
        """(end, total, link) of each, as they are now."""
        return list(zip(self.ends, self.totals, self.links, strict=True))

    def accepts(self, end: int, total: int) -> bool:
        """Whether none that ends here or earlier has as much weight."""
        at = bisect_left(self.ends, end)
        if at > 0 and self.totals[at - 1] >= total:
            return False
        return not (at < len(self.ends) and self.ends[at] == end and self.totals[at] >= total)

    def insert(self, end: int, total: int, link: Link | None) -> bool:
        """Add an alignment and drop those that are no better; whether it was worth adding."""
        ends, totals, links = self.ends, self.totals, self.links
        at = bisect_left(ends, end)
        if (at > 0 and totals[at - 1] >= total) or (
            at < len(ends) and ends[at] == end and totals[at] >= total
        ):
            return False
        stop = at
        while stop < len(ends) and totals[stop] <= total:
            stop += 1
        ends[at:stop] = [end]
        totals[at:stop] = [total]
        links[at:stop] = [link]
        return True


def pairs_of(link: Link | None) -> Iterator[tuple[Address, int]]:
    """The pairs of an alignment, by addresses in which the rounds are counted."""
    events: list[Link] = []
    while link is not None:
        events.append(link)
        link = link[0]
    rounds: dict[Address, int] = {}
    for _, address, what in reversed(events):
        if what is None:
            rounds[address] = rounds.get(address, 0) + 1
            continue
        for inner, call in what() if callable(what) else (((), what),):
            place = (*address, *inner)
            yield (
                tuple(rounds.get(place[:at], 0) if step == ROUND else step for at, step in enumerate(place)),
                call,
            )
            if place[-1] == ROUND:  # of a single call, each is a round of its own
                rounds[place[:-1]] = rounds.get(place[:-1], 0) + 1
