"""How lists of traces are asked for: by query, sorted, page by page, with counts; `TraceReads` answers.

A store answers as it can: by an index, by its own columns, or by `core.trace_search` over all its traces.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from agenttrace.core.errors import QueryError, did_you_mean

if TYPE_CHECKING:
    from agenttrace.core.query import Query
    from agenttrace.core.trace_facts import TraceFacts
    from agenttrace.core.trace_figures import GroupFigures, ScoreFigures, ToolFigures

SortKey = Literal["time", "duration", "cost", "spans", "score"]

SORT_KEYS: tuple[SortKey, ...] = ("time", "duration", "cost", "spans", "score")

COUNTED = 5_000
"""Matches up to which traces are counted: the newest of them stand for all in facets and histograms."""
COUNTED_IN_FIGURES = 20_000
"""Matches up to which traces are counted in figures by tool, scorer and label."""

_DIGITS = 32
"""Of a trace's id."""
_BEYOND = 1 << 63


class Sort(NamedTuple):
    """What a list is sorted by; traces that do not tell it stand last. *score*: the worst one, from 0."""

    key: SortKey = "time"
    descending: bool = True

    @classmethod
    def of(cls, text: str) -> Sort:
        """Read ``-duration`` (the longest first), ``cost`` (the cheapest first) …

        Raises:
            QueryError: there is no such key.
        """
        name = text.removeprefix("-")
        for key in SORT_KEYS:
            if name == key:
                return cls(key, text.startswith("-"))
        raise QueryError(
            f"got sort {text!r}, wanted one of {', '.join(SORT_KEYS)}, with a minus for the "
            f"largest first{did_you_mean(name, SORT_KEYS)}"
        )

    def __str__(self) -> str:
        return f"{'-' * self.descending}{self.key}"


NEWEST_FIRST = Sort()


class Cursor(NamedTuple):
    """A place in a sorted list: the value sorted by, None where the trace does not tell it, and the trace."""

    value: float | None
    trace_id: str

    @classmethod
    def of(cls, text: str) -> Cursor:
        """Read what `str` gave.

        Raises:
            QueryError: it is no cursor.
        """
        value, _, trace_id = text.partition(":")
        try:
            number = None if value == "" else float(value) if set(value) - set("-0123456789") else int(value)
        except ValueError:
            number, trace_id = None, ""
        if number is not None and not (math.isfinite(number) and abs(number) < _BEYOND):
            trace_id = ""
        if len(trace_id) != _DIGITS or set(trace_id) - set("0123456789abcdef"):
            raise QueryError(f"got {text[:80]!r}, wanted the place of a page, as the page before gave it")
        return cls(number, trace_id)

    def __str__(self) -> str:
        return f"{'' if self.value is None else repr(self.value)}:{self.trace_id}"


class Page(NamedTuple):
    """Traces of a sorted list. `after` is the place where the next page begins, `before` where the one before
    ends; None where there is none."""

    traces: Sequence[TraceFacts]
    before: Cursor | None
    after: Cursor | None


class Count(NamedTuple):
    """How many there are; where `is_capped`, at least so many."""

    number: int
    is_capped: bool


class Facet(NamedTuple):
    """How many traces have each value of a label, the most frequent first.

    Of `traces` that match without the query's own terms on this label; where `is_capped`, of the newest ones.
    """

    values: Sequence[tuple[str, int]]
    traces: int
    is_capped: bool


class Bar(NamedTuple):
    """A bar of a histogram: traces that started from `start_ns` to before `end_ns`, and how many of them
    failed (status *error*, or verdict *failed* or *errored*)."""

    start_ns: int
    end_ns: int
    traces: int
    failed: int


class Histogram(NamedTuple):
    """Matches by time; where `is_capped`, the newest ones alone."""

    bars: Sequence[Bar]
    is_capped: bool


@dataclass(frozen=True)
class IndexState:
    """How far what answers has come: `done` of `total` traces are known. The total is an estimate."""

    done: int
    total: int

    @property
    def is_ready(self) -> bool:
        """Whether answers are of all traces."""
        return self.done >= self.total


class TraceReads(Protocol):
    """Optional hook of a store: answers queries itself.

    Raises:
        QueryError: from every method, where an answer takes too long.
        StoreError: from every method, where the store cannot be read.
    """

    def search(
        self,
        query: Query,
        *,
        sort: Sort = NEWEST_FIRST,
        limit: int = 50,
        after: Cursor | None = None,
        before: Cursor | None = None,
    ) -> Page:
        """The traces that match, from the first, or after a place, or the last ones before a place."""
        ...

    def count_matches(self, query: Query, *, most: int = COUNTED) -> Count:
        """How many traces match, counted up to `most`."""
        ...

    def facets(self, query: Query, keys: Sequence[str], *, most: int = COUNTED) -> Mapping[str, Facet]:
        """The values of labels among the newest `most` matches, each counted without its own terms."""
        ...

    def histogram(self, query: Query, *, bars: int = 60, most: int = COUNTED) -> Histogram:
        """The newest `most` matches by the time of their start, in bars of one width."""
        ...

    def tool_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ToolFigures], Count]:
        """What the calls of each tool in the newest `most` matches come to; with how many these are."""
        ...

    def score_figures(
        self, query: Query, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[ScoreFigures], Count]:
        """What the scores of each scorer in the newest `most` matches come to; with how many these are."""
        ...

    def group_figures(
        self, query: Query, key: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[GroupFigures], Count]:
        """What the newest `most` matches come to by the values of a label; with how many these are."""
        ...

    def scored_matches(
        self, query: Query, name: str, *, most: int = COUNTED_IN_FIGURES
    ) -> tuple[list[TraceFacts], bool]:
        """Those of the newest `most` matches with scores of a scorer; with whether there are more matches."""
        ...

    def each_match(self, query: Query) -> Iterator[TraceFacts]:
        """Every trace that matches, the newest first."""
        ...
