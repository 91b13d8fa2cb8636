"""Whether the expected tools were called in order."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Generic, Unpack, cast, overload

from agenttrace.core.errors import ScorerError
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


class ToolOrderScorer(Generic[ScoreOrAwaitable]):
    """1.0 where the expected tools were called in the expected order, else 0.0.

    Other calls may stand between; with `exact_match` none may, and each call stands in its position.
    Parameters are checked for each expected tool that states them, and only those: by default the same
    parameters and no others (`parameters="exact"`), or only the listed ones (``"listed"``), or none
    (``"ignore"``). The alignment is optimal: an earlier call of the same tool with other parameters does not
    take the place of the right one. No expected tools are 1.0 where nothing was called, else 0.0.

    `Example.expected_tools` holds names, ``{"tool_name": …, "parameters": {…}}``, ``call(…)``, or any
    expectation, whose own mode goes before the scorer's and whose constraints must hold too.

    `agent`, `attempts`, `names` and `tools` say which calls are compared (see `Selection`), `comparators`
    how single tools' parameters are, `ask` decides `semantic`.
    """

    @overload
    def __init__(
        self: ToolOrderScorer[Score],
        threshold: float = ...,
        exact_match: bool = ...,
        parameters: ArgumentMode = ...,
        *,
        comparators: Comparators | None = ...,
        ask: None = ...,
        name: str = ...,
        **options: Unpack[CallOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: ToolOrderScorer[Awaitable[Score]],
        threshold: float = ...,
        exact_match: bool = ...,
        parameters: ArgumentMode = ...,
        *,
        comparators: Comparators | None = ...,
        ask: Ask,
        name: str = ...,
        **options: Unpack[CallOptions],
    ) -> None: ...

    def __init__(
        self,
        threshold: float = 1.0,
        exact_match: bool = False,
        parameters: ArgumentMode = "exact",
        *,
        comparators: Comparators | None = None,
        ask: Ask | None = None,
        name: str = "Tool Order",
        **options: Unpack[CallOptions],
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        self.mode: Mode = "exact" if exact_match else "in_order"
        self.parameters: ArgumentMode = parameters
        check_options(self.mode, parameters)
        self.selection = selection_of(self, options)
        self.comparators = comparators
        self.ask = ask

    def check(self, example: Example) -> None:
        """Raise ScorerError or ExpectationError where the example does not say what should be called."""
        self._expectation(example)

    def score(self, example: Example, trace: Trace | None = None) -> ScoreOrAwaitable:
        """Compare the run; returns an awaitable where a judge (`ask`) decides `semantic`.

        Raises:
            ScorerError: the example has no expected_tools, or nothing says what was called.
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
                credit="full",
                selection=self.selection,
                comparators=self.comparators,
                answers=answers,
            )

        return cast(ScoreOrAwaitable, score_or_awaitable(compared, self._score, self.ask))

    def _expectation(self, example: Example) -> Expectation:
        if example.expected_tools is None:
            raise ScorerError(f"{self.name} needs the example's expected_tools, and there are none")
        return parse_expectation(example.expected_tools, example.source)

    def _score(self, comparison: Comparison) -> Score:
        value = comparison.value if comparison.constraints_hold else 0.0
        imperfect = value < 1 or any(not check.held or check.vacuous for check in comparison.checks)
        return Score.of(
            self.name,
            value,
            self.threshold,
            reason=_reason(comparison),
            details=comparison.facts(),
            diff=explain(comparison) if imperfect else None,
            strict=self.mode == "exact",
        )


def _reason(comparison: Comparison) -> str:
    summary = f"{comparison.aligned} ({comparison.mode})"
    if comparison.mode == "exact" and comparison.extra:
        extra = len(comparison.extra)
        summary += f", {extra} call{'s' if extra > 1 else ''} beside them"
    failures = [f"{check.wanted}: {check.found}" for check in comparison.checks if not check.held]
    return "; ".join([summary, *failures])
