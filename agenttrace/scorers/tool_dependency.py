"""Whether each tool was called after what it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.json_reader import json_or_literal
from agenttrace.core.marks import Redacted, cause_of, cause_within, known_part
from agenttrace.core.score import Score
from agenttrace.core.tool_call import ANY, ExpectedToolCall, ToolCall, are_unordered
from agenttrace.core.trace import Trace
from agenttrace.core.value_key import value_key
from agenttrace.expectations.reading import cannot_tell, comparing, in_both_readings, reversed_reading
from agenttrace.expectations.values import agreement
from agenttrace.matching.parallel import parallel_facts
from agenttrace.matching.selection import actual_calls, agent_matches
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class ToolDependencyScorer(CallScorer):
    """The share of expected tools with dependencies whose dependencies hold.

    An entry of `expected_tools` may name `action_dependencies` (calls that must come before it) and
    `result_dependencies` (calls before it whose output must turn up among its arguments, as a value or inside
    a text from three characters on; nulls, booleans and empty texts are no results); with ``require_all:
    false`` one of them is enough. Dependencies are names, or mappings with ``tool_name`` and optionally
    ``agent_name`` and ``parameters`` (the listed ones agree, others are free). Every call of the tool must
    have them. An entry whose tool was not called does not hold. Without any entry that has dependencies the
    scorer raises. Of calls that overlap in time without an order, each counts as before the other.
    """

    def __init__(
        self, threshold: float = 1.0, *, name: str = "Tool Dependency", **options: Unpack[CallOptions]
    ) -> None:
        super().__init__(name, threshold, options)

    def check(self, example: Example) -> None:
        """Raise ScorerError where no expected tool states a dependency."""
        self._dependents(example)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Check the dependencies of each expected tool.

        Raises:
            ScorerError: there are no dependencies, or nothing says what was called.
        """
        entries = self._dependents(example)
        calls = self._chosen_calls(actual_calls(example, trace))
        rows = [self._row(entry, calls) for entry in entries]
        num_holding = sum(row["held"] for row in rows)
        reason = f"{num_holding} of {len(rows)} tools have what they depend on"
        failures = [f"{row['tool']}: {row['found']}" for row in rows if not row["held"]]
        details = {"tools": rows, **parallel_facts(calls)}
        return self.scored(num_holding / len(rows), "; ".join([reason, *failures]), details)

    def _dependents(self, example: Example) -> list[ExpectedToolCall]:
        raw: Any = example.expected_tools
        entries = [ExpectedToolCall.of(item) for item in raw] if isinstance(raw, list | tuple) else []
        dependents = [entry for entry in entries if entry.action_dependencies or entry.result_dependencies]
        if not dependents:
            raise ScorerError(
                f"{self.name} needs expected_tools with action_dependencies or result_dependencies"
            )
        return dependents

    def _row(self, entry: ExpectedToolCall, calls: Sequence[ToolCall]) -> dict[str, Any]:
        fitting = [at for at, call in enumerate(calls) if self._matches(entry, call)]
        # A call that may be of this tool, or may not, must have its dependencies in the reading against it.
        with reversed_reading():
            dependent = [at for at, call in enumerate(calls) if self._matches(entry, call)]
        lacking = {at: self._lacking(entry, calls, at) for at in sorted({*fitting, *dependent})}
        words = [word for at in dependent for word in lacking[at]]
        held = not words and any(not lacking[at] for at in fitting)
        return {
            "tool": entry.name,
            "held": held,
            "found": "; ".join(words) if words or held else "not called",
            "broken_by": [calls[at].index for at in dependent if lacking[at]],
        }

    def _lacking(self, entry: ExpectedToolCall, calls: Sequence[ToolCall], at: int) -> list[str]:
        earlier = [
            call
            for position, call in enumerate(calls)
            if position < at or (position > at and are_unordered(call, calls[at]))
        ]
        actions = [ExpectedToolCall.of(item) for item in entry.action_dependencies]
        results = [ExpectedToolCall.of(item) for item in entry.result_dependencies]
        lacking = [
            f"call {calls[at].index + 1} is not after {dependency.name}"
            for dependency in actions
            if not any(self._matches(dependency, call) for call in earlier)
        ]
        lacking += [
            f"call {calls[at].index + 1} uses no result of {dependency.name}"
            for dependency in results
            if not any(self._matches(dependency, call) and _uses(calls[at], call) for call in earlier)
        ]
        if not entry.require_all and len(lacking) < len(actions) + len(results):
            return []
        return lacking

    def _matches(self, entry: ExpectedToolCall, call: ToolCall) -> bool:
        if self.selection.name_of(entry.name) != call.name:
            return False
        if entry.agent is not None and not agent_matches(entry.agent, call.agent):
            return False
        comparing(call)
        return entry.arguments is ANY or agreement(entry.arguments, call.arguments, mode="listed") == 1.0


def _uses(call: ToolCall, source: ToolCall) -> bool:
    """Return True if a value of the source's output is an argument of the call, or inside one.

    Results that are JSON text are read. Where none of the values that are known is, and some were not
    recorded whole, it cannot be told.
    """
    output = source.known_output
    spelled = json_or_literal(output) if isinstance(output, str) else None
    arguments, results = list(_leaves(call.arguments)), [*_leaves(output), *_leaves(spelled)]
    results = [value for value in results if not (value is None or isinstance(value, bool) or value == "")]
    keys = {value_key(value) for value in arguments}
    if any(value_key(value) in keys for value in results):
        return True
    texts = {value for value in arguments if isinstance(value, str)}
    if _inside(texts, {_spelled(value) for value in results}):
        return True
    if not _secrets(call.arguments).isdisjoint(_secrets(output)):
        return True
    hidden_argument, hidden_result = cause_within(call.arguments), cause_within(output)
    if hidden_argument is not None and (results or hidden_result is not None):
        comparing(call)
        return cannot_tell(hidden_argument, "an argument") == 1.0
    if hidden_result is not None and arguments:
        comparing(source)
        return cannot_tell(hidden_result, "output") == 1.0
    return False


def _spelled(value: Any) -> str:
    """A result as a text may hold it; one digit, for a number of more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        return "0"


_BETWEEN = "\0"


def _inside(texts: set[str], values: set[str]) -> bool:
    """Whether one of the values, of more than two characters, stands in one of the texts.

    Many results times many arguments are searched for as many times as there are values: in one long text.
    """
    longest = max(map(len, texts), default=0)
    whole = _BETWEEN.join(texts)
    return any(
        any(value in text for text in texts) if _BETWEEN in value else value in whole
        for value in values
        if 2 < len(value) <= longest
    )


def _secrets(value: Any) -> set[bytes]:
    """The digests of the secrets in a value, which the process that recorded it knows."""
    if type(value) is Redacted:
        return set() if value.digest is None else {value.digest}
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return set().union(*map(_secrets, parts))


def _leaves(value: Any) -> Iterator[Any]:
    """The scalars in a value, without those that were not recorded whole."""
    if cause_of(value) is not None:
        known = known_part(value)
        if known is None or not isinstance(known.part, list | dict):
            return
        value = known.part
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
