"""Our scores against judgeval's own, row by row; every difference is in one table with its reason."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace import judges
from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.judges.models.fake import FakeChatModel

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "judgeval_cases.json"
ITEMISED = (
    "FaithfulnessScorer",
    "AnswerRelevancyScorer",
    "AnswerCorrectnessScorer",
    "ContextualRecallScorer",
)
BY_NODE = {"HallucinationScorer": "context", "ContextualPrecisionScorer": "retrieval_context"}

# Where we differ on purpose: what the row asks, what we say, why.
DIFFERENCES = {
    ("HallucinationScorer", "no documents"): (
        "0, passed",
        "ScorerError",
        "with nothing to contradict every output would pass; an empty context is a missing one",
    ),
    ("judge_json_parse", "a closing brace is missing"): (
        "the brace is added and the object used",
        "unreadable: asked again once, then errored",
        "a reply that was cut off may have lost more than its brace",
    ),
    # Beyond the rows that were recorded:
    ("all", "verdicts and claims differ in number"): (
        "scored by the verdicts that came",
        "asked again once, then errored",
        "a share of the wrong whole",
    ),
    ("all", "the reason"): (
        "a further call, which writes a reason for the number",
        "the arithmetic, with the verdicts' own reasons",
        "a reader can recompute it, and it cannot contradict the number",
    ),
    ("ComparisonScorer", "value"): (
        "the number of differences, without bound",
        "a rating of 1 to 5 as 0..1",
        "a score is in 0..1 and higher is better",
    ),
    ("HallucinationScorer", "strict mode"): (
        "threshold 1, so that it always passes",
        "no strict mode; threshold=0.0 says it",
        "the opposite of strict",
    ),
}


def rows(*scorers: str) -> list[dict[str, Any]]:
    if not CASES.is_file():
        pytest.skip("the conformance cases are not here")
    found = [row for row in json.loads(CASES.read_text()) if row["scorer"] in scorers]
    assert found
    return found


def replies(words: list[str]) -> dict[str, Any]:
    return {"verdicts": [{"reason": "", "verdict": word} for word in words]}


def run(scorer: str, script: list[Any], config: dict[str, Any], **fields: Any) -> Any:
    values = {
        "input": "i",
        "actual_output": "a",
        "expected_output": "e",
        "retrieval_context": ["r"],
        **fields,
    }
    options = {key: config[key] for key in ("threshold", "questions") if key in config}
    made = getattr(judges, scorer)(model=FakeChatModel(script), **options)
    return asyncio.run(made.score(Example(**values)))


def agree(row: dict[str, Any], score: Any) -> None:
    assert score.value == pytest.approx(row["score"], abs=1e-12), row
    if "success" in row:
        assert score.passed is row["success"], row


@pytest.mark.shared
@pytest.mark.parametrize("scorer", ITEMISED)
def test_scorers_of_items_give_judgevals_values(scorer: str) -> None:
    for row in rows(scorer):
        words = row["actual"]["verdicts"]
        script = [{"items": [f"item {n}" for n, _ in enumerate(words)]}, replies(words)]
        agree(row, run(scorer, script, row["config"]))


@pytest.mark.shared
@pytest.mark.parametrize("scorer", BY_NODE)
def test_scorers_by_node_give_judgevals_values(scorer: str) -> None:
    for row in rows(scorer):
        words = row["actual"]["verdicts"]
        fields = {BY_NODE[scorer]: [f"node {n}" for n, _ in enumerate(words)]}
        if not words and (scorer, "no documents") in DIFFERENCES:
            with pytest.raises(ScorerError):
                run(scorer, [], row["config"], **fields)
        else:
            agree(row, run(scorer, [replies(words)], row["config"], **fields))


@pytest.mark.shared
def test_contextual_relevancy_pools_as_judgeval_does() -> None:
    for row in rows("ContextualRelevancyScorer"):
        lists = row["actual"]["verdict_lists"]
        nodes = [
            {"statements": [{"statement": "s", "reason": "", "verdict": word} for word in words]}
            for words in lists
        ]
        fields = {"retrieval_context": ["r"] * len(lists)}
        agree(row, run("ContextualRelevancyScorer", [{"nodes": nodes}], row["config"], **fields))


@pytest.mark.shared
def test_summarization_takes_the_lesser_share_as_judgeval_does() -> None:
    for row in rows("SummarizationScorer"):
        claims = row["actual"]["contradiction_verdicts"]
        answers = row["actual"]["info_coverage[(original,summary)]"]
        script, config = [{"items": ["c"] * len(claims)}, replies(claims)], row["config"]
        if row["actual"]["assessment_questions"] is None:  # none are asked there, which is `[]` here
            config = {**config, "questions": []}
        else:
            script += [{"items": ["q"] * len(answers)}]
            script += [replies([a for a, _ in answers]), replies([b for _, b in answers])]
        score = run("SummarizationScorer", script, config)
        agree(row, score)
        breakdown = row["breakdown"]
        assert score.details["alignment"] == breakdown["Contradiction"]
        assert score.details["coverage"] == breakdown["Information Coverage"]


@pytest.mark.shared
def test_instruction_adherence_is_the_mean_as_in_judgeval() -> None:
    for row in rows("InstructionAdherenceScorer"):
        given = row["actual"]["verdict_scores"]
        script = [{"items": ["x"] * len(given)}, {"scores": [{"reason": "", "score": s} for s in given]}]
        agree(row, run("InstructionAdherenceScorer", script, row["config"]))


@pytest.mark.shared
def test_replies_are_read_as_judgeval_reads_them_but_never_repaired() -> None:
    for row in rows("judge_json_parse"):
        text, expected = row["actual"], row["expected"]
        if isinstance(expected, dict) and text.endswith("}"):
            assert strict_json(text) == expected
        else:
            with pytest.raises(InvalidJSON):
                strict_json(text)
