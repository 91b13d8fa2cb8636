"""Prepared exchanges, played to the real packages with and without `wrap`, by every method that makes them.

The user must see the same either way; the span must say what was answered. Exchanges made up for this test
are in ``exchanges.json``; recorded ones are beside the project.
"""

import asyncio
import gzip
import json
import warnings
from collections import Counter
from contextvars import copy_context
from pathlib import Path

import pytest

from agenttrace import Example, Trace
from agenttrace.integrations.wrap import wrap
from agenttrace.scorers import (
    LoopScorer,
    ToolCallArgsScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)
from agenttrace.tracing.capture import capture

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

HERE = Path(__file__).parent
MADE_UP = json.loads((HERE / "exchanges.json").read_text())
RECORDED = HERE.parents[1] / ".." / "shared" / "data" / "cassettes"

CANNOT = {
    "bedrock-runtime.us-east-1.amazonaws.com": "Bedrock's Converse API: neither package has a method for it",
    "generativelanguage.googleapis.com": "the Gemini API: neither package has a method for it",
    "api.openai.com/v1/traces/ingest": "the trace upload of OpenAI's agents package: no call to a model",
}


def recorded():
    if not RECORDED.exists():
        return []
    with gzip.open(RECORDED / "interactions.jsonl.gz", "rt") as lines:
        found = [json.loads(line) for line in lines]
    expected = json.loads((RECORDED / "EXPECTED.json").read_text())
    assert len(found) == len(expected)
    for exchange, answer in zip(found, expected, strict=True):
        assert (exchange["cassette"], exchange["i"]) == (answer["cassette"], answer["i"])
        exchange["expected"] = answer
        exchange["name"] = f"{exchange['cassette'].removesuffix('.yaml')}-{exchange['i']}"
    return found


def why_not(exchange):
    """Why the packages cannot make an exchange, or None."""
    place = exchange["uri"].partition("://")[2]
    return next((reason for start, reason in CANNOT.items() if place.startswith(start)), None)


def dumped(thing):
    """An object of the packages as plain data, with its type."""
    if hasattr(thing, "model_dump"):
        return [type(thing).__name__, thing.model_dump(mode="json", warnings=False)]
    return thing


# How an exchange is made: each takes a resource (chat.completions, responses, messages) and the request.


def create(resource, request):
    return dumped(resource.create(**request))


def create_raw(resource, request):
    response = resource.with_raw_response.create(**request)
    return [
        type(response).__name__,
        response.status_code,
        dumped(response.parse()),
        response.http_response.text,
    ]


def create_streaming_response(resource, request):
    with resource.with_streaming_response.create(**request) as response:
        return [type(response).__name__, dumped(response.parse())]


def read_streaming_response(resource, request):
    with resource.with_streaming_response.create(**request) as response:
        return response.read().decode()


async def create_async(resource, request):
    return dumped(await resource.create(**request))


async def create_async_streaming_response(resource, request):
    async with resource.with_streaming_response.create(**request) as response:
        return [type(response).__name__, dumped(await response.parse())]


def iterate(resource, request):
    stream = resource.create(**request)
    items = [dumped(item) for item in stream]
    return [type(stream).__name__, stream.response.status_code, items]


def iterate_by_next(resource, request):
    items = []
    with resource.create(**request) as stream:
        while (item := next(stream, None)) is not None:
            items.append(dumped(item))
    return items


def iterate_in_two_loops(resource, request):
    stream = resource.create(**request)
    first = [dumped(item) for item, _ in zip(stream, range(2), strict=False)]
    return [first, [dumped(item) for item in stream]]


def iterate_raw(resource, request):
    response = resource.with_raw_response.create(**request)
    return [type(response).__name__, [dumped(item) for item in response.parse()]]


def iterate_streaming_response(resource, request):
    with resource.with_streaming_response.create(**request) as response:
        return [dumped(item) for item in response.parse()]


