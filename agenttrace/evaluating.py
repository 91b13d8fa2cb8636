"""The methods by which a tracer evaluates in production."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Store
from agenttrace.core.span import Span
from agenttrace.tracing.context import running
from agenttrace.tracing.sampling import sampler

if TYPE_CHECKING:
    from agenttrace.core.example import Example
    from agenttrace.core.protocols import Scorer
    from agenttrace.evaluation.alerts import Alert
    from agenttrace.evaluation.handle import EvaluationHandle
    from agenttrace.evaluation.online import OnlineEvaluator
    from agenttrace.evaluation.wishes import Wishes
    from agenttrace.tracing.redaction import Redaction


def _fields_of(example: Any) -> dict[str, Any]:
    # Who holds an Example has loaded its module: nobody else pays for that here.
    module = sys.modules.get("agenttrace.core.example")
    if module is None or not isinstance(example, module.Example):
        hint = "; write Example(**fields)" if isinstance(example, dict) else ""
        raise ConfigError(f"example is an Example, got {type(example).__name__}{hint}")
    fields: dict[str, Any] = example.__dict__.copy()
    return fields


class Evaluating:
    """Evaluates in production, off the agent's threads. `Tracer` sets the fields named here."""

    project_name: str
    store: Store
    enabled: bool
    _alerts: Sequence[Alert]
    _drain_seconds: float
    _exporters: Sequence[Any]
    _flush_spans: Callable[[float], Any]
    _redaction: Redaction
    _online: OnlineEvaluator | None = None

    def async_evaluate(
        self, scorers: Sequence[Scorer], example: Example | None = None, **wishes: Unpack[Wishes]
    ) -> EvaluationHandle:
        """Score an example in the background; the scores land on the running span. Returns at once.

        Give an `Example`, or its fields. What is given is copied now; scorers that look at the trace see the
        span and what is below it, once it has ended. Up to 10,000 evaluations wait; what comes beyond is
        dropped, counted in `stats`. The returned handle may be ignored.

        Args:
            scorers: What to ask, deterministic scorers or judges.
            example: What to judge.
            input: A field of the example; so are the names that follow, as in `Example`.
            model: Which model the judges ask that have none of their own.
            sample_rate: Share of the calls that are evaluated.
            span_id: Another span of the running trace, 16 hex digits.
            timeout: Seconds for each scorer (120).
            on_result: Called with the scores, on a thread of ours.
            alerts: Whom to tell of a score below its threshold, besides the tracer's own.

        Raises:
            ConfigError: no scorers, an example and fields, a model that cannot be reached as configured.
            ScorerError: something that is not a scorer.
        """
        fields = None if example is None else _fields_of(example)
        if not self.enabled:
            wishes["sample_rate"] = 0.0
        online = self._online or self._begin_online()
        return online.ask(scorers, fields, running(), wishes, self._alerts)

    def wait_for_evaluations(self, timeout: float | None = None) -> bool:
        """Wait, at most `timeout` seconds, until every evaluation has ended and is stored; whether so."""
        return self._online is None or self._online.wait(timeout)

    def resume_evaluations(self, scorers: Sequence[Scorer]) -> list[EvaluationHandle]:
        """Finish what an earlier process left pending, with scorers of the same names.

        What a living process is at work on stays with it. The tracer's own alerts are told.
        """
        from agenttrace.evaluation.resumption import resume

        return resume(self._online or self._begin_online(), scorers, self._alerts)

    def _evaluate_each(self, scorers: Sequence[Scorer], sample_rate: float) -> Callable[[Span], None]:
        """What the pipeline's worker does with each stored span of an observed function."""
        from agenttrace.evaluation.validity import checked_request

        scorers = checked_request(scorers, None, sample_rate)
        admits = sampler(sample_rate)

        def evaluate(span: Span) -> None:
            if span.status == "ok" and (admits is None or admits()):
                online = self._online or self._begin_online()
                fields = {"input": dict(span.input or {}), "actual_output": span.output}
                online.ask_for_span(scorers, fields, span, alerts=self._alerts)

        return evaluate

    def _begin_online(self) -> OnlineEvaluator:
        from agenttrace.evaluation.online import OnlineEvaluator
        from agenttrace.evaluation.redacting_store import RedactingStore

        redacting: Any = RedactingStore(self.store, self._redaction)
        made = OnlineEvaluator(
            redacting,
            self.project_name,
            flush_spans=self._flush_spans,
            exporters=self._exporters,
            drain_seconds=self._drain_seconds,
        )
        # Two threads that come here together: the first one stored wins, the other was never used.
        self._online = self._online or made
        return self._online
