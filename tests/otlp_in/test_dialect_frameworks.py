"""What frameworks write of a call, as their sources and documentation say: each in a span written by hand."""

import json

import pytest
from payloads import request, span

from agenttrace import Example, ToolOrderScorer, traces_from_otlp
from agenttrace import call as expected_call

ARGS = {"city": "Paris"}
TEXT = json.dumps(ARGS)
RESULT = "sunny in Paris"
SCHEMA = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}})

TOOL_SPANS = {
    "agno, by OpenInference": (
        "get_weather",
        {
            "openinference.span.kind": "TOOL",
            "input.mime_type": "application/json",
            "input.value": TEXT,
            "tool.name": "get_weather",
            "tool.description": "The weather.",
            "tool.parameters": TEXT,
            "output.value": RESULT,
            "output.mime_type": "text/plain",
        },
    ),
    "BeeAI, by OpenInference": (
        "get_weather",
        {
            "openinference.span.kind": "TOOL",
            "input.value": json.dumps({"input": ARGS, "options": None}),
            "input.mime_type": "application/json",
            "metadata.class_name": "WeatherTool",
            "tool.name": "get_weather",
            "tool.json_schema": SCHEMA,
            "output.value": RESULT,
        },
    ),
    "Koog": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": "koog",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": TEXT,
            "gen_ai.tool.call.result": json.dumps(RESULT),
            "koog.event.id": "e1",
        },
    ),
    "Mastra": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": TEXT,
            "gen_ai.tool.call.result": RESULT,
        },
    ),
    "Mastra before its version 1": (
        "tool.execute get_weather",
        {
            "gen_ai.operation.name": "tool.execute",
            "span.kind": "internal",
            "mastra.span.type": "tool_call",
            "input": TEXT,
            "gen_ai.tool.input": TEXT,
            "output": RESULT,
            "gen_ai.tool.output": RESULT,
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.success": True,
        },
    ),
    "Mastra before its version 1, without a name": (
        "tool.execute get_weather",
        {"mastra.span.type": "mcp_tool_call", "gen_ai.tool.input": TEXT, "gen_ai.tool.output": RESULT},
    ),
    "Semantic Kernel": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": TEXT,
            "gen_ai.tool.call.result": RESULT,
        },
    ),
    "Spring AI": (
        "tool_call get_weather",
        {
            "gen_ai.operation.name": "framework",
            "gen_ai.system": "spring_ai",
            "spring.ai.kind": "tool_call",
            "spring.ai.tool.definition.name": "get_weather",
            "spring.ai.tool.definition.schema": SCHEMA,
            "spring.ai.tool.call.arguments": TEXT,
            "spring.ai.tool.call.result": json.dumps(RESULT),
        },
    ),
    "Vercel AI 4": (
        "ai.toolCall",
        {
            "operation.name": "ai.toolCall travel",
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "get_weather",
            "ai.toolCall.id": "c1",
            "ai.toolCall.args": TEXT,
            "ai.toolCall.result": json.dumps(RESULT),
        },
    ),
    "Vercel AI, names of the parts as in its version 5": (
        "ai.toolCall",
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "get_weather",
            "ai.toolCall.id": "c1",
            "ai.toolCall.input": TEXT,
            "ai.toolCall.output": json.dumps(RESULT),
        },
    ),
    "OpenAI Agents, by Logfire": (
        "Function: {name}",
        {
            "logfire.msg_template": "Function: {name}",
            "logfire.msg": "Function: get_weather",
            "logfire.span_type": "span",
            "name": "get_weather",
            "input": TEXT,
            "mcp_data": "null",
            "gen_ai.system": "openai",
            "output": RESULT,
        },
    ),
    "LiveKit": (
        "function_tool",
        {
            "lk.function_tool.id": "c1",
            "lk.function_tool.name": "get_weather",
            "lk.function_tool.arguments": TEXT,
            "lk.function_tool.is_error": False,
            "lk.function_tool.output": RESULT,
        },
    ),
    "LiveKit, newer": (
        "function_tool",
        {
            "lk.function_tool.id": "c1",
            "lk.function_tool.name": "get_weather",
            "lk.pii.function_tool.arguments": TEXT,
            "lk.function_tool.is_error": False,
            "lk.pii.function_tool.output": RESULT,
        },
    ),
    "LangChain, by OpenLLMetry": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "get_weather",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": json.dumps(
                {"input_str": str(ARGS), "inputs": ARGS, "metadata": {}}
            ),
            "gen_ai.tool.call.result": json.dumps({"output": {"type": "tool", "content": RESULT}}),
        },
    ),
    "n8n, Foundry, AgentCore: the conventions": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": TEXT,
            "gen_ai.tool.call.result": json.dumps([{"type": "text", "text": RESULT}]),
        },
    ),
}


def one_call(payload):
    (trace,) = traces_from_otlp(payload)
    (call,) = trace.tool_calls
    return call


@pytest.mark.parametrize("framework", TOOL_SPANS)
def test_a_call_is_read_with_its_name_arguments_and_result(framework):
    call = one_call(request(span(1, *TOOL_SPANS[framework])))
    assert (call.name, call.arguments, call.output, call.failed) == ("get_weather", ARGS, RESULT, False)


