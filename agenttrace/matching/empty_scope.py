"""Whether the agent, turn and tools that a selection names are of the run: else guards look at no call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agenttrace.core import semconv
from agenttrace.core.call_paths import CallPaths
from agenttrace.core.errors import did_you_mean
from agenttrace.core.executions import AGENT
from agenttrace.core.state import only_states
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import Call
from agenttrace.matching.known_tools import chooses_nothing
from agenttrace.matching.selection import Selection, agent_matches

_MOST_TURNS = 10


def empty_scope(selection: Selection, calls: Sequence[ToolCall], trace: Trace | None) -> str:
    """Why the selection can have none of the run's calls: no agent has such a name, there is no such turn, no
    known tool is one that is chosen; or nothing at all was recorded, so that it may have made any.

    The text is empty where there are such, and where nothing tells which there are.
    """
    if trace is not None and only_states(trace.spans):
        return "nothing was recorded of the run: decorate the agent itself, too"
    tools = {} if trace is None else trace.tools
    if chooses_nothing(selection, tools, calls, trace):
        return f"no known tool is {' or '.join(map(repr, selection.tools or ()))}"
    if selection.turn is not None:
        known = trace.turns if trace is not None else {call.turn for call in calls if call.turn is not None}
        if known and selection.turn not in known:
            turns = sorted(turn for turn in known if type(turn) is int)
            listing = ", ".join(map(str, turns[:_MOST_TURNS])) + (", …" if len(turns) > _MOST_TURNS else "")
            return f"the run has no turn {selection.turn}, only {listing}"
    agent = selection.agent
    if agent is None or any(agent_matches(agent, call.agent) for call in calls):
        return ""
    paths = {call.agent for call in calls if call.agent} | set(_agents(trace))
    if not paths or any(agent_matches(agent, path) for path in paths):
        return ""
    names = paths if "/" in agent else {path.rpartition("/")[2] for path in paths}
    return f"the run has no agent {agent!r}{did_you_mean(agent, names)}"


def chooses_none(
    selection: Selection,
    expected: Sequence[Call],
    calls: Sequence[ToolCall],
    tools: Mapping[str, ToolDefinition],
) -> str:
    """Why none of the calls that an expectation names is compared: `tools=` chooses none of them."""
    if selection.tools is None or not expected:
        return ""
    if any(selection.expects(call.name, calls, tools) for call in expected):
        return ""
    return f"tools={list(selection.tools)!r} chooses no tool that is expected or was called"


def _agents(trace: Trace | None) -> Iterable[str]:
    """The paths of the agents in a trace, also of those that called no tool."""
    if trace is None:
        return
    places = CallPaths(trace.by_key)
    for span in trace.spans:
        if span.span_type == AGENT:
            yield places.below(span).agent
        elif isinstance(span.attributes.get(semconv.AGENT_NAME), str):
            yield places(span).agent
