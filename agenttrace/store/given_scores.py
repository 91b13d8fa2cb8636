"""Scores that somebody gives to a store without a tracer: redacted by the defaults."""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace.core.batch import ScoreRow
from agenttrace.core.score import Score


def redacted_scores(scores: Sequence[tuple[str | None, str | None, Score]]) -> list[ScoreRow]:
    """Scores, each with its trace id and span id, without secrets in their texts and details."""
    from agenttrace.redaction import Redaction  # on use: reading a store needs none of it

    redaction = Redaction()
    rows = [ScoreRow(*row) for row in scores]
    return [row._replace(score=redaction.score(row.score)) for row in rows]
