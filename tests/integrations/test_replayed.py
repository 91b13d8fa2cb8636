# ruff: noqa: SIM117 - it is the end of a replay's block that raises
"""Requests of wrapped clients that a recording answers: every library, style and door, no network."""

import asyncio

import pytest
from pydantic import BaseModel

from agenttrace.core.errors import ConfigError, SimulationError
from agenttrace.integrations.wrap import wrap

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

ASK = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
ASK_CLAUDE = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
CALL = {"id": "call-1", "type": "function", "function": {"name": "book", "arguments": '{"n":1}'}}


def completion(content="hello", **message):
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }


CLAUDE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x-1",
    "content": [
        {"type": "text", "text": "hello"},
        {"type": "tool_use", "id": "t1", "name": "book", "input": {"n": 1}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 2},
}


@pytest.fixture
def client(model, tracer):
    return wrap(openai.OpenAI(api_key="none", base_url=model.url + "/v1", max_retries=0), tracer=tracer)


@pytest.fixture
def claude(model, tracer):
    return wrap(anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0), tracer=tracer)


@pytest.fixture
def replayed(model, tracer):
    """Run something twice: recorded, then replayed. Gives both results; the model was asked once."""

    def twice(call):
        with tracer.capture() as captured:
            first = call()
        asked = len(model.requests)
        with tracer.replay(captured.trace):
            second = call()
        assert len(model.requests) == asked
        return first, second

    return twice


def test_a_completion_with_calls_is_the_same(client, model, replayed):
    model.answers(completion(None, tool_calls=[CALL]))
    first, second = replayed(lambda: client.chat.completions.create(**ASK))
    assert type(second) is type(first)
    assert second.choices[0].message.tool_calls[0].function.arguments == '{"n":1}'
    assert (second.id, second.model, second.usage.total_tokens) == ("c1", "gpt-4o-1", 12)


def test_a_parsed_completion_and_a_raw_response_are_the_same(client, model, replayed):
    class City(BaseModel):
        name: str

    model.answers(completion('{"name": "Paris"}'))
    first, second = replayed(lambda: client.chat.completions.parse(**ASK, response_format=City))
    assert first.choices[0].message.parsed == second.choices[0].message.parsed == City(name="Paris")
    first, second = replayed(lambda: client.chat.completions.with_raw_response.create(**ASK).parse())
    assert first.choices[0].message.content == second.choices[0].message.content


def test_async_clients_are_replayed(tracer, model, replayed):
    model.answers(completion())

    async def ask():
        async with openai.AsyncOpenAI(api_key="none", base_url=model.url + "/v1") as client:
            return await wrap(client, tracer=tracer).chat.completions.create(**ASK)

    first, second = replayed(lambda: asyncio.run(ask()))
    assert first.choices[0].message.content == second.choices[0].message.content == "hello"


def test_streams_of_chunks_are_replayed(client, model, replayed):
    head = {"id": "c2", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-1"}
    deltas = [({"content": "hel"}, None), ({"content": "lo"}, None), ({}, "stop")]
    model.streams([{**head, "choices": [{"index": 0, "delta": d, "finish_reason": f}]} for d, f in deltas])

    def text():
        chunks = client.chat.completions.create(**ASK, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    assert replayed(text) == ("hello", "hello")


def test_messages_of_anthropic_are_replayed_whole_and_streamed(claude, model, replayed):
    model.answers(CLAUDE)
    first, second = replayed(lambda: claude.messages.create(**ASK_CLAUDE))
    assert [block.to_dict() for block in first.content] == [block.to_dict() for block in second.content]
    assert second.stop_reason == "tool_use"


def test_a_stream_of_anthropic_is_replayed(claude, model, replayed):
    start = {**CLAUDE, "content": [], "stop_reason": None}
    model.streams(
        [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ],
        done=False,
    )

    def text():
        with claude.messages.stream(**ASK_CLAUDE) as stream:
            return stream.get_final_text()

    assert replayed(text) == ("hello", "hello")


def test_responses_with_calls_are_replayed(client, model, replayed):
    content = [{"type": "output_text", "text": "hello", "annotations": []}]
    model.answers(
        {
            "id": "r1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "gpt-4o-1",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": [
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                },
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "call-1",
                    "name": "book",
                    "arguments": '{"n":1}',
                    "status": "completed",
                },
            ],
        }
    )

    def agent():
        first = client.responses.create(model="gpt-4o", input="hi")
        again = [{"role": "user", "content": "hi"}, *(item.to_dict() for item in first.output)]
        return first.output_text, client.responses.create(model="gpt-4o", input=again).output[1].name

    assert replayed(agent) == (("hello", "book"),) * 2


def test_what_cannot_be_replayed_does_not_reach_the_network(client, model, tracer):
    model.answers(completion())
    with tracer.capture() as captured:
        client.chat.completions.create(**ASK)
    asked = len(model.requests)
    for call, text in (
        (
            lambda: client.embeddings.create(model="e", input="x"),
            "a request to embeddings cannot be replayed",
        ),
        (lambda: client.responses.create(model="e", input="x", stream=True), "a stream to responses"),
        (
            lambda: client.chat.completions.create(**{**ASK, "model": "gpt-5"}),
            "recorded 'gpt-4o', got 'gpt-5'",
        ),
    ):
        with pytest.raises(SimulationError, match=text):
            with tracer.replay(captured.trace, complete=False):
                call()
    assert len(model.requests) == asked


def test_a_failed_request_cannot_be_replayed(client, model, tracer):
    model.answers({"error": {"message": "busy"}}, status=429)
    with tracer.capture() as captured:
        with pytest.raises(openai.RateLimitError):
            client.chat.completions.create(**ASK)
    with pytest.raises(ConfigError, match="the request failed, and providers' errors cannot be made again"):
        with tracer.replay(captured.trace):
            raise AssertionError("the block ran")


def test_an_unrecorded_client_is_replayed_too(client, model, tracer):
    model.answers(completion())
    with tracer.capture() as captured:
        client.chat.completions.create(**ASK)
    tracer.shutdown()
    asked = len(model.requests)
    with tracer.replay(captured.trace):
        assert client.chat.completions.create(**ASK).choices[0].message.content == "hello"
    assert len(model.requests) == asked
