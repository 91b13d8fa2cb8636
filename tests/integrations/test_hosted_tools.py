"""Tools that the model's provider runs: recorded by `wrap` as calls, with what they were given and gave."""

import asyncio
import json

import pytest

from agenttrace import Example, Trace, call
from agenttrace.integrations.wrap import wrap
from agenttrace.scorers import ToolOrderScorer, ToolPermissionScorer
from agenttrace.tracing.capture import capture

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

TEXT = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "done", "annotations": [], "logprobs": []}],
}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "weather Oslo", "sources": [{"type": "url", "url": "https://a"}]},
}
OPENED = {
    "type": "web_search_call",
    "id": "ws_2",
    "status": "completed",
    "action": {"type": "open_page", "url": "https://a"},
}
FILES = {
    "type": "file_search_call",
    "id": "fs_1",
    "status": "completed",
    "queries": ["refunds"],
    "results": [{"file_id": "f", "filename": "policy.md", "score": 0.9, "text": "30 days", "attributes": {}}],
}
CODE = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "code": "print(1)",
    "container_id": "cntr_1",
    "outputs": [{"type": "logs", "logs": "1\n"}],
}
IMAGE = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk="}
MCP = {
    "type": "mcp_call",
    "id": "mcp_1",
    "name": "lookup",
    "server_label": "shop",
    "arguments": '{"order": 7}',
    "output": "shipped",
    "status": "completed",
    "error": None,
    "approval_request_id": None,
}
MCP_FAILED = {
    **MCP,
    "id": "mcp_2",
    "output": None,
    "status": "failed",
    "error": {"type": "http_error", "code": 404, "message": "no such order"},
}
LISTED = {
    "type": "mcp_list_tools",
    "id": "mcpl_1",
    "server_label": "shop",
    "tools": [{"name": "lookup", "input_schema": {"type": "object"}, "annotations": None, "description": ""}],
    "error": None,
}
COMPUTER = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "call_cu",
    "status": "completed",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [],
}
SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "call_sh",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
}
CUSTOM = {"type": "custom_tool_call", "id": "ctc", "call_id": "call_c", "name": "run", "input": "print(1)"}


def response(*items, status="completed", number=1):
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "gpt-5",
        "output": list(items),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
    }


def events(*items, whole=True):
    """The stream of a response."""
    number = iter(range(1_000))
    yield {
        "type": "response.created",
        "sequence_number": next(number),
        "response": response(status="in_progress"),
    }
    for index, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        if "arguments" in item:
            begun["arguments"] = ""
        yield {
            "type": "response.output_item.added",
            "sequence_number": next(number),
            "output_index": index,
            "item": begun,
        }
        if index == len(items) - 1 and not whole:
            return
        yield {
            "type": "response.output_item.done",
            "sequence_number": next(number),
            "output_index": index,
            "item": item,
        }
    yield {"type": "response.completed", "sequence_number": next(number), "response": response(*items)}


@pytest.fixture
def client(model):
    with openai.OpenAI(api_key="none", base_url=model.url + "/v1", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(model):
    with anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0) as client:
        yield client


def rows(trace):
    return [
        (one.name, dict(one.arguments), one.known_output, one.error and one.error.message)
        for one in trace.tool_calls
    ]


EVERY_ITEM = (SEARCH, OPENED, FILES, CODE, MCP, MCP_FAILED, TEXT)
UNKNOWN = {"$type": "unreadable"}
EXPECTED = [
    ("web_search", {"query": "weather Oslo"}, [{"type": "url", "url": "https://a"}], None),
    ("web_search", {"url": "https://a"}, UNKNOWN, None),
    ("file_search", {"queries": ["refunds"]}, FILES["results"], None),
    ("code_interpreter", {"code": "print(1)"}, [{"type": "logs", "logs": "1\n"}], None),
    ("lookup", {"order": 7}, "shipped", None),
    ("lookup", {"order": 7}, None, "no such order"),
]


