"""ExecutionOrder and ToolOrder give what judgeval's own code and documents give.

Where the rule of this library is another, the rows stand in `OURS` with our value and the reason; every other
row must come out as it was recorded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.scorers import ExecutionOrderScorer, ToolOrderScorer

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "judgeval_cases.json"
SCORERS = ("ExecutionOrderScorer", "ExecutionOrderScorer.__init__", "ToolOrderScorer")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CASES.exists(), reason="the recorded cases are not beside the project"),
]

MULTISET = (
    "judgeval divides a set by a list, so a list with duplicates never equals itself; ours is a multiset"
)
EMPTY = "judgeval divides by zero; nothing expected is 1.0 where nothing was done, else 0.0"
LISTED = "judgeval's server does not say; ours compares the same parameters, unless parameters='listed'"

# scorer, configuration, actual, expected: our value, why
OURS: dict[tuple[str, str, str, str], tuple[float, str]] = {
    ("ExecutionOrderScorer", "{}", '["a", "a"]', '["a", "a"]'): (1.0, MULTISET),
    ("ExecutionOrderScorer", "{}", '["a", "b", "a"]', '["a", "a", "b"]'): (1.0, MULTISET),
    ("ExecutionOrderScorer", "{}", '["a"]', "[]"): (0.0, EMPTY),
    ("ExecutionOrderScorer", '{"should_consider_ordering": true, "strict_mode": true}', '["a"]', "[]"): (
        0.0,
        EMPTY,
    ),
    ("ExecutionOrderScorer", "{}", "[]", "[]"): (1.0, EMPTY),
    ("ExecutionOrderScorer", '{"should_consider_ordering": true, "strict_mode": true}', "[]", "[]"): (
        1.0,
        EMPTY,
    ),
    (
        "ToolOrderScorer",
        "{}",
        '[{"tool_name": "get_weather", "parameters": {"destination": "Paris", "start_date": "2025-06-01", '
        '"end_date": "2025-06-02"}}]',
        '[{"tool_name": "get_weather", "parameters": {"destination": "Paris"}}]',
    ): (0.0, LISTED),
}


def cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    return [case for case in json.loads(CASES.read_text()) if case["scorer"] in SCORERS]


def key(case: dict[str, Any]) -> tuple[str, str, str, str]:
    config = json.dumps(case["config"])
    return (case["scorer"], config, json.dumps(case["actual"]), json.dumps(case["expected"]))


def label(case: dict[str, Any]) -> str:
    return f"{case['scorer']}-{case['kind']}-{json.dumps(case['config'])}"


def score_of(case: dict[str, Any]) -> Score:
    if case["scorer"] == "ExecutionOrderScorer":
        example = Example(actual_output=case["actual"], expected_output=case["expected"])
        return ExecutionOrderScorer(**case["config"]).score(example)
    actual = case["actual"]
    if isinstance(actual, str):  # "agent observed as span_type='function' with 2 tool spans"
        actual = case["expected"]
    trace = Trace.from_calls(
        [{("agent" if k == "agent_name" else k): v for k, v in c.items()} for c in actual]
    )
    score = ToolOrderScorer(**case["config"]).score(Example(expected_tools=case["expected"]), trace)
    assert isinstance(score, Score)
    return score


ROWS = cases()


@pytest.mark.parametrize("case", [c for c in ROWS if not c["scorer"].endswith("__init__")], ids=label)
def test_a_recorded_row_comes_out(case: dict[str, Any]) -> None:
    score = score_of(case)
    ours = OURS.get(key(case))
    if ours is None:
        assert case["score"] is not None
        assert score.value == pytest.approx(case["score"]), score.reason
    else:
        assert score.value == ours[0], ours[1]
    threshold_row = case.get("success_at_threshold_0.8")
    if threshold_row is not None and ours is None:
        assert (score.value is not None and score.value >= 0.8) is threshold_row


@pytest.mark.parametrize("case", [c for c in ROWS if c["scorer"].endswith("__init__")], ids=label)
def test_a_threshold_is_taken_or_refused_as_recorded(case: dict[str, Any]) -> None:
    if case["expected"] == "ok":
        assert ExecutionOrderScorer(**case["config"]).threshold == case["config"]["threshold"]
    else:
        with pytest.raises(ScorerError):
            ExecutionOrderScorer(**case["config"])


def test_every_row_of_ours_is_a_recorded_row_and_truly_differs() -> None:
    recorded = {key(case): case["score"] for case in ROWS}
    for row, (value, reason) in OURS.items():
        assert row in recorded, row
        assert recorded[row] != value, reason


def test_the_contradictory_sentence_of_the_documents_is_what_strict_mode_gives() -> None:
    (case,) = [c for c in ROWS if "alternate_score" in c]
    strict = {**case, "config": {**case["config"], "strict_mode": True}}
    assert score_of(strict).value == case["alternate_score"]
