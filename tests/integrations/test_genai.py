"""`wrap` for google-genai: with a client that sends as the package's does, and with the package itself."""

import asyncio
import gc
import json

import pytest

from agenttrace import Example, ToolOrderScorer, call
from agenttrace.core.errors import ConfigError
from agenttrace.integrations.wrap import is_wrapped, wrap
from agenttrace.tracing.capture import capture
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.open_span import SpanBlock

USAGE = {
    "promptTokenCount": 50,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 3,
    "cachedContentTokenCount": 10,
    "totalTokenCount": 60,
}
DECLARED = {
    "functionDeclarations": [
        {"name": "get_weather", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}}
    ]
}
ASKED = [{"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}]
HOSTED = [
    {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
    {"executableCode": {"language": "PYTHON", "code": "1/0"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
    {"text": "done"},
]
GROUNDED = {
    "webSearchQueries": ["weather Oslo"],
    "groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}],
}


def reply(*pieces, finish="STOP", **more):
    candidate = {"content": {"role": "model", "parts": list(pieces)}, "index": 0, **more}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": USAGE,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "r1",
    }


class Response:
    """What the client's sender gives: the reply's text."""

    def __init__(self, data):
        self.headers = {}
        self.body = json.dumps(data)


class Sender:
    """Sends as the package's `_api_client` does: four methods, replies from a list."""

    vertexai = False

    def __init__(self, replies):
        self.replies = replies

    def next(self):
        answer = self.replies.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def request(self, method, path, body, options=None):
        return Response(self.next())

    async def async_request(self, method, path, body, options=None):
        return Response(self.next())

    def request_streamed(self, method, path, body, options=None):
        for item in self.next():
            yield Response(item)

    async def async_request_streamed(self, method, path, body, options=None):
        items = self.next()

        async def chunks():
            for item in items:
                yield Response(item)

        return chunks()


class Models:
    def __init__(self, api):
        self._api_client = api

    def generate(self, contents="hi", **body):
        request = {"contents": [{"role": "user", "parts": [{"text": contents}]}], "_url": {}, **body}
        return json.loads(self._api_client.request("post", PATH, request, None).body)

    def stream(self):
        for item in self._api_client.request_streamed("post", STREAM_PATH, {"contents": []}, None):
            yield json.loads(item.body)

    def embed(self):
        return self._api_client.request("post", "models/e:embedContent", {}, None)


class AsyncModels(Models):
    async def generate(self):
        return await self._api_client.async_request("post", PATH, {"contents": []}, None)

    async def stream(self):
        async for item in await self._api_client.async_request_streamed(
            "post", STREAM_PATH, {"contents": []}, None
        ):
            yield json.loads(item.body)


class AsyncClient:
    def __init__(self, api):
        self._api_client = api
        self._models = AsyncModels(api)


class Client:
    def __init__(self, *replies):
        self._api_client = Sender(list(replies))
        self._models = Models(self._api_client)
        self._aio = AsyncClient(self._api_client)


for _cls in (Client, AsyncClient, Models):
    _cls.__module__ = "google.genai.client"

PATH = "models/gemini-2.5-flash:generateContent"
STREAM_PATH = "models/gemini-2.5-flash:streamGenerateContent?alt=sse"


def only_span(captured):
    (span,) = captured.trace.spans
    return span


def agent():
    return SpanBlock(default_recorder(), "agent", "agent", None)


def test_a_reply_is_an_llm_span_with_its_request_usage_and_settings():
    client = Client(reply({"text": "hm", "thought": True}, {"text": "hello"}))
    with capture() as captured:
        wrap(client)._models.generate(generationConfig={"temperature": 0.5, "maxOutputTokens": 9})
    span = only_span(captured)
    assert (span.name, span.span_type) == ("chat gemini-2.5-flash", "llm")
    assert span.output == {"text": "hello", "reasoning": "hm", "finish_reason": "STOP"}
    assert {word: span.usage[word] for word in ("input_tokens", "output_tokens", "total_tokens")} == {
        "input_tokens": 50,
        "output_tokens": 10,
        "total_tokens": 60,
    }
    assert (span.usage["cache_read_tokens"], span.usage["reasoning_tokens"]) == (10, 3)
    assert span.attributes["gen_ai.provider.name"] == "gcp.gemini"
    assert span.attributes["gen_ai.request.temperature"] == 0.5
    assert span.attributes["gen_ai.request.max_tokens"] == 9
    assert set(span.input) == {"model", "contents", "generationConfig"}


def test_the_given_client_stays_as_it_is_and_wrapping_twice_records_once():
    client = Client(reply({"text": "a"}), reply({"text": "b"}))
    wrapped = wrap(client)
    assert wrap(wrapped) is wrapped
    assert is_wrapped(wrapped)
    assert not is_wrapped(client)
    assert type(wrapped) is Client
    with capture() as captured:
        client._models.generate()
    assert not captured.trace.spans
    with capture() as captured:
        wrapped._models.generate()
    assert only_span(captured).output["text"] == "b"


def test_a_stream_is_one_span_also_one_that_is_left_or_never_begun():
    parts = [reply({"text": "It "}, finish=None), reply({"text": "is."})]
    client = wrap(Client(parts, parts, parts))
    with capture() as captured:
        assert len(list(client._models.stream())) == 2
    whole = only_span(captured)
    assert (whole.output["text"], whole.status) == ("It is.", "ok")
    with capture() as captured:
        stream = client._models.stream()
        next(stream)
        stream.close()
    left = only_span(captured)
    assert (left.output["text"], left.status) == ("It ", "abandoned")
    with capture() as captured:
        client._models.stream()
    assert not captured.trace.spans


def test_the_asynchronous_client_is_recorded_too():
    client = wrap(Client(reply({"text": "a"}), [reply({"text": "b"}, finish=None), reply({"text": "c"})]))

    async def run():
        await client._aio._models.generate()
        return [item async for item in client._aio._models.stream()]

    with capture() as captured, agent():
        assert len(asyncio.run(run())) == 2
    assert [span.output["text"] for span in captured.trace.spans[1:]] == ["a", "bc"]


def test_what_the_client_raises_is_raised_and_recorded():
    client = wrap(Client(RuntimeError("no quota")))
    with capture() as captured, pytest.raises(RuntimeError, match="no quota"):
        client._models.generate()
    assert only_span(captured).error.message == "no quota"


def test_a_reply_that_is_no_json_reaches_the_caller_all_the_same():
    client = Client()
    answer = Response({})
    answer.body = "<html>"
    client._api_client.request = None
    client._api_client = type("Odd", (Sender,), {"request": lambda self, *args: answer})([])
    with capture() as captured:
        assert wrap(client)._api_client.request("post", PATH, {"contents": []}, None) is answer
    assert only_span(captured).status == "ok"


def test_requests_to_other_things_than_models_are_not_recorded():
    with capture() as captured:
        wrap(Client({}))._models.embed()
    assert not captured.trace.spans


def test_a_prompt_that_was_blocked_has_its_reason():
    with capture() as captured:
        wrap(Client({"promptFeedback": {"blockReason": "SAFETY"}}))._models.generate()
    assert only_span(captured).output == {"text": "", "finish_reason": "SAFETY"}


def test_function_calls_are_asked_for_and_their_results_in_the_next_request_answer_them():
    client = wrap(Client(reply(*ASKED), reply({"text": "sunny"})))
    contents = [
        {"role": "model", "parts": ASKED},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "get_weather", "response": {"result": "sun"}}}],
        },
    ]
    with capture() as captured, agent():
        client._models.generate(tools=[DECLARED])
        client._api_client.request("post", PATH, {"contents": contents, "tools": [DECLARED]}, None)
    (one,) = captured.trace.tool_calls
    assert (one.name, one.arguments, one.output, one.status) == (
        "get_weather",
        {"city": "Paris"},
        "sun",
        "answered",
    )
    assert captured.trace.offered_tools == {"get_weather"}
    assert (
        ToolOrderScorer()
        .score(Example(expected_tools=[call("get_weather", city="Paris")]), captured.trace)
        .passed
    )


