"""How often each tool was called."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Unpack

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.expectations.selection import Selection
from agenttrace.scorers.call_options import CallOptions, chosen_calls
from agenttrace.scorers.threshold import checked_threshold

OPERATORS: Mapping[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class ToolCallCountScorer:
    """The share of tools that were called as often as `counts` says.

    ``counts={"search": (">=", 1), "pay": ("=", 1)}``. With `strict`, 1.0 where all hold, else 0.0. A tool
    that was never called counts 0, also on an empty trace; other tools are free. Details per tool: `actual`,
    `operator`, `expected`, `held`.

    Raises:
        ScorerError: no counts, an unknown operator, or a count that is no whole number from 0.
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
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        self.counts = _checked_counts(name, counts)
        self.strict = strict
        self.selection = Selection.of(**options)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Count.

        Raises:
            ScorerError: nothing says what was called.
        """
        called = Counter(call.name for call in chosen_calls(example, trace, self.selection))
        details: dict[str, dict[str, Any]] = {}
        for tool, (word, wanted) in self.counts.items():
            actual = called[self.selection.name_of(tool)]
            holds = OPERATORS[word](actual, wanted)
            details[tool] = {"actual": actual, "operator": word, "expected": wanted, "held": holds}
        held = sum(row["held"] for row in details.values())
        value = held / len(details)
        if self.strict and value < 1:
            value = 0.0
        broken = [f"{tool}: {row['actual']}, wanted {row['operator']} {row['expected']}"
                  for tool, row in details.items() if not row["held"]]  # fmt: skip
        reason = f"{held} of {len(details)} counts hold" + (f"; {', '.join(broken)}" if broken else "")
        return Score.of(self.name, value, self.threshold, reason=reason, details=details, strict=self.strict)


def _checked_counts(scorer: str, counts: Any) -> dict[str, tuple[str, int]]:
    if not isinstance(counts, Mapping) or not counts:
        raise ScorerError(f"{scorer}: counts maps tools to (operator, number), got {counts!r}")
    checked = {}
    for tool, count in counts.items():
        if not isinstance(count, list | tuple) or len(count) != 2:
            raise ScorerError(f"{scorer}: the count of {tool!r} is (operator, number), got {count!r}")
        word, number = count
        if word not in OPERATORS:
            raise ScorerError(
                f"{scorer}: unknown operator {word!r} for {tool!r}{did_you_mean(str(word), OPERATORS)}"
            )
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ScorerError(f"{scorer}: {tool!r} is counted by a whole number from 0, got {number!r}")
        checked[tool] = (word, number)
    return checked
