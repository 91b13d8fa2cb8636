"""One reader for the calls in messages, whichever library wrote these."""

import pytest

from agenttrace import Trace
from agenttrace.core.message_parts import Request, Result, part_of, parts_of, text_in

ASKED = {
    "Anthropic": {"type": "tool_use", "id": "1", "name": "look", "input": {"at": "x"}},
    "OpenTelemetry": {"type": "tool_call", "id": "1", "name": "look", "arguments": {"at": "x"}},
    "Gemini": {"functionCall": {"id": "1", "name": "look", "args": {"at": "x"}}},
    "Gemini's Python library": {"function_call": {"id": "1", "name": "look", "args": {"at": "x"}}},
    "Bedrock": {"toolUse": {"toolUseId": "1", "name": "look", "input": {"at": "x"}}},
    "Vercel": {"type": "tool-call", "toolCallId": "1", "toolName": "look", "input": {"at": "x"}},
    "Haystack": {"tool_call": {"id": "1", "tool_name": "look", "arguments": {"at": "x"}}},
}
ANSWERED = {
    "Anthropic": {"type": "tool_result", "tool_use_id": "1", "content": "seen"},
    "OpenTelemetry": {"type": "tool_call_response", "id": "1", "response": "seen"},
    "Gemini": {"functionResponse": {"id": "1", "name": "look", "response": {"result": "seen"}}},
    "Gemini's Python library": {
        "function_response": {"id": "1", "name": "look", "response": {"output": "seen"}}
    },
    "Bedrock": {"toolResult": {"toolUseId": "1", "content": [{"text": "seen"}], "status": "success"}},
    "Vercel": {"type": "tool-result", "toolCallId": "1", "toolName": "look", "output": "seen"},
    "Haystack": {"tool_call_result": {"result": "seen", "error": False, "origin": {"id": "1"}}},
}


@pytest.mark.parametrize("form", ASKED)
def test_a_block_that_asks_for_a_call_says_its_name_arguments_and_id(form):
    part = part_of(ASKED[form])
    assert isinstance(part, Request)
    assert (part.name, part.arguments, part.key) == ("look", {"at": "x"}, "1")


@pytest.mark.parametrize("form", ANSWERED)
def test_a_block_that_answers_a_call_says_its_id_and_what_came_back(form):
    part = part_of(ANSWERED[form])
    assert isinstance(part, Result)
    assert (part.key, part.output) == ("1", "seen")


@pytest.mark.parametrize("form", ASKED)
def test_a_trace_of_messages_in_any_form_has_the_call_with_its_output(form):
    trace = Trace.from_messages(
        [
            {"role": "user", "content": "look at x"},
            {"role": "assistant", "content": [ASKED[form]]},
            {"role": "tool" if form == "Vercel" else "user", "content": [ANSWERED[form]]},
        ]
    )
    assert [(call.name, call.arguments, call.output) for call in trace.tool_calls] == [
        ("look", {"at": "x"}, "seen")
    ]


@pytest.mark.parametrize(
    ("block", "failed"),
    [
        ({"toolResult": {"toolUseId": "1", "content": [], "status": "error"}}, True),
        ({"toolResult": {"toolUseId": "1", "content": [], "status": "success"}}, False),
        ({"tool_call_result": {"result": "no", "error": True, "origin": {"id": "1"}}}, True),
        ({"type": "tool-result", "toolCallId": "1", "output": "no", "isError": True}, True),
        ({"type": "tool-result", "toolCallId": "1", "output": "seen"}, None),
        ({"type": "tool_result", "tool_use_id": "1", "content": "seen"}, False),
    ],
)
def test_an_answer_is_a_failure_where_its_form_says_so(block, failed):
    part = part_of(block)
    assert isinstance(part, Result)
    assert part.failed is failed


def test_the_error_of_a_hosted_search_is_a_failure():
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    part = part_of({"type": "web_search_tool_result", "tool_use_id": "1", "content": error})
    assert isinstance(part, Result)
    assert (part.failed, part.output) == (True, "max_uses_exceeded")


def test_a_tool_s_message_whose_blocks_are_answers_is_those_answers():
    message = {"role": "tool", "content": [ANSWERED["Vercel"], {**ANSWERED["Vercel"], "toolCallId": "2"}]}
    assert [part.key for part in parts_of(message)] == ["1", "2"]


def test_the_text_of_a_message_is_in_opentelemetry_s_and_gemini_s_parts_too():
    parts = [{"type": "text", "content": "one"}, {"text": "two"}, {"type": "reasoning", "content": "hm"}]
    assert text_in(parts) == "one\ntwo"
