"""What a list of traces shows of one, and what a query asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agenttrace.core.cached import cached_property
from agenttrace.core.later import make_when_read
from agenttrace.core.query import METADATA
from agenttrace.core.score import Outcome

VERDICTS: tuple[Outcome, ...] = ("failed", "errored", "passed", "skipped")
"""The outcomes of scores, the worst first. The verdict on a trace is the worst of its scores and results."""

Labels = Mapping[str, tuple[str, ...]]


class CallFacts(NamedTuple):
    """A recorded execution of a tool. Its duration is in nanoseconds, with seven digits' precision."""

    name: str
    failed: bool
    duration_ns: float


class ScoreFacts(NamedTuple):
    """A score's value, None where it was skipped or errored, with its threshold and outcome."""

    name: str
    value: float | None
    threshold: float
    outcome: Outcome

    @property
    def goodness(self) -> float | None:
        """The value, turned round where the outcome tells that lower is better: 0 is always the worst."""
        if self.value is None:
            return None
        higher_is_better = (
            self.value >= self.threshold if self.outcome == "passed" else self.value < self.threshold
        )
        return self.value if higher_is_better else 1 - self.value

    @property
    def badness(self) -> tuple[int, float, str]:
        """Sorts the worst score first."""
        goodness = self.goodness
        return VERDICTS.index(self.outcome), 2.0 if goodness is None else goodness, self.name


class ResultFacts(NamedTuple):
    """Where a trace was made by an evaluation: the run, the example's name, and the result's outcome."""

    run_id: str
    run_name: str
    example: str | None
    outcome: Outcome


@dataclass(frozen=True)
class TraceFacts:
    """What a list shows of a trace.

    `name`, `project` and `status` are as in `TraceSummary`. `calls` are the recorded executions of tools in
    the order of their start (what two instrumentations recorded is one call); `looped` is how often the most
    repeated one was made, the same tool with the same arguments, failed attempts not counted. `errors` counts
    the spans that failed. `tokens` and `cost` (US dollars) are None where no span tells them. `labels` are
    the values of each key that a query can ask for, in order.
    """

    trace_id: str
    start_ns: int
    duration_ns: int
    spans: int
    errors: int
    looped: int
    tokens: float | None
    cost: float | None
    calls: tuple[CallFacts, ...]
    scores: tuple[ScoreFacts, ...]
    labels: Labels

    def label(self, key: str) -> str | None:
        """The first value of a label, or None."""
        return next(iter(self.labels.get(key, ())), None)

    @property
    def name(self) -> str:
        """The root's name."""
        return self.label("name") or ""

    @property
    def project(self) -> str:
        """The root's project."""
        return self.label("project") or ""

    @property
    def status(self) -> str:
        """The root's status, *open* while no root is stored."""
        return self.label("status") or "open"

    @property
    def verdict(self) -> str | None:
        """The worst outcome of its scores and results, or None without any."""
        verdict = self.label("verdict")
        return None if verdict == "none" else verdict

    @cached_property
    def worst(self) -> ScoreFacts | None:
        """The score that is to be shown where there is room for one."""
        return min(self.scores, key=lambda score: score.badness, default=None)

    @property
    def lowest(self) -> float | None:
        """The lowest value of its scores."""
        return min((score.value for score in self.scores if score.value is not None), default=None)

    @property
    def highest(self) -> float | None:
        """The highest value of its scores."""
        return max((score.value for score in self.scores if score.value is not None), default=None)

    @property
    def goodness(self) -> float | None:
        """The least goodness of its scores: what lists are sorted by where they are sorted by score."""
        return min((g for score in self.scores if (g := score.goodness) is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON data."""
        worst = self.worst
        return {
            "trace_id": self.trace_id,
            "name": self.name,
            "project": self.project,
            "status": self.status,
            "verdict": self.verdict,
            "start_ns": self.start_ns,
            "duration_ns": self.duration_ns,
            "spans": self.spans,
            "errors": self.errors,
            "tool_calls": len(self.calls),
            "calls": [{"name": call.name, "failed": call.failed} for call in self.calls],
            "looped": self.looped,
            "tokens": self.tokens,
            "cost": self.cost,
            "customer": self.label("customer"),
            "session": self.label("session"),
            "tags": list(self.labels.get("tag", ())),
            "metadata": {
                key.removeprefix(METADATA): values[0]
                for key, values in self.labels.items()
                if key.startswith(METADATA)
            },
            "models": list(self.labels.get("model", ())),
            "example": self.label("example"),
            "runs": list(self.labels.get("run", ())),
            "worst_score": None if worst is None else worst._asdict(),
            "scores": [score._asdict() for score in self.scores],
        }


make_when_read(TraceFacts, "calls")


def field_text(side: str, name: str, value: str) -> str:
    """A scalar at the top level of a tool's, or the root's, arguments or output as one text."""
    return f"{side}\0{name}\0{value}"


@dataclass(frozen=True)
class SearchedTrace:
    """A trace as queries see it: its facts, the words of its roots' texts, its fields (`field_text`)."""

    facts: TraceFacts
    words: Sequence[str]
    fields: frozenset[str]


def verdict_of(outcomes: Sequence[str]) -> str:
    """The worst of some outcomes, ``"none"`` without any."""
    return next((verdict for verdict in VERDICTS if verdict in outcomes), "none")


def scalar_text(value: Any) -> str | None:
    """The text by which a scalar is looked for, or None for what is no scalar: 7 and 7.0 are ``7``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
    return None


def number_text(text: str) -> str:
    """The text of a number as `scalar_text` gives it: ``7.0`` is ``7``; any other text as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    whole = text.removeprefix("-").isdecimal()
    return text if whole or "_" in text or not text.isascii() else scalar_text(value) or text
