"""What a span is called on the wire, with what it carries."""

import json
import sys

import pytest
from any_json import spans
from hypothesis import given

from agenttrace.core import semconv
from agenttrace.core.span import Span, SpanError
from agenttrace.exporters.otlp_attributes import attributes_of, wire_name
from agenttrace.integrations.wrap import wrap

QUESTION = [{"role": "user", "parts": [{"type": "text", "content": "Is it warm in Oslo?"}]}]
KINDS = ("tool", "retriever", "llm", "agent", "chain", "function")
CALL = {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}


def span_of(**fields):
    return Span(**{"trace_key": 1, "span_key": 2, "name": "search", **fields})


def carried(names="genai", **fields):
    return attributes_of(span_of(**fields), content=True, names=names)


def own_attributes(**fields):
    """What it carries, but for what every span does."""
    always = (semconv.NAME, semconv.SPAN_TYPE, semconv.INDEX)
    return {name: value for name, value in carried(**fields).items() if name not in always}


@pytest.mark.parametrize(
    ("span_type", "attributes", "name"),
    [
        ("tool", {}, "execute_tool search"),
        ("tool", {"gen_ai.tool.name": "web"}, "execute_tool web"),
        ("agent", {}, "invoke_agent search"),
        ("agent", {"gen_ai.agent.name": "Ann"}, "invoke_agent Ann"),
        ("chain", {}, "invoke_workflow search"),
        ("retriever", {}, "retrieval search"),
        ("retriever", {"gen_ai.data_source.id": "wiki"}, "retrieval wiki"),
        ("llm", {}, "search"),
        ("llm", {"gen_ai.request.model": "gpt-4o"}, "chat gpt-4o"),
        (
            "llm",
            {"gen_ai.request.model": "e5", "gen_ai.operation.name": "embeddings"},
            "embeddings e5",
        ),
        ("function", {}, "search"),
        ("node", {"gen_ai.operation.name": "chat"}, "search"),
    ],
)
def test_a_span_is_called_by_its_operation_and_what_that_is_on(span_type, attributes, name):
    assert wire_name(span_of(span_type=span_type, attributes=attributes)) == name


def test_a_tools_call_says_what_was_given_and_what_came_back():
    assert own_attributes(span_type="tool", input={"city": "Köln"}, output=[1, 2]) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": '{"city":"Köln"}',
        "gen_ai.tool.call.result": "[1,2]",
    }


@pytest.mark.parametrize("names", ["genai", "both"])
def test_a_result_that_is_text_is_sent_as_it_is_and_says_so_so_that_21_stays_a_text(names):
    text = own_attributes(names=names, span_type="tool", output="21")
    number = own_attributes(names=names, span_type="tool", output=21)
    assert text["gen_ai.tool.call.result"] == number["gen_ai.tool.call.result"] == "21"
    assert text["output.mime_type"] == "text/plain"
    assert number.get("output.mime_type") != "text/plain"


def test_what_was_not_captured_is_not_said():
    told = own_attributes(span_type="tool")
    assert told.keys() == {"gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.type"}


@pytest.mark.parametrize(
    ("span_type", "named"),
    [
        ("chain", {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "search"}),
        ("function", {}),
        ("node", {}),
    ],
)
def test_of_any_other_call_input_and_output_go_by_openinferences_names(span_type, named):
    assert own_attributes(span_type=span_type, input={"q": 1}, output="done") == {
        **named,
        "input.value": '{"q":1}',
        "input.mime_type": "application/json",
        "output.value": "done",
        "output.mime_type": "text/plain",
    }


