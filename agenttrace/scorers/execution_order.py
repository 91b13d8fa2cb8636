"""How far a list of actions (tools or graph nodes) is the expected one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import cause_within
from agenttrace.core.score import Score, checked_flag
from agenttrace.core.state import STATE
from agenttrace.core.text import shorten
from agenttrace.core.tool import TOOL
from agenttrace.core.trace import TURN, Trace
from agenttrace.core.value_key import value_key
from agenttrace.expectations.expectation import Attempts
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.fitting_order import in_fitting_order
from agenttrace.matching.lcs import lcs_pairs
from agenttrace.matching.parallel import parallel_facts
from agenttrace.matching.selection import check_scored, indexes_of
from agenttrace.scorers.answer_scorer import shown
from agenttrace.scorers.call_scorer import CallOptions, CallScorer

Actions = Literal["tools", "nodes"]
"""What counts as an action of a trace: its tool calls, or all spans below the root but tools and turns."""


class ExecutionOrderScorer(CallScorer):
    """Compares two lists of actions: the example's `actual_output` with its `expected_output`.

    - `should_exact_match`: 1.0 where the lists are equal, else 0.0.
    - `should_consider_ordering`: the length of the longest common subsequence by the number of expected
      actions; other actions may stand between.
    - neither: the actions that both lists have (as often as both have them) by the number of expected
      actions.

    Where both are set, `should_exact_match` counts. `strict_mode` gives 0.0 for everything below 1.0, with a
    threshold of 1.0. An empty expected list is 1.0 where nothing was done, else 0.0. Actions are compared as
    JSON values.

    Where `actual_output` is not a list, the names of the trace's tool calls are compared
    (``actions="nodes"``: those of its other spans, without the root); `agent`, `attempts`, `names` and
    `tools` say which calls. Calls that overlap in time without an order stand in the one that fits best.
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
        gate: bool = True,
        name: str = "Execution Order",
    ) -> None:
        options: CallOptions = {
            "agent": agent,
            "attempts": attempts,
            "names": names,
            "tools": tools,
            "gate": gate,
        }
        super().__init__(name, threshold, options)
        self.threshold = 1.0 if strict_mode else threshold
        self.strict = checked_flag(strict_mode, "strict_mode", name)
        if actions not in ("tools", "nodes"):
            raise ScorerError(f"{name}: actions is 'tools' or 'nodes', got {actions!r}")
        self.actions: Actions = actions
        for option, value in (
            ("should_exact_match", should_exact_match),
            ("should_consider_ordering", should_consider_ordering),
        ):
            checked_flag(value, option, name)
        self.mode = "exact" if should_exact_match else "ordering" if should_consider_ordering else "set"

    @property
    def should_exact_match(self) -> bool:
        """Whether the two lists must be equal."""
        return self.mode == "exact"

    @property
    def should_consider_ordering(self) -> bool:
        """Whether the actions must stand in order, others between them or not."""
        return self.mode == "ordering"

    @property
    def strict_mode(self) -> bool:
        """Whether the score is 0 unless it is 1."""
        return self.strict

    def check(self, example: Example) -> None:
        """Raise ScorerError where the example has no list of expected actions."""
        self._expected(example)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare the two lists of actions.

        Raises:
            ScorerError: `expected_output` or `actual_output` is missing or not a list, and there is no trace
                to take the actions from.
        """
        check_scored(example, trace)
        expected = self._expected(example)
        actual, facts = self._actual(example, trace, expected)
        for actions, were in ((actual, "actions"), (expected, "expected actions")):
            cause = cause_within(jsonable(actions))
            if cause is not None:
                raise ScorerError(f"{self.name}: one of the {were} was {cause} when it was recorded")
        value, reason, details = _compare(self.mode, expected, actual)
        if self.strict and value < 1:
            value, reason = 0.0, f"{reason}; strict: 0 unless 1"
        details = {"mode": self.mode, "expected": expected, "actual": actual, **details, **facts}
        return self.scored(value, reason, details)

    def _expected(self, example: Example) -> list[Any]:
        if example.expected_output is None:
            raise ScorerError(f"{self.name} needs the example's expected_output, a list of actions")
        return self._as_list(example.expected_output, "expected_output")

    def _actual(
        self, example: Example, trace: Trace | None, expected: list[Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The actions; where they are calls of a trace, their indexes there, and which of them overlap."""
        if isinstance(example.actual_output, list | tuple):
            return list(example.actual_output), {}
        if trace is not None and trace.spans:
            return self._names(trace, expected)
        if example.tools_called is not None:
            return self._names(Trace.from_calls(example.tools_called), expected)
        if example.actual_output is None:
            raise ScorerError(
                f"{self.name} needs the example's actual_output, a list of actions, or a trace of the run"
            )
        return self._as_list(example.actual_output, "actual_output"), {}

    def _as_list(self, value: Any, field: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ScorerError(
                f"{self.name}: {field} is a list of actions, got {type(value).__name__} "
                f"{shorten(repr(value), 200)}"
            )
        return list(value)

    def _names(self, trace: Trace, expected: list[Any]) -> tuple[list[str], dict[str, Any]]:
        if self.actions == "nodes":
            other = (TOOL, TURN, STATE)
            nodes = [s.name for s in trace.spans if s is not trace.root and s.span_type not in other]
            return nodes, {}
        calls = self._chosen_calls(trace)
        if self.mode == "set":
            return [call.name for call in calls], indexes_of(calls)
        calls = in_fitting_order([item for item in expected if isinstance(item, str) and item], calls)
        return [call.name for call in calls], {**indexes_of(calls), **parallel_facts(calls)}


def _compare(mode: str, expected: list[Any], actual: list[Any]) -> tuple[float, str, dict[str, Any]]:
    """Return the value, its arithmetic in words, and the details."""
    expected_keys, actual_keys = [value_key(item) for item in expected], [value_key(item) for item in actual]
    pairs = lcs_pairs(expected_keys, actual_keys)
    common = Counter(expected_keys) & Counter(actual_keys)
    missing = [expected[expected_keys.index(key)] for key in (Counter(expected_keys) - common).elements()]
    in_both = common.total()
    facts = {"lcs": [expected[e] for e, _ in pairs], "missing": missing, "in_both": in_both}
    if not expected:
        return float(not actual), f"no actions expected, {len(actual)} done", facts
    if mode == "exact":
        equal = expected_keys == actual_keys
        word = "equal to" if equal else "not equal to"
        return float(equal), f"{_text(actual)} is {word} the expected {_text(expected)}", facts
    if mode == "ordering":
        reason = f"LCS {len(pairs)} of {len(expected)} expected: {_text(facts['lcs'])}"
        return len(pairs) / len(expected), reason, facts
    reason = f"{in_both} of {len(expected)} expected actions done, in any order"
    if missing:
        reason += f"; missing {_text(missing)}"
    return in_both / len(expected), reason, facts


def _text(actions: Any) -> str:
    texts = [action if isinstance(action, str) else shown(action, 200) for action in actions[:20]]
    names = ", ".join(texts) + (", …" if len(actions) > 20 else "")
    return f"[{names}]"
