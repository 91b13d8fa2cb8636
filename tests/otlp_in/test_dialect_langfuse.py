"""Langfuse: what its API answers and its exports hold, and the attributes that its own SDKs write."""

import json

import pytest
from payloads import request, span

from agenttrace import traces_from_otlp

ARGS = {"city": "Paris"}
TEXT = json.dumps(ARGS)
TRACE = "7f0c3a520b574d3e9a0a1c2f0e6d5a11"


def observation(key, kind, name, **fields):
    return {
        "id": key,
        "traceId": TRACE,
        "type": kind,
        "name": name,
        "startTime": "2026-01-02T03:04:05.000Z",
        "endTime": "2026-01-02T03:04:06.000Z",
        "level": "DEFAULT",
        **fields,
    }


TOOL = observation("b" * 16, "TOOL", "get_weather", parentObservationId="a" * 16, input=ARGS, output="sunny")
AGENT = observation("a" * 16, "AGENT", "travel", input="?", output="It is sunny.")


def only_call(payload):
    (trace,) = traces_from_otlp(payload)
    (call,) = trace.tool_calls
    return trace, call


@pytest.mark.parametrize(
    "payload",
    [
        {"id": TRACE, "name": "travel", "sessionId": "s-1", "observations": [TOOL, AGENT]},
        {"trace": {"id": TRACE, "sessionId": "s-1"}, "observations": [AGENT, TOOL]},
        [{"id": TRACE, "sessionId": "s-1", "observations": [AGENT, TOOL]}],
        {"data": [TOOL | {"sessionId": "s-1"}, AGENT], "meta": {"page": 1, "totalItems": 2}},
        [TOOL | {"sessionId": "s-1"}, AGENT],
        b"\n".join(json.dumps(one).encode() for one in (AGENT | {"sessionId": "s-1"}, TOOL)),
    ],
    ids=["trace", "trace beside", "list of traces", "page of observations", "list", "lines"],
)
def test_traces_and_observations_are_read_in_each_form_of_an_export(payload):
    trace, call = only_call(payload)
    assert (call.name, call.arguments, call.output, call.failed) == ("get_weather", ARGS, "sunny", False)
    assert (trace.root.span_type, trace.session_id) == ("agent", "s-1")


def test_names_as_its_python_client_writes_them_are_read():
    words = {
        "traceId": "trace_id",
        "startTime": "start_time",
        "endTime": "end_time",
        "parentObservationId": "parent_observation_id",
    }
    written = [{words.get(key, key): value for key, value in one.items()} for one in (AGENT, TOOL)]
    trace, call = only_call({"id": TRACE, "session_id": "s-1", "observations": written})
    assert call.arguments == ARGS
    assert [one.parent_id for one in trace.spans] == [None, "a" * 16]
    assert trace.session_id == "s-1"


def test_values_may_be_texts_of_json():
    _, call = only_call({"id": TRACE, "observations": [TOOL | {"input": TEXT, "output": '{"sky": "blue"}'}]})
    assert (call.arguments, call.output) == (ARGS, {"sky": "blue"})


def test_attributes_in_the_metadata_tell_what_a_plain_span_is():
    values = {"openinference.span.kind": "TOOL", "tool.name": "get_weather"}
    for metadata in (
        {"attributes": values, "scope": {"name": "openinference.instrumentation.agno"}},
        {"attributes": json.dumps(values)},
        json.dumps({"attributes": values}),
    ):
        _, call = only_call({"id": TRACE, "observations": [TOOL | {"type": "SPAN", "metadata": metadata}]})
        assert (call.name, call.arguments) == ("get_weather", ARGS)


def test_a_failed_call_has_its_status_message():
    bad = TOOL | {"level": "ERROR", "statusMessage": "unknown city", "output": None}
    _, call = only_call({"id": TRACE, "observations": [bad]})
    assert (call.failed, call.error.message) == (True, "unknown city")


@pytest.mark.parametrize(
    ("fields", "usage"),
    [
        (
            {"usageDetails": {"input": 5, "output": 2, "total": 7}, "costDetails": {"total": 0.5}},
            {"input_tokens": 5, "output_tokens": 2, "cost": 0.5},
        ),
        ({"usage": {"input": 5, "output": 2, "unit": "TOKENS"}}, {"input_tokens": 5, "output_tokens": 2}),
        ({"promptTokens": 5, "completionTokens": 2}, {"input_tokens": 5, "output_tokens": 2}),
    ],
    ids=["newest", "before", "first"],
)
def test_tokens_and_cost_of_a_generation_are_read(fields, usage):
    model = observation("c" * 16, "GENERATION", "chat", model="m", **fields)
    (trace,) = traces_from_otlp({"id": TRACE, "observations": [model]})
    assert (trace.root.span_type, trace.root.usage) == ("llm", usage)


def test_a_generation_s_calls_are_read_from_its_output():
    asked = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": TEXT}}
    for output in (
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        [{"role": "assistant", "content": "", "tool_calls": [asked]}],
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [asked]}}]},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "get_weather", "args": ARGS}]},
    ):
        model = observation("c" * 16, "GENERATION", "chat", output=output)
        _, call = only_call({"id": TRACE, "observations": [model]})
        assert (call.name, call.arguments, call.status) == ("get_weather", ARGS, "requested")


def test_its_own_attributes_of_opentelemetry_are_read():
    values = {
        "langfuse.observation.type": "tool",
        "langfuse.observation.input": TEXT,
        "langfuse.observation.output": "sunny",
        "langfuse.observation.level": "ERROR",
        "langfuse.observation.status_message": "late",
        "session.id": "s-1",
        "langfuse.trace.tags": ["a"],
    }
    model = {
        "langfuse.observation.type": "generation",
        "langfuse.observation.model.name": "m",
        "langfuse.observation.usage_details": '{"input": 5, "output": 2}',
        "langfuse.observation.cost_details": '{"input": 0.1, "output": 0.2, "total": 0.3}',
    }
    trace, call = only_call(request(span(1, "chat", model), span(2, "get_weather", values, parent=1)))
    assert (call.name, call.arguments, call.error.message) == ("get_weather", ARGS, "late")
    assert trace.root.usage == {"input_tokens": 5, "output_tokens": 2, "cost": 0.3}
