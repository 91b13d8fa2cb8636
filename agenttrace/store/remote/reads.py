"""`RemoteReads`: a service answers queries for the traces of its store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.query import Query
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_figures import GroupFigures, ScoreFigures, ToolFigures
from agenttrace.core.trace_reads import (
    COUNTED,
    COUNTED_IN_FIGURES,
    NEWEST_FIRST,
    Count,
    Cursor,
    Facet,
    Histogram,
    Page,
    Sort,
)

_AT_ONCE = 500


class RemoteReads:
    """See `TraceReads`; `ask` calls the service."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def search(
        self,
        query: Query,
        *,
        sort: Sort = NEWEST_FIRST,
        limit: int = 50,
        after: Cursor | None = None,
        before: Cursor | None = None,
    ) -> Page:
        """See `TraceReads.search`."""
        page: Page = self._ask("reads.search", query, sort=sort, limit=limit, after=after, before=before)
        return page

    def pages(self, query: Query) -> Iterator[Page]:
        """The pages of all that match, the newest first."""
        after: Cursor | None = None
        while True:
            page = self.search(query, limit=_AT_ONCE, after=after)
            yield page
            after = page.after
            if after is None:
                return

    def count_matches(self, query: Query, *, most: int = COUNTED) -> Count:
        """See `TraceReads.count_matches`."""
        count: Count = self._ask("reads.count_matches", query, most=most)
        return count

    def facets(self, query: Query, keys: Sequence[str], *, most: int = COUNTED) -> Mapping[str, Facet]:
        """See `TraceReads.facets`."""
        facets: Mapping[str, Facet] = self._ask("reads.facets", query, list(keys), most=most)
        return facets

    def histogram(self, query: Query, *, bars: int = 60, most: int = COUNTED) -> Histogram:
        """See `TraceReads.histogram`."""
        histogram: Histogram = self._ask("reads.histogram", query, bars=bars, most=most)
        return histogram

    def tool_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ToolFigures], Count]:
        """See `TraceReads.tool_figures`."""
        figures: tuple[list[ToolFigures], Count] = self._ask("reads.tool_figures", query, most=most)
        return figures

    def score_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ScoreFigures], Count]:
        """See `TraceReads.score_figures`."""
        figures: tuple[list[ScoreFigures], Count] = self._ask("reads.score_figures", query, most=most)
        return figures

    def group_figures(
        self, query: Query, key: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[GroupFigures], Count]:
        """See `TraceReads.group_figures`."""
        figures: tuple[list[GroupFigures], Count] = self._ask("reads.group_figures", query, key, most=most)
        return figures

    def scored_matches(
        self, query: Query, name: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[TraceFacts], bool]:
        """See `TraceReads.scored_matches`."""
        matches: tuple[list[TraceFacts], bool] = self._ask("reads.scored_matches", query, name, most=most)
        return matches

    def each_match(self, query: Query) -> Iterator[TraceFacts]:
        """See `TraceReads.each_match`."""
        for page in self.pages(query):
            yield from page.traces
