"""One model, asked until it answers or has had its second chance."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agenttrace.core.errors import JudgeError
from agenttrace.judges.judge import Judge, numbered
from agenttrace.judges.models.fake import FakeChatModel
from agenttrace.judges.verdict import ItemsReply, UnreadableReply


def test_the_second_asking_is_the_same_question_with_the_reason_for_the_refusal() -> None:
    model = FakeChatModel(["prose with {{braces}}", {"items": ["a"]}])
    judge = Judge(model)
    assert asyncio.run(judge.items("claims", {"actual_output": "text"})) == ["a"]
    first, second = model.requests
    assert second.messages[:-1] == first.messages
    assert "was refused: not one JSON document" in second.messages[-1]["content"]
    assert "prose" not in second.messages[-1]["content"]
    assert second.nonce == first.nonce


def test_there_is_no_third_asking() -> None:
    model = FakeChatModel(["a", "b", {"items": []}])
    with pytest.raises(UnreadableReply) as caught:
        asyncio.run(Judge(model).ask("claims", {}, ItemsReply))
    assert (caught.value.raw, len(model.requests)) == ("b", 2)


def test_an_endpoint_that_fails_is_not_asked_again_here() -> None:
    model = FakeChatModel([JudgeError("down"), {"items": []}])
    with pytest.raises(JudgeError, match="down"):
        asyncio.run(Judge(model).items("claims", {}))
    assert len(model.requests) == 1


def test_no_items_need_no_verdicts() -> None:
    model = FakeChatModel([])
    assert asyncio.run(Judge(model).verdicts("faithfulness_verdicts", [], {})) == []
    assert model.requests == []


def test_too_many_items_are_a_judge_that_has_lost_itself() -> None:
    many: Any = {"items": ["x"] * 501}
    with pytest.raises(UnreadableReply, match="at most 500"):
        asyncio.run(Judge(FakeChatModel(many)).items("claims", {}))


def test_items_are_shown_one_to_a_line() -> None:
    assert numbered(["a\n2. b", "c"]) == "1. a 2. b\n2. c"


def test_a_judge_that_was_asked_nothing_has_no_cost() -> None:
    judge = Judge(FakeChatModel([]))
    assert judge.cost is None
    assert judge.usage == {"requests": 0, "cached": 0, "input_tokens": 0, "output_tokens": 0}
