"""What a judge saw and replied is kept, and bounded."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example
from agenttrace.judges import AnswerRelevancyScorer, FakeChatModel
from agenttrace.judges.seen import ROOM, fair_limit


def judged(answer, **fields):
    scorer = AnswerRelevancyScorer(model=FakeChatModel(answer))
    return asyncio.run(scorer.score(Example(input="Is it free?", **fields)))


def items_then_verdicts(asked):
    if "items" in asked.fields:
        return {"items": ["It is free."]}
    return {"verdicts": [{"reason": "so", "verdict": "yes"}]}


def test_each_question_names_its_prompt_the_texts_that_stood_in_it_and_the_raw_replies():
    score = judged(items_then_verdicts, actual_output="It is free.")
    (vote,) = score.evidence["votes"]
    claims, verdicts = vote["questions"]
    assert score.evidence["blocks"]["actual_output"] == "It is free."
    assert {*claims["blocks"]} <= {*score.evidence["blocks"]}
    assert json.loads(verdicts["replies"][0])["verdicts"][0]["verdict"] == "yes"
    assert vote["value"] == score.value


def test_a_reply_that_cannot_be_read_is_kept_with_what_was_wrong():
    score = judged(lambda asked: "no JSON", actual_output="It is free.")
    (vote,) = score.evidence["votes"]
    assert score.outcome == "errored"
    assert "cannot be used" in vote["problem"]
    assert vote["questions"][0]["replies"] == ["no JSON", "no JSON"]


def test_the_longest_texts_are_cut_at_white_space_and_say_how_much_is_missing():
    score = judged(items_then_verdicts, actual_output="word " * 20_000)
    text = score.evidence["blocks"]["actual_output"]
    assert text.startswith("word word")
    assert text.partition("…")[0].endswith("word")
    assert len(json.dumps(score.evidence)) < ROOM * 1.2


@given(st.lists(st.integers(0, 500), max_size=30), st.integers(0, 2_000))
def test_a_fair_limit_is_the_largest_that_leaves_room(lengths, room):
    limit = fair_limit(lengths, room)

    def total(most):
        return sum(min(length, most) for length in lengths)

    assert total(limit) <= room
    assert limit >= max(lengths, default=0) or total(limit + 1) > room
