"""The pages of scorers: all of them, and the values of one over time, by label, the lowest of late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from agenttrace.core.query import METADATA, Labelled, Query
from agenttrace.core.query_parsing import parse
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_figures import ScoreFigures, scores_in
from agenttrace.core.trace_reads import COUNTED_IN_FIGURES, Count
from agenttrace.viewer.figures import by_day, by_label
from agenttrace.viewer.people import agreement_on
from agenttrace.viewer.query_line import QueryLine
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.words import day_text

_LOWEST = 15
_HEIGHT = 100.0
_MOST_VALUES = 12
_RELEASE = f"{METADATA}release"
_FEWEST = 3
"""Scores of a release that is marked on the chart."""
_LEAST_DAYS = 14
"""Days for which the chart has room where there are fewer."""


class DayPoint(NamedTuple):
    """A day on the chart: its place, the share that failed as a bar, and the query for its traces."""

    x: float
    width: float
    y: float | None
    failed: float
    figures: ScoreFigures
    query: str


def score_list(reads: Reads, asked: Asked) -> tuple[int, str]:
    """Every scorer with its figures over the traces that match ``q``."""
    line = QueryLine.of(reads, asked)
    scorers, count = ((), Count(0, False)) if line.error else reads.traces.score_figures(line.query)
    return 400 if line.error else 200, render(
        "score_list.html",
        reads,
        line=line,
        scorers=scorers,
        is_capped=count.is_capped,
        most=COUNTED_IN_FIGURES,
    )


def score_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The scorer ``name`` over the traces that match ``q``."""
    line = QueryLine.of(reads, asked)
    name = asked["name"]
    traces, is_capped = ((), False) if line.error else reads.traces.scored_matches(line.query, name)
    days = by_day(traces, name)
    status = 400 if line.error else 200 if days else 404
    thresholds = Counter(score.threshold for _, score in scores_in(traces, name))
    return status, render(
        "score_page.html",
        reads,
        line=line,
        name=name,
        days=days,
        whole=_whole(days, name),
        points=_points(days, line.query, name),
        changes=_changes(days, traces, name),
        threshold=thresholds.most_common(1)[0][0] if thresholds else None,
        labels=_labels(traces, name, line),
        lowest=_lowest(traces, name),
        agreement=agreement_on(reads, name),
        is_capped=is_capped,
        most=COUNTED_IN_FIGURES,
    )


def _whole(days: Sequence[ScoreFigures], name: str) -> ScoreFigures:
    """The figures of all days together."""
    whole = ScoreFigures(name)
    for day in days:
        whole.values += day.values
        for outcome, number in day.outcomes.items():
            whole.outcomes[outcome] = whole.outcomes.get(outcome, 0) + number
    return whole


def _points(days: Sequence[ScoreFigures], query: Query, name: str) -> list[DayPoint]:
    width = 1_000 / max(len(days), _LEAST_DAYS)
    points = []
    for n, day in enumerate(days):
        narrowed = query.and_(Labelled("scorer", (name,)), *parse(f"since:{day.key} until:{day.key}").terms)
        mean = day.mean
        failed = day.of("failed") / day.count * _HEIGHT
        y = None if mean is None else round(_HEIGHT - mean * _HEIGHT, 1)
        points.append(
            DayPoint(round((n + 0.5) * width, 1), round(width, 2), y, round(failed, 1), day, str(narrowed))
        )
    return points


def _changes(
    days: Sequence[ScoreFigures], traces: Sequence[TraceFacts], name: str
) -> list[tuple[float, str]]:
    """Where on the chart a release begins, but for the first one, and its name."""
    width = 1_000 / max(len(days), _LEAST_DAYS)
    places = {day.key: n * width for n, day in enumerate(days)}
    firsts = [
        (places[day_text(figures.first_ns)], figures.key)
        for figures in by_label(traces, name, _RELEASE)
        if figures.first_ns is not None and figures.count >= _FEWEST
    ]
    return [(round(x, 1), release) for x, release in sorted(firsts)[1 : _MOST_VALUES + 1]]


def _labels(
    traces: Sequence[TraceFacts], name: str, line: QueryLine
) -> list[tuple[str, list[tuple[ScoreFigures, str]]]]:
    """The figures by the values of each label that parts the scores."""
    own = Counter(key for facts in traces for key in facts.labels if key.startswith(METADATA))
    tables = []
    for key in (*[key for key, _ in own.most_common(3)], "customer", "model", "tag"):
        values = by_label(traces, name, key)
        if len(values) > 1:
            if key == _RELEASE:
                values.sort(key=lambda figures: figures.first_ns or 0, reverse=True)
            rows = [
                (figures, line.with_term(Labelled(key, (figures.key,)))) for figures in values[:_MOST_VALUES]
            ]
            tables.append((key.removeprefix(METADATA), rows))
    return tables


def _lowest(traces: Sequence[TraceFacts], name: str) -> list[tuple[TraceFacts, object]]:
    """The newest traces whose score failed or errored."""
    rows = [(f, score) for f, score in scores_in(traces, name) if score.outcome in ("failed", "errored")]
    return [*rows[:_LOWEST]]
