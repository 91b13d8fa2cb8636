"""`Annotation`: what a person says of a trace, a span, or a result of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from agenttrace.core.score import Score

Thumbs = Literal["up", "down"]

HUMAN = "Human"
"""The scorer's name of people's scores; with a label ``Human: label``."""

THRESHOLD = 0.5


def is_word(score: Score) -> bool:
    """Whether a score is a person's word, made of an annotation."""
    return score.name.startswith(HUMAN) and "annotation" in score.metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """What a person says of a trace or a span, or of one result of a run (`run_id`, `result`).

    Any of `label`, `thumbs`, `score` (0 to 1), `note` and `expected` may be None. `expected` is the corrected
    expectation: ``{"expected_tools": …}`` or ``{"expected_output": …}``, as files of examples have them.
    A label that is a judge's name says what the verdict is about; see `statistics.agreement`.
    """

    annotation_id: str
    project: str
    trace_id: str | None = None
    span_id: str | None = None
    run_id: str | None = None
    result: int | None = None
    label: str | None = None
    thumbs: Thumbs | None = None
    score: float | None = None
    note: str | None = None
    expected: Mapping[str, Any] | None = None
    by: str | None = None
    created_ns: int

    @property
    def value(self) -> float | None:
        """What the person's verdict is as a number: the score, or 1 and 0 for thumbs; None without either."""
        if self.score is not None:
            return self.score
        return None if self.thumbs is None else float(self.thumbs == "up")

    @property
    def passes(self) -> bool | None:
        """Whether the person says that it is good; None where they do not say."""
        return None if self.value is None else self.value >= THRESHOLD

    def as_score(self) -> Score | None:
        """The verdict as the score of a human scorer, or None where there is none."""
        if self.value is None:
            return None
        name = HUMAN if self.label is None else f"{HUMAN}: {self.label}"
        metadata = {"annotation": self.annotation_id, **({"by": self.by} if self.by else {})}
        return Score.of(name, self.value, THRESHOLD, reason=self.note or "", metadata=metadata)

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, as JSON data."""
        return asdict(self)
