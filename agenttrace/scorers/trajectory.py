"""How well the run follows an expectation of any kind."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Literal, Unpack, get_args, overload

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ArgumentMode
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.parse import parse_expectation
from agenttrace.matching.answers import Ask
from agenttrace.matching.compared import Comparators
from agenttrace.matching.comparison import Comparison
from agenttrace.scorers.call_scorer import CallOptions
from agenttrace.scorers.comparing_scorer import ComparingScorer, ScoreOrAwaitable
from agenttrace.scorers.explained import explained

Metric = Literal["holds", "coverage", "precision", "f1", "order", "args"]
"""*holds*: 1 or 0 as the path holds in its mode; *coverage*: agreement by needed calls (recall); *precision*:
by actual calls; *f1*: of both; *order*: needed calls made in order, by name; *args*: mean agreement of the
calls that were paired."""


class TrajectoryScorer(ComparingScorer[ScoreOrAwaitable]):
    """How well the run follows an expectation of any kind, by the metric of your choice.

    The expectation is `expected`, or the example's `expected_tools`: names, calls, patterns, constraints. The
    value is the metric; where a constraint of severity *fail* does not hold it is 0. All metrics are in the
    details, with each constraint as a row of its own. No expected calls are 1.0 where nothing was called,
    else 0.0. Constraints without a path are 1.0 where they hold.
    """

    needs = "an expectation: expected=, or the example's expected_tools"

    @overload
    def __init__(
        self: TrajectoryScorer[Score],
        threshold: float = ...,
        metric: Metric = ...,
        *,
        expected: Any = ...,
        mode: Mode = ...,
        parameters: ArgumentMode = ...,
        comparators: Comparators | None = ...,
        ask: None = ...,
        name: str = ...,
        **options: Unpack[CallOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: TrajectoryScorer[Awaitable[Score]],
        threshold: float = ...,
        metric: Metric = ...,
        *,
        expected: Any = ...,
        mode: Mode = ...,
        parameters: ArgumentMode = ...,
        comparators: Comparators | None = ...,
        ask: Ask,
        name: str = ...,
        **options: Unpack[CallOptions],
    ) -> None: ...

    def __init__(
        self,
        threshold: float = 1.0,
        metric: Metric = "coverage",
        *,
        expected: Any = None,
        mode: Mode = "in_order",
        parameters: ArgumentMode = "exact",
        comparators: Comparators | None = None,
        ask: Ask | None = None,
        name: str = "Trajectory",
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(
            name, threshold, options, mode=mode, parameters=parameters, comparators=comparators, ask=ask
        )
        if metric not in get_args(Metric):
            metrics = get_args(Metric)
            raise ScorerError(
                f"{name}: metric is one of {', '.join(metrics)}, got {metric!r}"
                + did_you_mean(str(metric), metrics)
            )
        self.metric: Metric = metric
        if expected is not None:
            self.expected = parse_expectation(expected)

    def _score(self, comparison: Comparison) -> Score:
        value = self._value(comparison)
        failures = [f"{check.wanted}: {check.found}" for check in comparison.checks if not check.held]
        reason = f"{self.metric} {value:.6g}: {self._arithmetic(comparison)} ({comparison.mode})"
        if not comparison.constraints_hold:
            value, reason = 0.0, f"{reason}; 0 because a constraint does not hold"
        reason = "; ".join([reason, *failures])
        vacuous = comparison.vacuous
        facts, why = comparison.to_dict(), comparison.empty_scope
        score = self.scored(value, reason, facts, vacuous=vacuous, empty_scope=why)
        return explained(score, comparison) if value < 1 or failures or vacuous else score

    def _value(self, comparison: Comparison) -> float:
        if comparison.expectation.path is None:
            return 1.0
        if not comparison.expects_calls:
            return 0.0 if comparison.calls else 1.0
        if self.metric == "holds":
            return comparison.value
        if self.metric == "args":
            return comparison.arguments
        return float(getattr(comparison, self.metric))

    def _arithmetic(self, comparison: Comparison) -> str:
        """Return the arithmetic of the metric in words."""
        if comparison.expectation.path is None or not comparison.expects_calls:
            return comparison.aligned
        num_expected, num_actual = comparison.required, len(comparison.calls)
        if self.metric == "coverage":
            return f"agreement {comparison.coverage * num_expected:.6g} over {num_expected} expected calls"
        if self.metric == "precision":
            return f"agreement {comparison.precision * num_actual:.6g} over {num_actual} calls made"
        if self.metric == "f1":
            return f"2·P·R / (P + R), P {comparison.precision:.6g}, R {comparison.coverage:.6g}"
        if self.metric == "order":
            in_order = comparison.in_order
            num_expected = in_order.required if in_order is not None else num_expected
            return f"{comparison.order * num_expected:.6g} of {num_expected} expected calls in order, by name"
        if self.metric == "args":
            return f"mean agreement of the paired calls; {comparison.aligned}"
        return comparison.aligned
