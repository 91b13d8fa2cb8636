"""Spans of OpenTelemetry: what a call returns that asks for a secret, and what answers a question for one."""

import json

import pytest

from agenttrace import AgentTraceSpanProcessor, Example, ToolOrderScorer, Tracer, run_evaluation
from tests.stored_text import everything_in

SECRET = "Kx9mT2vLq7Rw"
ASKED = [
    {"role": "assistant", "parts": [{"type": "text", "content": "What is your password?"}]},
    {"role": "user", "parts": [{"type": "text", "content": SECRET}]},
]
CALLED = [
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "get_password", "arguments": {}}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": SECRET}]},
]
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": SECRET}
SPANS = {
    "get_password": {**TOOL, "gen_ai.tool.name": "get_password", "gen_ai.tool.call.arguments": "{}"},
    "get_pwd": {**TOOL, "gen_ai.tool.name": "get_pwd"},
    "env TOKEN": {**TOOL, "gen_ai.tool.name": "env", "gen_ai.tool.call.arguments": '{"name":"TOKEN"}'},
    "get_secret": {
        **TOOL,
        "gen_ai.tool.name": "get_secret",
        "gen_ai.tool.call.arguments": '{"name":"stripe"}',
    },
    "bash": {
        **TOOL,
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.arguments": '{"command":"printenv DB_PASSWORD"}',
    },
    "OpenInference": {
        "openinference.span.kind": "TOOL",
        "tool.name": "bash",
        "input.value": '{"command":"cat /run/secrets/db_password"}',
        "input.mime_type": "application/json",
        "output.value": SECRET,
    },
    "OpenLLMetry": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "get_password",
        "traceloop.entity.output": SECRET,
    },
    "messages": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(ASKED)},
    "a call in messages": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(CALLED)},
    "messages by attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.prompt.0.role": "assistant",
        "gen_ai.prompt.0.content": "What is your password?",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": SECRET,
    },
}


def recorded(tmp_path, attributes):
    """All bytes of a store into which OpenTelemetry recorded one span with these attributes."""
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    tracer, provider = Tracer("received", store=tmp_path / "traces.db"), trace.TracerProvider()
    provider.add_span_processor(AgentTraceSpanProcessor(tracer))
    with provider.get_tracer("agent").start_as_current_span("work", attributes=attributes):
        pass
    tracer.shutdown()
    return everything_in(tmp_path / "traces.db")


@pytest.mark.parametrize("name", SPANS)
def test_the_secret_of_a_span_is_hidden_wherever_it_stands(tmp_path, name):
    text = recorded(tmp_path, SPANS[name])
    assert SECRET not in text
    assert "[redacted]" in text


def test_another_result_is_stored_as_it_is(tmp_path):
    arguments = {"gen_ai.tool.name": "bash", "gen_ai.tool.call.arguments": '{"command":"git rev-parse HEAD"}'}
    assert SECRET in recorded(tmp_path, {**TOOL, **arguments})


@pytest.mark.parametrize(
    ("name", "arguments"), [("get_secret", {"name": "stripe"}), ("bash", {"command": "printenv DB_PASSWORD"})]
)
def test_the_secret_of_a_recorded_call_is_hidden_in_its_result_too(tmp_path, name, arguments):
    call = {"name": name, "arguments": arguments, "output": SECRET}
    tracer = Tracer("read", store=tmp_path / "traces.db")
    run_evaluation([Example(tools_called=[call], expected_tools=[name])], [ToolOrderScorer()], tracer=tracer)
    tracer.shutdown()
    assert SECRET not in everything_in(tmp_path / "traces.db")
