"""Chat messages in the shape that OpenTelemetry's GenAI conventions give them."""

import pytest
from any_json import mappings, messages, values
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.exporters.otlp_messages import read_answer, read_request

CALL = {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}
ANSWER = {"type": "tool_call_response", "id": "c1", "response": "21 °C"}


def text(content):
    return {"type": "text", "content": content}


def only_message(entry):
    (message,) = read_request({"messages": [entry]}).messages
    return message


def part_of(block):
    (part,) = only_message({"role": "user", "content": [block]})["parts"]
    return part


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_a_text_keeps_the_role_that_the_provider_gave_it(role):
    assert only_message({"role": role, "content": "hi"}) == {"role": role, "parts": [text("hi")]}


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}},
        {"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}},
        {"id": "c1", "name": "weather", "args": {"city": "Oslo"}, "type": "tool_call"},
    ],
    ids=["openai", "recorded", "langchain"],
)
def test_calls_that_a_message_asks_for_are_parts_of_it(call):
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert only_message(message) == {"role": "assistant", "parts": [CALL]}


def test_the_older_function_call_and_a_custom_tool_are_calls_too():
    older = {"role": "assistant", "content": "", "function_call": {"name": "now", "arguments": "soon"}}
    assert only_message(older)["parts"] == [{"type": "tool_call", "name": "now", "arguments": "soon"}]
    custom = {"role": "assistant", "tool_calls": [{"id": "c2", "custom": {"name": "run", "input": "1+1"}}]}
    assert only_message(custom)["parts"] == [
        {"type": "tool_call", "id": "c2", "name": "run", "arguments": "1+1"}
    ]


def test_a_tools_answer_is_a_part_of_the_tools_message():
    message = {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "21 °C"}
    assert only_message(message) == {"role": "tool", "parts": [ANSWER], "name": "weather"}


def test_the_messages_of_langchain_are_known_by_their_type():
    assert only_message({"type": "human", "content": "hi"}) == {"role": "user", "parts": [text("hi")]}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ("hi", text("hi")),
        ({"type": "text", "text": "hi", "cache_control": {}}, text("hi")),
        ({"type": "input_text", "text": "hi"}, text("hi")),
        ({"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}}, CALL),
        ({"type": "tool_result", "tool_use_id": "c1", "content": "21 °C"}, ANSWER),
        ({"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "reasoning", "content": "hm"}),
        ({"type": "image_url", "image_url": {"url": "https://a/b.png"}}, "uri"),
        ({"type": "input_image", "image_url": "https://a/b.png"}, "uri"),
        ({"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}, "uri"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}, "blob"),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
            "blob",
        ),
        ({"type": "image", "id": 1}, {"type": "image", "id": 1}),
        ({"type": "document", "title": "t"}, {"type": "document", "title": "t"}),
        ({"text": "hi"}, text("hi")),
        ({"video": "v"}, {"type": "unknown", "video": "v"}),
        (7, {"type": "unknown", "content": 7}),
    ],
    ids=str,
)
def test_a_block_becomes_the_part_of_its_kind_or_stays_as_it_is(block, part):
    images = {
        "uri": {"type": "uri", "modality": "image", "uri": "https://a/b.png"},
        "blob": {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "QUJD"},
    }
    assert part_of(block) == (images[part] if isinstance(part, str) else part)


def test_the_items_of_responses_are_messages():
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Is it warm?"}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Oslo"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "21 °C"},
        {"type": "web_search_call", "id": "w"},
    ]
    assert read_request({"model": "gpt-5", "input": items}).messages == [
        {"role": "user", "parts": [text("Is it warm?")]},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}]},
        {"role": "assistant", "parts": [CALL]},
        {"role": "tool", "parts": [ANSWER]},
        {"role": "assistant", "parts": [{"type": "web_search_call", "id": "w"}]},
    ]


def test_a_request_gives_its_instructions_its_tools_and_what_is_left():
    request = read_request(
        {
            "model": "claude",
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"name": "weather", "description": "d", "input_schema": {"type": "object"}}],
            "metadata": {"a": 1},
        }
    )
    assert request.instructions == [text("Be brief.")]
    assert request.tools == [
        {"type": "function", "name": "weather", "description": "d", "parameters": {"type": "object"}}
    ]
    assert request.rest == {"model": "claude", "metadata": {"a": 1}}


def test_openais_tools_lose_their_wrapping():
    tool = {"type": "function", "function": {"name": "weather", "parameters": {}}}
    request = read_request({"messages": [{"role": "user", "content": "hi"}], "tools": [tool, "odd"]})
    assert request.tools == [{"type": "function", "name": "weather", "parameters": {}}, "odd"]


@pytest.mark.parametrize("given", [{"model": "gpt-5", "input": "hi"}, {"prompts": ["hi"]}], ids=str)
def test_a_bare_text_is_what_the_user_says(given):
    assert read_request(given).messages == [{"role": "user", "parts": [text("hi")]}]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"prompt": "hi"},
        {"input": "hi"},
        {"messages": "hi"},
        {"messages": []},
        {"messages": [["not", "one"], ["conversation"]]},
        {"prompts": ["one", "two"]},
        {"input": [{"x": 1}]},
    ],
    ids=str,
)
def test_an_input_without_one_conversation_is_no_request(given):
    assert read_request(given) is None


def test_the_mark_of_what_was_cut_is_kept():
    request = read_request({"messages": [{"role": "user", "content": "hi"}, {"$truncated": 9}]})
    assert request.messages[1] == {"role": "unknown", "parts": [{"$truncated": 9, "type": "unknown"}]}


def test_an_answer_as_it_is_recorded_is_a_message_with_the_reason_of_its_end():
    choice = {
        "text": "It is warm.",
        "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
        "reasoning": "hm",
        "finish_reason": "stop",
    }
    parts = [{"type": "reasoning", "content": "hm"}, text("It is warm."), CALL]
    assert read_answer(choice) == [{"role": "assistant", "parts": parts, "finish_reason": "stop"}]
    assert len(read_answer([choice, choice])) == 2


def test_an_answer_that_never_ended_has_no_reason():
    assert read_answer({"text": "It", "finish_reason": None}) == [
        {"role": "assistant", "parts": [text("It")]}
    ]


def test_a_message_is_an_answer():
    assert read_answer({"role": "assistant", "content": "hi"}) == [
        {"role": "assistant", "parts": [text("hi")]}
    ]


@pytest.mark.parametrize("output", [None, "hi", [], {}, {"text": "hi"}, [1], {"answer": 1}], ids=str)
def test_any_other_output_is_no_message(output):
    assert read_answer(output) is None


@given(messages, st.dictionaries(st.sampled_from(["system", "tools", "input"]), values), values | mappings)
def test_whatever_is_recorded_every_message_has_a_role_and_parts_with_a_type(asked, more, answered):
    request = read_request({**more, "messages": asked})
    told = [] if request is None else request.messages
    for message in told + (read_answer(answered) or []):
        assert isinstance(message["role"], str)
        assert all(isinstance(part["type"], str) for part in message["parts"])