def test_results_without_an_id_answer_calls_that_have_one():
    """Gemini gives its calls ids; the library's automatic function calling leaves them out of the results."""
    cities = ("Paris", "Oslo", "Paris")
    asked = [
        {"functionCall": {"id": f"c{number}", "name": "get_weather", "args": {"city": city}}}
        for number, city in enumerate(cities)
    ]
    given = [
        {"functionResponse": {"name": "get_weather", "response": {"result": f"sun {number}"}}}
        for number in range(3)
    ]
    client = wrap(Client(reply(*asked[:2]), reply(asked[2]), reply({"text": "sunny"})))
    contents = [{"role": "model", "parts": asked[:2]}, {"role": "user", "parts": given[:2]}]
    more = [*contents, {"role": "model", "parts": asked[2:]}, {"role": "user", "parts": given[2:]}]
    with capture() as captured, agent():
        client._models.generate(tools=[DECLARED])
        for sent in (contents, more):
            client._api_client.request("post", PATH, {"contents": sent, "tools": [DECLARED]}, None)
    assert [(one.arguments["city"], one.output) for one in captured.trace.tool_calls] == [
        ("Paris", "sun 0"),
        ("Oslo", "sun 1"),
        ("Paris", "sun 2"),
    ]


@pytest.mark.parametrize("streamed", [False, True])
def test_code_that_the_provider_ran_and_searches_are_calls(streamed):
    data = reply(*HOSTED, groundingMetadata=GROUNDED)
    if streamed:
        data = [reply(piece, finish=None) for piece in HOSTED] + [reply(groundingMetadata=GROUNDED)]
    client = wrap(Client(data))
    with capture() as captured:
        list(client._models.stream()) if streamed else client._models.generate()
    assert [
        (one.name, one.arguments, one.output, one.error and one.error.message)
        for one in captured.trace.tool_calls
    ] == [
        ("google_search", {"queries": ["weather Oslo"]}, [{"uri": "https://a", "title": "A"}], None),
        ("code_execution", {"language": "PYTHON", "code": "print(1)"}, "1\n", None),
        ("code_execution", {"language": "PYTHON", "code": "1/0"}, None, "ZeroDivisionError"),
    ]


