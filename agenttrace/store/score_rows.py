"""Scores, runs and their results as database rows, there and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.jsonable import clean_text, jsonable, to_json
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.store.rows import loaded

SCORE_COLUMNS = "name, value, threshold, outcome, reason, error, model, cost, duration, rest"
_RARE = ("details", "diff", "strict", "usage", "metadata")


def score_row(score: Score) -> tuple[Any, ...]:
    """The columns of `SCORE_COLUMNS`."""
    rare = {field: getattr(score, field) for field in _RARE}
    kept = {field: value for field, value in rare.items() if value}
    return (
        clean_text(score.name),
        score.value,
        score.threshold,
        score.outcome,
        clean_text(score.reason),
        _text_or_none(score.error),
        score.model,
        score.cost,
        score.duration,
        to_json(jsonable({k: dict(v) if isinstance(v, Mapping) else v for k, v in kept.items()}))
        if kept
        else None,
    )


def score_of(row: Sequence[Any]) -> Score:
    """The score of a row of `SCORE_COLUMNS`."""
    name, value, threshold, outcome, reason, error, model, cost, duration, rest = row
    return Score(
        name=name,
        value=value,
        threshold=threshold,
        outcome=outcome,
        reason=reason,
        error=error,
        model=model,
        cost=cost,
        duration=duration,
        **({} if rest is None else loaded(rest)),
    )


def result_row(result: ScoringResult) -> tuple[Any, ...]:
    """The columns of `results` after its key."""
    return (
        result.position,
        _text_or_none(result.name),
        result.outcome,
        result.trial,
        result.trials,
        result.trace_id,
        result.run_duration,
        _text_or_none(result.error),
        _text_or_none(result.source),
        to_json(jsonable(result.example.to_dict())),
    )


RESULT_COLUMNS = "position, name, outcome, trial, trials, trace_id, run_duration, error, source, example"


def result_of(row: Sequence[Any], scores: Sequence[Score]) -> dict[str, Any]:
    """What `ScoringResult.to_dict` gave."""
    entry: dict[str, Any] = dict(zip(RESULT_COLUMNS.split(", "), row, strict=True))
    entry["example"] = loaded(entry["example"])
    entry["scores"] = [score.to_dict() for score in scores]
    return entry


def _text_or_none(text: str | None) -> str | None:
    return None if text is None else clean_text(text)
