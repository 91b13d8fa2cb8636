"""OpenAI-compatible endpoints, over HTTP."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import JudgeError
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel

MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "text"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
RECORDED = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "cassettes"


def chat(content: Any = "{}", **message: Any) -> dict[str, Any]:
    return {
        "choices": [
            {"message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
    }


def ask(server: Any, **options: Any) -> Any:
    options = {"api_key": "sk-test", "base_url": f"{server.url}/v1", **options}
    model = OpenAICompatibleModel(options.pop("name", "gpt-4.1"), **options)
    return asyncio.run(model.complete(MESSAGES, SCHEMA))


def test_a_chat_completion_is_asked_for_with_schema_and_temperature_zero(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond(chat('{"a": "b"}')))
    reply = ask(server)
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.json == {
        "model": "gpt-4.1",
        "temperature": 0.0,
        "messages": MESSAGES,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
        },
    }
    assert (reply.text, reply.finish, reply.input_tokens, reply.output_tokens) == (
        '{"a": "b"}',
        "stop",
        1000,
        100,
    )
    assert reply.cost == pytest.approx(1000 * 2e-6 + 100 * 8e-6)


def test_the_responses_api_is_asked_in_its_own_words(endpoint: Any, respond: Any) -> None:
    body = {
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": '{"a": "b"}'}]},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }
    server = endpoint(lambda _: respond(body))
    reply = ask(server, api="responses", name="gpt-5")
    request = server.requests[0]
    assert request.path == "/v1/responses"
    assert request.json == {
        "model": "gpt-5",
        "input": MESSAGES,
        "store": False,
        "text": {"format": {"type": "json_schema", "name": "reply", "schema": SCHEMA, "strict": True}},
    }
    assert (reply.text, reply.finish, reply.input_tokens) == ('{"a": "b"}', "stop", 10)


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(("structured", "kind"), [("json_object", "json_object"), ("prompt", None)])
def test_endpoints_without_schemas_can_be_asked_for_less(
    endpoint: Any, respond: Any, api: Any, structured: Any, kind: str | None
) -> None:
    server = endpoint(lambda _: respond(chat()))
    ask(server, api=api, structured=structured)
    sent = server.requests[0].json
    asked = sent.get("response_format") if api == "chat" else sent.get("text", {}).get("format")
    assert asked == (None if kind is None else {"type": kind})


@pytest.mark.parametrize("name", ["o3", "o4-mini", "gpt-5-mini"])
def test_families_that_refuse_a_temperature_get_none(endpoint: Any, respond: Any, name: str) -> None:
    server = endpoint(lambda _: respond(chat()))
    ask(server, name=name)
    assert "temperature" not in server.requests[0].json


def test_extra_settings_reach_the_endpoint(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond(chat()))
    ask(server, extra={"seed": 7, "max_tokens": 50})
    assert (server.requests[0].json["seed"], server.requests[0].json["max_tokens"]) == (7, 50)


def test_a_local_endpoint_needs_no_key(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond(chat()))
    ask(server, api_key=None)
    assert "authorization" not in server.requests[0].headers


def test_a_refusal_is_told_apart(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond(chat(None, refusal="I cannot judge this.")))
    reply = ask(server)
    assert (reply.text, reply.finish) == ("I cannot judge this.", "refusal")
    body = {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]}
    server = endpoint(lambda _: respond(body))
    assert ask(server, api="responses").finish == "refusal"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": [1]}}], "usage": [1]},
        {"choices": "x", "usage": {"prompt_tokens": "many", "completion_tokens": True}},
        {"output": [None, {"type": "message"}, {"type": "message", "content": [None, {"text": 3}]}]},
    ],
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_body_of_another_shape_is_an_empty_reply(endpoint: Any, respond: Any, body: Any, api: Any) -> None:
    server = endpoint(lambda _: respond(body))
    reply = ask(server, api=api)
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.cost) == ("", None, None, None)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'"x"', b'{"a": 1, "a": 2}', b'{"a": NaN}', b"\xff\xfe", b"[" * 100_000]
)
def test_a_body_that_is_no_json_object_is_an_error(endpoint: Any, respond: Any, body: bytes) -> None:
    server = endpoint(lambda _: respond(body))
    with pytest.raises(JudgeError, match=r"'gpt-4.1' answered with something that is no JSON object"):
        ask(server)


def test_an_error_status_gives_the_endpoints_own_words_cut(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond({"error": {"message": "no such\nmodel " + "x" * 1000}}, 404))
    with pytest.raises(JudgeError, match=r"'gpt-4.1' answered 404: no such model x+…$") as caught:
        ask(server)
    assert len(str(caught.value)) < 400


def test_a_refused_key_names_where_it_came_from(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond({"error": "bad key sk-te***"}, 401))
    with pytest.raises(JudgeError, match=r"refuses the key \(401\); see api_key$"):
        ask(server)


@pytest.mark.shared
def test_recorded_replies_are_read_as_their_texts() -> None:
    if not RECORDED.is_dir():
        pytest.skip("the recorded API replies are not here")
    chat, responses = (
        OpenAICompatibleModel("m", base_url="http://127.0.0.1", api=api) for api in ("chat", "responses")
    )
    read = 0
    with gzip.open(RECORDED / "interactions.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row["stream"] or row["status"] != 200 or "response_encoding" in row:
                continue
            body = json.loads(row["response_body"])
            if row["uri"].endswith("/chat/completions"):
                reply = chat._reply(body)
                message = body["choices"][0]["message"]
                assert reply.text == (message.get("refusal") or message.get("content") or "")
                assert reply.input_tokens == body["usage"]["prompt_tokens"]
            elif row["uri"].endswith("/responses"):
                reply = responses._reply(body)
                assert reply.input_tokens == body["usage"]["input_tokens"]
            else:
                continue
            read += 1
    assert read > 20


def test_a_response_that_was_cut_off_says_why(endpoint: Any, respond: Any) -> None:
    body = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}
    server = endpoint(lambda _: respond(body))
    assert ask(server, api="responses").finish == "max_output_tokens"
