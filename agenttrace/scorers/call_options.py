"""The options of every scorer of tool calls: `agent`, `attempts`, `names`, `tools`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Attempts, Expectation
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import Call
from agenttrace.matching.known_tools import check_tools
from agenttrace.matching.selection import Selection, actual_calls


class CallOptions(TypedDict, total=False):
    """The calls that are compared (see `Selection`).

    `agent`: those of one agent; `attempts`: what failed calls count for; `names`: aliases, each with the name
    that it stands for; `tools`: only these, by name, by glob, or as ``tag:write``.
    """

    agent: str | None
    attempts: Attempts
    names: Mapping[str, str] | None
    tools: str | Sequence[str] | None


def selection_of(scorer: object, options: CallOptions) -> Selection:
    """Return the selection that a scorer's options ask for.

    Raises:
        TypeError: the scorer does not have such an option; the text suggests one that it has.
    """
    for option in options:
        if option not in CallOptions.__annotations__:
            names = [*inspect.signature(type(scorer)).parameters, *CallOptions.__annotations__]
            names.remove("options")
            hint = did_you_mean(option, names)
            raise TypeError(f"{type(scorer).__name__}() has no option {option!r}{hint}")
    return Selection.of(**options)


def chosen_calls(example: Example, trace: Trace | None, selection: Selection) -> Sequence[ToolCall]:
    """Return the calls that count: those of the trace, or of the example's own `tools_called`.

    Raises:
        ScorerError: there is neither a trace nor `tools_called`.
    """
    calls, _ = selection.counted(selection.calls(actual_calls(example, trace).tool_calls))
    return calls


def compared_names(expected: Sequence[Call], actual: Trace, selection: Selection) -> list[str]:
    """Return the names of the expected calls, aliases resolved, without tools that are not compared.

    Raises:
        ExpectationError: a tool is not among the recorded ones, where those are known.
    """
    calls, tools = actual.tool_calls, actual.tools
    check_tools(expected, tools, selection, calls)
    return [selection.name_of(call.name) for call in expected if selection.expects(call.name, calls, tools)]


def alias_metadata(selection: Selection) -> dict[str, Any]:
    """Return the metadata of a score that say which names were read as aliases of others."""
    return {"names": dict(selection.names)} if selection.names else {}


def call_sequence(scorer: str, raw: object, source: str | None) -> Sequence[Call]:
    """Return the expected calls of a plain list; patterns and constraints need `TrajectoryScorer`.

    Raises:
        ScorerError: there is nothing to read, or more than a list of calls.
        ExpectationError: the list cannot be understood.
    """
    if raw is None:
        raise ScorerError(f"{scorer} needs to be told which calls are expected, and is not")
    expectation: Expectation = parse_expectation(raw, source)
    items = expectation.path.parts if expectation.path is not None else ()
    if not expectation.is_path_only or not all(isinstance(item, Call) for item in items):
        raise ScorerError(
            f"{scorer} takes a plain list of calls; TrajectoryScorer takes patterns and constraints"
        )
    return expectation.calls