def test_hosted_tools_of_a_response_are_calls_under_the_model_s_span(client, model):
    model.answers(response(*EVERY_ITEM))
    with capture() as captured:
        wrap(client).responses.create(model="gpt-5", input="hi")
    llm, *tools = captured.trace.spans
    assert {span.parent_id for span in tools} == {llm.span_id}
    assert {span.attributes["gen_ai.tool.type"] for span in tools} == {"extension"}
    assert all(llm.start_ns <= span.start_ns <= span.end_ns <= llm.end_ns for span in tools)
    assert rows(captured.trace) == EXPECTED
    assert captured.trace.tool_calls[4].metadata == {"server_label": "shop"}
    assert llm.output == {"text": "done", "finish_reason": "completed"}


@pytest.mark.parametrize("helper", [False, True], ids=["create", "stream"])
def test_a_streamed_response_shows_the_same_hosted_calls(client, model, helper):
    model.streams(events(*EVERY_ITEM), done=False)
    with capture() as captured:
        if helper:
            with wrap(client).responses.stream(model="gpt-5", input="hi") as stream:
                assert stream.get_final_response().output_text == "done"
        else:
            list(wrap(client).responses.create(model="gpt-5", input="hi", stream=True))
    assert rows(captured.trace) == EXPECTED


def test_an_asynchronous_client_shows_the_same_hosted_calls(model):
    model.answers(response(*EVERY_ITEM))
    model.streams(events(*EVERY_ITEM), done=False)

    async def run():
        async with openai.AsyncOpenAI(api_key="none", base_url=model.url + "/v1", max_retries=0) as client:
            wrapped = wrap(client)
            await wrapped.responses.create(model="gpt-5", input="hi")
            stream = await wrapped.responses.create(
                model="gpt-5", input="hi", stream=True, extra_headers={"x-reply": "1"}
            )
            async for _ in stream:
                pass

    with capture() as captured:
        asyncio.run(run())
    assert rows(captured.trace) == EXPECTED * 2


def test_the_stored_trace_and_the_messages_tell_the_same_calls(client, model, tracer):
    model.answers(response(*EVERY_ITEM))
    with tracer.capture() as captured:
        wrap(client, tracer=tracer).responses.create(model="gpt-5", input="hi")
    assert tracer.flush()
    assert rows(tracer.store.trace(captured.trace.trace_id)) == EXPECTED
    assert rows(Trace.from_messages(list(EVERY_ITEM))) == EXPECTED


def test_a_generated_image_is_an_output(client, model):
    model.answers(response(IMAGE, TEXT))
    with capture() as captured:
        wrap(client).responses.create(model="gpt-5", input="hi")
    assert rows(captured.trace) == [("image_generation", {}, "aGk=", None)]


def test_looking_up_the_tools_of_a_server_is_no_call(client, model):
    model.answers(response(LISTED, MCP, TEXT))
    with capture() as captured:
        wrap(client).responses.create(model="gpt-5", input="hi")
    _, listing, _ = captured.trace.spans
    assert (listing.name, listing.span_type) == ("mcp_list_tools", "function")
    assert [tool["name"] for tool in listing.output] == ["lookup"]
    assert [one.name for one in captured.trace.tool_calls] == ["lookup"]


def test_what_the_caller_runs_is_asked_for_and_not_hosted(client, model):
    model.answers(response(COMPUTER, SHELL, CUSTOM))
    answered = [
        COMPUTER,
        SHELL,
        CUSTOM,
        {"type": "computer_call_output", "call_id": "call_cu", "output": {"type": "input_image"}},
        {"type": "custom_tool_call_output", "call_id": "call_c", "output": "1"},
    ]
    model.answers(response(TEXT, number=2))
    wrapped = wrap(client)
    with capture() as captured, captured_agent():
        wrapped.responses.create(model="gpt-5", input="hi")
        wrapped.responses.create(model="gpt-5", input=answered, extra_headers={"x-reply": "1"})
    assert [(one.name, one.status, dict(one.arguments)) for one in captured.trace.tool_calls] == [
        ("computer", "answered", {"action": {"type": "screenshot"}, "pending_safety_checks": []}),
        ("local_shell", "requested", {"action": {"type": "exec", "command": ["ls"], "env": {}}}),
        ("run", "answered", {"input": "print(1)"}),
    ]


def captured_agent():
    from agenttrace.tracing.default_recorder import default_recorder
    from agenttrace.tracing.open_span import SpanBlock

    return SpanBlock(default_recorder(), "agent", "agent", None)


