"""Answers queries by looking at every trace: what every index has to agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.query import Query
from agenttrace.core.query_matching import matches
from agenttrace.core.trace_facts import SearchedTrace, TraceFacts
from agenttrace.core.trace_figures import (
    GroupFigures,
    ScoreFigures,
    ToolFigures,
    by_scorer,
    by_tool,
    by_value,
)
from agenttrace.core.trace_reads import (
    COUNTED,
    COUNTED_IN_FIGURES,
    NEWEST_FIRST,
    Bar,
    Count,
    Cursor,
    Facet,
    Histogram,
    Page,
    Sort,
    SortKey,
)

SORTED_BY: Mapping[SortKey, Callable[[TraceFacts], float | None]] = {
    "time": lambda facts: facts.start_ns,
    "duration": lambda facts: facts.duration_ns,
    "cost": lambda facts: facts.cost,
    "spans": lambda facts: facts.spans,
    "score": lambda facts: facts.goodness,
}


def cursor_of(facts: TraceFacts, sort: Sort) -> Cursor:
    """The place of a trace in a sorted list."""
    return Cursor(SORTED_BY[sort.key](facts), facts.trace_id)


class EveryTrace:
    """Answers queries from a function that gives every trace; see `TraceReads` for the methods."""

    def __init__(self, traces: Callable[[], Iterable[SearchedTrace]]) -> None:
        self._traces = traces

    def _matches(self, query: Query) -> list[TraceFacts]:
        return [trace.facts for trace in self._traces() if matches(query, trace)]

    def search(
        self,
        query: Query,
        *,
        sort: Sort = NEWEST_FIRST,
        limit: int = 50,
        after: Cursor | None = None,
        before: Cursor | None = None,
    ) -> Page:
        """A page of the matches."""
        ordered = sorted(self._matches(query), key=lambda facts: _place(cursor_of(facts, sort), sort))
        start, end = 0, len(ordered)
        if after is not None:
            start = sum(_place(cursor_of(facts, sort), sort) <= _place(after, sort) for facts in ordered)
            end = start + limit
        elif before is not None:
            end = sum(_place(cursor_of(facts, sort), sort) < _place(before, sort) for facts in ordered)
            start = max(end - limit, 0)
        else:
            end = limit
        return page_of(ordered[start:end], sort, has_before=start > 0, has_after=end < len(ordered))

    def count_matches(self, query: Query, *, most: int = COUNTED) -> Count:
        """The number of matches."""
        number = len(self._matches(query))
        return Count(min(number, most), number > most)

    def facets(self, query: Query, keys: Sequence[str], *, most: int = COUNTED) -> Mapping[str, Facet]:
        """The values of labels."""
        return {key: self._facet(query.without(key), key, most) for key in keys}

    def _facet(self, query: Query, key: str, most: int) -> Facet:
        traces = list(self.each_match(query))
        counts = Counter(value for facts in traces[:most] for value in facts.labels.get(key, ()))
        return Facet(most_frequent(counts), min(len(traces), most), len(traces) > most)

    def histogram(self, query: Query, *, bars: int = 60, most: int = COUNTED) -> Histogram:
        """Matches by time."""
        traces = list(self.each_match(query))
        starts = [(facts.start_ns, has_failed(facts.status, facts.verdict)) for facts in traces[:most]]
        return histogram_of(starts, bars, is_capped=len(traces) > most)

    def tool_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ToolFigures], Count]:
        """Figures by tool."""
        traces, count = self._newest(query, most)
        return by_tool(traces), count

    def score_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ScoreFigures], Count]:
        """Figures by scorer."""
        traces, count = self._newest(query, most)
        return by_scorer(traces), count

    def group_figures(
        self, query: Query, key: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[GroupFigures], Count]:
        """Figures by the values of a label."""
        traces, count = self._newest(query, most)
        return by_value(traces, key), count

    def scored_matches(
        self, query: Query, name: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[TraceFacts], bool]:
        """The newest matches with scores of a scorer."""
        traces, count = self._newest(query, most)
        return [facts for facts in traces if any(s.name == name for s in facts.scores)], count.is_capped

    def _newest(self, query: Query, most: int) -> tuple[list[TraceFacts], Count]:
        traces = list(self.each_match(query))
        return traces[:most], Count(min(len(traces), most), len(traces) > most)

    def each_match(self, query: Query) -> Iterator[TraceFacts]:
        """The matches, the newest first."""
        yield from sorted(
            self._matches(query), key=lambda facts: _place(cursor_of(facts, NEWEST_FIRST), NEWEST_FIRST)
        )


def _place(cursor: Cursor, sort: Sort) -> tuple[Any, ...]:
    """Sorts cursors: those without a value last, ties by the id in the direction of the sort."""
    sign = -1 if sort.descending else 1
    return cursor.value is None, sign * (cursor.value or 0), sign * int(cursor.trace_id, 16)


def page_of(traces: Sequence[TraceFacts], sort: Sort, *, has_before: bool, has_after: bool) -> Page:
    """A page of these traces, with the places at its ends."""
    before = cursor_of(traces[0], sort) if traces and has_before else None
    after = cursor_of(traces[-1], sort) if traces and has_after else None
    return Page(tuple(traces), before, after)


def most_frequent(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The counts, the largest first, equal ones by their value."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def has_failed(status: str, verdict: str | None) -> bool:
    """Whether a list marks a trace as failed."""
    return status == "error" or verdict in ("failed", "errored")


def histogram_of(starts: Iterable[tuple[int, bool]], bars: int, *, is_capped: bool) -> Histogram:
    """Bars of one width from the first start to the last; `starts` have whether the trace failed."""
    counted = list(starts)
    if not counted:
        return Histogram((), is_capped)
    first = min(start for start, _ in counted)
    width = (max(start for start, _ in counted) - first) // bars + 1
    traces: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for start, is_failed in counted:
        bar = (start - first) // width
        traces[bar] += 1
        failed[bar] += is_failed
    return Histogram(
        tuple(Bar(first + n * width, first + (n + 1) * width, traces[n], failed[n]) for n in range(bars)),
        is_capped,
    )
