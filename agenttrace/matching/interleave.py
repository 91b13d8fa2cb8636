"""`Interleaving`: the best alignments of a part that leaves open which of its calls comes next.

A search over what may remain of the part. Calls are visited one by one; each may fill a place of any
remainder, or none. Of the ways to the same remainder only the best is kept, so the result is optimal, and the
work is that of counting: it does not grow with the number of ways. It may still be exponential in the number
of parts that stand side by side, hence the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from agenttrace.expectations.plans import Address, Place, Plan, places_of
from agenttrace.matching.frontier import Link
from agenttrace.matching.remainders import Remainders
from agenttrace.matching.weights import Weights

MAX_STEPS = 1_000_000
MAX_STATES = 50_000

_Path: TypeAlias = tuple["_Path | None", int, int, tuple[int, int], int]
"""What came before, a place's class, its call, what remained and was missing then, how many were visited."""

_States: TypeAlias = dict[tuple[int, int], tuple[int, Link | None, "_Path | None"]]
"""By the remainder and the number of required places so far: the best total, its beginning, the way there."""


class Aligned(NamedTuple):
    """An alignment that began at `link`, with `required` places that are required in the part itself."""

    end: int
    total: int
    required: int
    link: Link | None
    pairs: Callable[[], Iterator[tuple[Address, int]]]


class TooManySteps(Exception):
    """The searches of a part take more than `MAX_STEPS`, or meet more than `MAX_STATES`."""


