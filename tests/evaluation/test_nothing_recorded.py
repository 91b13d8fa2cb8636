"""A run of which nothing was recorded is an error for every scorer that looks at calls, never a pass."""

import pytest

from agenttrace import Example, Tracer, run_evaluation
from agenttrace.scorers import BudgetScorer, ExactMatchScorer, LoopScorer, ToolOrderScorer, TrajectoryScorer
from agenttrace.tracing import observed_function

EXAMPLE = Example(input="a", expected_tools=[], expected_output="done")
SCORERS = [ToolOrderScorer(), TrajectoryScorer(), LoopScorer(), BudgetScorer(calls=3)]


@pytest.fixture(autouse=True)
def _no_tools_of_other_tests(monkeypatch):
    monkeypatch.setattr(observed_function, "_tools", {})


def agent(text):
    return "done"


@pytest.mark.parametrize("scorer", SCORERS, ids=[scorer.name for scorer in SCORERS])
def test_without_a_single_decorated_function_it_is_errored(scorer):
    tracer = Tracer("t", store="memory")
    (result,) = run_evaluation([EXAMPLE], [scorer], function=agent, tracer=tracer).results
    assert result.scores[0].outcome == "errored"
    assert "nothing was recorded" in result.scores[0].reason
    assert "@observe" in result.scores[0].reason


def test_with_a_tool_that_is_not_called_no_calls_are_what_was_expected():
    tracer = Tracer("t", store="memory")
    tool = tracer.observe(agent, span_type="tool")
    report = run_evaluation([EXAMPLE], [ToolOrderScorer()], function=lambda text: "done", tracer=tracer)
    assert report.results[0].scores[0].reason.startswith("no calls expected, none made")
    assert tool("x") == "done"


def test_an_answer_is_compared_all_the_same():
    report = run_evaluation(
        [EXAMPLE], [ExactMatchScorer()], function=agent, tracer=Tracer("t", store="memory")
    )
    assert report.passed
