"""The page of traces that match a query: search line, histogram, facets, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.errors import QueryError
from agenttrace.core.query import METADATA, Labelled, Query, Started
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_reads import Count, Cursor, Facet, Histogram
from agenttrace.core.trace_search import cursor_of
from agenttrace.store.root_inputs import root_inputs
from agenttrace.viewer.group_page import is_label
from agenttrace.viewer.no_match import instead_of
from agenttrace.viewer.query_line import QueryLine
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.values import about_text
from agenttrace.viewer.words import Trajectory, column_money, column_unit, moment_text, trajectory

ROWS = 50
BARS = 60
SHOWN_VALUES = 8
FACETS = (
    ("verdict", "Verdict"),
    ("status", "Status"),
    ("failed", "Tool failed"),
    ("name", "Agent"),
    ("customer", "Customer"),
    ("tag", "Tag"),
)
_MOST_METADATA = 3
_MOST_TERMS = 8
"""Terms of a query that matches nothing which are left out in turn, to see what would match."""
_HEIGHT = 46
_ROOM = 48
"""Characters of tool calls for which a row has room."""


class Row(NamedTuple):
    """A trace in the list."""

    facts: TraceFacts
    about: str
    calls: Trajectory
    failing: int


class BarView(NamedTuple):
    """A bar of the histogram, and the query for its traces."""

    x: int
    fine: float
    failed: float
    title: str
    query: str


class FacetValue(NamedTuple):
    """A value of a facet; `query` chooses it, or lets it go where it is chosen."""

    value: str
    traces: int
    is_chosen: bool
    query: str


class FacetView(NamedTuple):
    """A label with its values."""

    key: str
    title: str
    values: Sequence[FacetValue]
    more: int
    is_capped: bool
    is_label: bool


def trace_list(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The traces that match ``q``, sorted by ``sort``, from ``after`` or before ``before``."""
    line = QueryLine.of(reads, asked)
    if line.error:
        return 400, render("trace_list.html", reads, line=line, **_NOTHING)
    try:
        page = reads.traces.search(
            line.query, sort=line.sort, limit=ROWS, after=line.after, before=line.before
        )
        count = reads.traces.count_matches(line.query)
        keys = [*FACETS, *_metadata_keys(page.traces)]
        facets = reads.traces.facets(line.query, [key for key, _ in keys])
        histogram = reads.traces.histogram(line.query, bars=BARS)
    except QueryError as error:
        line = QueryLine(line.text, Query(), error=str(error), around=(line.text, "", ""))
        return 503, render("trace_list.html", reads, line=line, **_NOTHING)
    rows = _rows(reads, page.traces)
    first = page.traces[0] if page.traces and line.after is None and line.before is None else None
    return 200, render(
        "trace_list.html",
        reads,
        line=line,
        rows=rows,
        count=count,
        unit=column_unit(row.facts.duration_ns for row in rows),
        money=column_money(row.facts.cost for row in rows),
        page=page,
        facets=_facet_views(line, keys, facets),
        histogram=histogram,
        bars=_bars(line.query, histogram),
        newest=None if first is None else str(cursor_of(first, line.sort)),
        state=reads.index_state(line.query),
        fewer=_without_each(reads, line) if not rows else (),
        instead=instead_of(reads, line.query) if not rows else (),
        is_empty_store=not rows and not len(line.query),
        path=reads.path,
    )


_NOTHING: Mapping[str, Any] = {
    "rows": (),
    "count": None,
    "unit": column_unit(()),
    "money": column_money(()),
    "page": None,
    "facets": (),
    "histogram": None,
    "bars": (),
    "newest": None,
    "state": None,
    "fewer": (),
    "instead": (),
    "is_empty_store": False,
    "path": None,
}


def _rows(reads: Reads, traces: Sequence[TraceFacts]) -> list[Row]:
    inputs = root_inputs(reads.store, [facts.trace_id for facts in traces])
    return [row_of(facts, inputs.get(facts.trace_id)) for facts in traces]


def row_of(facts: TraceFacts, arguments: Mapping[str, Any] | None, room: int = _ROOM) -> Row:
    """A trace as lists show it; `room` is how many characters of tool calls are shown."""
    failing = sum(score.outcome in ("failed", "errored") for score in facts.scores)
    return Row(facts, about_text(arguments or {}, 120), trajectory(facts.calls, room), failing)


def _metadata_keys(traces: Sequence[TraceFacts]) -> list[tuple[str, str]]:
    """The labels of the user's own that most of these traces have."""
    counts = Counter(key for facts in traces for key in facts.labels if key.startswith(METADATA))
    return [(key, key.removeprefix(METADATA)) for key, _ in counts.most_common(_MOST_METADATA)]


def _facet_views(
    line: QueryLine, keys: Sequence[tuple[str, str]], facets: Mapping[str, Facet]
) -> list[FacetView]:
    views = []
    for key, title in keys:
        facet = facets[key]
        chosen = {
            value
            for term in line.query
            if isinstance(term, Labelled) and term.key == key and not term.negated
            for value in term.values
        }
        without = line.query.without(key)
        values = [
            FacetValue(
                value,
                count,
                value in chosen,
                str(without) if value in chosen else str(without.and_(Labelled(key, (value,)))),
            )
            for value, count in facet.values
            if value in chosen or value != "none"
        ]
        values.sort(key=lambda value: not value.is_chosen)
        tells = len(values) > 1 or any(value.is_chosen for value in values)
        if values and (tells or key not in ("status", "name")):
            shown = values[:SHOWN_VALUES]
            more = len(values) - len(shown)
            views.append(FacetView(key, title, shown, more, facet.is_capped, is_label(key)))
    return views


def _bars(query: Query, histogram: Histogram) -> list[BarView]:
    highest = max((bar.traces for bar in histogram.bars), default=0)
    if not highest:
        return []
    rest = Query(tuple(term for term in query if not isinstance(term, Started)))
    views = []
    for n, bar in enumerate(histogram.bars):
        # A query has whole seconds: a bar that is shorter leads to the seconds in which it lies.
        since, until = bar.start_ns // 10**9 * 10**9, -(-bar.end_ns // 10**9) * 10**9
        narrowed = rest.and_(
            Started("since", moment_text(since), since), Started("until", moment_text(until), until)
        )
        failed = bar.failed / highest * _HEIGHT
        title = f"{moment_text(since)}: {bar.traces:,} traces, {bar.failed:,} failed"
        views.append(
            BarView(
                n, round(bar.traces / highest * _HEIGHT - failed, 1), round(failed, 1), title, str(narrowed)
            )
        )
    return views


def _without_each(reads: Reads, line: QueryLine) -> list[tuple[str, str, Count]]:
    """Where nothing matches: each term, the query without it, and how many match that, the most first."""
    terms = line.query.terms
    shorter = [(term, Query(terms[:n] + terms[n + 1 :])) for n, term in enumerate(terms[:_MOST_TERMS])]
    counted = [(str(term), str(rest), reads.traces.count_matches(rest)) for term, rest in shorter]
    return sorted(counted, key=lambda each: -each[2].number)


def newer_matches(reads: Reads, line: QueryLine, newest: Cursor | None) -> tuple[int, bool]:
    """How many traces that match began after a place in the list, and whether there are more than that."""
    page = reads.traces.search(line.query, sort=line.sort, limit=200, before=newest)
    return len(page.traces), page.before is not None