def test_an_agents_question_and_answer_are_messages_too():
    told = own_attributes(span_type="agent", input={"question": "Is it warm?"}, output="Yes.")
    assert told["input.value"] == '{"question":"Is it warm?"}'
    assert json.loads(told["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Is it warm?"}]}
    ]
    assert json.loads(told["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}
    ]


def test_the_messages_that_an_agent_was_given_are_its_messages():
    told = own_attributes(span_type="agent", input={"messages": [{"role": "user", "content": "Hi"}], "k": 1})
    assert json.loads(told["gen_ai.input.messages"])[0]["role"] == "user"


def test_an_agent_with_other_input_has_no_messages():
    told = own_attributes(span_type="agent", input={"a": "x", "b": "y"}, output={"city": "Oslo"})
    assert not {"gen_ai.input.messages", "gen_ai.output.messages"} & told.keys()


def test_a_tool_goes_by_openinferences_names_too():
    told = own_attributes(names="both", span_type="tool", input={"city": "Oslo"}, output="warm")
    assert told == {
        **own_attributes(span_type="tool", input={"city": "Oslo"}, output="warm"),
        "openinference.span.kind": "TOOL",
        "tool.name": "search",
        "input.value": '{"city":"Oslo"}',
        "input.mime_type": "application/json",
        "output.value": "warm",
        "output.mime_type": "text/plain",
    }


def test_a_retrievers_documents_go_by_openinferences_names_too():
    documents = [
        {"page_content": "Oslo is warm.", "metadata": {"page": 3}, "id": "d1", "score": 0.5},
        "plain",
        {"title": "no text"},
    ]
    told = own_attributes(names="both", span_type="retriever", input={"query": "Oslo"}, output=documents)
    listed = {
        name.removeprefix("retrieval.documents."): value
        for name, value in told.items()
        if name.startswith("retrieval.documents.")
    }
    assert listed == {
        "0.document.content": "Oslo is warm.",
        "0.document.id": "d1",
        "0.document.score": 0.5,
        "0.document.metadata": '{"page":3}',
        "1.document.content": "plain",
        "2.document.content": '{"title":"no text"}',
    }
    assert (told["input.value"], told["openinference.span.kind"]) == ("Oslo", "RETRIEVER")
    assert json.loads(told["output.value"]) == documents


def test_only_so_many_documents_have_attributes_of_their_own():
    told = own_attributes(names="both", span_type="retriever", output=["text"] * 150)
    assert sum(name.startswith("retrieval.documents.") for name in told) == 100
    assert len(json.loads(told["output.value"])) == 150


def test_with_openinferences_names_alone_no_argument_goes_by_the_conventions():
    told = own_attributes(names="openinference", span_type="tool", input={"city": "Oslo"}, output="warm")
    assert (told["input.value"], told["tool.name"]) == ('{"city":"Oslo"}', "search")
    assert not {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} & told.keys()
    kinds = [own_attributes(names="openinference", span_type=kind) for kind in ("agent", "chain", "llm")]
    assert [told["openinference.span.kind"] for told in kinds] == ["AGENT", "CHAIN", "LLM"]
    assert "openinference.span.kind" not in own_attributes(names="both", span_type="agent")


@pytest.mark.parametrize("names", ["genai", "openinference", "both"])
def test_no_names_carry_content_that_is_not_to_be_sent(names):
    spans = [span_of(span_type=kind, input={"query": "S3CRET"}, output=["S3CRET"]) for kind in KINDS]
    assert "S3CRET" not in str([attributes_of(span, content=False, names=names) for span in spans])


def test_a_tool_is_described_by_the_first_line_of_its_docstring(run, tracer):
    @tracer.observe(span_type="tool")
    def weather(city):
        """Say how warm it is.

        More than that nobody knows.
        """

    [_, span] = run(lambda: weather("Oslo"), span_type="agent", name="agent")
    told = attributes_of(span, content=False)
    assert told["gen_ai.tool.description"] == told["tool.description"] == "Say how warm it is."


def test_the_session_and_the_customer_are_said_of_each_span(run, tracer):
    @tracer.observe(span_type="tool")
    def weather(city):
        return "warm"

    def agent():
        tracer.set_session_id("s-1")
        tracer.set_customer_id("ada")
        tracer.set_tags(["blue"])
        weather("Oslo")

    root, child = (attributes_of(span, content=True) for span in run(agent))
    for told in (root, child):
        assert told["session.id"] == told["gen_ai.conversation.id"] == "s-1"
        assert told["enduser.id"] == told["user.id"] == "ada"
    assert "agenttrace.tags" in root
    assert "agenttrace.tags" not in child


def test_an_output_that_is_no_text_is_json():
    told = own_attributes(output={"a": 1})
    assert (told["output.value"], told["output.mime_type"]) == ('{"a":1}', "application/json")


def test_a_retriever_says_the_query_and_the_documents():
    found = [{"content": "Oslo is warm.", "metadata": {"score": 1}}]
    assert own_attributes(span_type="retriever", input={"query": "Oslo", "k": 3}, output=found) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "Oslo",
        "gen_ai.retrieval.documents": json.dumps(found, separators=(",", ":")),
        "agenttrace.input": '{"k":3}',
    }


