"""How well the run follows an expectation of any kind."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Generic, Literal, Unpack, cast, get_args, overload

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.score import Score, checked_threshold
from agenttrace.core.tool_call import ArgumentMode
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Mode, check_options
from agenttrace.expectations.parse import parse_expectation
from agenttrace.matching.agreement import Comparators
from agenttrace.matching.answers import Answers, Ask
from agenttrace.matching.compare import compare
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.explain import explain
from agenttrace.matching.selection import actual_calls, check_scored
from agenttrace.scorers.awaitable_score import ScoreOrAwaitable, score_or_awaitable
from agenttrace.scorers.call_options import CallOptions, selection_of

Metric = Literal["holds", "coverage", "precision", "f1", "order", "args"]
"""*holds*: 1 or 0 as the path holds in its mode; *coverage*: agreement by needed calls (recall); *precision*:
by actual calls; *f1*: of both; *order*: needed calls made in order, by name; *args*: mean agreement of the
calls that were paired."""


class TrajectoryScorer(Generic[ScoreOrAwaitable]):
    """How well the run follows an expectation of any kind, by the metric of your choice.

    The expectation is `expected`, or the example's `expected_tools`: names, calls, patterns, constraints. The
    value is the metric; where a constraint of severity *fail* does not hold it is 0. All metrics are in the
    details, with each constraint as a row of its own. No expected calls are 1.0 where nothing was called,
    else 0.0. Constraints without a path are 1.0 where they hold.
    """

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
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        if metric not in get_args(Metric):
            metrics = get_args(Metric)
            raise ScorerError(
                f"{name}: metric is one of {', '.join(metrics)}, got {metric!r}"
                + did_you_mean(str(metric), metrics)
            )
        check_options(mode, parameters)
        self.metric: Metric = metric
        self.expected = None if expected is None else parse_expectation(expected)
        self.mode: Mode = mode
        self.parameters: ArgumentMode = parameters
        self.comparators = comparators
        self.ask = ask
        self.selection = selection_of(self, options)

    def check(self, example: Example) -> None:
        """Raise ScorerError or ExpectationError where nothing readable says what is expected."""
        self._expectation(example)

    def score(self, example: Example, trace: Trace | None = None) -> ScoreOrAwaitable:
        """Compare the run; returns an awaitable where a judge (`ask`) decides `semantic`.

        Raises:
            ScorerError: no expectation, or nothing says what was called.
            ExpectationError: the expectation cannot be understood, or names an unknown tool or parameter.
        """
        check_scored(example, trace)
        expectation = self._expectation(example)
        actual = actual_calls(example, trace)

        def compared(answers: Answers | None) -> Comparison:
            return compare(
                expectation,
                actual,
                mode=self.mode,
                match=self.parameters,
                selection=self.selection,
                comparators=self.comparators,
                answers=answers,
            )

        return cast(ScoreOrAwaitable, score_or_awaitable(compared, self._score, self.ask))

    def _expectation(self, example: Example) -> Expectation:
        if self.expected is not None:
            return self.expected
        if example.expected_tools is None:
            raise ScorerError(f"{self.name} needs an expectation: expected=, or the example's expected_tools")
        return parse_expectation(example.expected_tools, example.source)

    def _score(self, comparison: Comparison) -> Score:
        value = self._value(comparison)
        failures = [f"{check.wanted}: {check.found}" for check in comparison.checks if not check.held]
        reason = f"{self.metric} {value:.6g}: {self._arithmetic(comparison)} ({comparison.mode})"
        if not comparison.constraints_hold:
            value, reason = 0.0, f"{reason}; 0 because a constraint does not hold"
        reason = "; ".join([reason, *failures])
        return Score.of(
            self.name,
            value,
            self.threshold,
            reason=reason,
            details=comparison.to_dict(),
            diff=explain(comparison) if value < 1 or failures else None,
        )

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
            return f"{comparison.order * num_expected:.6g} of {num_expected} expected calls in order, by name"
        if self.metric == "args":
            return f"mean agreement of the paired calls; {comparison.aligned}"
        return comparison.aligned
