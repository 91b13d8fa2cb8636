"""Which calls overlapped without an order, and what `details` say of them.

Overlapping calls stand together in *groups*, one after the other: calls of different groups have an order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal

from agenttrace.core.tool_call import ToolCall, are_unordered

_window = attrgetter("window")


def has_unordered(calls: Sequence[ToolCall]) -> bool:
    """Whether the record leaves the order of any two of the calls, which are in order, open."""
    if not any(map(_window, calls)):
        return False  # most runs
    # An order in which each call surely follows the one before it is the only one.
    return any(are_unordered(one, other) for one, other in pairwise(calls))


def parallel_facts(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """What `details` say of overlapping calls: for each group its positions, and what orders it; {} without.

    The calls may stand in any admissible order.
    """
    if not any(map(_window, calls)):
        return {}
    facts: list[dict[str, Any]] = []
    positions = sorted(range(len(calls)), key=lambda position: calls[position].index)
    in_order = [calls[position] for position in positions]
    for group in groups_of(in_order):
        by_answer: dict[int, list[int]] = {}
        for number in group:
            window = in_order[number].window
            if window is not None and window.answer is not None:
                by_answer.setdefault(window.answer, []).append(positions[number])
        facts += [_fact(asked, "requested") for asked in by_answer.values() if len(asked) > 1]
        if has_unordered(in_order[group.start : group.stop]):
            facts.append(_fact([positions[number] for number in group], "unordered"))
    return {"parallel": facts} if facts else {}


def _fact(positions: list[int], order: Literal["requested", "unordered"]) -> dict[str, Any]:
    return {"calls": sorted(positions), "order": order}


def groups_of(calls: Sequence[ToolCall]) -> Iterator[range]:
    """The positions of all calls, which are in the order of the trace, in groups of consecutive ones."""
    start, latest = 0, None
    for position, call in enumerate(calls):
        window = call.window
        if position and (window is None or latest is None or window.start_ns >= latest):
            yield range(start, position)
            start, latest = position, None
        if window is not None:
            latest = window.end_ns if latest is None else max(latest, window.end_ns)
    if calls:
        yield range(start, len(calls))


class Precedence:
    """Which calls surely came before which."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = calls
        self._before: dict[int, list[int]] = {}

    def before(self, group: range) -> list[int]:
        """For each call of a group the set of those that surely came before, as bits."""
        before = self._before.get(group.start)
        if before is None:
            calls = self._calls[group.start : group.stop]
            before = self._before[group.start] = [
                sum(1 << at for at in range(number) if not are_unordered(calls[at], call))
                for number, call in enumerate(calls)
            ]
        return before

    def arranged(self, groups: Sequence[range], placed: Sequence[int]) -> list[int]:
        """Every call of the groups, those that have places in this order, each after those before it."""
        order: list[int] = []
        of_group: dict[int, list[int]] = {}
        starts = {position: group.start for group in groups for position in group}
        for position in placed:
            of_group.setdefault(starts[position], []).append(position)
        for group in groups:
            before, done = self.before(group), 0
            for position in of_group.get(group.start, ()):
                number = position - group.start
                turn = (before[number] | 1 << number) & ~done
                order += [group[n] for n in range(len(group)) if turn >> n & 1 and n != number]
                order.append(position)
                done |= turn
            order += [group[n] for n in range(len(group)) if not done >> n & 1]
        return order