def test_a_shell_that_the_provider_ran_has_its_output_in_the_same_answer(client, model):
    shell = {
        "type": "shell_call",
        "id": "sh",
        "call_id": "call_1",
        "status": "completed",
        "action": {"commands": ["ls"]},
    }
    output = {
        "type": "shell_call_output",
        "id": "o",
        "call_id": "call_1",
        "output": [{"stdout": "a", "stderr": ""}],
    }
    model.answers(response(shell, output, TEXT))
    with capture() as captured:
        wrap(client).responses.create(model="gpt-5", input="hi")
    ((name, arguments, result, error),) = rows(captured.trace)
    assert (name, arguments["action"]["commands"], result[0]["stdout"], error) == ("shell", ["ls"], "a", None)


def test_a_call_that_waits_for_approval_is_requested_and_once_approved_one_call(client, model):
    asked = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "refund",
        "server_label": "shop",
        "arguments": '{"order": 7}',
    }
    model.answers(response(asked))
    model.answers(response({**MCP, "name": "refund", "approval_request_id": "mcpr_1"}, TEXT, number=2))
    wrapped = wrap(client)
    with capture() as captured, captured_agent():
        wrapped.responses.create(model="gpt-5", input="hi")
    assert [(one.name, one.status) for one in captured.trace.tool_calls] == [("refund", "requested")]
    approval = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    with capture() as captured, captured_agent():
        wrapped.responses.create(model="gpt-5", input="hi")
        wrapped.responses.create(
            model="gpt-5", input=[approval], previous_response_id="resp_1", extra_headers={"x-reply": "1"}
        )
    assert rows(captured.trace) == [("refund", {"order": 7}, "shipped", None)]


def test_a_stream_that_breaks_off_leaves_an_abandoned_call_whose_arguments_cannot_be_told(client, model):
    model.streams(events(SEARCH, MCP, whole=False), done=False)
    with capture() as captured:
        stream = wrap(client).responses.create(model="gpt-5", input="hi", stream=True)
        list(stream)
        stream.close()
    first, second = captured.trace.tool_calls
    assert (first.name, first.status) == ("web_search", "ok")
    assert (second.name, second.status, second.arguments) == ("lookup", "abandoned", UNKNOWN)
    forbidden = ToolPermissionScorer(deny=["lookup"]).score(Example(), captured.trace)
    assert forbidden.outcome == "failed"


def test_arguments_that_are_no_json_are_said_to_be_unreadable(client, model):
    model.answers(response({**MCP, "arguments": '{"order": '}, TEXT))
    with capture() as captured:
        wrap(client).responses.create(model="gpt-5", input="hi")
    (one,) = captured.trace.tool_calls
    assert one.arguments_error is not None


def test_an_expectation_of_hosted_calls_is_scored(client, model):
    model.answers(response(SEARCH, MCP, TEXT))
    with capture() as captured:
        wrap(client).responses.create(model="gpt-5", input="hi")
    right = Example(expected_tools=[call("web_search", query="weather Oslo"), call("lookup", order=7)])
    wrong = Example(expected_tools=[call("web_search", query="weather Rome"), call("lookup", order=7)])
    assert ToolOrderScorer().score(right, captured.trace).outcome == "passed"
    assert ToolOrderScorer().score(wrong, captured.trace).outcome == "failed"


# Anthropic.

ASK = {"model": "claude-of-tomorrow", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
FOUND = {
    "type": "web_search_result",
    "url": "https://a",
    "title": "A",
    "encrypted_content": "xxxx",
    "page_age": None,
}
RAN = {"type": "code_execution_result", "stdout": "1\n", "stderr": "", "return_code": 0, "content": []}
BLOCKS = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "Oslo"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [FOUND]},
    {"type": "server_tool_use", "id": "s2", "name": "web_fetch", "input": {"url": "https://b"}},
    {
        "type": "web_fetch_tool_result",
        "tool_use_id": "s2",
        "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
    },
    {"type": "server_tool_use", "id": "s3", "name": "code_execution", "input": {"code": "print(1)"}},
    {"type": "code_execution_tool_result", "tool_use_id": "s3", "content": RAN},
    {"type": "mcp_tool_use", "id": "m1", "name": "lookup", "server_name": "shop", "input": {"order": 7}},
    {
        "type": "mcp_tool_result",
        "tool_use_id": "m1",
        "is_error": False,
        "content": [{"type": "text", "text": "shipped"}],
    },
    {"type": "mcp_tool_use", "id": "m2", "name": "lookup", "server_name": "shop", "input": {"order": 8}},
    {
        "type": "mcp_tool_result",
        "tool_use_id": "m2",
        "is_error": True,
        "content": [{"type": "text", "text": "no such order"}],
    },
    {"type": "text", "text": "done"},
]
CALLED = [
    ("web_search", {"query": "Oslo"}, None),
    ("web_fetch", {"url": "https://b"}, "url_not_accessible"),
    ("code_execution", {"code": "print(1)"}, None),
    ("lookup", {"order": 7}, None),
    ("lookup", {"order": 8}, "no such order"),
]


