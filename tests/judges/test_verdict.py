"""Replies that are no verdict are never a value (scenario 96)."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import create_model

from agenttrace.core.example import Example
from agenttrace.judges.classifier import ClassifierScorer
from agenttrace.judges.comparison import ComparisonScorer
from agenttrace.judges.faithfulness import FaithfulnessScorer
from agenttrace.judges.instruction_adherence import InstructionAdherenceScorer
from agenttrace.judges.models.fake import FakeChatModel, FakeRequest
from agenttrace.judges.models.reading import ChatReply
from agenttrace.judges.prompt_scorer import PromptScorer
from agenttrace.judges.verdict import (
    RatingReply,
    Reply,
    ScoreReply,
    UnreadableReply,
    VerdictsReply,
    read_reply,
    reply_schema,
)

NONCE = "0123456789abcdef"
EXAMPLE = Example(input="q", actual_output="a", expected_output="e", context=["c"], retrieval_context=["r"])

# Each is what a judge said; N stands for the right nonce.
CORPUS = {
    "empty": "",
    "blank": " \n\t",
    "null": "null",
    "true": "true",
    "a bare number": "1",
    "a bare string": '"yes"',
    "a list": '[{"nonce": "N", "reason": "", "score": 1}]',
    "truncated": '{"nonce": "N", "reason": "fine", "score": 1',
    "truncated in a string": '{"nonce": "N", "reason": "fi',
    "prose": "The answer is good, I give it 1.",
    "prose before": 'Sure! {"nonce": "N", "reason": "", "score": 1}',
    "prose after": '{"nonce": "N", "reason": "", "score": 1} Hope this helps.',
    "fenced": '```json\n{"nonce": "N", "reason": "", "score": 1}\n```',
    "two objects": '{"nonce": "N", "reason": "", "score": 0}{"nonce": "N", "reason": "", "score": 1}',
    "two lines": '{"nonce": "N", "reason": "", "score": 1}\n{"nonce": "N", "reason": "", "score": 1}',
    "duplicate keys": '{"nonce": "N", "reason": "", "score": 0, "score": 1}',
    "NaN": '{"nonce": "N", "reason": "", "score": NaN}',
    "Infinity": '{"nonce": "N", "reason": "", "score": Infinity}',
    "1e999": '{"nonce": "N", "reason": "", "score": 1e999}',
    "score true": '{"nonce": "N", "reason": "", "score": true}',
    "score null": '{"nonce": "N", "reason": "", "score": null}',
    'score "10"': '{"nonce": "N", "reason": "", "score": "10"}',
    'score "1"': '{"nonce": "N", "reason": "", "score": "1"}',
    "score 11": '{"nonce": "N", "reason": "", "score": 11}',
    "score -5": '{"nonce": "N", "reason": "", "score": -5}',
    "score 1.0000001": '{"nonce": "N", "reason": "", "score": 1.0000001}',
    "score list": '{"nonce": "N", "reason": "", "score": [1]}',
    "score object": '{"nonce": "N", "reason": "", "score": {"value": 1}}',
    "no score": '{"nonce": "N", "reason": ""}',
    "no reason": '{"nonce": "N", "score": 1}',
    "reason number": '{"nonce": "N", "reason": 1, "score": 1}',
    "an extra key": '{"nonce": "N", "reason": "", "score": 1, "passed": true}',
    "a case of its own": '{"nonce": "N", "reason": "", "Score": 1}',
    "no nonce": '{"reason": "", "score": 1}',
    "a wrong nonce": '{"nonce": "ffffffffffffffff", "reason": "", "score": 1}',
    "an empty nonce": '{"nonce": "", "reason": "", "score": 1}',
    "a nonce of another type": '{"nonce": 123, "reason": "", "score": 1}',
    "a padded nonce": '{"nonce": " N ", "reason": "", "score": 1}',
    "refusal": "I'm sorry, but I can't help with that.",
    "html": "<html><body>502 Bad Gateway</body></html>",
    "single quotes": "{'nonce': 'N', 'reason': '', 'score': 1}",
    "a comment": '{"nonce": "N", "reason": "", "score": 1} // done',
    "a trailing comma": '{"nonce": "N", "reason": "", "score": 1,}',
    "double encoded": json.dumps('{"nonce": "N", "reason": "", "score": 1}'),
    "deep": "[" * 50_000,
    "a schema": json.dumps(reply_schema(ScoreReply)),
    "huge": '{"nonce": "N", "reason": "' + "x" * 1_100_000 + '", "score": 1}',
}


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)
def test_no_reply_of_the_corpus_is_read(text: str) -> None:
    with pytest.raises(UnreadableReply) as caught:
        read_reply(text.replace("N", NONCE) if len(text) < 1000 else text, ScoreReply, NONCE)
    assert caught.value.problem


def test_a_reply_in_a_code_fence_is_told_so() -> None:
    """The second question repeats it, so that a model that writes fences can do better."""
    with pytest.raises(UnreadableReply) as caught:
        read_reply(CORPUS["fenced"], ScoreReply, NONCE)
    assert caught.value.problem.startswith("a code fence stands round it")


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)
def test_no_reply_of_the_corpus_is_a_value_or_a_pass(text: str) -> None:
    def answer(request: FakeRequest) -> str:
        return text.replace('"N"', f'"{request.nonce}"')

    judge = FakeChatModel(answer)
    score = asyncio.run(PromptScorer("Own", "Rate {{actual_output}}", model=judge).score(EXAMPLE))
    assert (score.outcome, score.value) == ("errored", None)
    assert len(judge.requests) == 2
    assert "was refused" in judge.requests[1].messages[-1]["content"]
    assert score.details["raw"] == [answer(judge.requests[1])[: len(score.details["raw"][0])]]


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)
def test_a_second_reply_that_can_be_read_counts(text: str) -> None:
    judge = FakeChatModel([text, {"reason": "r", "score": 0.25}])
    score = asyncio.run(PromptScorer("Own", "Rate {{actual_output}}", model=judge).score(EXAMPLE))
    assert (score.outcome, score.value, score.usage["requests"]) == ("failed", 0.25, 2)  # type: ignore[index]


RATINGS = ['"10"', "11", "-5", "0", "6", "true", "null", "4.5", "5.0", "1e999", "NaN", '"5"', "[5]"]


@pytest.mark.parametrize("rating", RATINGS)
def test_a_rating_off_the_rubric_is_not_read(rating: str) -> None:
    with pytest.raises(UnreadableReply):
        read_reply(f'{{"nonce": "{NONCE}", "reason": "", "rating": {rating}}}', RatingReply, NONCE)


@pytest.mark.parametrize("score", ["true", "0.7", "2", '"1"', "null", "-0.5"])
def test_an_adherence_beside_its_steps_is_not_read(score: str) -> None:
    def answer(request: FakeRequest) -> Any:
        if request.fields == ("items",):
            return {"items": ["be brief"]}
        return f'{{"nonce": "{request.nonce}", "scores": [{{"reason": "", "score": {score}}}]}}'

    found = asyncio.run(InstructionAdherenceScorer(model=FakeChatModel(answer)).score(EXAMPLE))
    assert found.outcome == "errored"


@pytest.mark.parametrize("verdict", ["maybe", "", "YES!", "true", "y", "no, but", None, True, 1])
def test_a_verdict_that_is_no_word_of_the_three_is_not_read(verdict: Any) -> None:
    text = json.dumps({"nonce": NONCE, "verdicts": [{"reason": "", "verdict": verdict}]})
    with pytest.raises(UnreadableReply):
        read_reply(text, VerdictsReply, NONCE)


@pytest.mark.parametrize("verdict", ["yes", " YES ", "No\n", "Idk"])
def test_case_and_blanks_of_a_verdict_do_not_matter(verdict: str) -> None:
    text = json.dumps({"nonce": NONCE, "verdicts": [{"reason": "", "verdict": verdict}]})
    assert read_reply(text, VerdictsReply, NONCE).verdicts[0].verdict == verdict.strip().lower()


@pytest.mark.parametrize("finish", ["refusal", "content_filter", "length", "max_tokens", "incomplete"])
def test_the_error_says_when_the_judge_refused_or_was_cut_off(finish: str) -> None:
    judge = FakeChatModel(ChatReply("{", finish=finish))
    score = asyncio.run(PromptScorer("Own", "Rate {{actual_output}}", model=judge).score(EXAMPLE))
    wanted = "refused to answer" if finish in ("refusal", "content_filter") else "cut off at the token limit"
    assert wanted in score.reason


# A fuzzer: replies near to right ones, and anything at all.
_numbers = st.one_of(
    st.integers(-20, 20), st.floats(allow_nan=True), st.booleans(), st.none(), st.text(max_size=3)
)
_nearly = st.fixed_dictionaries(
    {},
    optional={
        "nonce": st.sampled_from(["N", "n", ""]) | st.none(),
        "reason": st.text(max_size=5) | st.integers(),
        "score": _numbers,
        "rating": _numbers,
        "label": st.text(max_size=3),
        "verdicts": st.lists(st.dictionaries(st.sampled_from(["reason", "verdict"]), st.text(max_size=3))),
        "items": st.lists(st.text(max_size=3)),
        "extra": st.integers(),
    },
)
_replies = st.one_of(
    st.text(),
    _nearly.map(json.dumps),
    st.builds(lambda a, b: a + b, _nearly.map(json.dumps), st.text(max_size=3)),
    st.builds(lambda a, cut: a[:cut], _nearly.map(json.dumps), st.integers(0, 60)),
)
SCORERS = [
    PromptScorer("Own", "{{actual_output}}"),
    ComparisonScorer(criteria="tone"),
    ClassifierScorer("Tone", prompt="{{actual_output}}", options={"good": 1, "bad": 0}),
    FaithfulnessScorer(),
]


@given(st.sampled_from(SCORERS), _replies)
def test_a_fuzzed_reply_is_a_value_only_if_an_independent_reader_agrees(scorer: Any, reply: str) -> None:
    def answer(request: FakeRequest) -> str:
        return reply.replace('"N"', f'"{request.nonce}"')

    score = asyncio.run(scorer.with_model(FakeChatModel(answer)).score(EXAMPLE))
    assert score.outcome != "skipped"
    if score.value is None:
        assert score.outcome == "errored"
    else:
        assert _plainly_right(scorer, json.loads(reply))


def _plainly_right(scorer: Any, reply: dict[str, Any]) -> bool:
    """What a right reply is, said once more and differently."""
    if isinstance(scorer, FaithfulnessScorer):
        # The same reply answers both questions, which only an empty list of claims can.
        return set(reply) == {"nonce", "items"} and not any(item.strip() for item in reply["items"])
    if set(reply) - {"nonce", "reason"} not in ({"score"}, {"rating"}, {"label"}):
        return False
    if "score" in reply:
        return type(reply["score"]) in (int, float) and 0 <= reply["score"] <= 1
    if "rating" in reply:
        return type(reply["rating"]) is int and 1 <= reply["rating"] <= 5
    return reply["label"] in ("good", "bad")


def test_a_schema_is_closed_flat_and_without_bounds() -> None:
    chosen: Any = Literal["a", "b"]
    label = create_model("Label", __base__=Reply, label=(chosen, ...))
    assert reply_schema(label)["properties"]["label"] == {"type": "string", "enum": ["a", "b"]}
    assert reply_schema(VerdictsReply) == {
        "type": "object",
        "properties": {
            "nonce": {"type": "string"},
            "verdicts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "reason": {"type": "string"},
                        "verdict": {"type": "string", "enum": ["yes", "no", "idk"]},
                    },
                    "required": ["reason", "verdict"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["nonce", "verdicts"],
        "additionalProperties": False,
    }
    assert reply_schema(RatingReply)["properties"]["rating"] == {
        "type": "integer",
        "description": "a whole number from 1 to 5",
    }
