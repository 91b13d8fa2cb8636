"""How far the actions of a run are the expected ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.tool import TOOL
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Attempts
from agenttrace.expectations.values import value_key
from agenttrace.matching.lcs import lcs_pairs
from agenttrace.matching.selection import Selection, check_scored
from agenttrace.scorers.threshold import checked_threshold

Actions = Literal["tools", "nodes"]
"""What of a trace counts as its actions: the tool calls, or all spans below the root that are no tools."""


class ExecutionOrderScorer:
    """Compares two lists of actions: the example's `actual_output` with its `expected_output`.

    - `should_exact_match`: 1.0 where the lists are equal, else 0.0.
    - `should_consider_ordering`: the length of the longest common subsequence by the number of expected
      actions; other actions may stand between.
    - neither: the actions that both lists have (as often as both have them) by the number of expected
      actions.

    Exact goes before ordering. `strict_mode` gives 0.0 for everything below 1.0, with a threshold of 1.0.
    Nothing expected is 1.0 where nothing was done, else 0.0. Actions are compared as JSON values.

    Where `actual_output` is no list, the names of the trace's tool calls stand for it (``actions="nodes"``:
    those of its other spans, without the root); `agent`, `attempts`, `names` and `tools` say which calls.
    """

    def __init__(
        self,
        threshold: float = 1.0,
        should_exact_match: bool = False,
        should_consider_ordering: bool = False,
        strict_mode: bool = False,
        *,
        actions: Actions = "tools",
        agent: str | None = None,
        attempts: Attempts = "count",
        names: Mapping[str, str] | None = None,
        tools: str | Sequence[str] | None = None,
        name: str = "Execution Order",
    ) -> None:
        self.name = name
        checked_threshold(threshold, name)
        self.threshold = 1.0 if strict_mode else threshold
        self.strict = strict_mode
        if actions not in ("tools", "nodes"):
            raise ScorerError(f"{name}: actions is 'tools' or 'nodes', got {actions!r}")
        self.actions: Actions = actions
        self.mode = "exact" if should_exact_match else "ordering" if should_consider_ordering else "set"
        self.selection = Selection.of(agent, attempts, names, tools)

    def check(self, example: Example) -> None:
        """Raise ScorerError where the example has no list of expected actions."""
        self._expected(example)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare.

        Raises:
            ScorerError: `expected_output` or `actual_output` is missing or no list, and no trace stands in.
        """
        check_scored(example, trace)
        expected = self._expected(example)
        actual = self._actual(example, trace)
        value, reason, details = _compare(self.mode, expected, actual)
        if self.strict and value < 1:
            value, reason = 0.0, f"{reason}; strict: 0 unless 1"
        return Score.of(
            self.name,
            value,
            self.threshold,
            reason=reason,
            details={"mode": self.mode, "expected": expected, "actual": actual, **details},
            strict=self.strict,
        )

    def _expected(self, example: Example) -> list[Any]:
        if example.expected_output is None:
            raise ScorerError(f"{self.name} needs the example's expected_output, a list of actions")
        return self._listed(example.expected_output, "expected_output")

    def _actual(self, example: Example, trace: Trace | None) -> list[Any]:
        if isinstance(example.actual_output, list | tuple):
            return list(example.actual_output)
        if trace is not None and (trace.spans or example.tools_called is not None):
            return self._names(trace if trace.spans else Trace.from_calls(example.tools_called or ()))
        if example.tools_called is not None:
            return self._names(Trace.from_calls(example.tools_called))
        if example.actual_output is None:
            raise ScorerError(
                f"{self.name} needs the example's actual_output, a list of actions, or a trace of the run"
            )
        return self._listed(example.actual_output, "actual_output")

    def _listed(self, given: Any, field: str) -> list[Any]:
        if not isinstance(given, list | tuple):
            raise ScorerError(
                f"{self.name}: {field} is a list of actions, got {type(given).__name__} {given!r:.200}"
            )
        return list(given)

    def _names(self, trace: Trace) -> list[str]:
        if self.actions == "nodes":
            return [span.name for span in trace.spans if span is not trace.root and span.span_type != TOOL]
        calls, _ = self.selection.counted(self.selection.calls(trace.tool_calls))
        return [call.name for call in calls]


def _compare(mode: str, expected: list[Any], actual: list[Any]) -> tuple[float, str, dict[str, Any]]:
    """The value, its arithmetic in words, the facts behind it."""
    wanted, got = [value_key(item) for item in expected], [value_key(item) for item in actual]
    pairs = lcs_pairs(wanted, got)
    common = Counter(wanted) & Counter(got)
    missing = [expected[wanted.index(key)] for key in (Counter(wanted) - common).elements()]
    facts = {"lcs": [expected[e] for e, _ in pairs], "missing": missing, "in_both": common.total()}
    shared = common.total()
    if not expected:
        return float(not actual), f"no actions expected, {len(actual)} done", facts
    if mode == "exact":
        equal = wanted == got
        word = "equal to" if equal else "not equal to"
        return float(equal), f"{_text(actual)} is {word} the expected {_text(expected)}", facts
    if mode == "ordering":
        reason = f"LCS {len(pairs)} of {len(expected)} expected: {_text(facts['lcs'])}"
        return len(pairs) / len(expected), reason, facts
    reason = f"{shared} of {len(expected)} expected actions done, in any order"
    if missing:
        reason += f"; missing {_text(missing)}"
    return shared / len(expected), reason, facts


def _text(actions: Any) -> str:
    shown = ", ".join(str(action) for action in actions[:20]) + (", …" if len(actions) > 20 else "")
    return f"[{shown}]"
