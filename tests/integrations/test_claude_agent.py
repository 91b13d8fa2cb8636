"""What the hooks of the Claude Agent SDK are told becomes spans."""

import asyncio
import sys
from types import SimpleNamespace

import pytest

from agenttrace import MissingDependency, Tracer
from agenttrace.integrations.claude_agent import AgentTraceHooks


@pytest.fixture
def tracer():
    tracer = Tracer("travel", store="memory")
    yield tracer
    tracer.shutdown()


def tell(hooks, name, **event):
    event = {"hook_event_name": name, "session_id": "s-1", **event}
    assert asyncio.run(hooks.on_event(event, event.get("tool_use_id"), {"signal": None})) == {}


def tool(hooks, name, arguments, key="t1", end="PostToolUse", **event):
    common = {"tool_name": name, "tool_input": arguments, "tool_use_id": key}
    agent = {"agent_id": event["agent_id"]} if "agent_id" in event else {}
    tell(hooks, "PreToolUse", **common, **agent)
    tell(hooks, end, **common, **event)


def test_a_tool_call_has_its_arguments_and_its_response(tracer):
    hooks = AgentTraceHooks(tracer)
    with tracer.capture() as captured:
        tool(hooks, "Bash", {"command": "ls"}, tool_response={"stdout": "a.py", "stderr": ""})
    [call] = captured.trace.tool_calls
    assert (call.name, call.arguments, call.output) == (
        "Bash",
        {"command": "ls"},
        {"stdout": "a.py", "stderr": ""},
    )
    assert captured.trace.spans[0].attributes["gen_ai.tool.call.id"] == "t1"


@pytest.mark.parametrize(("full_names", "name"), [(False, "book"), (True, "mcp__hotels__book")])
def test_a_tool_of_a_server_goes_by_its_own_name_and_its_text(tracer, full_names, name):
    hooks = AgentTraceHooks(tracer, full_names=full_names)
    with tracer.capture() as captured:
        tool(hooks, "mcp__hotels__book", {"nights": 2}, tool_response=[{"type": "text", "text": "done"}])
    [call] = captured.trace.tool_calls
    assert (call.name, call.output) == (name, "done")


def test_a_tool_that_fails_says_why(tracer):
    hooks = AgentTraceHooks(tracer)
    with tracer.capture() as captured:
        tool(hooks, "weather", {"city": "Atlantis"}, end="PostToolUseFailure", error="unknown city")
    [call] = captured.trace.tool_calls
    assert "unknown city" in str(call.error)


def test_a_tool_that_was_interrupted_is_cancelled(tracer):
    hooks = AgentTraceHooks(tracer)
    with tracer.capture() as captured:
        tool(hooks, "Bash", {}, end="PostToolUseFailure", error="interrupted", is_interrupt=True)
    assert captured.trace.spans[0].status == "cancelled"


def test_the_tools_of_a_sub_agent_stand_under_it(tracer):
    hooks = AgentTraceHooks(tracer)
    with tracer.capture() as captured:
        tell(hooks, "SubagentStart", agent_id="a1", agent_type="researcher")
        tool(hooks, "Read", {"file_path": "x"}, tool_response="text", agent_id="a1")
        tell(hooks, "SubagentStop", agent_id="a1", agent_type="researcher", last_assistant_message="found")
        tool(hooks, "Write", {"file_path": "y"}, key="t2", tool_response="ok")
    agent, read, write = captured.trace.spans
    assert (agent.name, agent.span_type, agent.output) == ("researcher", "agent", "found")
    assert (read.parent_id, write.parent_id) == (agent.span_id, None)


def test_calls_in_parallel_are_told_apart_by_their_ids(tracer):
    hooks = AgentTraceHooks(tracer)
    first = {"tool_name": "weather", "tool_input": {"city": "Paris"}, "tool_use_id": "t1"}
    second = {"tool_name": "weather", "tool_input": {"city": "Rome"}, "tool_use_id": "t2"}
    with tracer.capture() as captured:
        tell(hooks, "PreToolUse", **first)
        tell(hooks, "PreToolUse", **second)
        tell(hooks, "PostToolUse", **second, tool_response="rain")
        tell(hooks, "PostToolUse", **first, tool_response="sun")
    assert [(call.arguments["city"], call.output) for call in captured.trace.tool_calls] == [
        ("Paris", "sun"),
        ("Rome", "rain"),
    ]


def test_a_call_whose_beginning_was_not_told_is_recorded_all_the_same(tracer):
    hooks = AgentTraceHooks(tracer)
    event = {"tool_name": "weather", "tool_input": {"city": "Paris"}, "tool_use_id": "t1"}
    with tracer.capture() as captured:
        tell(hooks, "PostToolUse", **event, tool_response="sun")
    assert [call.output for call in captured.trace.tool_calls] == ["sun"]
    assert not hooks._open


def test_an_event_that_cannot_be_read_stops_no_tool(tracer):
    hooks = AgentTraceHooks(tracer)
    assert asyncio.run(hooks.on_event(None, None, None)) == {}
    assert hooks.recording_errors == 1


def test_the_hooks_are_what_the_options_take(tracer, monkeypatch):
    module = SimpleNamespace(HookMatcher=lambda hooks: SimpleNamespace(hooks=hooks))
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", module)
    hooks = AgentTraceHooks(tracer)
    by_event = hooks.hooks()
    assert {"PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"} == set(
        by_event
    )
    assert all(one.hooks == [hooks.on_event] for [one] in by_event.values())


def test_without_the_sdk_it_says_what_to_install(tracer, monkeypatch):
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(MissingDependency, match="claude-agent-sdk"):
        AgentTraceHooks(tracer).hooks()