def message(*blocks, stop="end_turn", number=1):
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-of-tomorrow",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def message_events(*blocks, stop="end_turn"):
    yield {"type": "message_start", "message": {**message(), "stop_reason": None}}
    for index, block in enumerate(blocks):
        start = {"type": "content_block_start", "index": index}
        if block["type"].endswith("tool_use"):
            yield {**start, "content_block": {**block, "input": {}}}

            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        elif block["type"] == "text":
            yield {**start, "content_block": {"type": "text", "text": ""}}
            delta = {"type": "text_delta", "text": block["text"]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        else:
            yield {**start, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    if stop is not None:
        delta = {"stop_reason": stop, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}
        yield {"type": "message_stop"}


def called(trace):
    return [(one.name, dict(one.arguments), one.error and one.error.message) for one in trace.tool_calls]


@pytest.mark.parametrize("streamed", [False, True])
def test_server_tools_of_a_message_are_calls(claude, model, streamed):
    if streamed:
        model.streams(message_events(*BLOCKS), done=False)
    else:
        model.answers(message(*BLOCKS))
    with capture() as captured:
        reply = wrap(claude).messages.create(**ASK, **({"stream": True} if streamed else {}))
        if streamed:
            list(reply)
    assert called(captured.trace) == CALLED
    search, fetch, code, right, _ = captured.trace.tool_calls
    assert [page["url"] for page in search.output] == ["https://a"]
    assert "encrypted_content" not in search.output[0]
    assert fetch.output is None
    assert (code.output["stdout"], right.output) == ("1\n", "shipped")
    assert right.metadata == {"server_name": "shop"}
    assert "tool_calls" not in captured.trace.spans[0].output


@pytest.mark.parametrize("repeats", [True, False], ids=["in the next answer", "never"])
def test_a_paused_turn_is_one_call_of_which_the_next_answer_tells_the_result(claude, model, repeats):
    first, second = message(BLOCKS[0], stop="pause_turn"), message(*BLOCKS[1:2], BLOCKS[-1], number=2)
    model.answers(first)
    model.answers(second)
    wrapped = wrap(claude)
    messages = [*ASK["messages"], {"role": "assistant", "content": first["content"]}]
    with capture() as captured, captured_agent():
        wrapped.messages.create(**ASK)
        if repeats:
            wrapped.messages.create(**{**ASK, "messages": messages}, extra_headers={"x-reply": "1"})
    ((name, arguments, error),) = called(captured.trace)
    assert (name, arguments, error) == ("web_search", {"query": "Oslo"}, None)
    assert captured.trace.tool_calls[0].status == ("ok" if repeats else "requested")


def test_a_message_that_breaks_off_in_a_server_tool_leaves_an_abandoned_call(claude, model):
    model.streams(list(message_events(BLOCKS[0], stop=None))[:3], done=False)
    with capture() as captured:
        stream = wrap(claude).messages.create(**ASK, stream=True)
        list(stream)
        stream.close()
    assert [(one.name, one.status) for one in captured.trace.tool_calls] == [("web_search", "abandoned")]


def test_a_call_of_an_undecorated_tool_beside_hosted_ones_stays_what_is_known_of_it(claude, model):
    asked = {"type": "tool_use", "id": "t1", "name": "book", "input": {"nights": 2}}
    model.answers(message(*BLOCKS[:2], asked, stop="tool_use"))
    with capture() as captured:
        wrap(claude).messages.create(**ASK, tools=[{"name": "book", "input_schema": {"type": "object"}}])
    assert [(one.name, one.status) for one in captured.trace.tool_calls] == [
        ("web_search", "ok"),
        ("book", "requested"),
    ]
