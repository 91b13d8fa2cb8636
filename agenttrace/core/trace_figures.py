"""Numbers over many traces, from what lists show of each: by tool, by scorer, by a label's values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from agenttrace.core.trace_facts import ScoreFacts, TraceFacts


def quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest of some ordered values that at least this share of them does not exceed; 0 without any."""
    if not ordered:
        return 0.0
    place = -(-share * len(ordered) // 1)  # rounded up: the nearest-rank definition
    return ordered[max(int(place) - 1, 0)]


@dataclass
class Timed:
    """Durations in nanoseconds, in order."""

    durations: list[float] = field(default_factory=list, kw_only=True)

    @property
    def middle(self) -> float:
        """The median duration."""
        return quantile(self.durations, 0.5)

    @property
    def slow(self) -> float:
        """The duration that 95 of 100 do not exceed."""
        return quantile(self.durations, 0.95)


@dataclass
class ToolFigures(Timed):
    """What the calls of one tool come to."""

    name: str
    calls: int = 0
    failed: int = 0
    traces: int = 0
    last_ns: int = 0


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
    return ordered_tools(tools.values())


def ordered_tools(tools: Iterable[ToolFigures]) -> list[ToolFigures]:
    """The figures with their durations in order, the most called tool first."""
    figures = sorted(tools, key=lambda tool: (-tool.calls, tool.name))
    for tool in figures:
        tool.durations.sort()
    return figures


@dataclass
class ScoreFigures:
    """What some scores of one scorer come to. Skipped and errored ones have no value."""

    key: str
    values: list[float] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    last_ns: int = 0
    first_ns: int | None = None

    def add(self, value: float | None, outcome: str, start_ns: int) -> None:
        """Count a score of a trace that began then."""
        if value is not None:
            self.values.append(value)
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.last_ns = max(self.last_ns, start_ns)
        self.first_ns = start_ns if self.first_ns is None else min(self.first_ns, start_ns)

    @property
    def count(self) -> int:
        """How many scores there are."""
        return sum(self.outcomes.values())

    @property
    def mean(self) -> float | None:
        """The mean of the values, None without any."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    @property
    def lowest(self) -> float | None:
        """The lowest value, None without any."""
        return min(self.values, default=None)

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
        figures = scorers.setdefault(score.name, ScoreFigures(score.name))
        figures.add(score.value, score.outcome, facts.start_ns)
    return sorted(scorers.values(), key=lambda figures: figures.key)


@dataclass
class GroupFigures(Timed):
    """What the traces with one value of a label come to.

    `passed` and `judged` are those whose verdict is *passed*, and *passed*, *failed* or *errored*. `cost` (US
    dollars) is None where no trace tells one.
    """

    value: str
    passed: int = 0
    judged: int = 0
    cost: float | None = None
    last_ns: int = 0

    def add(self, verdict: str, duration_ns: float, cost: float | None, start_ns: int) -> None:
        """Count a trace."""
        self.passed += verdict == "passed"
        self.judged += verdict in ("passed", "failed", "errored")
        self.durations.append(duration_ns)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        self.last_ns = max(self.last_ns, start_ns)

    @property
    def traces(self) -> int:
        """How many traces there are."""
        return len(self.durations)


def by_value(traces: Iterable[TraceFacts], key: str) -> list[GroupFigures]:
    """The figures of every value of a label, the most frequent first."""
    groups: dict[str, GroupFigures] = {}
    for facts in traces:
        for value in facts.labels.get(key, ()):
            group = groups.setdefault(value, GroupFigures(value))
            group.add(facts.verdict or "none", facts.duration_ns, facts.cost, facts.start_ns)
    return ordered_groups(groups.values())


def ordered_groups(groups: Iterable[GroupFigures]) -> list[GroupFigures]:
    """The figures with their durations in order, the most frequent value first."""
    figures = sorted(groups, key=lambda group: (-group.traces, group.value))
    for group in figures:
        group.durations.sort()
    return figures
