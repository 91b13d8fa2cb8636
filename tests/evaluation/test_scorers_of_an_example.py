"""An evaluation scores each example with the suite's scorers and with the example's own."""

from __future__ import annotations

import pytest

from agenttrace import ConfigError, EvaluationFailed, Example, ScorerError, assert_test, run_evaluation
from agenttrace.scorers import LoopScorer, ToolOrderScorer

CALLED = ["lookup", "refund"]


def example(**fields: object) -> Example:
    return Example(tools_called=CALLED, expected_tools=["lookup", "pay"], **fields)


def test_a_threshold_of_its_own_is_that_of_the_suite_s_scorer() -> None:
    own, other = example(scorers=[{"ToolOrder": {"threshold": 0}}]), example()
    report = run_evaluation([own, other], [ToolOrderScorer()])
    assert [result.outcome for result in report] == ["passed", "failed"]
    assert [score.threshold for result in report for score in result.scores] == [0, 1]


def test_another_scorer_is_added() -> None:
    own, other = example(scorers=["Loop"]), example()
    report = run_evaluation([own, other], [ToolOrderScorer()])
    assert [len(result.scores) for result in report] == [2, 1]


def test_a_file_may_have_all_the_scorers(tmp_path) -> None:
    path = tmp_path / "tests.yaml"
    path.write_text(
        "examples:\n- {name: one, tools_called: [a], expected_tools: [b], scorers: [ToolOrder]}\n"
    )
    with pytest.raises(EvaluationFailed, match="one: 0 of 1 expected calls aligned"):
        assert_test(test_file=path)


def test_an_example_without_any_is_an_error_before_any_agent_runs() -> None:
    def agent() -> None:
        pytest.fail("the agent ran")

    with pytest.raises(ConfigError, match="no scorers"):
        run_evaluation([example(scorers=["ToolOrder"]), example()], [], function=agent)


def test_a_misspelt_one_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ScorerError, match="ToolOrdr.*did you mean"):
        run_evaluation([example(scorers=["ToolOrdr"])], [LoopScorer()])
