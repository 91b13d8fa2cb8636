"""What the code of an agent can ask and say of the call that runs, of its trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.core.score import Score
from agenttrace.tracing.context import running
from agenttrace.tracing.live_span import LiveSpan
from agenttrace.tracing.trace_notes import LiveTrace, running_trace


class Running:
    """What the code of an agent can ask and say of the call that runs; outside any, nothing happens."""

    def current_span(self) -> LiveSpan | None:
        """The call that runs here, or None."""
        record = running()
        return None if record is None else LiveSpan(record)

    def current_trace(self) -> LiveTrace | None:
        """The trace that is recorded here, or None."""
        return running_trace()

    def set_tags(self, tags: Iterable[str]) -> None:
        """Add tags to the running trace."""
        (running_trace() or LiveTrace(None)).set_tags(tags)

    def set_customer_id(self, customer_id: str) -> None:
        """Say for whom the running trace is."""
        (running_trace() or LiveTrace(None)).set_customer_id(customer_id)

    def set_session_id(self, session_id: str) -> None:
        """Say to which conversation the running trace belongs."""
        (running_trace() or LiveTrace(None)).set_session_id(session_id)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add values by name to the running trace."""
        (running_trace() or LiveTrace(None)).update_metadata(metadata)

    def log(self, message: str, *, label: str = "log", score: float | None = None) -> None:
        """Keep a note, or feedback as a number, on the running span."""
        LiveSpan(running()).log(message, label=label, score=score)

    def update_current_span(
        self,
        *,
        output: Any = None,
        usage: Mapping[str, Any] | None = None,
        model: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Add to the running span; what is None stays as it is."""
        span = LiveSpan(running())
        if output is not None:
            span.output = output
        if usage is not None:
            span.set_usage(usage)
        if model is not None:
            span.set_attribute("gen_ai.request.model", model)
        for name, value in (attributes or {}).items():
            span.set_attribute(name, value)

    def score_current_span(
        self, name: str, value: float, *, threshold: float = 0.0, reason: str = ""
    ) -> None:
        """Put a score from 0 to 1 on the running span.

        Raises:
            ValueError: not a number from 0 to 1.
        """
        LiveSpan(running()).add_score(Score.of(name, value, threshold, reason=reason))
