"""Whether the expected tools were called in order."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Unpack, overload

from agenttrace.core.score import Score, checked_flag
from agenttrace.core.tool_call import ArgumentMode
from agenttrace.matching.answers import Ask
from agenttrace.matching.compared import Comparators
from agenttrace.matching.comparison import Comparison
from agenttrace.scorers.call_scorer import CallOptions
from agenttrace.scorers.comparing_scorer import ComparingScorer, ScoreOrAwaitable
from agenttrace.scorers.explained import explained


class ToolOrderScorer(ComparingScorer[ScoreOrAwaitable]):
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

    credit = "full"
    needs = "the example's expected_tools, and there are none"

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
        super().__init__(
            name,
            threshold,
            options,
            mode="exact" if checked_flag(exact_match, "exact_match", name) else "in_order",
            parameters=parameters,
            comparators=comparators,
            ask=ask,
        )
        self.strict = exact_match

    @property
    def exact_match(self) -> bool:
        """Whether no other call may stand between."""
        return self.strict

    def _score(self, comparison: Comparison) -> Score:
        value = comparison.value if comparison.constraints_hold else 0.0
        reason = _reason(comparison)
        vacuous = comparison.vacuous
        if value == 1 and not vacuous and all(check.held for check in comparison.checks):
            return self.scored(value, reason, comparison.facts())
        score = self.scored(value, reason, vacuous=vacuous, empty_scope=comparison.empty_scope)
        return explained(score, comparison, comparison.facts)


def _reason(comparison: Comparison) -> str:
    summary = f"{comparison.aligned} ({comparison.mode})"
    if comparison.mode == "exact" and comparison.extra:
        extra = len(comparison.extra)
        summary += f", {extra} call{'s' if extra > 1 else ''} beside them"
    failures = [f"{check.wanted}: {check.found}" for check in comparison.checks if not check.held]
    return "; ".join([summary, *failures])
