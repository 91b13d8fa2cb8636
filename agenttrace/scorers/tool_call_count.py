"""How often each tool was called."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, Unpack

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_whole
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.reading import in_both_readings, reversed_reading
from agenttrace.matching.known_tools import known_names
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.call_scorer import CallOptions, CallScorer

OPERATORS: Mapping[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class ToolCallCountScorer(CallScorer):
    """The share of tools that were called as often as `counts` says.

    ``counts={"search": (">=", 1), "pay": ("=", 1)}``. With `strict`, 1.0 where all hold, else 0.0. A tool
    that was never called counts 0, also on an empty trace; other tools are free. Counts of tools that the
    option `tools` leaves out are left out too; where none is left, the value is 1.0. A count that holds of a
    tool that no known one is, where tools are known, or where the run has agents and none of the name that
    `agent` says, is reported as *vacuous*. Details per tool: `actual`, `operator`, `expected`, `held`.

    Raises:
        ScorerError: there are no counts, an operator is unknown, or a count is not a whole number from 0.
    """

    def __init__(
        self,
        counts: Mapping[str, tuple[str, int]],
        strict: bool = False,
        threshold: float = 1.0,
        *,
        name: str = "Tool Call Count",
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(name, threshold, options)
        self.counts = _checked_counts(name, counts)
        self.strict = checked_flag(strict, "strict", name)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare how often each tool was called with its count.

        Raises:
            ScorerError: nothing says what was called.
            ExpectationError: a counted tool is not among the recorded ones.
        """
        run = actual_calls(example, trace)
        calls = self._chosen_calls(run)
        actual_counts = Counter(call.name for call in calls)
        details: dict[str, dict[str, Any]] = {}
        for tool, (word, number) in self.counts.items():
            actual = actual_counts[self.selection.name_of(tool)]
            holds = OPERATORS[word](actual, number)
            # Where it cannot be told whether the count is compared, leaving out one that holds is no favour.
            with reversed_reading() if holds else nullcontext():
                if not self._compared_names([Call(name=tool)], run):
                    continue
            details[tool] = {"actual": actual, "operator": word, "expected": number, "held": holds}
        num_holding = sum(row["held"] for row in details.values())
        value = num_holding / len(details) if details else 1.0
        if self.strict and value < 1:
            value = 0.0
        failures = [f"{tool}: {row['actual']}, wanted {row['operator']} {row['expected']}"
                    for tool, row in details.items() if not row["held"]]  # fmt: skip
        reason = f"{num_holding} of {len(details)} counts hold" + (
            f"; {', '.join(failures)}" if failures else ""
        )
        if failures and self.strict:
            reason += "; strict: 0 unless all"
        known = known_names(run.tools, run.tool_calls, run, self.selection)
        empty_scope = self._empty_scope(run, calls)
        vacuous = [
            tool
            for tool, row in details.items()
            if row["held"] and (empty_scope or (known and self.selection.name_of(tool) not in known))
        ]
        return self.scored(value, reason, details, vacuous=vacuous, empty_scope=empty_scope)


def _checked_counts(scorer: str, counts: Any) -> dict[str, tuple[str, int]]:
    if not isinstance(counts, Mapping) or not counts:
        raise ScorerError(f"{scorer}: counts maps tools to (operator, number), got {counts!r}")
    pairs = {}
    for tool, count in counts.items():
        if not isinstance(tool, str) or not tool:
            raise ScorerError(f"{scorer}: counts are by a tool's name, got {tool!r}")
        if any(sign in tool for sign in "*?["):
            raise ScorerError(
                f"{scorer}: counts are by a tool's whole name, got {tool!r}; "
                "expect(at_most={…}, never=…) and ToolPermissionScorer take globs"
            )
        if not isinstance(count, list | tuple) or len(count) != 2:
            raise ScorerError(f"{scorer}: the count of {tool!r} is (operator, number), got {count!r}")
        word, number = count
        if not isinstance(word, str) or word not in OPERATORS:
            raise ScorerError(
                f"{scorer}: unknown operator {word!r} for {tool!r}{did_you_mean(str(word), OPERATORS)}"
            )
        if not is_whole(number):
            raise ScorerError(f"{scorer}: {tool!r} is counted by a whole number from 0, got {number!r}")
        pairs[tool] = (word, number)
    return pairs
