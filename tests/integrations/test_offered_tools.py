"""What a wrapped client offers is known to the checks; conversations that go on by an id are put together."""

import pytest

from agenttrace import Example, call
from agenttrace.core.errors import ExpectationError
from agenttrace.core.model_requests import LLM
from agenttrace.core.tool_schemas import offered_names, tool_definitions
from agenttrace.integrations.wrap import wrap
from agenttrace.scorers import ToolOrderScorer
from agenttrace.suite.coverage import _Seen
from agenttrace.tracing import observed_function
from agenttrace.tracing.capture import capture
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.open_span import SpanBlock
from tests.integrations.test_hosted_tools import TEXT, message, response

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
    "required": ["city"],
    "additionalProperties": False,
}
ASKED = {
    "type": "function_call",
    "id": "f",
    "call_id": "c1",
    "name": "search",
    "arguments": '{"city": "Oslo"}',
}
OFFERS = {
    "responses": [{"type": "function", "name": "search", "parameters": SCHEMA}],
    "chat": [{"type": "function", "function": {"name": "search", "parameters": SCHEMA}}],
    "anthropic": [{"name": "search", "input_schema": SCHEMA}],
    "gemini": [{"functionDeclarations": [{"name": "search", "parameters": SCHEMA}]}],
}


@pytest.fixture(autouse=True)
def only_own_tools(monkeypatch):
    """The tools that other tests decorated in this process are none that these agents have."""
    monkeypatch.setattr(observed_function, "_tools", {})


@pytest.fixture
def client(model):
    with openai.OpenAI(api_key="none", base_url=model.url + "/v1", max_retries=0) as client:
        yield client


@pytest.fixture
def trace(client, model):
    """A run in which the model was offered a tool and asked for it; nobody decorated it."""
    model.answers(response(ASKED))
    model.answers(response(TEXT, number=2))
    wrapped = wrap(client)
    with capture() as captured, agent():
        wrapped.responses.create(model="gpt-5", input="Oslo?", tools=OFFERS["responses"])
        wrapped.responses.create(
            model="gpt-5",
            previous_response_id="resp_1",
            input=[{"type": "function_call_output", "call_id": "c1", "output": "snow"}],
            tools=OFFERS["responses"],
            extra_headers={"x-reply": "1"},
        )
    return captured.trace


def agent():
    return SpanBlock(default_recorder(), "agent", "agent", None)


def scored(trace, *expected):
    return ToolOrderScorer().score(Example(expected_tools=list(expected)), trace)


@pytest.mark.parametrize("provider", OFFERS)
def test_the_tools_of_a_request_are_read_in_every_provider_s_form(provider):
    request = {"tools": OFFERS[provider]}
    assert offered_names(request) == ({"search"}, True)
    definition = tool_definitions(request)["search"]
    assert [(one.name, one.default) for one in definition.parameters][1] == ("days", 3)


@pytest.mark.parametrize(
    ("tools", "names", "all_known"),
    [
        (
            [{"type": "web_search_preview"}, {"type": "code_interpreter"}],
            {"web_search", "code_interpreter"},
            True,
        ),
        ([{"type": "mcp", "server_label": "shop"}], set(), False),
        ([{"type": "mcp", "allowed_tools": ["lookup"]}], {"lookup"}, True),
        ([{"type": "web_search_20250305", "name": "web_search"}], {"web_search"}, True),
        ([{"googleSearch": {}}, {"codeExecution": {}}], {"google_search", "code_execution"}, True),
        ([{"type": "of tomorrow"}, {"name": "a"}], {"a"}, False),
        (["text", None], set(), False),
        ("text", set(), False),
    ],
)
def test_tools_without_a_name_are_known_by_their_type_where_it_is_known(tools, names, all_known):
    assert offered_names({"tools": tools}) == (names, all_known)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"properties": 1},
        {**SCHEMA, "additionalProperties": True},
        {**SCHEMA, "patternProperties": {}},
    ],
)
def test_a_schema_that_does_not_name_its_parameters_defines_none(schema):
    assert tool_definitions({"tools": [{"name": "a", "input_schema": schema}]}) == {}


