"""What every scorer that asks a model does: votes, errors, models, costs (scenario 100)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from agenttrace.core.errors import ConfigError, JudgeError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.judges.faithfulness import FaithfulnessScorer
from agenttrace.judges.hallucination import HallucinationScorer
from agenttrace.judges.models.fake import FakeChatModel
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel
from agenttrace.judges.prompt_scorer import PromptScorer

EXAMPLE = Example(input="q", actual_output="a")


def own(model: Any = None, votes: int = 1, **options: Any) -> PromptScorer:
    return PromptScorer("Own", "Rate {{actual_output}}", model=model, votes=votes, **options)


def run(scorer: Any, example: Example = EXAMPLE) -> Any:
    return asyncio.run(scorer.score(example))


def graded(*values: Any) -> FakeChatModel:
    return FakeChatModel(
        [
            value if not isinstance(value, float) else {"reason": f"r{value}", "score": value}
            for value in values
        ]
    )


def test_a_judge_scorer_is_a_scorer() -> None:
    assert isinstance(own(), Scorer)


@pytest.mark.parametrize(
    ("values", "median"),
    [((0.2, 0.9, 0.8), 0.8), ((1.0,), 1.0), ((0.9, 0.2), 0.2), ((0.1, 0.2, 0.7, 0.9), 0.2)],
)
def test_the_median_vote_is_the_result_as_it_stands(values: tuple[float, ...], median: float) -> None:
    score = run(own(graded(*values), votes=len(values)))
    assert score.value == median
    assert score.details["judge_reason"] == f"r{median}"
    if len(values) > 1:
        assert score.details["votes"] == {"values": list(values), "unreadable": 0}
        assert score.reason.startswith(f"Median of {len(values)} of {len(values)} votes (")


def test_of_an_even_number_of_votes_the_worse_counts_where_lower_is_better() -> None:
    def document(verdict: str) -> dict[str, Any]:
        return {"verdicts": [{"reason": "", "verdict": verdict}]}

    example = Example(actual_output="a", context=["c"])
    score = run(HallucinationScorer(model=FakeChatModel([document("yes"), document("no")]), votes=2), example)
    assert (score.value, score.outcome) == (1.0, "failed")


def test_a_minority_of_unreadable_votes_is_reported() -> None:
    score = run(own(graded("x", "x", 1.0, 0.5), votes=3))
    assert (score.value, score.details["votes"]) == (0.5, {"values": [1.0, 0.5], "unreadable": 1})
    assert "Median of 2 of 3 votes (1, 0.5)" in score.reason


def test_half_of_the_votes_is_not_enough() -> None:
    score = run(own(graded(1.0, "x", "x"), votes=2))
    assert (score.outcome, score.value) == ("errored", None)
    assert score.reason.startswith(
        "1 of 2 votes gave no verdict; the first: the judge's reply cannot be used"
    )
    assert score.details["raw"] == ["x"]
    assert score.error.startswith("UnreadableReply: the judge's reply cannot be used")
    assert score.error.endswith("\nThe judge's last reply: 'x'")


def test_a_model_that_fails_makes_an_errored_score() -> None:
    score = run(own(FakeChatModel(JudgeError("the endpoint is down"))))
    assert (score.outcome, score.value, score.reason) == ("errored", None, "the endpoint is down")
    assert score.cost is None


def test_a_model_that_returns_nonsense_makes_an_errored_score() -> None:
    class Nonsense:
        async def complete(self, messages: Any, schema: Any = None) -> Any:
            return 7

    score = run(own(Nonsense()))
    assert score.outcome == "errored"
    assert "must return a ChatReply or text, got int" in score.reason


def test_a_model_of_ones_own_may_return_text() -> None:
    class Own:
        async def complete(self, messages: Any, schema: Any = None) -> str:
            nonce = messages[0]["content"].partition("nonce: ")[2][:16]
            return f'{{"nonce": "{nonce}", "reason": "r", "score": 0.5}}'

    score = run(own(Own()))
    assert (score.value, score.model, score.cost) == (0.5, "Own", None)


def test_a_bug_in_a_model_is_not_taken_for_a_verdict() -> None:
    with pytest.raises(KeyError):
        run(own(FakeChatModel(KeyError("bug"))))


def test_a_missing_field_is_an_error_before_anything_is_asked() -> None:
    judge = FakeChatModel({})
    with pytest.raises(ScorerError, match="Faithfulness needs 'retrieval_context', which is missing"):
        run(FaithfulnessScorer(model=judge))
    assert judge.requests == []


def test_no_model_is_an_error_that_says_where_to_put_one() -> None:
    with pytest.raises(ConfigError, match=r"Own has no model to ask: pass model= .* AGENTTRACE_JUDGE_MODEL"):
        run(own())


def test_a_model_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTTRACE_JUDGE_MODEL", "opnai/gpt-4.1")
    with pytest.raises(ConfigError, match="unknown provider 'opnai'"):
        run(own())


def test_with_model_fills_in_but_does_not_override() -> None:
    scorer = own()
    filled = scorer.with_model(graded(0.75))
    assert (scorer.model, run(filled).value) == (None, 0.75)
    assert filled.with_model(graded(0.1)) is filled
    with pytest.raises(ConfigError, match="did you mean 'openai'"):
        scorer.with_model("opneai/x")


def test_usage_and_cost_of_all_votes_are_added_up() -> None:
    judge = FakeChatModel(
        ["x", *[{"reason": "", "score": 1}] * 2], input_tokens=10, output_tokens=3, cost=0.25
    )
    score = run(own(judge, votes=2))
    assert score.cost == 0.75
    assert score.usage == {"requests": 3, "cached": 0, "input_tokens": 30, "output_tokens": 9}


def test_an_unknown_price_makes_the_cost_unknown() -> None:
    assert run(own(FakeChatModel({"reason": "", "score": 1}, cost=None))).cost is None


def test_the_score_names_the_prompts_and_what_was_cut() -> None:
    score = run(own(graded(1.0)), Example(actual_output="x" * 70_000))
    assert score.metadata["cut"] == ["actual_output"]
    assert list(score.metadata["prompts"]) == ["Own"]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, True, "0.5", None, float("nan")])
def test_a_threshold_outside_its_range_is_an_error(threshold: Any) -> None:
    with pytest.raises(ScorerError, match="threshold is a number from 0 to 1"):
        FaithfulnessScorer(threshold)


@pytest.mark.parametrize("votes", [0, -1, True, 1.5, "3"])
def test_a_number_of_votes_below_one_is_an_error(votes: Any) -> None:
    with pytest.raises(ScorerError, match="votes is a whole number"):
        FaithfulnessScorer(votes=votes)


def test_a_judge_that_is_down_hangs_or_floods_errors_within_its_deadline(endpoint: Any) -> None:
    def answer(_: Any) -> Any:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while not server.stopped.wait(0.01):
            yield b"{"

    server = endpoint(answer)
    model = OpenAICompatibleModel("m", base_url=server.url, timeout=0.3)
    score = run(own(model))
    assert score.outcome == "errored"
    assert "no complete reply within 0.3 s" in score.reason


def test_importing_the_judges_opens_nothing() -> None:
    code = (
        "import sys, socket\n"
        "socket.socket.connect = lambda *a: sys.exit('network')\n"
        "import agenttrace.judges\n"
        "import threading; assert threading.active_count() == 1"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=dict(os.environ), timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_no_run_fills_in_is_checked_before_one() -> None:
    scorer = FaithfulnessScorer(model=FakeChatModel({}))
    with pytest.raises(ScorerError, match="'retrieval_context', which is missing"):
        scorer.check(Example(input="q"))
    scorer.check(Example(retrieval_context=["r"]))
    with pytest.raises(ConfigError, match="has no model to ask"):
        FaithfulnessScorer().check(Example(retrieval_context=["r"]))


def test_a_vote_whose_model_raises_leaves_the_others_their_say() -> None:
    class Flaky(FakeChatModel):
        asked = 0

        async def complete(self, messages: Any, schema: Any = None) -> Any:
            self.asked += 1
            if self.asked == 1:
                raise ConnectionError("the line was cut")
            return await super().complete(messages, schema)

    model = Flaky({"reason": "r", "score": 0.75})
    score = asyncio.run(
        PromptScorer("Own", "Rate {{actual_output}}", model=model, votes=3).score(
            Example(input="q", actual_output="a")
        )
    )
    assert (score.value, score.details["votes"]) == (0.75, {"values": [0.75, 0.75], "unreadable": 1})
