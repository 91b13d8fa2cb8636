"""What the run left behind: how a state differs at its end from its start."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from types import CoroutineType, GeneratorType
from typing import Any, TypeAlias

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.score import Score, checked_flag, checked_gate, checked_threshold
from agenttrace.core.state import StateReading
from agenttrace.core.tagged import opened_throughout
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ExpectedToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expected_state import (
    EXPECTED_TOOLS,
    ExpectedState,
    concrete_calls,
    parse_expected_state,
)
from agenttrace.expectations.reading import comparing_state, in_both_readings
from agenttrace.expectations.state_changes import NOWHERE
from agenttrace.matching.outcome import StateComparison
from agenttrace.matching.outcome_text import outcome_diff, outcome_rows

Replay: TypeAlias = Mapping[str, Callable[..., Any]]
"""The tools by name, as functions of a state and the call's arguments that change the state."""


class StateScorer:
    """The share of what `expected_state` says that is so at the end of the run, by what changed in it.

    ``changed``, ``added`` and ``removed`` count what differs from the start, ``end`` what is so at the end,
    changed or not. With ``only: true`` (here, or in the example) every other change counts against it, and
    values agree only where they are the same in all fields; without, fields that are not named are free. So
    the value is matched / (expected + forbidden), and 1 where nothing was expected and nothing happened.

    ``state_from`` compares the whole state with what its calls make of the start: `replay` has the tools by
    name, as plain functions that take a copy of the state and the call's arguments, and change that copy
    (what one returns is not looked at). A tool that only reads has one, too.
    """

    def __init__(
        self,
        threshold: float = 1.0,
        only: bool = False,
        replay: Replay | None = None,
        *,
        name: str = "State",
        gate: bool = True,
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        self.gate = checked_gate(gate, name)
        self.only = checked_flag(only, "only", name)
        if replay is not None and not isinstance(replay, Mapping):
            raise ScorerError(
                f"{name}: replay has functions by their tools' names, got {shorten(repr(replay), 100)}"
            )
        self.replay = replay or {}

    def check(self, example: Example) -> None:
        """Raise ScorerError or ExpectationError where nothing readable says what is expected."""
        for expected in self._expected(example):
            for call in self._calls(expected, example) or ():
                self._tool(call)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare each state that the example speaks of.

        Raises:
            ScorerError: a state was not read, or could not be; a call of `state_from` cannot be replayed.
            ExpectationError: `expected_state` cannot be understood.
        """
        states = [self._compared(expected, example, trace) for expected in self._expected(example)]
        matched, expected = sum(s.matched for s in states), sum(s.expected for s in states)
        forbidden = sum(s.forbidden for s in states)
        total = expected + forbidden
        reason = f"{matched} of {expected} expected changes made"
        if forbidden or any(state.only for state in states):
            reason += f", {forbidden} forbidden change{'s' * (forbidden != 1)}"
        details = {
            "matched": matched,
            "expected": expected,
            "forbidden": forbidden,
            "changes": _counts(states),
            **outcome_rows(states),
        }
        value = matched / total if total else 1.0
        diff = outcome_diff(states) or None
        return Score.of(self.name, value, self.threshold, reason=reason, details=details, diff=diff)

    def _expected(self, example: Example) -> tuple[ExpectedState, ...]:
        if example.expected_state is None:
            raise ScorerError(f"{self.name} needs the example's expected_state")
        return parse_expected_state(example.expected_state, example.source)

    def _compared(self, expected: ExpectedState, example: Example, trace: Trace | None) -> StateComparison:
        reading = _reading_of(expected.name, trace)
        comparing_state(expected.name)
        only = self.only if expected.only is None else expected.only
        calls = self._calls(expected, example)
        target = NOWHERE if calls is None else self._target(reading, calls)
        return StateComparison(expected, reading, only=only, target=target)

    def _calls(self, expected: ExpectedState, example: Example) -> tuple[ExpectedToolCall, ...] | None:
        if not isinstance(expected.calls, str):
            return expected.calls
        raw = example.expected_tools
        if not isinstance(raw, list | tuple):
            raise ScorerError(
                f"{self.name}: state_from takes the calls of expected_tools, which has to be a list of calls"
            )
        return concrete_calls(raw, EXPECTED_TOOLS)

    def _tool(self, call: ExpectedToolCall) -> Callable[..., Any]:
        function = self.replay.get(call.name)
        if function is None:
            hint = did_you_mean(call.name, self.replay) if self.replay else ""
            raise ScorerError(
                f"{self.name}: state_from calls {call.name}, and replay has no function of that name{hint}; "
                f"write StateScorer(replay={{{call.name!r}: lambda state, **arguments: …}})"
            )
        if not callable(function) or any(is_kind(function) for is_kind in _CHANGE_NOTHING):
            raise ScorerError(
                f"{self.name}: replay has plain functions, that of {call.name} is "
                f"{shorten(repr(function), 100)}; one "
                "that is async or a generator would change nothing"
            )
        return function

    def _target(self, reading: StateReading, calls: tuple[ExpectedToolCall, ...]) -> Any:
        """The recorded state that the calls make of the start."""
        state = deepcopy(opened_throughout(reading.start))
        for call in calls:
            function = self._tool(call)
            arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
            arguments = opened_throughout(jsonable(dict(arguments)))
            try:
                result = function(state, **arguments)
            except Exception as error:  # choke-point: a function of the user's; said as what it is
                raise ScorerError(
                    f"{self.name}: the expected call {shorten(repr(call), 200)} could not be replayed: "
                    f"{type(error).__name__}: {error}"
                ) from error
            if isinstance(result, CoroutineType | GeneratorType):
                result.close()
                raise ScorerError(
                    f"{self.name}: the function of {call.name} in replay returned a {type(result).__name__}, "
                    "so it has not run; replay has plain functions"
                )
        return jsonable(state)


_CHANGE_NOTHING = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
"""To call one of these runs none of its code."""


def _counts(states: Sequence[StateComparison]) -> dict[str, int]:
    kinds = [change.kind for state in states for change in state.changes]
    return {kind: kinds.count(kind) for kind in ("added", "removed", "changed")}


def _reading_of(name: str, trace: Trace | None) -> StateReading:
    """The reading of a state that can be compared; ScorerError where there is none."""
    states = {} if trace is None else trace.states
    reading = states.get(name)
    if reading is None:
        known = did_you_mean(name, states) if states else ""
        raise ScorerError(
            f"the state {name!r} was not read in this run{known}; say tracer.state({name!r}, function) "
            "before the capture, or at the beginning of the agent"
        )
    if reading.problem:
        raise ScorerError(f"the state {name!r} cannot be compared: {reading.problem}")
    if reading.shared:
        raise ScorerError(
            f"the state {name!r} was read by several runs at once, so what changed in it may be another's; "
            "give each run a state of its own (tracer.state in the agent), or run with concurrency=1"
        )
    return reading
