"""Each LLM scorer from end to end, with a scripted judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agenttrace import judges
from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.judges.models.fake import FakeChatModel

EXAMPLE = Example(
    input="What if these shoes don't fit?",
    actual_output="We offer a 30-day full refund at no extra cost.",
    expected_output="You have 44 days to return them.",
    context=["44 days", "free of charge"],
    retrieval_context=["All customers are eligible for a 44 day full refund.", "Shoes are red."],
)
TRACE = Trace.from_calls([{"name": "find_policy", "arguments": {"topic": "refund"}, "output": "44 days"}])


def items(*found: str) -> dict[str, Any]:
    return {"items": list(found)}


def verdicts(*words: str) -> dict[str, Any]:
    return {"verdicts": [{"reason": f"because {word}", "verdict": word} for word in words]}


def rating(value: int) -> dict[str, Any]:
    return {"reason": "because", "rating": value}


def statement(word: str) -> dict[str, str]:
    return {"statement": "s", "reason": "r", "verdict": word}


NODES = {"nodes": [{"statements": [statement("yes"), statement("no")]}, {"statements": [statement("yes")]}]}
ADHERENCE = {"scores": [{"reason": "", "score": 1}, {"reason": "", "score": 0.5}, {"reason": "", "score": 0}]}

# scorer, scripted replies, value, passed, the blocks shown with each request
RUNS: dict[str, tuple[Any, list[Any], float, bool, list[set[str]]]] = {
    "Faithfulness": (
        judges.FaithfulnessScorer(),
        [items("30 days", "refund", "free"), verdicts("no", "yes", "idk")],
        2 / 3,
        True,
        [{"actual_output"}, {"items", "retrieval_context"}],
    ),
    "Answer Relevancy": (
        judges.AnswerRelevancyScorer(),
        [items("a", "b"), verdicts("no", "no")],
        0.0,
        False,
        [{"actual_output"}, {"items", "input"}],
    ),
    "Answer Correctness": (
        judges.AnswerCorrectnessScorer(),
        [items("a", "b", "c", "d"), verdicts("yes", "no", "idk", "no")],
        0.25,
        False,
        [{"expected_output"}, {"items", "actual_output"}],
    ),
    "Hallucination": (
        judges.HallucinationScorer(),
        [verdicts("no", "yes")],
        0.5,
        True,
        [{"actual_output", "document_1", "document_2"}],
    ),
    "Contextual Precision": (
        judges.ContextualPrecisionScorer(),
        [verdicts("no", "yes")],
        0.5,
        True,
        [{"input", "expected_output", "node_1", "node_2"}],
    ),
    "Contextual Recall": (
        judges.ContextualRecallScorer(),
        [items("a", "b"), verdicts("yes", "idk")],
        0.5,
        True,
        [{"expected_output"}, {"items", "retrieval_context"}],
    ),
    "Contextual Relevancy": (
        judges.ContextualRelevancyScorer(),
        [NODES],
        2 / 3,
        True,
        [{"input", "node_1", "node_2"}],
    ),
    "Summarization": (
        judges.SummarizationScorer(),
        [
            items("a", "b"),
            verdicts("yes", "idk"),
            items("q1", "q2"),
            verdicts("yes", "yes"),
            verdicts("yes", "no"),
        ],
        0.5,
        True,
        [{"actual_output"}, {"items", "source"}, {"source"}, {"items", "text"}, {"items", "text"}],
    ),
    "Instruction Adherence": (
        judges.InstructionAdherenceScorer(),
        [items("a", "b", "c"), ADHERENCE],
        0.5,
        True,
        [{"input"}, {"items", "actual_output"}],
    ),
    "Groundedness": (
        judges.GroundednessScorer(),
        [rating(2)],
        0.25,
        False,
        [{"input", "actual_output", "retrieval_context", "context", "trajectory"}],
    ),
    "Derailment": (
        judges.DerailmentScorer(),
        [rating(5)],
        1.0,
        True,
        [{"input", "actual_output", "trajectory"}],
    ),
    "Comparison: tone": (
        judges.ComparisonScorer(criteria="tone"),
        [rating(3)],
        0.5,
        True,
        [{"actual_output", "expected_output"}],
    ),
    "Trajectory": (
        judges.TrajectoryJudge(),
        [rating(4)],
        0.75,
        True,
        [{"input", "trajectory", "actual_output", "expected_output"}],
    ),
    "Politeness": (
        judges.PromptScorer("Politeness", "How polite is {{actual_output}} as a reply to {{ input }}?"),
        [{"reason": "fine", "score": 0.9}],
        0.9,
        True,
        [{"input", "actual_output"}],
    ),
    "Tone": (
        judges.ClassifierScorer(
            "Tone", prompt="{{actual_output}}", options={"good": 1, "meh": 0.4, "bad": 0}
        ),
        [{"reason": "fine", "label": "meh"}],
        0.4,
        False,
        [{"actual_output"}],
    ),
}


def run(scorer: Any, replies: Any, example: Example = EXAMPLE, trace: Trace | None = TRACE) -> Any:
    judge = FakeChatModel(replies)
    return asyncio.run(scorer.with_model(judge).score(example, trace)), judge


@pytest.mark.parametrize("name", RUNS)
def test_a_scorer_asks_what_it_says_and_scores_by_its_formula(name: str) -> None:
    scorer, replies, value, passed, shown = RUNS[name]
    score, judge = run(scorer, replies)
    assert (score.name, score.value, score.passed) == (name, pytest.approx(value), passed), score.reason
    assert [set(request.blocks) for request in judge.requests] == shown
    assert len(judge.requests) == len(replies)
    assert score.reason
    assert score.details
    assert len(score.metadata["prompts"]) >= 1


def test_every_scorer_of_the_room_is_tried_here() -> None:
    offered = {getattr(judges, name) for name in judges.__all__ if name.endswith("Scorer")} - {
        judges.JudgeScorer
    }
    assert {type(row[0]) for row in RUNS.values()} == offered


def test_reasons_restate_the_arithmetic_and_name_the_culprits() -> None:
    score, _ = run(judges.FaithfulnessScorer(), RUNS["Faithfulness"][1])
    assert score.reason == "1 of 3 claims are contradicted by the context: “30 days” (because no)."
    score, _ = run(judges.ContextualPrecisionScorer(), [verdicts("yes", "yes")])
    assert score.reason == "2 of 2 retrieved nodes are useful; mean of 1/1, 2/2."
    score, _ = run(judges.InstructionAdherenceScorer(), RUNS["Instruction Adherence"][1])
    assert score.reason == "Of 3 instructions 1 are followed, 1 in part, 1 not: 1.5 / 3."
    score, _ = run(judges.FaithfulnessScorer(), [items(*"abcdef"), verdicts(*["no"] * 6)])
    assert score.reason.endswith("; and 3 more.")


@pytest.mark.parametrize(
    ("scorer", "replies", "value"),
    [
        (judges.FaithfulnessScorer(), [items()], 1.0),
        (judges.FaithfulnessScorer(), [items(" ", "")], 1.0),
        (judges.AnswerRelevancyScorer(), [items()], 1.0),
        (judges.AnswerCorrectnessScorer(), [items()], 1.0),
        (judges.ContextualRecallScorer(), [items()], 0.0),
        (judges.ContextualRelevancyScorer(), [{"nodes": [{"statements": []}] * 2}], 0.0),
        (judges.ContextualPrecisionScorer(), [verdicts("no", "idk")], 0.0),
        (judges.InstructionAdherenceScorer(), [items()], 1.0),
        (judges.SummarizationScorer(questions=[]), [items()], 0.0),
        (
            judges.SummarizationScorer(questions=["q"]),
            [items("c"), verdicts("yes"), verdicts("no"), verdicts("yes")],
            0.0,
        ),
    ],
)
def test_what_nothing_is_worth(scorer: Any, replies: list[Any], value: float) -> None:
    score, judge = run(scorer, replies)
    assert (score.value, len(judge.requests)) == (value, len(replies))


@pytest.mark.parametrize(
    "scorer",
    [judges.ContextualPrecisionScorer(), judges.ContextualRecallScorer(), judges.ContextualRelevancyScorer()],
)
def test_an_empty_retrieval_is_a_finding_and_an_absent_one_an_error(scorer: Any) -> None:
    score, judge = run(scorer, [], EXAMPLE.model_copy(update={"retrieval_context": []}))
    assert (score.value, score.reason, judge.requests) == (0.0, "Nothing was retrieved.", [])
    with pytest.raises(ScorerError, match="retrieval_context"):
        run(scorer, [], EXAMPLE.model_copy(update={"retrieval_context": None}))


@pytest.mark.parametrize(
    ("scorer", "missing"),
    [
        (judges.FaithfulnessScorer(), {"retrieval_context": []}),
        (judges.HallucinationScorer(), {"context": []}),
        (judges.AnswerRelevancyScorer(), {"input": None}),
        (judges.AnswerCorrectnessScorer(), {"expected_output": None}),
        (judges.SummarizationScorer(), {"input": None}),
        (judges.ComparisonScorer(criteria="tone"), {"expected_output": None}),
        (judges.TrajectoryJudge(), {}),
        (judges.GroundednessScorer(), {"context": None, "retrieval_context": None}),
        (judges.DerailmentScorer(), {"actual_output": None}),
        (judges.PromptScorer("Own", "{{trajectory}}"), {}),
    ],
)
def test_a_needed_field_that_is_missing_is_an_error_before_anything_is_asked(
    scorer: Any, missing: Any
) -> None:
    judge = FakeChatModel([])
    with pytest.raises(ScorerError, match=next(iter(missing), "trajectory")):
        asyncio.run(scorer.with_model(judge).score(EXAMPLE.model_copy(update=missing), None))
    assert judge.requests == []


@pytest.mark.parametrize(
    ("scorer", "wrong", "right"),
    [
        (judges.FaithfulnessScorer(), [items("a", "b"), verdicts("yes")], verdicts("yes", "yes")),
        (judges.HallucinationScorer(), [verdicts("yes", "yes", "yes")], verdicts("yes", "no")),
        (judges.ContextualPrecisionScorer(), [verdicts()], verdicts("yes", "yes")),
        (judges.ContextualRelevancyScorer(), [{"nodes": []}], NODES),
        (judges.InstructionAdherenceScorer(), [items("a"), ADHERENCE], {"scores": ADHERENCE["scores"][:1]}),
    ],
)
def test_another_number_of_verdicts_is_asked_again_once_then_errored(
    scorer: Any, wrong: Any, right: Any
) -> None:
    score, judge = run(scorer, [*wrong, right])
    assert score.value is not None
    assert "one for each item in order" in judge.requests[-1].messages[-1]["content"]
    score, judge = run(scorer, [*wrong, wrong[-1], right])
    assert (score.outcome, score.value) == ("errored", None)
    assert len(judge.requests) == len(wrong) + 1


def test_source_and_summary_are_asked_apart() -> None:
    _, judge = run(judges.SummarizationScorer(), RUNS["Summarization"][1])
    texts = [request.blocks["text"] for request in judge.requests[3:]]
    assert texts == [EXAMPLE.input, EXAMPLE.actual_output]


def test_the_trajectory_judge_uses_what_was_expected() -> None:
    plain = Example(input="q", actual_output="a")
    score, _ = run(judges.TrajectoryJudge(), [rating(5)], plain)
    assert list(score.metadata["prompts"]) == ["trajectory"]
    score, judge = run(judges.TrajectoryJudge(expected_behavior="Look it up first."), [rating(1)], plain)
    assert "Look it up first." in judge.requests[0].messages[0]["content"]
    assert (score.value, list(score.metadata["prompts"])) == (0.0, ["trajectory_expected"])
    with_tools = Example(input="q", expected_tools=["find_policy"])
    score, judge = run(judges.LLMJudgeTrajectoryScorer(), [rating(5)], with_tools)
    assert judge.requests[0].blocks["expected_tools"] == "1. find_policy"
    assert list(score.metadata["prompts"]) == ["trajectory_expected"]


def test_a_comparison_needs_its_respect() -> None:
    _, judge = run(judges.ComparisonScorer(criteria="tone", description="How warm it is."), [rating(5)])
    task = judge.requests[0].messages[0]["content"]
    assert "in one respect only: tone." in task
    assert "How warm it is." in task
    for bad in ("", "  ", None, ["tone"]):
        with pytest.raises(ScorerError, match="in which respect"):
            judges.ComparisonScorer(criteria=bad)  # type: ignore[arg-type]


def test_questions_are_a_list() -> None:
    with pytest.raises(ScorerError, match="questions is a list"):
        judges.SummarizationScorer(questions="Is it so?")