async def iterate_async(resource, request):
    stream = await resource.create(**request)
    items = [dumped(item) async for item in stream]
    return [type(stream).__name__, items]


async def iterate_async_by_next(resource, request):
    items = []
    async with await resource.create(**request) as stream:
        try:
            while True:
                items.append(dumped(await stream.__anext__()))
        except StopAsyncIteration:
            return items


def events(resource, request):
    request = {name: value for name, value in request.items() if name != "stream"}
    with resource.stream(**request) as stream:
        found = [dumped(event) for event in stream]
        return [type(stream).__name__, found, dumped(_final(stream))]


async def events_async(resource, request):
    request = {name: value for name, value in request.items() if name != "stream"}
    async with resource.stream(**request) as stream:
        found = [dumped(event) async for event in stream]
        return [type(stream).__name__, found, dumped(await _final(stream))]


def _final(stream):
    for name in ("get_final_completion", "get_final_response", "get_final_message"):
        if hasattr(stream, name):
            return getattr(stream, name)()
    raise AssertionError(f"{stream} has no final answer")


WHOLE = [
    create,
    create_raw,
    create_streaming_response,
    read_streaming_response,
    create_async,
    create_async_streaming_response,
]
STREAMED = [
    iterate,
    iterate_by_next,
    iterate_in_two_loops,
    iterate_raw,
    iterate_streaming_response,
    iterate_async,
    iterate_async_by_next,
    events,
    events_async,
]


class Player:
    """Plays exchanges to plain and to wrapped clients."""

    def __init__(self, served, runner):
        self.served, self.runner = served, runner
        options = {"api_key": "none", "max_retries": 0, "timeout": 20}
        self.plain = {
            ("openai", False): openai.OpenAI(base_url=served.url + "/v1", **options),
            ("openai", True): openai.AsyncOpenAI(base_url=served.url + "/v1", **options),
            ("anthropic", False): anthropic.Anthropic(base_url=served.url, **options),
            ("anthropic", True): anthropic.AsyncAnthropic(base_url=served.url, **options),
        }
        self.wrapped = {key: wrap(client) for key, client in self.plain.items()}

    def play(self, clients, exchange, how, number):
        """What the user sees: what came back, or what was raised."""
        is_async = asyncio.iscoroutinefunction(how)
        library = "anthropic" if "anthropic" in exchange["uri"] else "openai"
        client = clients[library, is_async]
        request = {**exchange["request"], "extra_headers": {"x-reply": str(number)}, "timeout": 20}
        if library == "anthropic":
            resource = client.beta.messages if "beta=true" in exchange["uri"] else client.messages
        else:
            resource = client.chat.completions if "/chat/" in exchange["uri"] else client.responses
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the packages warn of old models
            try:
                made = how(resource, request)
                if is_async:
                    made = self.runner.run(made, context=copy_context())
                return ["returned", made]
            except Exception as error:
                return ["raised", type(error).__name__, str(error), getattr(error, "body", None)]


@pytest.fixture(scope="module")
def player(served):
    with asyncio.Runner() as runner:
        player = Player(served, runner)
        yield player
        for (_, is_async), client in player.plain.items():
            if is_async:
                runner.run(client.close())
            else:
                client.close()


def check(player, exchange):
    """Play an exchange by every method; both clients behave alike, the span tells what was expected."""
    number = player.served.answers(
        exchange["response_body"], exchange["status"], exchange.get("content_type") or None
    )
    told = Counter()
    for how in STREAMED if exchange["stream"] else WHOLE:
        unwrapped = player.play(player.plain, exchange, how, number)
        with capture() as captured:
            seen = player.play(player.wrapped, exchange, how, number)
        assert seen == unwrapped, how.__name__
        if not captured.trace.spans:
            assert seen[0] == "raised", how.__name__  # refused by the package, before any request
            assert seen[1] == "TypeError", seen
            told["refused"] += 1
            continue
        (span,) = captured.trace.spans
        check_span(span, exchange, seen, how)
        if span.status == "ok" and len(exchange["expected"]["choices"]) == 1:
            check_same_calls(captured.trace, Trace.from_messages([answered(exchange)]), how.__name__)
        told["played"] += 1
    assert told["played"] >= 5
    return told