def test_a_retriever_of_another_shape_says_its_input_and_output():
    told = own_attributes(span_type="retriever", input={"words": ["a"]}, output=["text"])
    assert (told["input.value"], told["output.value"]) == ('{"words":["a"]}', '["text"]')


def test_a_call_to_a_model_without_messages_says_its_input_and_output():
    told = own_attributes(span_type="llm", input={"prompt": "hi"}, output="hello")
    assert told["gen_ai.operation.name"] == "chat"
    assert (told["input.value"], told["output.value"]) == ('{"prompt":"hi"}', "hello")


def test_settings_that_are_attributes_are_not_said_twice():
    asked = {"messages": [{"role": "user", "content": "hi"}], "model": "m", "seed": 1, "user": "u"}
    told = own_attributes(span_type="llm", input=asked, attributes={"gen_ai.request.model": "m"})
    assert json.loads(told["agenttrace.input"]) == {"seed": 1, "user": "u"}


def test_every_span_says_its_own_name_its_type_and_its_place():
    told = carried(span_type="node", index=4)
    assert told == {"agenttrace.name": "search", "agenttrace.span.type": "node", "agenttrace.index": 4}


def test_attributes_of_the_users_stay_as_they_are_unless_the_name_is_taken():
    told = carried(attributes={"city": ["Oslo"], "agenttrace.index": 9, "input.value": "x"}, input={"q": 1})
    assert (told["city"], told["agenttrace.index"], told["input.value"]) == (["Oslo"], 0, '{"q":1}')


@pytest.mark.parametrize("status", ["cancelled", "abandoned"])
def test_a_status_that_opentelemetry_does_not_know_is_an_attribute(status):
    assert own_attributes(status=status) == {"agenttrace.status": status}


def test_an_error_has_a_type():
    assert own_attributes(status="error", error=SpanError("app.NotFound", "no")) == {
        "error.type": "app.NotFound"
    }
    assert own_attributes(status="error") == {"error.type": "_OTHER"}
    assert own_attributes(status="error", attributes={"error.type": "429"}) == {"error.type": "429"}


def test_usage_goes_by_the_names_of_the_conventions_and_cost_by_ours():
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "total_tokens": 15,
        "cache_read_tokens": 4,
        "cache_write_tokens": 3,
        "reasoning_tokens": 2,
        "cost": 0.25,
    }
    assert own_attributes(usage=usage) == {
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_write.input_tokens": 3,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "agenttrace.usage.total_tokens": 15,
        "agenttrace.cost.total": 0.25,
    }


def test_what_is_said_of_the_trace_is_on_its_root(run, tracer):
    def agent():
        tracer.set_tags(["beta"])
        tracer.set_customer_id("c-7")
        tracer.set_session_id("s-9")
        tracer.update_metadata({"plan": {"tier": 1}})

    told = attributes_of(run(agent)[0], content=False)
    assert told["agenttrace.tags"] == ["beta"]
    assert told["user.id"] == told["enduser.id"] == "c-7"
    assert told["session.id"] == told["gen_ai.conversation.id"] == "s-9"
    assert told["agenttrace.metadata"] == {"plan": {"tier": 1}}


