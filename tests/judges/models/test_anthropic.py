"""Anthropic's Messages API, over HTTP."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import JudgeError
from agenttrace.judges.models.anthropic import AnthropicModel

MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "text"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
RECORDED = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "cassettes"


def ask(server: Any, schema: Any = SCHEMA, **options: Any) -> Any:
    model = AnthropicModel("claude-sonnet-4-5", api_key="sk-ant-test", base_url=server.url, **options)
    return asyncio.run(model.complete(MESSAGES, schema))


def tool_use(value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t1", "name": "reply", "input": value}


def test_a_message_is_asked_for_with_a_forced_tool(endpoint: Any, respond: Any) -> None:
    body = {
        "content": [{"type": "text", "text": "Here:"}, tool_use({"a": "b"})],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    }
    server = endpoint(lambda _: respond(body))
    reply = ask(server)
    request = server.requests[0]
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == "sk-ant-test"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.json == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 4096,
        "temperature": 0.0,
        "system": "Judge.",
        "messages": [{"role": "user", "content": "text"}],
        "tools": [{"name": "reply", "description": "Give the reply.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "reply"},
    }
    assert (reply.text, reply.finish) == ('{"a":"b"}', "tool_use")
    assert reply.cost == pytest.approx(1000 * 3e-6 + 100 * 15e-6)


def test_without_a_schema_the_text_is_the_reply(endpoint: Any, respond: Any) -> None:
    body = {"content": [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there."}]}
    server = endpoint(lambda _: respond(body))
    assert ask(server, None).text == "Hello there."
    assert "tools" not in server.requests[0].json


def test_two_tool_calls_are_two_documents(endpoint: Any, respond: Any) -> None:
    server = endpoint(lambda _: respond({"content": [tool_use({"a": "1"}), tool_use({"a": "2"})]}))
    assert ask(server).text == '{"a":"1"}\n{"a":"2"}'


@pytest.mark.parametrize(
    "body",
    [{}, {"content": None}, {"content": [None]}, {"content": [{"type": "text", "text": 3}], "usage": 3}],
)
def test_a_body_of_another_shape_is_an_empty_reply(endpoint: Any, respond: Any, body: Any) -> None:
    server = endpoint(lambda _: respond(body))
    reply = ask(server)
    assert (reply.text, reply.cost) == ("", None)


def test_duplicate_keys_inside_a_tool_call_are_an_error(endpoint: Any, respond: Any) -> None:
    body = b'{"content": [{"type": "tool_use", "name": "reply", "input": {"score": 0, "score": 1}}]}'
    server = endpoint(lambda _: respond(body))
    with pytest.raises(JudgeError, match="a key stands twice"):
        ask(server)


def test_an_overloaded_endpoint_is_tried_again(endpoint: Any, respond: Any) -> None:
    server = endpoint(
        lambda _: (
            respond({"error": {"type": "overloaded_error"}}, 529)
            if len(server.requests) == 1
            else respond({"content": [tool_use({"a": "b"})]})
        )
    )
    assert ask(server).text == '{"a":"b"}'


@pytest.mark.shared
def test_recorded_replies_are_read_as_their_texts() -> None:
    if not RECORDED.is_dir():
        pytest.skip("the recorded API replies are not here")
    model = AnthropicModel("m", api_key="k")
    read = 0
    with gzip.open(RECORDED / "interactions.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row["stream"] or row["status"] != 200 or not row["uri"].endswith("/v1/messages"):
                continue
            body = json.loads(row["response_body"])
            texts = [part["text"] for part in body["content"] if part["type"] == "text"]
            reply = model._reply(body)
            assert reply.text == "".join(texts)
            assert reply.output_tokens == body["usage"]["output_tokens"]
            read += 1
    assert read > 3
