"""The order of tool calls: by their start; of calls that ran at once, as far as anything tells it.

Calls that one answer of a model asked for stand in the order in which it asked, whatever the threads that ran
them made of it; unless another call came between, or one of them is a further attempt. Other calls that
overlap in time have no order (`ToolCall.window`). A call stands before those that were made inside it. Calls
that do not overlap, and calls with the very same start and end, stand as they were recorded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agenttrace.core.asked import Place
from agenttrace.core.executions import Execution
from agenttrace.core.span import Span
from agenttrace.core.tool_call import Window

_Key = tuple[int, int, int, int]
"""Sorts calls: the time from which one counts as made, the index of the span that started then, how many
calls stand between that one and this, and this one's own index."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call while its place is worked out; `end_ns` is when it counts as made at the latest."""

    execution: Execution
    outer: _Call | None
    depth: int
    key: _Key
    end_ns: int
    size: int = 1
    """How many calls it is with those inside it."""
    number: int = 0
    """Its number among all calls, each before those inside it."""
    answer: int | None = None

    @property
    def start_ns(self) -> int:
        return self.execution.span.start_ns

    @property
    def ended_ns(self) -> int:
        return max(self.start_ns, self.execution.span.end_ns)

    def stand_after(self, other: _Call) -> None:
        """Give it the next place after the other's, if it has none after that one anyway."""
        if self.key <= other.key:
            start, index, count, _ = other.key
            self.key = start, index, count + 1, self.execution.span.index
            self.end_ns = max(self.end_ns, start)


def follow_one_another(spans: Iterable[Span]) -> bool:
    """Whether each began when the one before it had ended, as the calls of most agents do."""
    began = ended = 0
    for span in spans:
        begins = span.start_ns
        if begins < ended or begins < began:
            return False
        began, ended = begins, span.end_ns
    return True


def in_order(
    executions: Sequence[Execution], places: Mapping[int, Place]
) -> list[tuple[Execution, Window | None]]:
    """The calls in order, each with its window where it overlaps others.

    `executions` have each call before those inside it; `places` say where calls were asked for, by `id`.
    """
    if not places and follow_one_another([execution.span for execution in executions]):
        return [(execution, None) for execution in executions]
    calls = _calls(executions)
    starts = sorted(call.start_ns for call in calls)
    levels: dict[int, list[_Call]] = {}
    for call in calls:
        levels.setdefault(call.depth, []).append(call)
    answers = 0
    for _, level in sorted(levels.items()):
        for call in level:
            if call.outer is not None:
                call.stand_after(call.outer)
        for together in _asked_together(level, places, starts):
            answers += 1
            _put_in_order(together, answers)
    calls.sort(key=lambda call: call.key)
    return [(call.execution, window) for call, window in zip(calls, _windows(calls), strict=True)]


def _calls(executions: Sequence[Execution]) -> list[_Call]:
    of_execution: dict[int, _Call] = {}
    for execution in executions:
        span = execution.span
        outer = None if execution.enclosing is None else of_execution.get(id(execution.enclosing))
        key = span.start_ns, span.index, 0, span.index
        depth = 0 if outer is None else outer.depth + 1
        of_execution[id(execution)] = _Call(execution, outer, depth, key, max(span.start_ns, span.end_ns))
    calls = list(of_execution.values())
    for call in reversed(calls):
        if call.outer is not None:
            call.outer.size += call.size
            # What comes after a call comes after the one in which that was made, too.
            call.outer.end_ns = max(call.outer.start_ns, min(call.outer.end_ns, call.end_ns))
    next_number: dict[int, int] = {}
    total = 0
    for call in calls:
        if call.outer is None:
            call.number, total = total, total + call.size
        else:
            call.number = next_number[id(call.outer)]
            next_number[id(call.outer)] += call.size
        next_number[id(call)] = call.number + 1
    return calls


def _asked_together(
    level: Sequence[_Call], places: Mapping[int, Place], starts: Sequence[int]
) -> Iterator[list[_Call]]:
    """Calls that one answer asked for and that time does not put in that order, as they were asked for."""
    by_answer: dict[tuple[int, int], list[tuple[int, _Call]]] = {}
    for call in level:
        place = places.get(id(call.execution))
        if place is not None:
            by_answer.setdefault((place[0], id(call.outer)), []).append((place[1], call))
    for asked in by_answer.values():
        for together in _without_calls_between(asked, starts):
            if len(together) > 1:
                together.sort(key=lambda entry: (entry[0], entry[1].key))
                calls = [call for _, call in together]
                if any(one.ended_ns > other.start_ns for one, other in pairwise(calls)):
                    yield calls


def _without_calls_between(
    asked: list[tuple[int, _Call]], starts: Sequence[int]
) -> Iterator[list[tuple[int, _Call]]]:
    """Part them where another call started after one of them ended, or where one is a further attempt."""
    asked.sort(key=lambda entry: entry[1].key)
    own_starts = [call.start_ns for _, call in asked]
    own_starts.sort()
    together: list[tuple[int, _Call]] = []
    positions: set[int] = set()
    first_end = 0
    for position, call in asked:
        if together:
            others = _count(starts, first_end, call.start_ns) - _count(own_starts, first_end, call.start_ns)
            if others or position in positions:
                yield together
                together, positions = [], set()
        first_end = min(first_end, call.ended_ns) if together else call.ended_ns
        together.append((position, call))
        positions.add(position)
    yield together


def _count(starts: Sequence[int], since: int, until: int) -> int:
    return max(bisect_left(starts, until) - bisect_left(starts, since), 0)


def _put_in_order(calls: Sequence[_Call], answer: int) -> None:
    for earlier, later in pairwise(calls):
        later.stand_after(earlier)
    for later, earlier in pairwise(reversed(calls)):
        earlier.end_ns = max(earlier.key[0], min(earlier.end_ns, later.end_ns))
    for call in calls:
        call.answer = answer


def _windows(calls: Sequence[_Call]) -> list[Window | None]:
    """The windows of the calls, which are in order, where one overlaps another."""
    windows: list[Window | None] = []
    latest = 0
    for at, call in enumerate(calls):
        overlaps_earlier = at > 0 and call.key[0] < latest
        latest = max(latest, call.end_ns) if at else call.end_ns
        overlaps_later = at + 1 < len(calls) and calls[at + 1].key[0] < latest
        if overlaps_earlier or overlaps_later or call.answer is not None:
            window = Window(call.key[0], call.end_ns, call.number, call.number + call.size - 1, call.answer)
            windows.append(window)
        else:
            windows.append(None)
    return windows
