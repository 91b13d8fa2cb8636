"""What is said of a score where it is sent, whatever the back end calls it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agenttrace.core.annotation import HUMAN
from agenttrace.core.batch import ScoreRow
from agenttrace.core.marks import text_without_digests
from agenttrace.core.score import Score
from agenttrace.exporters.otlp_encoding import wire_text

AnnotatorKind = Literal["CODE", "LLM", "HUMAN"]

VERSION = "scorer_version"
DATASET_VERSION = "dataset_version"
"""The items of a score's metadata that say by which version of the scorer, and on which of the dataset."""

RANGE = (0.0, 1.0)
"""The least and the largest value that a score can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFacts:
    """A score as back ends take it. `value` is None for one that was skipped or errored.

    `identifier` is the same whenever the same stored score is sent, and different for any other. `metadata`
    holds texts, numbers and booleans alone.
    """

    trace_id: str | None
    span_id: str | None
    name: str
    value: float | None
    label: str
    explanation: str | None
    kind: AnnotatorKind
    judge: str
    identifier: str
    time_ns: int
    metadata: Mapping[str, str | float | bool]


def facts_of(row: ScoreRow, time_ns: int, *, content: bool) -> ScoreFacts:
    """The facts of a stored score. Without `content` the explanation stays out."""
    trace_id, span_id, score = row
    reason = wire_text(text_without_digests(score.reason)) if content and score.reason else None
    return ScoreFacts(
        trace_id=trace_id,
        span_id=span_id,
        name=wire_text(score.name),
        value=None if score.value is None else float(score.value),
        label=score.outcome,
        explanation=reason,
        kind=kind_of(score),
        judge=wire_text(score.model) if score.model else wire_text(score.name),
        identifier=_identifier(row, time_ns),
        time_ns=time_ns,
        metadata=metadata_of(score),
    )


def kind_of(score: Score) -> AnnotatorKind:
    """Who gave the score: a person, a model, or code."""
    if score.name == HUMAN or score.name.startswith(f"{HUMAN}: "):
        return "HUMAN"
    return "LLM" if score.model else "CODE"


def metadata_of(score: Score) -> dict[str, str | float | bool]:
    """What tells how to read a score's value; none of it is content."""
    facts: dict[str, Any] = {
        "outcome": score.outcome,
        "threshold": score.threshold,
        "range": f"{RANGE[0]:g} to {RANGE[1]:g}",
        "lower_is_better": score.lower_is_better,
        "model": score.model,
        "cost": score.cost,
        "duration": score.duration,
        VERSION: score.metadata.get(VERSION),
        DATASET_VERSION: score.metadata.get(DATASET_VERSION),
    }
    return {
        name: wire_text(value) if isinstance(value, str) else value
        for name, value in facts.items()
        if isinstance(value, str | int | float)
    }


def _identifier(row: ScoreRow, time_ns: int) -> str:
    """Made of what is stored, so that another process makes the same."""
    score = row.score
    parts = (row.trace_id, row.span_id, score.name, score.outcome, score.value, score.reason, time_ns)
    text = "\n".join(map(str, parts)).encode("utf-8", "replace")
    return f"agenttrace-{hashlib.sha256(text).hexdigest()[:32]}"
