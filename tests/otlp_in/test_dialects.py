"""Each dialect in a payload of a few spans: the same two calls, told in its own words."""

import json

import pytest
from payloads import log, request, span

from agenttrace import traces_from_otlp

ARGS = {"city": "Paris"}
TEXT = json.dumps(ARGS)
RESULT = "sunny in Paris"


def calls(payload):
    return [call for trace in traces_from_otlp(payload) for call in trace.tool_calls]


TOOL_SPANS = {
    "GenAI": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": TEXT,
            "gen_ai.tool.call.result": RESULT,
        },
    ),
    "GenAI, structured": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": ARGS,
            "gen_ai.tool.call.result": RESULT,
        },
    ),
    "pydantic-ai before its version 5": (
        "running tool",
        {"gen_ai.tool.name": "get_weather", "tool_arguments": TEXT, "tool_response": RESULT},
    ),
    "OpenInference": (
        "get_weather",
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "get_weather",
            "input.value": TEXT,
            "output.value": RESULT,
            "tool.parameters": '{"type": "object", "properties": {"city": {"type": "string"}}}',
        },
    ),
    "OpenInference, smolagents": (
        "Weather",
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "get_weather",
            "input.value": '{"args": ["Paris"], "sanitize_inputs_outputs": true, "kwargs": {}}',
            "tool.parameters": '{"city": {"type": "string", "description": "c"}}',
            "output.value": RESULT,
        },
    ),
    "OpenInference, LlamaIndex": (
        "get_weather",
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "get_weather",
            "input.value": '{"kwargs": {"city": "Paris"}}',
            "output.value": json.dumps(
                {"blocks": [{"block_type": "text", "text": RESULT}], "tool_name": "x"}
            ),
        },
    ),
    "OpenInference, DSPy": (
        "get_weather.__call__",
        {"openinference.span.kind": "TOOL", "input.value": TEXT, "output.value": RESULT},
    ),
    "OpenLLMetry": (
        "get_weather.tool",
        {"traceloop.span.kind": "tool", "traceloop.entity.input": TEXT, "traceloop.entity.output": RESULT},
    ),
    "OpenLLMetry, LangChain": (
        "get_weather.tool",
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "get_weather",
            "traceloop.entity.input": json.dumps({"input_str": str(ARGS), "tags": [], "metadata": {}}),
            "traceloop.entity.output": json.dumps({"output": {"content": RESULT, "type": "tool"}}),
        },
    ),
    "LangSmith": (
        "get_weather",
        {
            "langsmith.span.kind": "tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.prompt": TEXT,
            "gen_ai.completion": json.dumps(
                {"output": {"content": RESULT, "type": "tool", "tool_call_id": "c1"}}
            ),
        },
    ),
    "Langfuse": (
        "get_weather",
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": TEXT,
            "langfuse.observation.output": json.dumps(RESULT),
        },
    ),
    "MLflow": (
        "get_weather",
        {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": TEXT, "mlflow.spanOutputs": json.dumps(RESULT)},
    ),
    "Vercel AI": (
        "ai.toolCall",
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "get_weather",
            "ai.toolCall.args": TEXT,
            "ai.toolCall.result": json.dumps(RESULT),
        },
    ),
    "Haystack": (
        "haystack.agent.step.tool",
        {
            "haystack.tool.name": "get_weather",
            "haystack.agent.step.tool.input": TEXT,
            "haystack.agent.step.tool.output": RESULT,
        },
    ),
    "Google ADK": (
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gcp.vertex.agent.tool_call_args": TEXT,
            "gcp.vertex.agent.tool_response": json.dumps({"result": RESULT}),
        },
    ),
    "AG2": (
        "execute_tool get_weather",
        {
            "ag2.span.type": "tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": TEXT,
            "gen_ai.tool.call.result": RESULT,
        },
    ),
    "Claude Agent SDK": (
        "mcp__travel__get_weather",
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "mcp__travel__get_weather",
            "input.value": TEXT,
            "output.value": json.dumps([{"type": "text", "text": RESULT}]),
        },
    ),
}


@pytest.mark.parametrize("dialect", TOOL_SPANS)
def test_a_call_is_read_in_every_dialect(dialect):
    name, values = TOOL_SPANS[dialect]
    scope = "gcp.vertex.agent" if dialect == "Google ADK" else ""
    (call,) = calls(request(span(1, name, values), scope=scope))
    assert (call.name, call.arguments, call.output, call.failed) == ("get_weather", ARGS, RESULT, False)


