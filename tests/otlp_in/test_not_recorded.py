"""What an instrumentation left out is not recorded: never taken for nothing, and its switch is named."""

import json

import pytest
from payloads import request, span

from agenttrace import ANY, Example, ToolCallOutputScorer, ToolOrderScorer, call, traces_from_otlp
from agenttrace.core.errors import ExpectationError
from agenttrace.core.marks import cause_of
from agenttrace.otlp_in import remedies

SWITCHES = {
    "gcp.vertex.agent": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    "agent_framework": "enable_sensitive_data=True",
    "com.anthropic.claude_code.tracing": "OTEL_LOG_TOOL_DETAILS=1",
    "autogen-core": "observe the tools",
    "my.own.scope": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
}
NAMED = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"}


def trace_of(values, scope="", **more):
    (trace,) = traces_from_otlp(
        request(span(1, "execute_tool get_weather", NAMED | values, **more), scope=scope)
    )
    return trace


def score_of(trace, **arguments):
    return ToolOrderScorer().score(Example(expected_tools=[call("get_weather", **arguments)]), trace)


@pytest.mark.parametrize("scope", SWITCHES)
def test_a_score_that_needs_the_arguments_cannot_be_told_and_names_the_switch(scope):
    trace = trace_of({}, scope)
    assert cause_of(trace.tool_calls[0].arguments) == "not recorded"
    score = score_of(trace, city="Paris")
    assert score.outcome == "errored"
    assert SWITCHES[scope] in score.reason


def test_a_score_that_needs_only_names_is_told():
    assert ToolOrderScorer().score(Example(expected_tools=["get_weather"]), trace_of({})).outcome == "passed"
    assert ToolOrderScorer().score(Example(expected_tools=["book_hotel"]), trace_of({})).outcome == "failed"


def test_an_output_that_is_not_there_is_not_none():
    trace = trace_of({"gen_ai.tool.call.arguments": '{"city": "Paris"}'}, "agent_framework")
    assert trace.tool_calls[0].arguments == {"city": "Paris"}
    example = Example(
        expected_tools=[{"tool_name": "get_weather", "parameters": {"city": "Paris"}, "output": "sunny"}]
    )
    score = ToolCallOutputScorer().score(example, trace)
    assert score.outcome == "errored"
    assert "enable_sensitive_data=True" in score.reason


def test_an_empty_result_that_was_recorded_is_none():
    values = {"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "null"}
    example = Example(expected_tools=[{"tool_name": "get_weather", "parameters": {}, "output": "sunny"}])
    assert ToolCallOutputScorer().score(example, trace_of(values)).outcome == "failed"


def test_no_arguments_that_were_recorded_are_no_arguments():
    trace = trace_of({"gen_ai.tool.call.arguments": "{}"})
    assert trace.tool_calls[0].arguments == {}
    assert score_of(trace, city=ANY).outcome == "failed"


@pytest.mark.parametrize(
    ("scope", "key"),
    [("", "gen_ai.tool.call.arguments"), ("openinference.instrumentation.x", "input.value")],
)
@pytest.mark.parametrize(
    "text", ['{"city": "Par', '{"city": "Paris", "days": [1, 2', "{'city': 'Par", '{"at": {"city": "Paris"}']
)
def test_arguments_that_were_cut_cannot_be_told(scope, key, text):
    """A limit on attributes' lengths leaves their beginning: neither other arguments nor none."""
    trace = trace_of({key: text}, scope)
    assert cause_of(trace.tool_calls[0].arguments) == "not recorded"
    assert "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" in score_of(trace, city="Paris").reason
    tools = [{"type": "function", "name": "get_weather", "parameters": SCHEMA}]
    agent = span(2, "invoke_agent", {"gen_ai.tool.definitions": json.dumps(tools)})
    (known,) = traces_from_otlp(request(agent, span(1, "execute_tool get_weather", NAMED | {key: text})))
    assert score_of(known, city="Paris").outcome == "errored"


def test_a_text_that_only_looks_like_the_beginning_of_json_is_an_argument():
    said = {"input.value": '{"city', "input.mime_type": "text/plain"}
    assert trace_of(said, "openinference.x").tool_calls[0].arguments == {"input": '{"city'}


def asked_for(**call):
    """A model that asks for one call, and the tool's span without arguments, as with content switched off."""
    answer = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", **call}]}
    ]
    said = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(answer)}
    tool = span(2, "execute_tool get_weather", NAMED | {"gen_ai.tool.call.id": "c1"})
    (trace,) = traces_from_otlp(request(span(1, "chat", said), tool, scope="pydantic-ai"))
    (alone,) = traces_from_otlp(request(span(1, "chat", said), scope="pydantic-ai"))
    return trace, alone


