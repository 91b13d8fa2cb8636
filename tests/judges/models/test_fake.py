"""The scripted judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agenttrace.core.errors import JudgeError
from agenttrace.judges.models.fake import FakeChatModel, FakeRequest
from agenttrace.judges.models.reading import ChatReply
from agenttrace.judges.prompting import pose


def complete(model: FakeChatModel, messages: Any = ({"role": "user", "content": "hi"},)) -> ChatReply:
    return asyncio.run(model.complete(messages))


def test_text_is_given_as_it_stands_and_every_time() -> None:
    model = FakeChatModel("hello")
    assert [complete(model).text, complete(model).text] == ["hello", "hello"]
    assert len(model.requests) == 2


def test_a_list_is_used_up() -> None:
    model = FakeChatModel(["one", {"two": 2}, ChatReply("three", finish="length")])
    assert complete(model).text == "one"
    assert complete(model).text == '{"nonce":"","two":2}'
    assert complete(model).finish == "length"
    with pytest.raises(JudgeError, match="no reply for request 4"):
        complete(model)


def test_an_exception_is_raised() -> None:
    with pytest.raises(JudgeError, match="down"):
        complete(FakeChatModel([JudgeError("down")]))


def test_a_function_sees_the_question_taken_apart() -> None:
    seen: list[FakeRequest] = []

    async def answer(request: FakeRequest) -> dict[str, Any]:
        seen.append(request)
        return {"items": []}

    schema = {"type": "object", "properties": {"nonce": {}, "items": {}}}
    question = pose("task", {"text": "to judge", "other": ""}, schema)
    reply = asyncio.run(FakeChatModel(answer).complete(question.messages, schema))
    assert reply.text == f'{{"nonce":"{question.nonce}","items":[]}}'
    assert seen[0].blocks == {"text": "to judge", "other": ""}
    assert seen[0].fields == ("items",)


def test_usage_and_cost_can_be_scripted() -> None:
    reply = complete(FakeChatModel("x", input_tokens=3, output_tokens=4, cost=0.5))
    assert (reply.input_tokens, reply.output_tokens, reply.cost) == (3, 4, 0.5)
