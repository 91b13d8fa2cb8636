"""The judge behind ``semantic(…)``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agenttrace.core.errors import ConfigError, JudgeError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.expectations import semantic
from agenttrace.judges.models.fake import FakeChatModel, FakeRequest
from agenttrace.judges.semantic import semantic_judge
from agenttrace.scorers import ToolOrderScorer


@pytest.mark.parametrize(("verdict", "means"), [("yes", True), ("no", False), ("idk", False)])
def test_only_yes_is_a_yes(verdict: str, means: bool) -> None:
    judge = FakeChatModel({"reason": "", "verdict": verdict})
    assert asyncio.run(semantic_judge(judge)("a polite greeting", {"text": "Dear Ann"})) is means
    assert judge.requests[0].blocks == {
        "expected": "a polite greeting",
        "actual": '{\n "text": "Dear Ann"\n}',
    }


def test_an_unreadable_answer_is_an_error_and_no_verdict() -> None:
    with pytest.raises(JudgeError):
        asyncio.run(semantic_judge(FakeChatModel("yes"))("x", "y"))


def test_a_misspelt_model_is_an_error_at_once() -> None:
    with pytest.raises(ConfigError, match="did you mean 'openai'"):
        semantic_judge("opneai/gpt-4.1")


def test_a_deterministic_scorer_can_ask_it() -> None:
    def answer(request: FakeRequest) -> Any:
        return {"reason": "", "verdict": "yes" if "Ann" in request.blocks["actual"] else "no"}

    scorer = ToolOrderScorer(ask=semantic_judge(FakeChatModel(answer)))
    expected = [{"tool_name": "mail", "parameters": {"text": semantic("a greeting to Ann")}}]
    example = Example(expected_tools=expected)

    async def value(text: str) -> float | None:
        score: Any = scorer.score(example, Trace.from_calls([{"name": "mail", "arguments": {"text": text}}]))
        return (await score).value  # type: ignore[no-any-return]

    assert asyncio.run(value("Dear Ann")) == 1.0
    assert asyncio.run(value("Dear Bob")) == 0.0