def check_span(span, exchange, seen, how):
    expected = exchange["expected"]
    assert span.span_type == "llm"
    assert span.name == f"chat {exchange['request']['model']}"
    assert span.attributes["gen_ai.request.model"] == exchange["request"]["model"]
    messages = exchange["request"].get("messages", exchange["request"].get("input"))
    assert json.loads(json.dumps(span.input.get("messages", span.input.get("input")))) == messages
    if exchange["status"] >= 400:
        assert span.status == "error"
        assert span.error.type.rpartition(".")[2] == seen[1]
        assert span.error.message.startswith(seen[2][:200])
        assert span.attributes["error.type"] == seen[1]
        return
    if seen[0] == "raised":  # by a helper, of an answer that it does not like
        assert span.status in ("ok", "abandoned"), how.__name__
        return
    assert span.error is None
    assert span.status == "ok"
    assert span.attributes["gen_ai.response.id"] == expected["id"]
    assert span.attributes["gen_ai.response.model"] == expected["response_model"]
    answers = span.output if isinstance(span.output, list) else [span.output]
    assert len(answers) == len(expected["choices"])
    for answer, wanted in zip(answers, expected["choices"], strict=True):
        assert answer["text"] == (wanted["text"] or "")
        calls = [
            {"id": call["id"], "name": call["name"], "args": call["arguments"]}
            for call in answer.get("tool_calls", [])
        ]
        assert calls == wanted["tool_calls"]
        assert answer["finish_reason"] == wanted.get("finish_reason", expected.get("status_text"))
    check_usage(span, expected["usage"])
    assert ("gen_ai.response.time_to_first_chunk" in span.attributes) == exchange["stream"]


def check_usage(span, usage):
    if usage is None:
        assert span.usage is None
        return
    sent = usage.get("prompt_tokens", usage.get("input_tokens"))
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    assert span.usage["input_tokens"] == sent + cached + written
    assert span.usage["output_tokens"] == usage.get("completion_tokens", usage.get("output_tokens"))
    if "total_tokens" in usage:
        assert span.usage["total_tokens"] == usage["total_tokens"]
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    if "cached_tokens" in details:
        assert span.usage["cache_read_tokens"] == details["cached_tokens"]
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
    if "reasoning_tokens" in details:
        assert span.usage["reasoning_tokens"] == details["reasoning_tokens"]
    assert span.attributes["gen_ai.usage.input_tokens"] == span.usage["input_tokens"]


# The calls of a run are the same live and from its messages.


def answered(exchange):
    """The message that an exchange's answer is."""
    (choice,) = exchange["expected"]["choices"]
    return {"role": "assistant", "content": choice["text"], "tool_calls": choice["tool_calls"]}


def messages_of(exchange):
    messages = exchange["request"].get("messages", exchange["request"].get("input"))
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else messages


def check_same_calls(live, chat, name):
    """The same calls; of what became of them, live tells no less than the messages, and nothing else."""
    assert [(c.name, c.arguments) for c in live.tool_calls] == [
        (c.name, c.arguments) for c in chat.tool_calls
    ], name
    for call, again in zip(live.tool_calls, chat.tool_calls, strict=True):
        assert (call.output, call.failed) == (again.output, again.failed) or call.status == "attempted", name
        assert call.status == again.status or call.status == "attempted", name


def conversations(exchanges):
    """The runs among the exchanges: each request goes on from the messages of the one before."""
    runs = []
    for exchange in exchanges:
        is_answered = why_not(exchange) is None and exchange["status"] < 400
        if not is_answered or len(exchange["expected"]["choices"]) != 1:
            continue
        last = runs[-1][-1] if runs and runs[-1][-1]["cassette"] == exchange["cassette"] else None
        before = messages_of(last) if last is not None else []
        if (
            before
            and len(messages_of(exchange)) > len(before)
            and messages_of(exchange)[: len(before)] == before
        ):
            runs[-1].append(exchange)
        else:
            runs.append([exchange])
    return runs


