"""The same run in other shapes: other spellings of the protocol, parts that come late, twice, or never."""

import base64
import json

import pytest
from payloads import TRACE, attributes, log, request, span

from agenttrace import traces_from_otlp

ARGS = {"city": "Paris", "days": 3, "near": ["sea", {"km": 2.5}]}
RESULT = {"sky": "blue", "degrees": 21}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"}
RECORDED = TOOL | {
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": json.dumps(ARGS),
    "gen_ai.tool.call.result": json.dumps(RESULT),
}


def calls(payload):
    return [call for trace in traces_from_otlp(payload) for call in trace.tool_calls]


def snake(value):
    """A request with the names of protobuf's fields."""
    if isinstance(value, list):
        return [snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {}
    for key, inner in value.items():
        plain = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
        named[plain] = snake(inner)
    return named


def with_base64(payload):
    text = json.dumps(payload)
    for hexed in (TRACE, f"{1:016x}"):
        text = text.replace(hexed, base64.b64encode(bytes.fromhex(hexed)).decode())
    return json.loads(text)


ONE = request(span(1, "execute_tool get_weather", RECORDED))
SHAPES = {
    "as the protocol has it": ONE,
    "fields as in protobuf": snake(ONE),
    "ids as base64": with_base64(ONE),
    "fields as in protobuf, ids as base64": snake(with_base64(ONE)),
    "ids in capitals": json.loads(json.dumps(ONE).replace(TRACE, TRACE.upper())),
    "times as numbers": json.loads(json.dumps(ONE).replace('"1000"', "1000").replace('"1900"', "1900")),
    "arguments and result as structures": request(
        span(1, "x", RECORDED | {"gen_ai.tool.call.arguments": ARGS, "gen_ai.tool.call.result": RESULT})
    ),
    "arguments as a text of a text": request(
        span(1, "x", RECORDED | {"gen_ai.tool.call.arguments": json.dumps(ARGS, indent=2)})
    ),
    "attributes as a mapping": {
        "resourceSpans": [{"scopeSpans": [{"spans": [span(1, "x") | {"attributes": RECORDED}]}]}]
    },
    "without a scope or a resource": {
        "resourceSpans": [{"scopeSpans": [{"spans": [span(1, "x", RECORDED)]}]}]
    },
    "a parent that never comes": request(span(1, "x", RECORDED, parent=77)),
    "one line for each request": b"\n".join(json.dumps(ONE).encode() for _ in range(2)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_is_the_same_in_every_shape(shape):
    (call,) = calls(SHAPES[shape])
    assert (call.name, call.arguments, call.output, call.failed) == ("get_weather", ARGS, RESULT, False)


def asked(*numbers):
    parts = [
        {"type": "tool_call", "id": f"c{n}", "name": "get_weather", "arguments": {"city": n}} for n in numbers
    ]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
    }


def test_spans_of_one_trace_may_come_in_several_requests_in_any_order():
    agent = span(9, "invoke_agent", {"gen_ai.operation.name": "invoke_agent"}, start=0, end=90_000)
    model = span(1, "chat", asked(1), parent=9)
    tool = span(2, "x", TOOL | {"gen_ai.tool.call.id": "c1"}, parent=9)
    for order in ((agent, model, tool), (tool, model, agent), (tool, agent, model)):
        (trace,) = traces_from_otlp([request(one) for one in order])
        (call,) = trace.tool_calls
        assert (call.arguments, trace.root.name) == ({"city": 1}, "invoke_agent")


def test_arguments_may_stand_in_an_event_or_a_log_record():
    said = {"gen_ai.tool.call.arguments": json.dumps(ARGS), "gen_ai.tool.call.result": json.dumps(RESULT)}
    name = "gen_ai.client.inference.operation.details"
    on_span = request(span(1, "x", TOOL, events=[(name, said)]))
    in_log = request(span(1, "x", TOOL), logs=[log(1, name, said)])
    for payload in (on_span, in_log):
        (call,) = calls(payload)
        assert (call.arguments, call.output) == (ARGS, RESULT)


def test_a_framework_s_own_span_around_its_tool_s_is_no_second_call():
    outer = span(1, "running tool", RECORDED, end=9_000)
    wrapped = span(2, "running tools", {}, parent=1, end=8_000)
    inner = span(
        3,
        "get_weather",
        {"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": json.dumps(ARGS)},
        parent=2,
        end=7_000,
    )
    (call,) = calls([request(outer, wrapped, scope="a.framework"), request(inner, scope="openinference")])
    assert (call.arguments, call.output) == (ARGS, RESULT)


def test_a_call_that_is_tried_again_is_two_calls():
    first = span(1, "x", RECORDED | {"gen_ai.tool.call.id": "c1"}, error="late")
    second = span(2, "x", RECORDED | {"gen_ai.tool.call.id": "c1"})
    assert [call.failed for call in calls(request(first, second))] == [True, False]


def test_parallel_calls_of_one_tool_get_the_arguments_of_their_ids():
    tools = [
        span(n + 1, "x", TOOL | {"gen_ai.tool.call.id": f"c{n}"}, start=5_000 - n, end=9_000)
        for n in (1, 2, 3)
    ]
    found = calls(request(span(1, "chat", asked(3, 1, 2)), *tools))
    assert [call.arguments["city"] for call in found] == [3, 1, 2]


def test_calls_that_only_messages_tell_of_have_the_answers_of_the_next_request():
    answers = [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": "rain"}]},
    ]
    later = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(answers)}
    found = calls(request(span(1, "chat", asked(1, 2)), span(2, "chat", later)))
    assert [(call.arguments["city"], call.output) for call in found] == [(1, "sunny"), (2, "rain")]


def test_a_result_that_only_says_error_is_no_failure():
    (call,) = calls(request(span(1, "x", RECORDED | {"gen_ai.tool.call.result": "Error: unknown city"})))
    assert (call.failed, call.output) == (False, "Error: unknown city")


def test_chunks_of_a_stream_are_no_calls():
    chunks = [
        ("gen_ai.content.chunk", {"delta": "{"}),
        ("ai.stream.firstChunk", {"ai.stream.msToFirstChunk": 3}),
    ]
    model = span(1, "chat", asked(1), events=chunks)
    tool = span(2, "x", RECORDED, events=[("tool.chunk", {"text": "sun"})])
    found = calls(request(model, tool))
    assert [(call.arguments, call.output) for call in found] == [(ARGS, RESULT)]


def test_counts_may_be_texts():
    values = asked(1) | {"gen_ai.usage.output_tokens": 7}
    written = span(1, "chat", values)
    written["attributes"] += [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "5"}}]
    (trace,) = traces_from_otlp(request(written))
    assert trace.root.usage == {"input_tokens": 5, "output_tokens": 7}


def test_an_empty_structure_is_no_missing_one():
    for arguments in ("{}", {}):
        (call,) = calls(request(span(1, "x", RECORDED | {"gen_ai.tool.call.arguments": arguments})))
        assert call.arguments == {}
    assert attributes({"a": {}}) == [{"key": "a", "value": {"kvlistValue": {"values": []}}}]
