"""Whether the expected calls were made with the expected arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.comparators import checked_comparators
from agenttrace.matching.compare import compare
from agenttrace.matching.compared import Comparators
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.explain import explain
from agenttrace.matching.rows import rows_data
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class ToolCallArgsScorer(CallScorer):
    """The share of expected calls that were made with agreeing arguments, in any order; other calls are free.

    Each actual call serves one expected call, and the pairing is the best there is. `tool_calls` is a list of
    ``{"name": …, "args": {…}}``, or the example's `expected_tools`. In mode *exact* the arguments are the
    same and no others; in *listed* the listed ones agree, at any depth, and others are free. With `strict`,
    1.0 where all are matched, else 0.0. Details per expected call: the matched call, or the nearest one and
    its differing arguments.
    """

    def __init__(
        self,
        tool_calls: Sequence[Mapping[str, Any]] | None = None,
        strict: bool = False,
        mode: Literal["exact", "listed"] = "exact",
        threshold: float = 1.0,
        *,
        comparators: Comparators | None = None,
        name: str = "Tool Call Args",
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(name, threshold, options)
        if mode not in ("exact", "listed"):
            raise ScorerError(f"{name}: mode is 'exact' or 'listed', got {mode!r}")
        self.tool_calls = tool_calls
        self.strict = checked_flag(strict, "strict", name)
        self.mode: Literal["exact", "listed"] = mode
        self.comparators = checked_comparators(comparators, name)
        if tool_calls is not None:
            self._expected_calls(tool_calls, None)

    def check(self, example: Example) -> None:
        """Raise ScorerError where nothing says which calls are expected."""
        self._expected_calls(self._raw_calls(example), example.source)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Pair the expected calls with the actual ones.

        Raises:
            ScorerError: there are no expected calls, or nothing says what was called.
        """
        self.check(example)
        comparison = compare(
            self._raw_calls(example),
            actual_calls(example, trace),
            mode="contains",
            match=self.mode,
            credit="full",
            selection=self.selection,
            comparators=self.comparators,
        )
        return matched_score(self, comparison)

    def _raw_calls(self, example: Example) -> Any:
        return self.tool_calls if self.tool_calls is not None else example.expected_tools


def matched_score(scorer: CallScorer, comparison: Comparison) -> Score:
    """Score the share of expected calls that the best one-to-one pairing matched; *strict*: 0 unless all.

    No expected calls are 1.0 where nothing was called, else 0.0. Details: per expected call, by its number
    from 1, the matched call, or the nearest one with its differences.
    """
    if not comparison.expects_calls:
        value, reason = (0.0 if comparison.calls else 1.0), comparison.aligned
    else:
        value = comparison.matched / comparison.required
        reason = f"{comparison.matched} of {comparison.required} expected calls matched"
    if scorer.strict and value < 1:
        value, reason = 0.0, f"{reason}; strict: 0 unless all"
    rows = sorted(
        (row for row in comparison.rows if row.expected is not None), key=lambda row: row.number or 0
    )
    details = {"calls": [_row(row) for row in rows], **comparison.facts()}
    diff = None
    if value < 1:
        diff, details = explain(comparison), {**details, **rows_data(comparison.rows)}
    return scorer.scored(value, reason, details, diff)


def _row(row: Any) -> dict[str, Any]:
    data: dict[str, Any] = row.to_dict()
    actual = data["actual"] if data["actual"] is not None else data["nearest"]
    return {
        "number": data["number"],
        "expected": data["expected"],
        "matched": data["kind"] == "matched",
        "call": actual,
        "differences": data["differences"],
    }