class Interleaving:
    """Searches one part. `steps` counts the moves that were tried."""

    def __init__(self, plan: Plan, weights: Weights, *, ordered: bool) -> None:
        self.steps = 0
        self._plan = plan
        self._ordered = ordered
        self._class_of: dict[Place, int] = {}
        self._weights: list[Mapping[int, int]] = []  # by class
        self._is_required: list[bool] = []
        classes: dict[object, int] = {}
        for place in places_of(plan):
            is_required = place.role == "required"
            key = (is_required, frozenset(weights.of(place).items()))
            self._class_of[place] = classes.setdefault(key, len(classes))
            if len(classes) > len(self._weights):
                self._weights.append(weights.of(place))
                self._is_required.append(is_required)
        self._remainders = Remainders(self._class_of, self._instead_of(weights), ordered=ordered)
        self._leaves_of: dict[int, list[int]] = {}
        for leaf, of_class in enumerate(self._weights):
            for call in of_class:
                self._leaves_of.setdefault(call, []).append(leaf)
        self._calls = self._in_order()
        self._used_up = self._used_up_before()

    def _instead_of(self, weights: Weights) -> Mapping[int, Collection[int]]:
        """For each class of required places, those of optional ones that want just what agrees fully."""
        if weights.only:  # there, optional places count as much
            return {}
        optional = {
            leaf: of_class.keys()
            for leaf, of_class in enumerate(self._weights)
            if of_class and not self._is_required[leaf]
        }
        return {
            leaf: [other for other, calls in optional.items() if calls == weights.full(place)]
            for place, leaf in self._class_of.items()
            if self._is_required[leaf]
        }

    def _in_order(self) -> Sequence[int]:
        """The calls in the order in which they are visited: like calls together, where the order is free."""
        if self._ordered:
            return sorted(self._leaves_of)
        return sorted(self._leaves_of, key=lambda call: (self._leaves_of[call], self._kind(call), call))

    def _kind(self, call: int) -> Sequence[tuple[int, int]]:
        """Equal for calls that differ in their position alone."""
        return [(leaf, self._weights[leaf][call] + call) for leaf in self._leaves_of[call]]

    def _used_up_before(self) -> Sequence[frozenset[int]]:
        """Before each visit, and at the end, the classes of places that no further call fits."""
        last = {leaf: visit for visit, call in enumerate(self._calls) for leaf in self._leaves_of[call]}
        used_up = [frozenset(range(len(self._weights))) - frozenset(last)]
        ending: dict[int, set[int]] = {}
        for leaf, visit in last.items():
            ending.setdefault(visit, set()).add(leaf)
        for visit in range(len(self._calls)):
            used_up.append(used_up[-1] | ending[visit] if visit in ending else used_up[-1])
        return used_up

    def alignments(self, before: Sequence[tuple[int, int, Link | None]]) -> Iterator[Aligned]:
        """The alignments that are worth looking at, from those of what stands before: (end, total, link).

        Raises:
            TooManySteps: this search, with those before it, is longer than it may be.
        """
        start = self._remainders.of(self._plan, None)
        for end, total, link in before:
            yield from self._ended({(start, 0): (total, link, None)}, end)
        waiting = list(reversed(before))
        states: _States = {}
        better: _States = {}
        for visit, call in enumerate(self._calls):
            while waiting and (waiting[-1][0] < call or not self._ordered):
                _, total, link = waiting.pop()
                self._keep_better(states, {(start, 0): (total, link, None)}, self._used_up[visit])
            # Of like calls in any order the first ones are taken: none after one that was left out.
            like = not self._ordered and visit and self._kind(call) == self._kind(self._calls[visit - 1])
            reached = self._visit(better if like else states, visit, call)
            used_up = self._used_up[visit + 1]
            if used_up is not self._used_up[visit]:
                earlier, states = states, {}
                self._keep_better(states, earlier, used_up)
            better = self._keep_better(states, reached, used_up)
            if self._ordered:
                yield from self._ended(better, call)
        if not self._ordered:
            yield from self._ended(states, before[0][0])

    def _visit(self, states: _States, visit: int, call: int) -> _States:
        """The states that this call leads to."""
        reached: _States = {}
        moves = self._remainders.moves
        options = [
            (leaf, self._weights[leaf][call], self._is_required[leaf]) for leaf in self._leaves_of[call]
        ]
        for (remainder, required), (total, link, path) in states.items():
            if self.steps > MAX_STEPS or len(self._remainders) > MAX_STATES:
                raise TooManySteps
            for leaf, weight, is_required in options:
                for after, missing, _ in moves(remainder, leaf):
                    self.steps += 1
                    key = (after, required + missing + is_required)
                    rival = reached.get(key)
                    if rival is None or rival[0] < total + weight:
                        reached[key] = (total + weight, link, (path, leaf, call, (after, missing), visit))
        return reached

    def _ended(self, states: _States, end: int) -> Iterator[Aligned]:
        """The alignments in which no optional group is unfinished."""
        for (remainder, required), (total, link, path) in states.items():
            missing = self._remainders.missing(remainder)
            if missing is not None:
                yield Aligned(end, total, required + missing, link, partial(self._pairs, path))

    def _keep_better(self, states: _States, others: _States, used_up: frozenset[int]) -> _States:
        """Add those that are better than what is there, without the places that no further call fits."""
        changed: _States = {}
        for (remainder, required), state in others.items():
            left = self._remainders.without(remainder, used_up) if used_up else (remainder, 0)
            if left is None:
                continue
            key = (left[0], required + left[1])
            rival = states.get(key)
            if rival is None or rival[0] < state[0]:
                states[key] = changed[key] = state
        return changed

    def _pairs(self, path: _Path | None) -> Iterator[tuple[Address, int]]:
        """The pairs on the way to a state: the same moves again, with addresses."""
        events: list[_Path] = []
        while path is not None:
            events.append(path)
            path = path[0]
        remainders = self._remainders
        left = remainders.of(self._plan, ())
        for _, leaf, call, wanted, visit in reversed(events):
            reduced = remainders.without(left, self._used_up[visit])
            assert reduced is not None
            left, address = next(
                (after, address)
                for after, missing, address in remainders.each_move(reduced[0], leaf)
                if (remainders.plain(after), missing) == wanted and address is not None
            )
            yield address, call
