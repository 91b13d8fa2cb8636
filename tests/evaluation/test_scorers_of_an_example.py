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
    with pytest.raises(ScorerError, match=r"ToolOrdr.*did you mean"):
        run_evaluation([example(scorers=["ToolOrdr"])], [LoopScorer()])


def test_a_requirement_of_a_scorer_is_of_the_examples_that_it_is_asked_about() -> None:
    own = Example(name="own", input="a", expected_output="a", scorers=["ExactMatch"])
    other = Example(name="other", input="b", scorers=[{"Contains": {"texts": ["b"]}}])
    require = ["mean(Exact Match) >= 1", "pass_rate(Contains) >= 1"]
    report = assert_test([own, other], function=lambda text: text, require=require)
    assert "mean(Exact Match) >= 1, got 1 (over 1 of 1;" in report.metadata["requirement"]
    assert [scorer.pass_rate.value for scorer in report.summary().scorers] == [1.0, 1.0]


def test_trials_of_an_example_end_where_the_requirement_is_of_others() -> None:
    own = Example(name="own", input="a", expected_output="a", scorers=["ExactMatch"])
    other = Example(name="other", input="b", scorers=[{"Contains": {"texts": ["b"]}}])
    for require in ("mean(Exact Match) >= 0.5", "pass_rate(Exact Match) >= 0.5"):
        report = assert_test([own, other], function=lambda text: text, require=require, trials="auto")
        assert report.summary().examples[1].trials == 1


def test_an_agent_that_raises_is_no_pass_of_a_scorer_that_would_have_been_asked() -> None:
    def agent(text: str) -> str:
        raise RuntimeError

    own = Example(name="own", input="a", expected_output="a", scorers=["ExactMatch"])
    with pytest.raises(EvaluationFailed, match=r"mean\(Exact Match\) >= 0.5, got 0 \(over 1 of 1"):
        assert_test([own], function=agent, require="mean(Exact Match) >= 0.5")
