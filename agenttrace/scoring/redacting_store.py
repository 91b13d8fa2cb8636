"""The store as evaluations see it: what is written is redacted first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.protocols import Store
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.scoring.redacted_report import redacted_example, redacted_report
from agenttrace.tracing.redaction import Redaction


class RedactingStore:
    """Redacts reports, scores and pending evaluations by the rules of spans; everything else is the store's.

    An example holds what the agent was given and what it answered, a judge's reason may quote both: neither
    passes a span on its way.
    """

    def __init__(self, store: Store, redaction: Redaction) -> None:
        self._store = store
        self._redaction = redaction

    def write_report(self, report: EvaluationReport) -> str:
        """Keep a finished run, redacted; the report given stays as it is."""
        return self._store.write_report(redacted_report(report, self._redaction))

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None:
        """Keep scores, redacted."""
        self._store.write_scores(
            [(trace_id, span_id, self.redacted(score)) for trace_id, span_id, score in scores]
        )

    def redacted(self, score: Score) -> Score:
        """A score as it may leave the process."""
        return self._redaction.score(score)

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """Keep what waits, redacted; a later process judges the redacted example."""
        redacted = [{**one, "example": redacted_example(one["example"], self._redaction)} for one in requests]
        self._store.save_pending_evaluations(project, redacted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