def test_a_misspelt_tool_is_an_error_that_says_what_was_offered(trace):
    with pytest.raises(ExpectationError, match="that the model was offered; did you mean 'search'"):
        scored(trace, call("serch", city="Oslo"))


def test_another_tool_that_was_not_called_is_a_failure_as_before(trace):
    assert scored(trace, call("book_hotel")).outcome == "failed"


def test_a_misspelt_parameter_is_an_error_that_says_what_the_schema_has(trace):
    with pytest.raises(ExpectationError, match="no parameter 'citty'; did you mean 'city'"):
        scored(trace, call("search", citty="Oslo"))


def test_a_default_of_the_schema_stands_on_both_sides(trace):
    """Whether the model writes it out or leaves it out: a decorated tool would have got the same."""
    assert scored(trace, call("search", city="Oslo")).outcome == "passed"
    assert scored(trace, call("search", city="Oslo", days=3)).outcome == "passed"
    assert scored(trace, call("search", city="Oslo", days=4)).outcome == "failed"
    assert scored(trace, call("search", city="Rome")).outcome == "failed"


def test_coverage_knows_what_was_offered(trace):
    seen = _Seen()
    seen.add(trace)
    assert seen.offered == {"search"}
    assert seen.arguments["search"] == {"city", "days"}


def models(trace):
    return [span for span in trace.spans if span.span_type == LLM]


def test_a_conversation_that_goes_on_by_the_answer_s_id_is_put_together(trace):
    conversation = trace.conversation(models(trace)[-1])
    assert conversation.missing is None
    assert [(one.get("role"), one.get("content", one.get("output"))) for one in conversation.messages] == [
        ("user", "Oslo?"),
        ("assistant", ""),
        (None, "snow"),
    ]
    assert conversation.messages[1]["tool_calls"][0]["name"] == "search"


def test_an_answer_of_another_trace_is_found_among_earlier_spans_and_else_said_to_be_missing(client, model):
    model.answers(response(TEXT))
    wrapped = wrap(client)
    with capture() as first:
        wrapped.responses.create(model="gpt-5", input="hi", instructions="be rude")
    with capture() as second:
        wrapped.responses.create(
            model="gpt-5", input="more", previous_response_id="resp_1", instructions="be kind"
        )
    (span,) = models(second.trace)
    alone = second.trace.conversation(span)
    assert (alone.missing, len(alone.messages)) == ("resp_1", 2)
    whole = second.trace.conversation(span, earlier=first.trace.spans)
    assert [one["content"] for one in whole.messages] == ["be kind", "hi", "done", "more"]


@pytest.mark.parametrize("named", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_by_name_is_put_together_in_order(client, model, named):
    model.answers(response(TEXT))
    wrapped = wrap(client)
    with capture() as captured, agent():
        for text in ("one", "two"):
            wrapped.responses.create(model="gpt-5", input=text, conversation=named)
        wrapped.responses.create(model="gpt-5", input="other", conversation="conv_2")
    first, second, other = models(captured.trace)
    assert [one["content"] for one in captured.trace.conversation(second).messages] == ["one", "done", "two"]
    assert captured.trace.conversation(other).missing == "conv_2"
    assert captured.trace.conversation(first).missing == "conv_1"


def test_anthropic_s_threads_are_put_together_too(model):
    model.answers(message({"type": "text", "text": "done"}))
    with anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0) as claude:
        wrapped = wrap(claude)
        ask = {"model": "claude-of-tomorrow", "max_tokens": 9}
        with capture() as captured, agent():
            wrapped.messages.create(**ask, messages=[{"role": "user", "content": "one"}])
            wrapped.messages.create(
                **ask,
                messages=[{"role": "user", "content": "two"}],
                extra_body={"thread": {"type": "continue", "previous_message_id": "msg_1"}},
            )
    conversation = captured.trace.conversation(models(captured.trace)[-1])
    assert [one["content"] for one in conversation.messages] == ["one", "done", "two"]


def test_answers_that_name_each_other_end(client, model):
    model.answers(response(TEXT))
    with capture() as captured, agent():
        for _ in range(2):
            wrap(client).responses.create(model="gpt-5", input="hi", previous_response_id="resp_1")
    assert captured.trace.conversation(models(captured.trace)[-1]).missing == "resp_1"
