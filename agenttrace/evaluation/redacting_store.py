"""The store as online evaluation sees it: what is written is redacted first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.protocols import Store
from agenttrace.core.score import Score
from agenttrace.tracing.redaction import Redaction


class RedactingStore:
    """Redacts scores and pending evaluations by the tracer's own rules; everything else is the store's.

    A judge's reason may quote the answer, a pending example holds it: neither passes a span on its way.
    """

    def __init__(self, store: Store, redaction: Redaction) -> None:
        self._store = store
        self._redaction = redaction

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
        redacted = [{**one, "example": self._redaction.fields(one["example"])} for one in requests]
        self._store.save_pending_evaluations(project, redacted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