LEAST = {"answered": 10, "requested": 20, "ok": 2}
SCORERS = [
    ToolOrderScorer(),
    ToolOrderScorer(exact_match=True),
    ToolOrderScorer(attempts="collapse", exact_match=True),
    ToolOrderScorer(attempts="successes"),
    ToolCallArgsScorer(),
    ToolPermissionScorer(deny="*weather*"),
    LoopScorer(),
    TrajectoryScorer(metric="f1", threshold=0.6),
]


@pytest.mark.shared
@pytest.mark.parametrize("number", range(10))
def test_a_recorded_conversation_is_one_run_live_stored_and_from_its_messages(player, tracer, number):
    runs = conversations(recorded())
    if not runs:
        pytest.skip("the recorded exchanges are not beside the project")
    for run in runs[number::10]:
        name = run[0]["name"]
        with tracer.capture() as captured:
            for exchange in run:
                reply = player.served.answers(
                    exchange["response_body"], exchange["status"], exchange.get("content_type") or None
                )
                player.play(player.wrapped, exchange, iterate if exchange["stream"] else create, reply)
        assert tracer.flush()
        stored = tracer.store.trace(captured.trace.trace_id)
        begun = len(messages_of(run[0]))  # what was asked for before is not part of the run
        chat = Trace.from_messages([*messages_of(run[-1])[begun:], answered(run[-1])])
        check_same_calls(captured.trace, chat, name)
        check_same_calls(stored, chat, name)
        expected = [{"tool_name": c.name, "parameters": dict(c.arguments)} for c in chat.tool_calls]
        for example in (Example(expected_tools=expected), Example(expected_tools=expected[::-1])):
            for scorer in SCORERS:
                outcomes = {scorer.score(example, t).outcome for t in (captured.trace, stored, chat)}
                assert not outcomes >= {"passed", "failed"}, (name, scorer.name, outcomes)


@pytest.mark.shared
def test_the_recorded_conversations_hold_calls_of_every_kind():
    runs = conversations(recorded())
    if not runs:
        pytest.skip("the recorded exchanges are not beside the project")
    statuses = Counter()
    for run in runs:
        begun = len(messages_of(run[0]))
        chat = Trace.from_messages([*messages_of(run[-1])[begun:], answered(run[-1])])
        statuses.update(call.status for call in chat.tool_calls)
    assert len(runs) >= 60
    assert max(map(len, runs)) >= 4
    assert all(statuses[status] >= least for status, least in LEAST.items()), statuses


@pytest.mark.parametrize("exchange", MADE_UP, ids=lambda exchange: exchange["name"])
def test_a_made_up_exchange_is_seen_unchanged_and_recorded(player, exchange):
    check(player, exchange)


@pytest.mark.shared
@pytest.mark.parametrize(
    "exchange", [e for e in recorded() if why_not(e) is None], ids=lambda exchange: exchange["name"]
)
def test_a_recorded_exchange_is_seen_unchanged_and_recorded(player, exchange):
    assert not exchange["expected"].get("skip")
    check(player, exchange)


@pytest.mark.shared
def test_every_recorded_exchange_is_played_or_listed_with_a_reason():
    exchanges = recorded()
    if not exchanges:
        pytest.skip("the recorded exchanges are not beside the project")
    reasons = Counter(why_not(exchange) for exchange in exchanges)
    assert reasons.pop(None) == 102
    assert reasons == {
        CANNOT["bedrock-runtime.us-east-1.amazonaws.com"]: 1,
        CANNOT["generativelanguage.googleapis.com"]: 2,
        CANNOT["api.openai.com/v1/traces/ingest"]: 6,
    }
    assert all(e["expected"].get("skip") for e in exchanges if why_not(e) is not None)
