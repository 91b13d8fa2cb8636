"""`IndexReads`: answers queries for the traces of a store in a file, by its side index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from agenttrace.core.query import EVERYTHING, Query
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
    IndexState,
    Page,
    Sort,
)
from agenttrace.core.trace_search import cursor_of
from agenttrace.store.file_source import FileSource
from agenttrace.store.index_figures import IndexFigures
from agenttrace.store.index_file import Progress, SideIndex
from agenttrace.store.index_queries import IndexQueries, needs_fields

T = TypeVar("T")


class IndexReads:
    """Answers from a side index, which is brought up to date before each answer; see `TraceReads`.

    With `fill_seconds`, an index that is behind answers after so long with what it knows: the newest traces
    come first. What waits in the memory of a process whose file cannot be written is not in it.
    """

    def __init__(self, index: SideIndex, fill_seconds: float | None = None) -> None:
        self._index = index
        self._fill_seconds = fill_seconds

    @classmethod
    def of(cls, store_path: str, timeout: float) -> IndexReads:
        """Answer from the index of the store in a file, one for each path in this process."""
        return cls(_index_of_file(store_path, timeout))

    def within(self, fill_seconds: float) -> IndexReads:
        """The same, waiting so long for an index that is behind."""
        return IndexReads(self._index, fill_seconds)

    def refresh(
        self,
        seconds: float | None = None,
        progress: Progress = lambda _: None,
        *,
        query: Query = EVERYTHING,
    ) -> IndexState:
        """Bring what a query needs up to date, for so many seconds at most; says how far it has come."""
        return self._index.refresh(seconds, progress, fields=needs_fields(query))

    @property
    def is_behind(self) -> bool:
        """Whether there was more to take over when the index was last brought up to date."""
        return self._index.is_behind

    def bring_on(self, seconds: float) -> IndexState:
        """Bring up to date what queries have needed so far, for so many seconds at most."""
        return self._index.refresh(seconds, fields=self._index.fields_asked_for)

    def _answer(self, query: Query, answer: Callable[[IndexQueries], T], nothing: T) -> T:
        return self._index.answer(
            lambda db: answer(IndexQueries(db)),
            nothing,
            fill_seconds=self._fill_seconds,
            fields=needs_fields(query),
        )

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
        return self._answer(
            query, lambda index: index.search(query, sort, limit, after, before), Page((), None, None)
        )

    def count_matches(self, query: Query, *, most: int = COUNTED) -> Count:
        """The number of matches."""
        return self._answer(query, lambda index: index.count(query, most), Count(0, False))

    def facets(self, query: Query, keys: Sequence[str], *, most: int = COUNTED) -> Mapping[str, Facet]:
        """The values of labels."""
        nothing = {key: Facet((), 0, False) for key in keys}
        return self._answer(query, lambda index: index.facets(query, keys, most), nothing)

    def histogram(self, query: Query, *, bars: int = 60, most: int = COUNTED) -> Histogram:
        """Matches by time."""
        return self._answer(query, lambda index: index.histogram(query, bars, most), Histogram((), False))

    def tool_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ToolFigures], Count]:
        """Figures by tool."""
        return self._figures(query, lambda index: index.tools(query, most))

    def score_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ScoreFigures], Count]:
        """Figures by scorer."""
        return self._figures(query, lambda index: index.scorers(query, most))

    def group_figures(
        self, query: Query, key: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[GroupFigures], Count]:
        """Figures by the values of a label."""
        return self._figures(query, lambda index: index.groups(query, key, most))

    def scored_matches(
        self, query: Query, name: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[TraceFacts], bool]:
        """The newest matches with scores of a scorer."""
        nothing: tuple[list[TraceFacts], bool] = ([], False)
        return self._answer(query, lambda index: index.scored(query, name, most), nothing)

    def _figures(
        self, query: Query, figures: Callable[[IndexFigures], tuple[list[T], Count]]
    ) -> tuple[list[T], Count]:
        nothing: tuple[list[T], Count] = ([], Count(0, False))
        return self._index.answer(
            lambda db: figures(IndexFigures(db)),
            nothing,
            fill_seconds=self._fill_seconds,
            fields=needs_fields(query),
        )

    def each_match(self, query: Query) -> Iterator[TraceFacts]:
        """The matches, the newest first, read in parts: no connection stays open between them."""
        nothing: list[TraceFacts] = []
        cursor: Cursor | None = None
        while True:
            place = cursor
            traces = self._answer(
                query,
                lambda index, place=place: index.after(query, place),  # type: ignore[misc]
                nothing,
            )
            if not traces:
                return
            yield from traces
            cursor = cursor_of(traces[-1], NEWEST_FIRST)


@lru_cache(maxsize=16)
def _index_of_file(store_path: str, timeout: float) -> SideIndex:
    return SideIndex(FileSource(store_path, timeout))