def test_a_part_of_a_client_is_an_error_that_says_so():
    with pytest.raises(ConfigError, match="wrap the client itself"):
        wrap(Client()._aio)


# The package itself, where it is installed.


@pytest.fixture
def package():
    return pytest.importorskip("google.genai", reason="google-genai is not installed")


def test_dropping_either_client_leaves_the_other_s_connections_open(package, model):
    model.answers(reply({"text": "hello"}))
    options = package.types.HttpOptions(base_url=model.url)
    client = package.Client(api_key="none", http_options=options)
    wrapped = wrap(client)
    assert wrapped.models.generate_content(model="m", contents="hi").text == "hello"
    del wrapped
    gc.collect()
    assert client.models.generate_content(model="m", contents="hi").text == "hello"
    wrapped = wrap(client)
    del client
    gc.collect()
    assert wrapped.models.generate_content(model="m", contents="hi").text == "hello"


@pytest.fixture
def real(package, model):
    options = package.types.HttpOptions(base_url=model.url)
    return wrap(package.Client(api_key="none", http_options=options))


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def test_the_package_s_client_is_recorded_by_every_method(real, package, model):
    model.answers(reply({"text": "hello"}))
    model.answers(
        "".join(f"data: {json.dumps(reply({'text': word}))}\n\n" for word in "ab"),
        content_type="text/event-stream",
    )
    assert isinstance(real, package.Client)
    options = package.types.HttpOptions(headers={"x-reply": "1"})
    config = package.types.GenerateContentConfig(http_options=options)

    async def asynchronously():
        await real.aio.models.generate_content(model="gemini-2.5-flash", contents="hi")
        stream = await real.aio.models.generate_content_stream(
            model="gemini-2.5-flash", contents="hi", config=config
        )
        texts = [item.text async for item in stream]
        await real.aio.aclose()
        return texts

    with capture() as captured, agent():
        assert real.models.generate_content(model="gemini-2.5-flash", contents="hi").text == "hello"
        stream = real.models.generate_content_stream(model="gemini-2.5-flash", contents="hi", config=config)
        assert [item.text for item in stream] == ["a", "b"]
        assert real.chats.create(model="gemini-2.5-flash").send_message("hi").text == "hello"
        assert asyncio.run(asynchronously()) == ["a", "b"]
    spans = captured.trace.spans[1:]
    assert [span.output["text"] for span in spans] == ["hello", "ab", "hello", "hello", "ab"]
    assert {span.attributes["server.address"] for span in spans} == {"127.0.0.1"}


def test_each_round_of_automatic_function_calling_is_a_span(real, package, model):
    model.answers(reply(*ASKED))
    config = package.types.GenerateContentConfig(
        tools=[get_weather],
        automatic_function_calling=package.types.AutomaticFunctionCallingConfig(maximum_remote_calls=2),
    )
    with capture() as captured, agent():
        real.models.generate_content(model="gemini-2.5-flash", contents="hi", config=config)
    models = [span for span in captured.trace.spans if span.span_type == "llm"]
    assert len(models) == 2
    first = captured.trace.tool_calls[0]
    assert (first.name, first.arguments, first.output) == ("get_weather", {"city": "Paris"}, "sunny in Paris")
    assert captured.trace.offered_tools == {"get_weather"}
