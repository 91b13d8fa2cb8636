"""`wrap` in use: what the user gets, what is recorded, what happens when things go wrong."""

import asyncio
import gc
import os
import subprocess
import sys
import threading

import pytest
from pydantic import BaseModel

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.expectations import expect
from agenttrace.integrations import wrap as wrap_module
from agenttrace.integrations.wrap import wrap
from agenttrace.scorers import TrajectoryScorer
from agenttrace.store import open_store
from agenttrace.tracer import Tracer
from agenttrace.tracing.capture import capture

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

ASK = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
ASK_CLAUDE = {"model": "claude-of-tomorrow", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def completion(text="hello"):
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 400},
        },
    }


def chunks(*texts):
    def chunk(delta, finish=None):
        return {
            "id": "c2",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt-4o-2024-08-06",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    return [*(chunk({"content": text}) for text in texts), chunk({}, "stop")]


@pytest.fixture
def client(model):
    with openai.OpenAI(api_key="none", base_url=model.url + "/v1", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(model):
    with anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0) as client:
        yield client


def only_span(captured):
    (span,) = captured.trace.spans
    return span


def test_a_wrapped_client_is_still_a_client_of_its_class(client, claude):
    assert type(wrap(client)) is openai.OpenAI
    assert type(wrap(claude)) is anthropic.Anthropic
    assert isinstance(wrap(openai.AsyncOpenAI(api_key="none")), openai.AsyncOpenAI)


def test_the_given_client_stays_as_it_is(client, model):
    model.answers(completion())
    resource, before = client.chat.completions, dict(vars(client))
    wrapped = wrap(client)
    assert wrapped is not client
    assert vars(client) == before
    assert client.chat.completions is resource
    with capture() as captured:
        client.chat.completions.create(**ASK)
    assert not captured.trace.spans
    assert "post" not in vars(openai.OpenAI) or not hasattr(openai.OpenAI.post, "__wrapped__")


def test_wrapping_twice_records_once(client, model):
    model.answers(completion())
    wrapped = wrap(wrap(client))
    with capture() as captured:
        wrapped.chat.completions.create(**ASK)
    assert only_span(captured).name == "chat gpt-4o"


def test_the_dropped_original_does_not_close_the_connections(model):
    model.answers(completion())
    wrapped = wrap(openai.OpenAI(api_key="none", base_url=model.url + "/v1"))
    gc.collect()
    assert wrapped.chat.completions.create(**ASK).id == "c1"
    wrapped.close()


def test_clients_made_from_a_wrapped_one_are_wrapped(client, claude, model):
    model.answers(completion())
    for make in (lambda c: c.with_options(timeout=7), lambda c: c.copy(max_retries=1)):
        made = make(wrap(client))
        assert isinstance(made, openai.OpenAI)
        with capture() as captured:
            made.chat.completions.create(**ASK)
        assert only_span(captured).output["text"] == "hello"
    assert wrap(claude).with_options(timeout=7).timeout == 7


def test_a_setting_changed_on_the_wrapped_client_counts(client, model):
    model.answers(completion())
    wrapped = wrap(client)
    wrapped.base_url = model.url + "/other/"
    wrapped.chat.completions.create(**ASK)
    assert model.requests[-1][0] == "/other/chat/completions"


@pytest.mark.parametrize(
    "given",
    [object(), "gpt-4o", None, openai, openai.OpenAI],
    ids=["object()", "text", "None", "module", "class"],
)
def test_an_unknown_client_is_an_error_that_lists_what_is_known(given):
    with pytest.raises(ConfigError, match=r"OpenAI, AsyncOpenAI.*Anthropic, AsyncAnthropic"):
        wrap(given)


def test_a_part_of_a_client_is_an_error_that_says_so(client):
    with pytest.raises(ConfigError, match="wrap the client itself"):
        wrap(client.chat)


@pytest.mark.parametrize("prices", [{"m": 1}, {"m": (1, -1)}, {"m": (1,)}, {1: (1, 1)}, [("m", 1)]], ids=repr)
def test_prices_that_are_none_are_an_error(client, prices):
    with pytest.raises(ConfigError, match="price"):
        wrap(client, prices=prices)


def test_a_tracer_that_is_none_is_an_error(client):
    with pytest.raises(ConfigError, match="tracer is a Tracer"):
        wrap(client, tracer="my_project")


def test_wrapping_imports_no_library():
    code = "import sys, agenttrace.integrations.wrap; print({'openai', 'anthropic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_call_outside_every_trace_is_a_trace_of_its_own(client, model, tracer):
    model.answers(completion())
    wrapped = wrap(client, tracer=tracer)
    wrapped.chat.completions.create(**ASK)
    wrapped.chat.completions.create(**ASK)
    assert tracer.flush()
    traces = tracer.store.traces()
    assert len(traces) == 2


def test_a_call_stands_under_the_call_that_makes_it(client, model, tracer):
    model.answers(completion())
    wrapped = wrap(client)

    @tracer.observe(span_type="agent")
    def agent():
        return wrapped.chat.completions.create(**ASK).choices[0].message.content

    with capture() as captured:
        agent()
    agent_span, call = captured.trace.spans
    assert (agent_span.name, call.parent_id) == ("agent", agent_span.span_id)


def test_the_tools_of_a_request_are_known_to_guards(client, model):
    model.answers(completion())
    offered = [{"type": "function", "function": {"name": "delete_order", "parameters": {"type": "object"}}}]
    with capture() as captured:
        wrap(client).chat.completions.create(**ASK, tools=offered)
    scorer = TrajectoryScorer(expected=expect(never=["delte_*", "delete_*"]))
    score = scorer.score(Example(), captured.trace)
    assert (score.outcome, score.details["vacuous"]) == ("passed", ["never delte_*"])


def test_the_cost_is_reckoned_with_cached_tokens_at_their_own_price(client, model):
    model.answers(completion())
    with capture() as captured:
        wrap(client).chat.completions.create(**ASK)
    usage = only_span(captured).usage
    assert usage["cost"] == pytest.approx((600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6)
    assert usage["cache_read_tokens"] == 400


def test_the_users_own_price_comes_first_and_no_price_is_no_cost(client, model):
    model.answers(completion())
    with capture() as captured:
        wrap(client, prices={"gpt-4o": (1, 2)}).chat.completions.create(**ASK)
    assert only_span(captured).usage["cost"] == pytest.approx((1000 * 1 + 100 * 2) / 1e6)
    other = model.answers({**completion(), "model": "my-own"})
    with capture() as captured:
        wrap(client).chat.completions.create(**ASK, extra_headers={"x-reply": str(other)})
    assert "cost" not in only_span(captured).usage


def test_settings_of_the_request_have_their_conventional_names(client, model):
    model.answers(completion())
    with capture() as captured:
        wrap(client).chat.completions.create(
            **ASK, temperature=0.5, max_completion_tokens=5, stop=["x"], extra_body={"seed": 3}
        )
    span = only_span(captured)
    told = span.attributes
    assert told["gen_ai.provider.name"] == "openai"
    assert told["gen_ai.request.temperature"] == 0.5
    assert told["gen_ai.request.max_tokens"] == 5
    assert told["gen_ai.request.stop_sequences"] == ["x"]
    assert told["gen_ai.request.seed"] == 3
    assert told["server.address"] == "127.0.0.1"
    assert span.input["seed"] == 3
    assert "tools" not in span.input


def test_a_stream_dropped_half_way_ends_its_span(client, model):
    model.streams(chunks("a", "b"))
    with capture() as captured:
        stream = wrap(client).chat.completions.create(**ASK, stream=True)
        assert next(stream).choices[0].delta.content == "a"
        assert not captured.trace.spans
        stream.response.close()
        del stream
        gc.collect()
    span = only_span(captured)
    assert (span.status, span.output) == ("abandoned", {"text": "a", "finish_reason": None})


def test_a_stream_dropped_before_its_first_item_ends_its_span(client, model):
    model.streams(chunks("a"))
    with capture() as captured:
        stream = wrap(client).chat.completions.create(**ASK, stream=True)
        response = stream.response
        del stream
        gc.collect()
        assert only_span(captured).status == "abandoned"
        response.close()


@pytest.mark.parametrize("leave", ["close", "with", "break out of the helper"])
def test_a_stream_that_is_left_ends_its_span(client, model, leave):
    model.streams(chunks("a", "b"))
    completions = wrap(client).chat.completions
    with capture() as captured:
        if leave == "close":
            stream = completions.create(**ASK, stream=True)
            next(stream)
            stream.close()
        elif leave == "with":
            with completions.create(**ASK, stream=True) as stream:
                next(stream)
        else:
            with completions.stream(**ASK) as stream:
                for _event in stream:
                    break
        assert only_span(captured).status == "abandoned"


def test_a_stream_left_after_its_last_word_is_complete(client, model):
    model.streams(chunks("a"))
    with capture() as captured:
        with wrap(client).chat.completions.create(**ASK, stream=True) as stream:
            for chunk in stream:
                if chunk.choices[0].finish_reason:
                    break
        assert only_span(captured).status == "ok"


def test_an_error_inside_a_stream_is_recorded_and_reaches_the_user(client, model):
    model.streams([*chunks("a")[:1], {"error": {"message": "overloaded"}}], done=False)
    with capture() as captured:
        stream = wrap(client).chat.completions.create(**ASK, stream=True)
        with pytest.raises(openai.APIError, match="overloaded"):
            list(stream)
    span = only_span(captured)
    assert span.error.type == "openai.APIError"
    assert span.output["text"] == "a"


def test_every_helper_of_a_stream_works(client, claude, model):
    model.streams(chunks("Hel", "lo"))
    with wrap(client).chat.completions.stream(**ASK) as stream:
        assert stream.until_done() is stream
        assert stream.get_final_completion().choices[0].message.content == "Hello"
    events = [
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "claude-of-tomorrow",
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 3, "output_tokens": 1},
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    number = str(model.streams(events, done=False))
    asked = wrap(claude).messages.stream(**ASK_CLAUDE, extra_headers={"x-reply": number})
    with capture() as captured, asked as stream:
        assert list(stream.text_stream) == ["Hel", "lo"]
        assert stream.get_final_text() == "Hello"
        assert stream.response.status_code == 200
    span = only_span(captured)
    assert span.output == {"text": "Hello", "finish_reason": "end_turn"}
    assert span.usage["total_tokens"] == 5
    assert span.attributes["gen_ai.provider.name"] == "anthropic"


class Weather(BaseModel):
    city: str
    warm: bool


def test_parsed_answers_are_recorded_as_text(client, model):
    model.answers(completion('{"city": "Oslo", "warm": true}'))
    with capture() as captured:
        parsed = wrap(client).chat.completions.parse(**ASK, response_format=Weather)
    assert parsed.choices[0].message.parsed == Weather(city="Oslo", warm=True)
    span = only_span(captured)
    assert span.output["text"] == '{"city": "Oslo", "warm": true}'
    assert span.input["response_format"]["json_schema"]["name"] == "Weather"


def test_the_error_of_a_call_is_the_very_error_that_was_raised(client, model):
    class Broken(Exception):
        pass

    error = Broken("no wire")
    wrapped = wrap(client)

    def fail(*args, **kwargs):
        raise error

    wrapped._client = type("Transport", (), {"build_request": fail, "timeout": 1})()
    with capture() as captured, pytest.raises(Broken) as caught:
        wrapped.chat.completions.create(**ASK)
    assert caught.value is error
    assert only_span(captured).error.message == "no wire"


def test_a_reply_that_cannot_be_read_reaches_the_user_and_is_counted(
    client, model, tracer, monkeypatch, caplog
):
    model.answers(completion())

    class Bad(wrap_module.ChatReader):
        def reply(self, reply):
            raise ValueError("unreadable")

    monkeypatch.setitem(wrap_module._READERS, ("openai", "chat/completions"), Bad)
    wrapped = wrap(client, tracer=tracer)
    assert wrapped.chat.completions.create(**ASK).id == "c1"
    assert tracer.stats()["recording_errors"] == 1
    assert "a call was recorded in part: ValueError: unreadable (said once)" in caplog.text
    assert ", in reply" in caplog.text  # where it happened


@pytest.mark.parametrize("body", ["[1]", '"x"', "{}", '{"choices": [null]}', '{"choices": 5, "usage": 7}'])
def test_strange_replies_reach_the_user_and_leave_a_span(client, model, body):
    model.answers(body)
    plain = client.chat.completions.create(**ASK)
    with capture() as captured:
        assert wrap(client).chat.completions.create(**ASK) == plain
    assert only_span(captured).status == "ok"


def test_a_request_that_is_none_to_a_model_is_not_recorded(client, model):
    model.answers({"object": "list", "model": "e", "data": [], "usage": {}})
    with capture() as captured:
        wrap(client).embeddings.create(model="e", input="x", encoding_format="float")
    assert not captured.trace.spans


def test_a_client_is_returned_untouched_where_recording_is_off(client, model, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
    assert wrap(client) is client
    monkeypatch.undo()
    model.answers(completion())
    off = Tracer("off", store="memory", enabled=False)
    assert wrap(client, tracer=off).chat.completions.create(**ASK).id == "c1"
    assert not off.store.traces()


def test_calls_that_are_sampled_out_leave_no_span(client, model):
    model.streams(chunks("a"))
    none = Tracer("none", store="memory", sample_rate=0)
    assert len(list(wrap(client, tracer=none).chat.completions.create(**ASK, stream=True))) == 2
    assert none.stats()["sampled_out"] == 1
    assert not none.store.traces()
    none.shutdown()


def test_calls_on_many_threads_are_kept_apart(client, model):
    numbers = [model.answers(completion(f"answer {n}")) for n in range(8)]
    wrapped, seen = wrap(client), {}

    def ask(number):
        with capture() as captured:
            wrapped.chat.completions.create(**ASK, extra_headers={"x-reply": str(number)})
        seen[number] = only_span(captured).output["text"]

    threads = [threading.Thread(target=ask, args=(n,)) for n in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {n: f"answer {n}" for n in numbers}


def test_a_cancelled_call_ends_as_cancelled(model):
    async def main():
        stuck = asyncio.Event()

        async def wait(*args, **kwargs):
            stuck.set()
            await asyncio.sleep(30)

        client = openai.AsyncOpenAI(api_key="none", base_url=model.url)
        wrapped = wrap(client)
        client._client.send = wait
        task = asyncio.create_task(wrapped.chat.completions.create(**ASK))
        await stuck.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.close()

    with capture() as captured:
        asyncio.run(main())
    assert only_span(captured).status == "cancelled"


def test_an_azure_client_is_told_apart(model):
    model.answers(completion())
    azure = openai.AzureOpenAI(api_key="none", api_version="2024-10-21", azure_endpoint=model.url)
    with capture() as captured:
        wrap(azure).chat.completions.create(**ASK)
    azure.close()
    assert only_span(captured).attributes["gen_ai.provider.name"] == "azure.ai.openai"
    assert model.requests[-1][0].startswith("/openai/deployments/gpt-4o/chat/completions")


def test_a_raw_response_is_recorded_though_never_parsed(client, model):
    model.answers(completion())
    with capture() as captured:
        response = wrap(client).chat.completions.with_raw_response.create(**ASK)
    assert response.http_response.json()["id"] == "c1"
    assert only_span(captured).output["text"] == "hello"


def test_the_bytes_of_a_stream_can_be_read_by_the_caller(client, model):
    model.streams(chunks("a"))
    asked = wrap(client).chat.completions.with_streaming_response.create(**ASK, stream=True)
    with capture() as captured, asked as response:
        assert "data: [DONE]" in list(response.iter_lines())
    span = only_span(captured)
    assert (span.status, span.output) == ("ok", None)


def test_a_vertex_client_is_told_apart(model):
    model.answers({"id": "m", "type": "message", "role": "assistant", "model": "c", "content": []})
    vertex = anthropic.AnthropicVertex(
        region="nowhere", project_id="p", access_token="none", base_url=model.url, max_retries=0
    )
    with capture() as captured:
        wrap(vertex).messages.create(**ASK_CLAUDE)
    vertex.close()
    assert only_span(captured).attributes["gen_ai.provider.name"] == "gcp.vertex_ai"
    assert model.requests[-1][0].endswith("models/claude-of-tomorrow:rawPredict")


def test_without_any_tracer_calls_go_to_the_default_store(model, tmp_path):
    model.answers(completion())
    code = (
        "from openai import OpenAI\n"
        "from agenttrace import wrap\n"
        f"client = wrap(OpenAI(api_key='none', base_url={model.url!r}))\n"
        "client.chat.completions.create(model='m', messages=[])\n"
    )
    path = tmp_path / "traces.db"
    environment = {**os.environ, "AGENTTRACE_STORE": str(path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    store = open_store(path)
    assert [trace.name for trace in store.traces()] == ["chat m"]
    store.close()
