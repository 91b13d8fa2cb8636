"""`Assignment`: the one-to-one pairing of calls with places that has the greatest total weight.

Successive shortest augmenting paths with potentials (Jonker and Volgenant 1987), as a maximum: calls arrive
one at a time, each costs one search of O(places²), and the pairing is optimal after each arrival. A call
may stay unpaired. Weights are positive integers, so that ties are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_SCALE = 1 << 40


class Assignment:
    """An optimal pairing of the calls added so far with a fixed number of places."""

    def __init__(self, places: int) -> None:
        self.total = 0
        self._call_at: list[int] = [-1] * places
        self._price: list[int] = [0] * places
        self._profit: dict[int, int] = {}
        self._weights: dict[int, Mapping[int, int]] = {}

    def pairs(self) -> list[tuple[int, int]]:
        """(place, call), by place."""
        return [(place, call) for place, call in enumerate(self._call_at) if call >= 0]

    def calls(self) -> tuple[int, ...]:
        """The call at each place, -1 for none."""
        return tuple(self._call_at)

    def add(self, call: int, weights: Mapping[int, int]) -> int:
        """Add a call with its weight at each place that it fits; return by how much the total grew.

        Invariants, as in the dual of the linear programme: price + profit ≥ weight on every edge, equal on
        pairs; prices of free places and profits of unpaired calls are 0.
        """
        if not weights:
            return 0
        self._weights[call] = weights
        price, profit = self._price, self._profit
        margins = {place: weight - price[place] for place, weight in weights.items()}
        nearest = max(margins, key=margins.__getitem__)
        profit[call] = gain = max(0, margins[nearest])
        if gain and self._call_at[nearest] < 0:  # the best place is free: the path has one step
            self._call_at[nearest] = call
            self.total += gain
            return gain
        return self._augment(call, profit[call])

    def _augment(self, call: int, before: int) -> int:
        """Search the shortest augmenting path from a new call; `before` is its profit, an upper bound."""
        price, profit = self._price, self._profit
        slack: dict[int, int] = {}
        reached_from: dict[int, int] = {}
        settled: dict[int, int] = {}
        visits: list[tuple[int, int]] = []
        best_drop: tuple[int, int] | None = None
        row, distance = call, 0
        while True:
            visits.append((row, distance))
            drop = distance + profit[row]
            if best_drop is None or drop < best_drop[0]:
                best_drop = (drop, row)
            base = distance + profit[row]
            for place, weight in self._weights[row].items():
                if place not in settled:
                    reach = base + price[place] - weight
                    if place not in slack or reach < slack[place]:
                        slack[place] = reach
                        reached_from[place] = row
            nearest = min(slack, key=slack.__getitem__, default=None)
            if nearest is None or best_drop[0] < slack[nearest]:
                length, end = best_drop[0], None
                losing_call = best_drop[1]
                break
            if self._call_at[nearest] < 0:
                length, end, losing_call = slack[nearest], nearest, -1
                break
            distance = slack.pop(nearest)
            settled[nearest] = distance
            row = self._call_at[nearest]
        for visited_row, at in visits:
            profit[visited_row] -= length - at
        for place, at in settled.items():
            price[place] += length - at
        self._flip(call, end, losing_call, reached_from)
        gain = before - length
        self.total += gain
        return gain

    def _flip(self, call: int, end: int | None, losing_call: int, reached_from: Mapping[int, int]) -> None:
        """Re-pair along the path from the new call to a free place, or to the call that loses its place."""
        place_of = {row: place for place, row in enumerate(self._call_at) if row >= 0}
        if end is None:
            if losing_call == call:
                return
            end = place_of[losing_call]
        place = end
        while True:
            row = reached_from[place]
            self._call_at[place] = row
            if row == call:
                return
            place = place_of[row]


def best_pairs(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """(row, column) of the pairing of greatest total weight of a matrix of weights from 0 to 1.

    Rows and columns may stay unpaired; weights of 0 are never paired. Ties go to the earliest columns.
    Weights are taken to 40 binary digits.
    """
    columns = max(map(len, weights), default=0)
    most = columns * max(len(weights), 1) + 1
    assignment = Assignment(len(weights))
    for column in range(columns):
        fits = {
            row: int(line[column] * _SCALE) * most + columns - column
            for row, line in enumerate(weights)
            if line[column] > 0
        }
        assignment.add(column, fits)
    return assignment.pairs()