@pytest.mark.parametrize(
    "values",
    [
        {"gen_ai.tool.success": False},
        {"lk.function_tool.is_error": True},
        {"error": True, "error.message": "unknown city"},
        {"error.type": "unknown", "error.message": "unknown city"},
        {"langfuse.observation.level": "ERROR"},
    ],
    ids=str,
)
def test_a_failure_is_read_where_only_an_attribute_tells_of_it(values):
    call = one_call(request(span(1, "x", {"gen_ai.tool.name": "x", "gen_ai.tool.input": TEXT, **values})))
    assert call.failed
    assert call.error.message == values.get("error.message", "")


def test_a_failed_call_of_agno_has_its_error_as_output():
    name, values = TOOL_SPANS["agno, by OpenInference"]
    call = one_call(request(span(1, name, values | {"output.value": "unknown city"}, error="unknown city")))
    assert (call.failed, call.error.message, call.arguments) == (True, "unknown city", ARGS)


def test_a_failed_call_of_beeai_and_of_logfire_has_its_exception():
    raised = ("exception", {"exception.type": "ToolError", "exception.message": "unknown city"})
    for framework in ("BeeAI, by OpenInference", "OpenAI Agents, by Logfire"):
        call = one_call(request(span(1, *TOOL_SPANS[framework], error="", events=[raised])))
        assert str(call.error) == "ToolError: unknown city"


@pytest.mark.parametrize(
    ("scope", "mask", "switch"),
    [
        ("ai.koog.agents", "HIDDEN:non-empty", "setVerbose(true)"),
        ("openinference.instrumentation.agno", "__REDACTED__", "OPENINFERENCE_HIDE_INPUTS"),
    ],
)
def test_what_was_masked_was_not_recorded(scope, mask, switch):
    values = {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.arguments": mask, "output.value": mask}
    (trace,) = traces_from_otlp(request(span(1, "execute_tool get_weather", values), scope=scope))
    expected = Example(expected_tools=[expected_call("get_weather", city="Paris")])
    score = ToolOrderScorer().score(expected, trace)
    assert (score.outcome, switch in score.reason) == ("errored", True)
    assert trace.root.output is None


CALL = {"toolCallId": "c1", "toolName": "get_weather"}
CHATS = {
    "Vercel AI 3": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.result.text": "I look.",
        "ai.result.toolCalls": json.dumps([{**CALL, "args": TEXT}]),
        "ai.usage.promptTokens": 5,
        "ai.usage.completionTokens": 2,
    },
    "Vercel AI 6": {
        "ai.operationId": "ai.streamText.doStream",
        "ai.response.text": "I look.",
        "ai.response.toolCalls": json.dumps([{**CALL, "input": TEXT}]),
        "ai.usage.inputTokens": 5,
        "ai.usage.outputTokens": 2,
    },
    "Mastra": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps(
            [
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "text", "content": "I look."},
                        {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": TEXT},
                    ],
                }
            ]
        ),
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
    },
    "BeeAI, by OpenInference": {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type": "text",
        "llm.output_messages.0.message.contents.0.message_content.text": "I look.",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": TEXT,
        "llm.token_count.prompt": 5,
        "llm.token_count.completion": 2,
    },
    "OpenAI Agents, by Logfire": {
        "gen_ai.operation.name": "chat",
        "logfire.msg_template": "Responses API with {gen_ai.request.model!r}",
        "events": json.dumps(
            [
                {"event.name": "gen_ai.user.message", "role": "user", "content": "?"},
                {
                    "event.name": "gen_ai.choice",
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "I look.",
                        "tool_calls": [
                            {
                                "id": "c1",
                                "type": "function",
                                "function": {"name": "get_weather", "arguments": TEXT},
                            }
                        ],
                    },
                },
            ]
        ),
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
    },
}


@pytest.mark.parametrize("framework", CHATS)
def test_an_answer_is_read_with_its_text_its_calls_and_its_tokens(framework):
    (trace,) = traces_from_otlp(request(span(1, "chat", CHATS[framework])))
    (call,) = trace.tool_calls
    assert (call.name, call.arguments, call.status) == ("get_weather", ARGS, "requested")
    assert any("I look." in message["content"] for message in trace.root.output)
    assert trace.root.usage == {"input_tokens": 5, "output_tokens": 2}


def test_azure_s_events_have_a_message_as_text_in_one_attribute():
    asked = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": TEXT}}
    said = {"finish_reason": "tool_calls", "index": 0, "message": {"content": "", "tool_calls": [asked]}}
    events = [
        (
            "gen_ai.user.message",
            {"gen_ai.event.content": json.dumps({"role": "user", "content": "Weather?"})},
        ),
        ("gen_ai.choice", {"gen_ai.event.content": json.dumps(said)}),
    ]
    chat = span(1, "chat m", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, events=events)
    (trace,) = traces_from_otlp(request(chat))
    assert [(call.name, call.arguments) for call in trace.tool_calls] == [("get_weather", ARGS)]
    assert trace.root.input["messages"] == [{"role": "user", "content": "Weather?"}]


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("ai.telemetry.metadata.sessionId", "session_id"),
        ("ai.telemetry.metadata.userId", "customer_id"),
        ("spring.ai.chat.client.conversation.id", "session_id"),
        ("gen_ai.conversation.id", "session_id"),
        ("session.id", "session_id"),
        ("user.id", "customer_id"),
    ],
)
def test_sessions_and_customers_are_read(key, field):
    (trace,) = traces_from_otlp(request(span(1, "x", {key: "s-1"})))
    assert getattr(trace, field) == "s-1"
