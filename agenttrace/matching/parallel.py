"""Which calls overlapped without an order, and what `details` say of them.

Overlapping calls stand together in *groups*, one after the other: calls of different groups have an order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from agenttrace.core.tool_call import ToolCall, are_unordered


def has_unordered(calls: Sequence[ToolCall]) -> bool:
    """Whether the record leaves the order of any two of the calls, which are in order, open."""
    # An order in which each call surely follows the one before it is the only one.
    return any(are_unordered(one, other) for one, other in pairwise(calls))


def parallel_facts(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """What `details` say of overlapping calls: for each group its positions, and what orders it; {} without.

    The calls may stand in any admissible order.
    """
    if all(call.window is None for call in calls):
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
