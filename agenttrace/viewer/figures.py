"""Numbers over the scores of traces, by day and by label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_figures import ScoreFigures, scores_in
from agenttrace.viewer.words import day_text


def by_day(traces: Iterable[TraceFacts], name: str) -> list[ScoreFigures]:
    """The figures of a scorer for each day on which traces with its scores began, the first day first."""
    days: dict[str, ScoreFigures] = {}
    for facts, score in scores_in(traces, name):
        day = day_text(facts.start_ns)
        days.setdefault(day, ScoreFigures(day)).add(score.value, score.outcome, facts.start_ns)
    return [days[day] for day in sorted(days)]


def by_label(traces: Iterable[TraceFacts], name: str, key: str) -> list[ScoreFigures]:
    """The figures of a scorer for each value of a label, the most frequent first."""
    values: dict[str, ScoreFigures] = {}
    for facts, score in scores_in(traces, name):
        for value in facts.labels.get(key, ()):
            figures = values.setdefault(value, ScoreFigures(value))
            figures.add(score.value, score.outcome, facts.start_ns)
    return sorted(values.values(), key=lambda figures: (-figures.count, figures.key))


def days_data(days: Iterable[ScoreFigures]) -> list[Mapping[str, object]]:
    """Figures as JSON data."""
    return [
        {"day": day.key, "count": day.count, "mean": day.mean, **{k: day.of(k) for k in day.outcomes}}
        for day in days
    ]
