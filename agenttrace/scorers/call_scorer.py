"""`CallScorer`: the base of scorers of tool calls, with the options that all of them have."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.score import Score, checked_gate, checked_threshold
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Attempts
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import Call
from agenttrace.matching.empty_scope import empty_scope
from agenttrace.matching.known_tools import UNKNOWN_TOOL, check_choice, check_tags, check_tools
from agenttrace.matching.selection import Selection


class CallOptions(TypedDict, total=False):
    """The calls that are compared (see `Selection`), and whether the score decides.

    `agent`: those of one agent; `attempts`: what failed calls count for; `names`: aliases, each with the name
    that it stands for; `tools`: only these, by name, by glob, or as ``tag:write``. With `gate=False` the
    score informs: it is shown and stored, and fails nothing.
    """

    agent: str | None
    attempts: Attempts
    names: Mapping[str, str] | None
    tools: str | Sequence[str] | None
    gate: bool


class CallScorer:
    """Holds a scorer's name, its threshold and the calls that it compares; writes the score.

    Raises:
        ScorerError: an option that cannot be used.
        TypeError: an unknown option; the text suggests one that the scorer has.
    """

    strict = False
    """Noted in the score: all or nothing."""

    def __init__(self, name: str, threshold: float, options: CallOptions) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        for option in options:
            if option not in CallOptions.__annotations__:
                names = [*inspect.signature(type(self)).parameters, *CallOptions.__annotations__]
                names.remove("options")
                hint = did_you_mean(option, names)
                raise TypeError(f"{type(self).__name__}() has no option {option!r}{hint}")
        self.gate = checked_gate(options.get("gate", True), name)
        if options.get("tools") in ([], (), set()):
            raise ScorerError(f"{name}: tools is empty, so nothing would be compared; leave it out for all")
        self.selection = Selection.of(
            agent=options.get("agent"),
            attempts=options.get("attempts", "count"),
            names=options.get("names"),
            tools=options.get("tools"),
        )

    def _chosen_calls(self, run: Trace, expected: Sequence[Call] = ()) -> Sequence[ToolCall]:
        """The calls that count, under their normal names; `expected` calls may say the kind of their tools.

        Raises:
            ScorerError: they are chosen by tag, and nothing in the run says any.
        """
        check_tags(self.selection, run.tool_calls, run.tools)
        selection = self.selection.knowing(expected)
        check_choice(selection, run.tools, run.tool_calls, run)
        calls, _ = selection.counted(selection.calls(run.tool_calls))
        return calls

    def _empty_scope(self, run: Trace, calls: Sequence[ToolCall]) -> str:
        """Why none of the run's calls could be chosen: it has no such agent; empty where one was."""
        return "" if calls else empty_scope(self.selection, run.tool_calls, run)

    def _compared_names(self, expected: Sequence[Call], run: Trace) -> list[str]:
        """The names of the expected calls, aliases resolved, without tools that are not compared.

        Raises:
            ExpectationError: a tool is not among the recorded ones, where those are known.
        """
        selection, calls, tools = self.selection.knowing(expected), run.tool_calls, run.tools
        check_tools(expected, tools, selection, calls, run)
        check_choice(selection, tools, calls, run)
        return [
            selection.name_of(call.name) for call in expected if selection.expects(call.name, calls, tools)
        ]

    def _expected_calls(self, raw: object, source: str | None) -> Sequence[Call]:
        """The expected calls of a plain list; patterns and constraints need `TrajectoryScorer`.

        Raises:
            ScorerError: there is nothing to read, or more than a list of calls.
            ExpectationError: the list cannot be understood.
        """
        if raw is None:
            raise ScorerError(f"{self.name} needs to be told which calls are expected, and is not")
        expectation = parse_expectation(raw, source)
        items = expectation.path.parts if expectation.path is not None else ()
        if not expectation.is_path_only or not all(isinstance(item, Call) for item in items):
            raise ScorerError(
                f"{self.name} takes a plain list of calls; TrajectoryScorer takes patterns and constraints"
            )
        return expectation.calls

    def scored(
        self,
        value: float,
        reason: str,
        details: Mapping[str, Any] | None = None,
        diff: str | None = None,
        *,
        vacuous: Sequence[str] = (),
        empty_scope: str = "",
    ) -> Score:
        """The score of a value; its metadata has the names that were read as aliases of others.

        `vacuous` are guards that could not fail: reason and details tell of them, whatever the value is. They
        are of tools that nobody knows, or `empty_scope` says why they look at no call.
        """
        if vacuous:
            guards = ", ".join(vacuous)
            details = {**(details or {}), "vacuous": list(vacuous)}
            if empty_scope:
                reason += f"; vacuous, as they look at no call: {guards} ({empty_scope})"
                details["vacuous_because"] = empty_scope
            else:
                reason += f"; vacuous, {UNKNOWN_TOOL}: {guards}"
        return Score.of(
            self.name,
            value,
            self.threshold,
            reason=reason,
            details=details,
            diff=diff,
            strict=self.strict,
            metadata={"names": dict(self.selection.names)} if self.selection.names else None,
        )