@pytest.mark.parametrize("dialect", TOOL_SPANS)
def test_a_failed_call_keeps_its_exception(dialect):
    name, values = TOOL_SPANS[dialect]
    raised = ("exception", {"exception.type": "ValueError", "exception.message": "unknown city"})
    (call,) = calls(request(span(1, name, values, error="oh", events=[raised])))
    assert (call.failed, str(call.error)) == (True, "ValueError: unknown city")


@pytest.mark.parametrize(
    "flag",
    [
        {"haystack.tool.error": True},
        {"gen_ai.tool.status": "error"},
        {"langfuse.observation.level": "ERROR"},
        {"success": False},
        {"error.type": "TOOL_ERROR"},
        {"output.value": json.dumps({"content": "no", "type": "tool", "status": "error"})},
        {"output.value": json.dumps({"content": [], "isError": True})},
    ],
    ids=str,
)
def test_failures_are_told_by_attributes_where_the_status_says_nothing(flag):
    (call,) = calls(
        request(span(1, "get_weather", {"tool.name": "get_weather", "input.value": TEXT, **flag}))
    )
    assert call.failed is True


CHATS = {
    "GenAI": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps(
            [
                {
                    "role": "assistant",
                    "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": ARGS}],
                }
            ]
        ),
    },
    "OpenInference": {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": TEXT,
    },
    "OpenLLMetry": {
        "gen_ai.operation.name": "chat",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "get_weather",
        "gen_ai.completion.0.tool_calls.0.arguments": TEXT,
    },
    "Langfuse": {
        "langfuse.observation.type": "generation",
        "langfuse.observation.output": json.dumps(
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "function": {"name": "get_weather", "arguments": TEXT}}],
            }
        ),
    },
    "MLflow": {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanOutputs": json.dumps(
            {
                "choices": [
                    {
                        "message": {
                            "role": "assistant",
                            "content": None,
                            "tool_calls": [
                                {"id": "c1", "function": {"name": "get_weather", "arguments": TEXT}}
                            ],
                        }
                    }
                ]
            }
        ),
    },
    "Vercel AI": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.response.toolCalls": json.dumps([{"toolCallId": "c1", "toolName": "get_weather", "input": TEXT}]),
    },
    "Haystack": {
        "haystack.agent.step.llm.output": json.dumps(
            {
                "replies": [
                    {
                        "role": "assistant",
                        "content": [
                            {"tool_call": {"tool_name": "get_weather", "arguments": ARGS, "id": "c1"}}
                        ],
                    }
                ]
            }
        ),
    },
    "Google ADK": {
        "gen_ai.operation.name": "generate_content",
        "gcp.vertex.agent.llm_response": json.dumps(
            {
                "content": {
                    "role": "model",
                    "parts": [{"function_call": {"id": "c1", "name": "get_weather", "args": ARGS}}],
                }
            }
        ),
    },
    "LangSmith": {
        "langsmith.span.kind": "llm",
        "gen_ai.completion": json.dumps(
            {
                "generations": [
                    [
                        {
                            "message": {
                                "kwargs": {
                                    "type": "ai",
                                    "content": "",
                                    "tool_calls": [{"id": "c1", "name": "get_weather", "args": ARGS}],
                                }
                            }
                        }
                    ]
                ]
            }
        ),
    },
    "Bedrock": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps(
            [
                {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": ARGS}}],
                }
            ]
        ),
    },
}


@pytest.mark.parametrize("dialect", CHATS)
def test_arguments_that_a_tool_s_span_lacks_are_those_that_the_model_gave(dialect):
    name = "haystack.agent.step.llm" if dialect == "Haystack" else "chat"
    tool = span(
        2, "execute_tool get_weather", {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "c1"}
    )
    (call,) = calls(request(span(1, name, CHATS[dialect]), tool))
    assert (call.name, call.arguments) == ("get_weather", ARGS)


@pytest.mark.parametrize("dialect", CHATS)
def test_a_call_that_only_a_model_s_span_tells_of_is_a_call(dialect):
    name = "haystack.agent.step.llm" if dialect == "Haystack" else "chat"
    (call,) = calls(request(span(1, name, CHATS[dialect])))
    assert (call.name, call.arguments, call.status) == ("get_weather", ARGS, "requested")


