"""Numbers over many traces, worked out from what lists show of each: by tool, by scorer and day, by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from agenttrace.core.query import Query
from agenttrace.core.trace_facts import ScoreFacts, TraceFacts
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.words import day_text

MOST = 20_000
"""The newest matches stand for all where there are more."""


@dataclass(frozen=True)
class Matches:
    """The newest matches of a query, and whether there are more of them."""

    traces: Sequence[TraceFacts]
    is_capped: bool

    @classmethod
    def of(cls, reads: Reads, query: Query, most: int = MOST) -> Matches:
        """The newest matches."""
        traces = list(islice(reads.traces.each_match(query), most + 1))
        return cls(traces[:most], len(traces) > most)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest of some ordered values that at least this share of them does not exceed; 0 without any."""
    if not ordered:
        return 0.0
    place = -(-share * len(ordered) // 1)  # rounded up: the nearest-rank definition
    return ordered[max(int(place) - 1, 0)]


@dataclass
class ToolFigures:
    """What the calls of one tool come to; durations are nanoseconds, in order."""

    name: str
    calls: int = 0
    failed: int = 0
    traces: int = 0
    durations: list[float] = field(default_factory=list)
    last_ns: int = 0

    @property
    def middle(self) -> float:
        """The median duration."""
        return quantile(self.durations, 0.5)

    @property
    def slow(self) -> float:
        """The duration that 95 of 100 calls do not exceed."""
        return quantile(self.durations, 0.95)


def by_tool(traces: Iterable[TraceFacts]) -> list[ToolFigures]:
    """The figures of every tool that was called, the most called first."""
    tools: dict[str, ToolFigures] = {}
    for facts in traces:
        for call in facts.calls:
            figures = tools.setdefault(call.name, ToolFigures(call.name))
            figures.calls += 1
            figures.failed += call.failed
            figures.durations.append(call.duration_ns)
        for name in {call.name for call in facts.calls}:
            tools[name].traces += 1
            tools[name].last_ns = max(tools[name].last_ns, facts.start_ns)
    for figures in tools.values():
        figures.durations.sort()
    return sorted(tools.values(), key=lambda figures: (-figures.calls, figures.name))


@dataclass
class ScoreFigures:
    """What some scores of one scorer come to. Skipped and errored ones have no value."""

    key: str
    values: list[float] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    last_ns: int = 0
    first_ns: int | None = None

    def add(self, score: ScoreFacts, start_ns: int) -> None:
        """Count a score of a trace that began then."""
        if score.value is not None:
            self.values.append(score.value)
        self.outcomes[score.outcome] = self.outcomes.get(score.outcome, 0) + 1
        self.last_ns = max(self.last_ns, start_ns)
        self.first_ns = start_ns if self.first_ns is None else min(self.first_ns, start_ns)

    @property
    def count(self) -> int:
        """How many scores there are."""
        return sum(self.outcomes.values())

    @property
    def mean(self) -> float | None:
        """The mean of the values, None without any."""
        return sum(self.values) / len(self.values) if self.values else None

    def of(self, outcome: str) -> int:
        """How many have an outcome."""
        return self.outcomes.get(outcome, 0)


def scores_in(
    traces: Iterable[TraceFacts], name: str | None = None
) -> Iterator[tuple[TraceFacts, ScoreFacts]]:
    """Each score of these traces, of one scorer or of all."""
    for facts in traces:
        for score in facts.scores:
            if name is None or score.name == name:
                yield facts, score


def by_scorer(traces: Iterable[TraceFacts]) -> list[ScoreFigures]:
    """The figures of every scorer, by name."""
    scorers: dict[str, ScoreFigures] = {}
    for facts, score in scores_in(traces):
        scorers.setdefault(score.name, ScoreFigures(score.name)).add(score, facts.start_ns)
    return sorted(scorers.values(), key=lambda figures: figures.key)


def by_day(traces: Iterable[TraceFacts], name: str) -> list[ScoreFigures]:
    """The figures of a scorer for each day on which traces with its scores began, the first day first."""
    days: dict[str, ScoreFigures] = {}
    for facts, score in scores_in(traces, name):
        day = day_text(facts.start_ns)
        days.setdefault(day, ScoreFigures(day)).add(score, facts.start_ns)
    return [days[day] for day in sorted(days)]


def by_label(traces: Iterable[TraceFacts], name: str, key: str) -> list[ScoreFigures]:
    """The figures of a scorer for each value of a label, the most frequent first."""
    values: dict[str, ScoreFigures] = {}
    for facts, score in scores_in(traces, name):
        for value in facts.labels.get(key, ()):
            values.setdefault(value, ScoreFigures(value)).add(score, facts.start_ns)
    return sorted(values.values(), key=lambda figures: (-figures.count, figures.key))


def days_data(days: Iterable[ScoreFigures]) -> list[Mapping[str, object]]:
    """Figures as JSON data."""
    return [
        {"day": day.key, "count": day.count, "mean": day.mean, **{k: day.of(k) for k in day.outcomes}}
        for day in days
    ]