def test_a_conversation_that_was_named_keeps_its_name():
    told = own_attributes(attributes={"session.id": "s", "gen_ai.conversation.id": "c", "enduser.id": "u"})
    assert (told["gen_ai.conversation.id"], told["user.id"]) == ("c", "u")


def answering(package, body):
    """A client of a package whose every request is answered so, recorded."""
    library = sys.modules[package.DefaultHttpxClient.__mro__[1].__module__]
    transport = library.MockTransport(lambda request: library.Response(200, json=body))
    client = next(getattr(package, name) for name in ("OpenAI", "Anthropic") if hasattr(package, name))
    return client(
        api_key="none",
        base_url="http://model.test",
        http_client=package.DefaultHttpxClient(transport=transport),
    )


def test_a_chat_of_a_wrapped_openai_client_is_messages(run, tracer):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    openai = pytest.importorskip("openai")
    client = answering(
        openai,
        {
            "id": "r1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o-2024-08-06",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30},
        },
    )
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}

    def agent():
        asked = [{"role": "user", "content": "Is it warm in Oslo?"}]
        wrap(client).chat.completions.create(model="gpt-4o", temperature=0, messages=asked, tools=[tool])

    _, span = run(agent)
    told = attributes_of(span, content=True)
    answer = {"role": "assistant", "parts": [CALL], "finish_reason": "tool_calls"}
    assert wire_name(span) == "chat gpt-4o"
    assert json.loads(told["gen_ai.input.messages"]) == QUESTION
    assert json.loads(told["gen_ai.output.messages"]) == [answer]
    assert json.loads(told["gen_ai.tool.definitions"])[0]["name"] == "weather"
    assert told["gen_ai.request.model"] == "gpt-4o"
    assert told["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert told["gen_ai.usage.input_tokens"] == 21
    assert told["agenttrace.cost.total"] > 0
    assert not {"input.value", "output.value", "agenttrace.input"} & told.keys()


def test_a_message_of_a_wrapped_anthropic_client_is_messages(run):
    anthropic = pytest.importorskip("anthropic")
    client = answering(
        anthropic,
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "claude-of-tomorrow",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 2, "output_tokens": 3, "cache_read_input_tokens": 5},
        },
    )

    def agent():
        asked = [{"role": "user", "content": "Is it warm in Oslo?"}]
        wrap(client).messages.create(
            model="claude-of-tomorrow", max_tokens=9, system="Be brief.", messages=asked
        )

    _, span = run(agent)
    told = attributes_of(span, content=True)
    parts = [{"type": "text", "content": "Let me look."}, CALL]
    answer = {"role": "assistant", "parts": parts, "finish_reason": "tool_use"}
    assert json.loads(told["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be brief."}]
    assert json.loads(told["gen_ai.input.messages"]) == QUESTION
    assert json.loads(told["gen_ai.output.messages"]) == [answer]
    assert told["gen_ai.usage.input_tokens"] == 7
    assert told["gen_ai.usage.cache_read.input_tokens"] == 5


def test_without_content_nothing_is_left_but_names_types_and_counts():
    asked = {"model": "m", "messages": [{"role": "user", "content": "secret"}]}
    attributes = {"gen_ai.request.model": "m", "city": "Oslo", "agenttrace.logs": ["secret"]}
    attributes |= {"gen_ai.input.messages": "secret", "gen_ai.prompt": "secret", "output.value": "secret"}
    span = span_of(span_type="llm", input=asked, output="secret", attributes=attributes, usage={"cost": 1.0})
    assert attributes_of(span, content=False) == {
        "agenttrace.name": "search",
        "agenttrace.span.type": "llm",
        "agenttrace.index": 0,
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "city": "Oslo",
        "agenttrace.cost.total": 1.0,
    }


@given(spans)
def test_whatever_a_span_holds_it_has_a_name_and_attributes(span):
    assert isinstance(wire_name(span), str)
    assert attributes_of(span, content=False).keys() <= attributes_of(span, content=True).keys()
