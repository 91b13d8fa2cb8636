"""`ScorerData`: a score under the field names of judgeval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.score import Score


@dataclass(frozen=True, slots=True)
class ScorerData:
    """A score under the field names that judgeval's users know."""

    name: str
    threshold: float
    success: bool
    score: float | None
    reason: str | None
    strict_mode: bool | None
    evaluation_model: str | None
    error: str | None
    evaluation_cost: float | None
    verbose_logs: str | None
    additional_metadata: Mapping[str, Any]

    @classmethod
    def of(cls, score: Score) -> ScorerData:
        """Make the view of a score."""
        return cls(
            name=score.name,
            threshold=score.threshold,
            success=score.passed,
            score=score.value,
            reason=score.reason or None,
            strict_mode=score.strict,
            evaluation_model=score.model,
            error=score.error,
            evaluation_cost=score.cost,
            verbose_logs=score.diff,
            additional_metadata={**score.details, **score.metadata},
        )
