"""Tables over the traces that a query leaves: one line a tool, a scorer, a session."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from agenttrace.core.trace_facts import TraceFacts, verdict_of


@dataclass
class ToolLine:
    """How a tool did. Durations are in nanoseconds, with seven digits' precision."""

    name: str
    calls: int = 0
    failed: int = 0
    traces: int = 0
    durations: list[float] = field(default_factory=list, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON data."""
        return {
            "name": self.name,
            "calls": self.calls,
            "failed": self.failed,
            "traces": self.traces,
            "p50_ns": quantile(self.durations, 0.5),
            "p95_ns": quantile(self.durations, 0.95),
        }


@dataclass
class ScoreLine:
    """What a scorer said. `values` are those of scores that are neither skipped nor errored."""

    name: str
    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    values: list[float] = field(default_factory=list, repr=False)

    @property
    def mean(self) -> float | None:
        """The mean of the values, None without any."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON data."""
        counts = {key: getattr(self, key) for key in ("passed", "failed", "errored", "skipped")}
        lowest = min(self.values, default=None)
        return {"name": self.name, **counts, "values": len(self.values), "mean": self.mean, "lowest": lowest}


@dataclass(frozen=True)
class SessionLine:
    """A conversation: its traces from the first start to the last end."""

    session: str
    traces: int
    start_ns: int
    end_ns: int
    customer: str | None
    cost: float | None
    tokens: float | None
    verdict: str | None

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON data."""
        return asdict(self)


def tool_lines(traces: Iterable[TraceFacts]) -> list[ToolLine]:
    """A line for each tool that was called, the most called first."""
    lines: dict[str, ToolLine] = {}
    for facts in traces:
        for name in {call.name for call in facts.calls}:
            lines.setdefault(name, ToolLine(name)).traces += 1
        for call in facts.calls:
            line = lines[call.name]
            line.calls += 1
            line.failed += call.failed
            line.durations.append(call.duration_ns)
    return sorted(lines.values(), key=lambda line: (-line.calls, line.name))


def score_lines(traces: Iterable[TraceFacts]) -> list[ScoreLine]:
    """A line for each scorer, by name."""
    lines: dict[str, ScoreLine] = {}
    for facts in traces:
        for score in facts.scores:
            line = lines.setdefault(score.name, ScoreLine(score.name))
            setattr(line, score.outcome, getattr(line, score.outcome) + 1)
            if score.value is not None:
                line.values.append(score.value)
    return sorted(lines.values(), key=lambda line: line.name)


def session_line(session: str, traces: Sequence[TraceFacts]) -> SessionLine:
    """The line of a session from its traces."""
    verdict = verdict_of([facts.verdict for facts in traces if facts.verdict is not None])
    return SessionLine(
        session=session,
        traces=len(traces),
        start_ns=min(facts.start_ns for facts in traces),
        end_ns=max(facts.start_ns + facts.duration_ns for facts in traces),
        customer=next((c for facts in traces if (c := facts.label("customer")) is not None), None),
        cost=_sum(facts.cost for facts in traces),
        tokens=_sum(facts.tokens for facts in traces),
        verdict=None if verdict == "none" else verdict,
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if known else None


def quantile(values: Sequence[float], share: float) -> float | None:
    """The least value that at least so large a share of the values does not exceed; None without values."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None