ASKED = {
    "role": "assistant",
    "content": "",
    "tool_calls": json.dumps(
        [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": TEXT}}]
    ),
}


def test_events_are_messages_on_spans_and_in_log_records():
    choice = {
        "index": 0,
        "finish_reason": "tool_calls",
        "message": json.dumps({"role": "assistant", "tool_calls": json.loads(ASKED["tool_calls"])}),
    }
    values = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    on_span = request(span(1, "chat m", values, events=[("gen_ai.choice", choice)]))
    body = {
        "message": {"role": "assistant", "tool_calls": json.loads(ASKED["tool_calls"])},
        "finish_reason": "x",
    }
    in_log = request(span(1, "chat m", values), logs=[log(1, "gen_ai.choice", {}, body=body)])
    for payload in (
        on_span,
        in_log,
        [in_log | {"resourceLogs": []}, {"resourceLogs": in_log["resourceLogs"]}],
    ):
        (call,) = calls(payload)
        assert (call.name, call.arguments) == ("get_weather", ARGS)


def test_claude_code_has_arguments_in_log_records_outputs_in_events_and_failures_in_children():
    tools = [
        span(
            2,
            "claude_code.tool",
            {"span.type": "tool", "gen_ai.tool.name": "get_weather", "tool_use_id": "t1"},
            parent=1,
            events=[("tool.output", {"output": RESULT})],
        ),
        span(
            3,
            "claude_code.tool",
            {"span.type": "tool", "gen_ai.tool.name": "get_weather", "tool_use_id": "t2"},
            parent=1,
        ),
        span(
            4,
            "claude_code.tool.execution",
            {"span.type": "tool.execution", "tool_use_id": "t2", "success": False, "error": "unknown city"},
            parent=3,
            error="unknown city",
        ),
    ]
    agent = span(1, "claude_code.interaction", {"span.type": "interaction", "session.id": "s-1"})
    logs = [
        log(1, "", {"event.name": "tool_result", "tool_use_id": "t1", "tool_input": TEXT, "success": "true"}),
        log(
            1,
            "",
            {
                "event.name": "tool_result",
                "tool_use_id": "t2",
                "tool_input": '{"city":"Atlantis"}',
                "success": "false",
            },
        ),
    ]
    (trace,) = traces_from_otlp(request(agent, *tools, logs=logs, scope="com.anthropic.claude_code.tracing"))
    first, second = trace.tool_calls
    assert (first.arguments, first.output, first.failed) == (ARGS, RESULT, False)
    assert (second.arguments, second.failed, second.error.message) == (
        {"city": "Atlantis"},
        True,
        "unknown city",
    )
    assert trace.session_id == "s-1"


def test_the_client_s_and_the_server_s_side_of_an_mcp_request_are_one_call():
    said = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "get_weather"}
    client = span(1, "tools/call get_weather", said, end=9_000)
    send = span(2, "MCP send tools/call get_weather", {"mcp.method.name": "tools/call"}, parent=1)
    server = span(3, "tools/call get_weather", said, parent=2, error="unknown city")
    (call,) = calls(request(client, send, server, scope="fastmcp"))
    assert (call.name, call.failed) == ("get_weather", True)


def test_a_framework_and_the_library_below_it_record_one_call_once():
    outer = span(
        1, "execute_tool get_weather", TOOL_SPANS["GenAI"][1] | {"gen_ai.tool.call.id": "c1"}, end=9_000
    )
    inner = span(2, "get_weather", TOOL_SPANS["OpenInference"][1] | {"tool.id": "c1"}, parent=1)
    assert len(calls(request(outer, inner))) == 1


def test_pseudo_calls_are_no_calls():
    merged = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}
    assert calls(request(span(1, "execute_tool (merged)", merged))) == []


def test_a_bare_argument_is_the_one_that_the_model_gave_the_value_to():
    bare = {"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": "Paris"}
    (call,) = calls(request(span(1, "ChatModel", CHATS["OpenInference"]), span(2, "get_weather", bare)))
    assert call.arguments == ARGS
    (alone,) = calls(request(span(2, "get_weather", bare)))
    assert alone.arguments == {"input": "Paris"}