@pytest.mark.parametrize("call", [{}, {"arguments": "__REDACTED__"}])
def test_a_call_that_a_model_asked_for_without_its_arguments_has_none_recorded(call):
    for trace in asked_for(**call):
        assert cause_of(trace.tool_calls[0].arguments) == "not recorded"
        score = score_of(trace, city="Paris")
        assert score.outcome == "errored"
        assert "include_content=True" in score.reason
        assert ToolOrderScorer().score(Example(expected_tools=["get_weather"]), trace).outcome == "passed"


@pytest.mark.parametrize("call", [{"arguments": {}}, {"arguments": "{}"}, {"arguments": None}])
def test_a_call_that_a_model_asked_for_with_no_arguments_has_none(call):
    for trace in asked_for(**call):
        assert trace.tool_calls[0].arguments == {}
        assert score_of(trace, city=ANY).outcome == "failed"


def test_a_call_in_geminis_form_without_arguments_has_none():
    answer = [{"role": "model", "parts": [{"function_call": {"name": "get_weather"}}]}]
    said = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(answer)}
    (trace,) = traces_from_otlp(request(span(1, "chat", said)))
    assert trace.tool_calls[0].arguments == {}


def test_the_last_remedy_fits_every_scope():
    assert remedies.SWITCHES[-1].scope == ""


@pytest.mark.parametrize(
    "switch", [one for one in remedies.SWITCHES if one.variable], ids=lambda one: one.package
)
def test_a_switch_is_on_or_off_by_itself_and_its_words_turn_it(switch):
    assert switch.is_on(None) == (not switch.on)
    assert all(switch.is_on(word.upper()) for word in switch.on)
    assert not any(switch.is_on(word) for word in switch.off)


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "default": "celsius"}},
    "required": ["city"],
}


def with_definitions(**arguments):
    tools = [{"type": "function", "name": "get_weather", "parameters": SCHEMA}]
    agent = span(
        1,
        "invoke_agent",
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.tool.definitions": json.dumps(tools)},
    )
    tool = span(
        2, "execute_tool get_weather", NAMED | {"gen_ai.tool.call.arguments": json.dumps(arguments)}, parent=1
    )
    (trace,) = traces_from_otlp(request(agent, tool))
    return trace


def test_definitions_give_defaults_on_both_sides():
    asked = with_definitions(city="Paris")
    assert asked.tool_calls[0].arguments == {"city": "Paris"}  # as it was asked for
    assert score_of(asked, city="Paris").outcome == "passed"
    assert score_of(asked, city="Paris", unit="celsius").outcome == "passed"
    assert score_of(asked, city="Paris", unit="kelvin").outcome == "failed"
    assert score_of(with_definitions(city="Paris", unit="celsius"), city="Paris").outcome == "passed"


def test_definitions_give_did_you_mean():
    trace = with_definitions(city="Paris")
    assert list(trace.tools) == ["get_weather"]
    with pytest.raises(ExpectationError, match="did you mean 'city'"):
        score_of(trace, citty="Paris")
    with pytest.raises(ExpectationError, match="did you mean 'get_weather'"):
        ToolOrderScorer().score(Example(expected_tools=["get_wether"]), trace)
