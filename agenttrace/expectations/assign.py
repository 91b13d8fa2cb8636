"""`Assignment`: the pairing of calls with places that has the greatest total weight.

Calls arrive one at a time, and the pairing is optimal after each arrival. A call takes its best place; where
another call has it, the price of the place rises as far as this call would pay, and the other call looks on
(an auction, after Bertsekas 1979). Where that would go round in a circle, a shortest augmenting path with
potentials decides (Jonker and Volgenant 1987), in O(places²). A call may stay unpaired, a place may have room
for several calls. Weights are positive integers, so that ties are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_SCALE = 1 << 40
_MOST_BIDS = 32


class Assignment:
    """An optimal pairing of the calls added so far with a fixed number of places.

    `room` says how many calls a place takes, where it is more than one. `steps` counts how often a call was
    held against all its places.
    """

    def __init__(self, places: int, room: Mapping[int, int] | None = None) -> None:
        self.total = 0
        self.steps = 0
        self._room = [1] * places
        for place, calls in (room or {}).items():
            self._room[place] = calls
        self._calls_at: list[list[int]] = [[] for _ in range(places)]
        self._price: list[int] = [0] * places
        self._profit: dict[int, int] = {}
        self._weights: dict[int, Mapping[int, int]] = {}

    def pairs(self) -> list[tuple[int, int]]:
        """(place, call), by place, then by call."""
        return [(place, call) for place, calls in enumerate(self._calls_at) for call in sorted(calls)]

    @property
    def added(self) -> int:
        """How many calls were added."""
        return len(self._weights)

    def is_full(self, place: int) -> bool:
        """Whether the place has no room left."""
        return len(self._calls_at[place]) >= self._room[place]

    def add(self, call: int, weights: Mapping[int, int]) -> int:
        """Add a call with its weight at each place that it fits; return by how much the total grew.

        Invariants, as in the dual of the linear programme: price + profit ≥ weight on every edge, equal on
        pairs; prices of places with room and profits of unpaired calls are 0.
        """
        if not weights:
            return 0
        before = self.total
        self._weights[call] = weights
        price, profit, calls_at, room = self._price, self._profit, self._calls_at, self._room
        for _ in range(_MOST_BIDS):
            self.steps += 1
            margins = {place: weight - price[place] for place, weight in weights.items()}
            best = profit[call] = max(0, max(margins.values()))
            if not best:
                return self.total - before
            equal = [place for place, margin in margins.items() if margin == best]
            place = next((place for place in equal if len(calls_at[place]) < room[place]), equal[0])
            if len(calls_at[place]) < room[place]:
                calls_at[place].append(call)
                self.total += weights[place]
                return self.total - before
            if len(equal) > 1 or room[place] > 1:
                break
            del margins[place]
            profit[call] = max(0, max(margins.values(), default=0))
            price[place] += best - profit[call]
            (displaced,) = calls_at[place]
            calls_at[place] = [call]
            self.total += weights[place] - self._weights[displaced][place]
            call, weights = displaced, self._weights[displaced]
        else:
            profit[call] = max(0, max(weight - price[place] for place, weight in weights.items()))
        self._augment(call)
        return self.total - before

    def _augment(self, call: int) -> None:
        """Search the shortest augmenting path from a call without a place, whose profit is an upper bound."""
        price, profit, bound = self._price, self._profit, self._profit[call]
        slack: dict[int, int] = {}
        reached_from: dict[int, int] = {}
        settled: dict[int, int] = {}
        visits: list[tuple[int, int]] = []
        best_drop, losing_call = bound, call
        calls, distance = [call], 0
        while True:
            for row in calls:
                self.steps += 1
                visits.append((row, distance))
                base = distance + profit[row]
                if base < best_drop:
                    best_drop, losing_call = base, row
                for place, weight in self._weights[row].items():
                    if place not in settled:
                        reach = base + price[place] - weight
                        if place not in slack or reach < slack[place]:
                            slack[place] = reach
                            reached_from[place] = row
            nearest = self._nearest(slack)
            if nearest is None or best_drop < slack[nearest]:
                length, end = best_drop, None
                break
            if not self.is_full(nearest):
                length, end = slack[nearest], nearest
                break
            distance = settled[nearest] = slack.pop(nearest)
            calls = self._calls_at[nearest]
        for row, at in visits:
            profit[row] -= length - at
        for place, at in settled.items():
            price[place] += length - at
        self._flip(call, end, losing_call, reached_from)
        self.total += bound - length

    def _nearest(self, slack: Mapping[int, int]) -> int | None:
        """The place that is nearest; among equals one with room."""
        if not slack:
            return None
        least = min(slack.values())
        equal = [place for place, reach in slack.items() if reach == least]
        return next((place for place in equal if not self.is_full(place)), equal[0])

    def _flip(self, call: int, end: int | None, losing_call: int, reached_from: Mapping[int, int]) -> None:
        """Re-pair along the path from the call to a place with room, or to the call that loses its place."""
        if end is None and losing_call == call:
            return
        place_of = {row: place for place, calls in enumerate(self._calls_at) for row in calls}
        if end is None:
            end = place_of[losing_call]
            self._calls_at[end].remove(losing_call)
        place = end
        while True:
            row = reached_from[place]
            self._calls_at[place].append(row)
            if row == call:
                return
            place = place_of[row]
            self._calls_at[place].remove(row)


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
