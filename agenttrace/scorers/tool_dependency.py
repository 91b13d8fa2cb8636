"""Whether each tool was called after what it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ANY, ExpectedToolCall, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.values import agreement, value_key
from agenttrace.matching.selection import agent_matches
from agenttrace.scorers.call_options import CallOptions, chosen_calls, selection_of, shown_aliases
from agenttrace.scorers.threshold import checked_threshold


class ToolDependencyScorer:
    """The share of expected tools with dependencies whose dependencies hold.

    An entry of `expected_tools` may name `action_dependencies` (calls that must come before it) and
    `result_dependencies` (calls before it whose output must turn up among its arguments, as a value or inside
    a text from three characters on; nulls, booleans and empty texts are no results); with ``require_all:
    false`` one of them is enough. Dependencies are names, or mappings with ``tool_name`` and optionally
    ``agent_name`` and ``parameters`` (the listed ones agree, others are free). Every call of the tool must
    have them. An entry whose tool was not called does not hold. Without any entry that has dependencies the
    scorer raises.
    """

    def __init__(
        self, threshold: float = 1.0, *, name: str = "Tool Dependency", **options: Unpack[CallOptions]
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        self.selection = selection_of(self, options)

    def check(self, example: Example) -> None:
        """Raise ScorerError where no expected tool states a dependency."""
        self._expected(example)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Check each.

        Raises:
            ScorerError: no dependencies, or nothing says what was called.
        """
        expected = self._expected(example)
        calls = chosen_calls(example, trace, self.selection)
        rows = [self._row(entry, calls) for entry in expected]
        held = sum(row["held"] for row in rows)
        reason = f"{held} of {len(rows)} tools have what they depend on"
        broken = [f"{row['tool']}: {row['found']}" for row in rows if not row["held"]]
        return Score.of(
            self.name,
            held / len(rows),
            self.threshold,
            reason="; ".join([reason, *broken]),
            details={"tools": rows},
            metadata=shown_aliases(self.selection),
        )

    def _expected(self, example: Example) -> list[ExpectedToolCall]:
        given: Any = example.expected_tools
        entries = [ExpectedToolCall.of(item) for item in given] if isinstance(given, list | tuple) else []
        found = [entry for entry in entries if entry.action_dependencies or entry.result_dependencies]
        if not found:
            raise ScorerError(
                f"{self.name} needs expected_tools with action_dependencies or result_dependencies"
            )
        return found

    def _row(self, entry: ExpectedToolCall, calls: Sequence[ToolCall]) -> dict[str, Any]:
        positions = [at for at, call in enumerate(calls) if self._is(entry, call)]
        if not positions:
            return {"tool": entry.name, "held": False, "found": "not called"}
        lacking = [word for at in positions for word in self._lacking(entry, calls, at)]
        return {"tool": entry.name, "held": not lacking, "found": "; ".join(lacking)}

    def _lacking(self, entry: ExpectedToolCall, calls: Sequence[ToolCall], at: int) -> list[str]:
        actions = [ExpectedToolCall.of(item) for item in entry.action_dependencies]
        results = [ExpectedToolCall.of(item) for item in entry.result_dependencies]
        lacking = [
            f"call {calls[at].index + 1} is not after {wanted.name}"
            for wanted in actions
            if not any(self._is(wanted, call) for call in calls[:at])
        ]
        lacking += [
            f"call {calls[at].index + 1} uses no result of {wanted.name}"
            for wanted in results
            if not any(self._is(wanted, call) and _uses(calls[at], call) for call in calls[:at])
        ]
        if not entry.require_all and len(lacking) < len(actions) + len(results):
            return []
        return lacking

    def _is(self, wanted: ExpectedToolCall, call: ToolCall) -> bool:
        if self.selection.name_of(wanted.name) != call.name:
            return False
        if wanted.agent is not None and not agent_matches(wanted.agent, call.agent):
            return False
        return wanted.arguments is ANY or agreement(wanted.arguments, call.arguments, mode="listed") == 1.0


def _uses(call: ToolCall, source: ToolCall) -> bool:
    """Whether a value of the source's output is among the call's arguments, or inside a text of theirs."""
    arguments = list(_leaves(call.arguments))
    keys = {value_key(value) for value in arguments}
    texts = [value for value in arguments if isinstance(value, str)]
    for value in _leaves(source.output):
        if value is None or isinstance(value, bool) or value == "":
            continue
        if value_key(value) in keys or any(str(value) in text for text in texts if len(str(value)) > 2):
            return True
    return False


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
