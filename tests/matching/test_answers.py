"""Expected values that a judge decides."""

from __future__ import annotations

import asyncio

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.expectations import call, not_, one_of, semantic
from agenttrace.matching import compare, judged
from tests.expectations.strategies import trace_of

RUN = trace_of([{"name": "mail", "arguments": {"body": f"text {n}"}} for n in range(3)])
EXPECTED = [call("mail", body=semantic("says one")), call("mail", body=semantic("says two"))]


class Judge:
    def __init__(self, *accepted: tuple[str, str]) -> None:
        self.accepted = accepted
        self.asked: list[tuple[str, object]] = []

    def __call__(self, text: str, value: object) -> bool:
        self.asked.append((text, value))
        return (text, value) in self.accepted


def test_a_judge_may_be_plain_or_async_and_is_asked_each_question_once() -> None:
    judge = Judge(("says one", "text 1"), ("says two", "text 2"))

    async def slow(text: str, value: object) -> bool:
        await asyncio.sleep(0)
        return judge(text, value)

    for ask in (judge, slow):
        judge.asked.clear()
        comparison = asyncio.run(judged(lambda answers: compare(EXPECTED, RUN, answers=answers), ask))
        assert comparison.holds
        assert [pair.position for pair in comparison.pairs] == [1, 2]
        assert len(judge.asked) == len(set(judge.asked))


def test_what_the_judge_denies_does_not_agree() -> None:
    comparison = asyncio.run(judged(lambda answers: compare(EXPECTED, RUN, answers=answers), Judge()))
    assert not comparison.holds
    assert comparison.matched == 0


def test_questions_that_come_up_late_are_asked_too() -> None:
    expected = [call("mail", body=one_of(not_(semantic("a")), semantic("b")))]
    judge = Judge(("a", "text 0"), ("b", "text 0"))
    assert asyncio.run(judged(lambda answers: compare(expected, RUN, answers=answers), judge)).holds


def test_an_answer_that_is_no_bool_is_an_error() -> None:
    with pytest.raises(ScorerError, match="true or false"):
        asyncio.run(
            judged(lambda answers: compare(EXPECTED, RUN, answers=answers), lambda text, value: "yes")
        )  # type: ignore[arg-type,return-value]
