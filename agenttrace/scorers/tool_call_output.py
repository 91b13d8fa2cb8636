"""Whether the expected tools gave the expected outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.tool_call import ANY
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation
from agenttrace.expectations.pattern import Call, Seq
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.compare import compare
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.call_scorer import CallOptions, CallScorer
from agenttrace.scorers.tool_call_args import matched_score


class ToolCallOutputScorer(CallScorer):
    """The share of expected outputs that a call of their tool gave, in any order; other calls are free.

    `tool_outputs` is a list of ``{"name": …, "output": …}``, or the example's `expected_tools`, each with an
    ``output`` (arguments that stand beside it are not compared). Outputs are compared as values, structured
    ones included, and may hold matchers; each actual call serves one expected output under the best pairing.
    With `strict`, 1.0 where all are matched, else 0.0.
    """

    def __init__(
        self,
        tool_outputs: Sequence[Mapping[str, Any]] | None = None,
        strict: bool = False,
        threshold: float = 1.0,
        *,
        name: str = "Tool Call Output",
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(name, threshold, options)
        self.tool_outputs = tool_outputs
        self.strict = checked_flag(strict, "strict", name)
        if tool_outputs is not None:
            self._calls(tool_outputs, None)

    def check(self, example: Example) -> None:
        """Raise ScorerError where nothing says which outputs are expected."""
        self._expected(example)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Pair the expected outputs with the actual calls.

        Raises:
            ScorerError: there are no expected outputs, or nothing says what was called.
        """
        comparison = compare(
            Expectation(path=Seq(tuple(self._expected(example)))),
            actual_calls(example, trace),
            mode="contains",
            match="ignore",
            credit="full",
            selection=self.selection,
        )
        return matched_score(self, comparison)

    def _expected(self, example: Example) -> Sequence[Call]:
        raw = self.tool_outputs if self.tool_outputs is not None else example.expected_tools
        return self._calls(raw, example.source)

    def _calls(self, raw: Any, source: str | None) -> Sequence[Call]:
        calls = self._expected_calls(raw, source)
        for call in calls:
            if call.output is ANY:
                raise ScorerError(
                    f"{self.name}: each expected output is {{'name': …, 'output': …}}, got {call!r}"
                )
        return [replace(call, arguments=ANY) for call in calls]