def test_parallel_calls_stand_as_they_were_asked_for():
    parts = [
        {"type": "tool_call", "id": f"c{n}", "name": "get_weather", "arguments": {"city": n}} for n in (1, 2)
    ]
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
    }
    tools = [
        span(
            10 - n,
            "execute_tool get_weather",
            {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": f"c{n}"},
            parent=99,
            start=20_000 - n,
            end=30_000,
        )
        for n in (1, 2)
    ]
    agent = span(99, "invoke_agent travel", {"gen_ai.operation.name": "invoke_agent"}, start=0, end=90_000)
    assert [
        call.arguments["city"] for call in calls(request(*tools, span(1, "chat", chat, parent=99), agent))
    ] == [1, 2]


def test_usage_and_names_of_agents_sessions_and_customers():
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 50,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_write.input_tokens": 3,
        "gen_ai.usage.cache_read.input_tokens": 10,
    }
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "travel",
        "gen_ai.usage.input_tokens": 50,
    }
    tool = TOOL_SPANS["GenAI"][1] | {
        "gen_ai.agent.name": "travel",
        "user.id": "u-1",
        "gen_ai.conversation.id": "s-1",
    }
    (trace,) = traces_from_otlp(
        request(
            span(1, "invoke_agent travel", agent),
            span(2, "chat m", chat, parent=1),
            span(3, "x", tool, parent=1),
        )
    )
    assert [s.usage for s in trace.spans] == [
        None,
        {"input_tokens": 50, "output_tokens": 7, "cache_read_tokens": 10, "cache_write_tokens": 3},
        None,
    ]
    assert (trace.name, trace.session_id, trace.customer_id) == ("travel", "s-1", "u-1")
    assert trace.tool_calls[0].agent == "travel"


def test_attributes_stay_as_they_came():
    values = {"text": "é", "flag": True, "count": 2**60, "share": 0.5, "list": ["a", "b"], "map": {"a": [1]}}
    (trace,) = traces_from_otlp(
        request(span(1, "x", values), scope="a.scope", resource={"service.name": "shop"})
    )
    kept = trace.spans[0].attributes
    assert {key: kept[key] for key in values} == values
    assert (kept["otel.scope.name"], trace.spans[0].project) == ("a.scope", "shop")


def test_a_trace_of_langfuse_s_api_is_read():
    model = {
        "id": "g-1",
        "traceId": "7f0c3a52-0b57-4d3e-9a0a-1c2f0e6d5a11",
        "type": "GENERATION",
        "name": "chat",
        "startTime": "2026-01-02T03:04:05.000Z",
        "endTime": "2026-01-02T03:04:06Z",
        "model": "m",
        "output": {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "get_weather", "arguments": TEXT}}],
        },
        "usageDetails": {"input": 5, "output": 2},
    }
    tool = {
        "id": "0000000000000002",
        "parentObservationId": "g-1",
        "traceId": model["traceId"],
        "type": "TOOL",
        "name": "get_weather",
        "startTime": "2026-01-02T03:04:07Z",
        "input": ARGS,
        "output": RESULT,
        "level": "ERROR",
        "statusMessage": "unknown city",
        "metadata": {"scope": {"name": "x"}, "attributes": {"gen_ai.tool.call.id": "c1"}},
    }
    (trace,) = traces_from_otlp(
        {"trace": {"id": model["traceId"], "sessionId": "s-1"}, "observations": [tool, model]}
    )
    (call,) = trace.tool_calls
    assert (call.name, call.arguments, call.output, call.error.message) == (
        "get_weather",
        ARGS,
        RESULT,
        "unknown city",
    )
    assert (trace.session_id, trace.root.usage) == ("s-1", {"input_tokens": 5, "output_tokens": 2})


def test_a_role_that_is_no_text_costs_nothing_but_itself():
    attributes = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": []}
    (trace,) = traces_from_otlp(request(span(1, "call", attributes)))
    assert trace.spans[0].span_type == "llm"


@pytest.mark.parametrize("text", ["21", '"sunny"', "true"])
def test_a_text_that_a_model_was_answered_stays_a_text(text):
    messages = [{"role": "tool", "tool_call_id": "c1", "content": text}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)}
    (trace,) = traces_from_otlp(request(span(1, "chat", attributes)))
    assert trace.spans[0].input["messages"][0]["content"] == text


def test_a_mapping_among_numbered_attributes_stays_as_it_came():
    value = {"a": 1}
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message": value,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "hello",
    }
    (trace,) = traces_from_otlp(request(span(1, "call", attributes)))
    assert trace.spans[0].attributes["llm.output_messages.0.message"] == value
    assert trace.spans[0].output[0]["content"] == "hello"
