"""How much of the expected order of tools was kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.fitting_order import in_fitting_order
from agenttrace.matching.lcs import lcs_pairs
from agenttrace.matching.parallel import parallel_facts
from agenttrace.matching.selection import actual_calls, indexes_of
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class ToolCallOrderScorer(CallScorer):
    """The longest common subsequence of expected and actual tool names, by the number of expected ones.

    Names only, case-sensitive; other calls may stand between. With `strict`, 1.0 where the two sequences are
    equal, else 0.0. No calls at all are 0.0; no expected calls are an error. Where `tools` leaves out all of
    them, 1.0 if nothing that it chooses was called, else 0.0. The expected order is `tool_calls_order`, or
    the example's `expected_tools`. Calls that overlap in time without an order count in the one that
    fits best. Formula and ties as in UiPath's tool-call-order evaluator: walk back
    from the end; take a match; where the table above is strictly greater drop the actual call, else the
    expected one.
    """

    def __init__(
        self,
        tool_calls_order: Sequence[str] | None = None,
        strict: bool = False,
        threshold: float = 1.0,
        *,
        name: str = "Tool Call Order",
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(name, threshold, options)
        self.tool_calls_order = tool_calls_order
        self.strict = checked_flag(strict, "strict", name)
        if tool_calls_order is not None:
            self._calls(tool_calls_order, None)

    def check(self, example: Example) -> None:
        """Raise ScorerError where nothing says which order is expected."""
        self._expected(example)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare the two orders.

        Raises:
            ScorerError: there is no expected order, or nothing says what was called.
            ExpectationError: an expected tool is not among the recorded ones.
        """
        run = actual_calls(example, trace)
        asked_for = self._expected(example)
        expected = self._compared_names(asked_for, run)
        calls = in_fitting_order(expected, self._chosen_calls(run, asked_for))
        actual = [call.name for call in calls]
        lcs = [expected[e] for e, _ in lcs_pairs(expected, actual)]
        orders = {"actual_tool_calls_order": actual, "expected_tool_calls_order": expected, "lcs": lcs}
        details = {**orders, **indexes_of(calls), **parallel_facts(calls)}
        if self.strict or not expected:
            equal = actual == expected
            reason = f"the {len(actual)} calls are {'' if equal else 'not '}the {len(expected)} expected ones"
            value = float(equal)
        else:
            value = len(lcs) / len(expected)
            reason = f"LCS {len(lcs)} of {len(expected)} expected: {', '.join(lcs) or 'none'}"
        return self.scored(value, reason, details)

    def _expected(self, example: Example) -> Sequence[Call]:
        raw = self.tool_calls_order if self.tool_calls_order is not None else example.expected_tools
        return self._calls(raw, example.source)

    def _calls(self, raw: object, source: str | None) -> Sequence[Call]:
        calls = self._expected_calls(raw, source)
        if not calls:
            raise ScorerError(f"{self.name}: the expected order is empty, so there is nothing to compare")
        return calls
