"""The best order of overlapping calls, by a search over what has had its turn and which places are closed.

Groups of overlapping calls follow each other. A state is the calls of the group that have had their turn, and
the places that are closed: those before one that has a call. Of equal states the best is kept. So the best
order is found, unless there are too many states: then the best of them are followed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TypeVar

from agenttrace.matching.parallel import Precedence

MAX_STATES = 1_000
MAX_STEPS = 100_000

Weights = Mapping[int, Sequence[tuple[int, int]]]
"""For each call, by position, the places that it may have, ascending, and what it counts there."""

_Link = tuple["_Link | None", int]
"""The calls that have a place, from the last one backwards."""
_State = tuple[int, "_Link | None"]
"""A total, and how it came about."""
_States = dict[int, _State]
"""For each set of closed places the best state."""

Key = TypeVar("Key", int, tuple[int, int])


class OrderSearch:
    """Finds an order; `closes` has for each place those that are closed once it has a call, as bits.

    `is_sequence`: each place closes all before it. `most` is what a call counts at most.
    """

    def __init__(
        self, precedence: Precedence, weights: Weights, closes: Sequence[int], *, is_sequence: bool, most: int
    ) -> None:
        self._precedence = precedence
        self._weights = weights
        self._closes = closes
        self._is_sequence = is_sequence
        self._full = most
        self._steps = 0

    def order(self, groups: Sequence[range]) -> list[int]:
        """The positions of the calls of these groups in the best order."""
        states: _States = {0: (0, None)}
        for group in groups:
            if self._steps > MAX_STEPS:
                break
            states = self._through(group, states)
        _, link = max(states.values(), key=lambda state: state[0])
        placed: list[int] = []
        while link is not None:
            link, position = link
            placed.append(position)
        placed.reverse()
        return self._precedence.arranged(groups, placed)

    def _through(self, group: range, states: _States) -> _States:
        """The states after a group, of which each call may have a place or none."""
        before = self._precedence.before(group)
        options = [(n, group[n], places) for n, at in enumerate(group) if (places := self._weights.get(at))]
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
                    self._steps += 1 if self._is_sequence else len(places)
                    for place, value in self._open(places, closed):
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
