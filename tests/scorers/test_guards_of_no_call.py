"""Scorers that pass because they look at the calls of an agent that the run does not have say so."""

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.trace import Trace
from agenttrace.expectations import expect
from agenttrace.scorers import (
    BudgetScorer,
    LoopScorer,
    ToolCallCountScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
    TurnsScorer,
)

RUN = Trace.from_calls([{"name": "delete_all", "agent": "booking"}] * 2)
WHY = "the run has no agent 'boking'; did you mean 'booking'?"
NEVER = expect(never="delete_*")
SCORERS = [
    (ToolOrderScorer, {}, ["never delete_*"]),
    (TrajectoryScorer, {}, ["never delete_*"]),
    (ToolPermissionScorer, {"deny": "delete_*"}, ["delete_*"]),
    (ToolPermissionScorer, {"allow": "find"}, ["allow find"]),
    (ToolCallCountScorer, {"counts": {"delete_all": ("=", 0)}}, ["delete_all"]),
    (LoopScorer, {}, ["no redundant calls"]),
    (BudgetScorer, {"calls": 1}, ["calls"]),
]


@pytest.mark.parametrize(("scorer", "options", "vacuous"), SCORERS)
def test_a_guard_of_a_misspelt_agent_is_told_as_vacuous(scorer, options, vacuous):
    score = scorer(**options, agent="boking").score(Example(expected_tools=NEVER), RUN)
    assert (score.outcome, score.details["vacuous"]) == ("passed", vacuous)
    assert score.details["vacuous_because"] == WHY
    assert score.reason.endswith(f"; vacuous, as they look at no call: {vacuous[0]} ({WHY})")


@pytest.mark.parametrize(("scorer", "options", "vacuous"), SCORERS)
def test_a_guard_of_an_agent_that_the_run_has_is_not(scorer, options, vacuous):
    score = scorer(**options, agent="booking").score(Example(expected_tools=NEVER), RUN)
    assert score.value < 1
    assert not {"vacuous", "vacuous_because"} & {*score.details}


def test_so_is_one_of_a_turn():
    in_turns = Trace.from_calls([{"name": "find", "agent": "booking", "turn": turn} for turn in (1, 2)])
    said = [{"expected_tools": expect(never="x", agent=agent)} for agent in ("booking", "boking")]
    score = TurnsScorer().score(Example(turns=said), in_turns)
    assert score.reason == f"2 of 2 expected turns held; vacuous: turn 2: never x ({WHY})"
    assert score.details["vacuous"] == ["turn 2: never x"]
    assert score.details["vacuous_because"] == WHY


def test_the_report_says_why():
    score = ToolOrderScorer(agent="boking").score(Example(expected_tools=NEVER), RUN)
    results = [ScoringResult(example=Example(name=name), outcome="passed", scores=[score]) for name in "ab"]
    report = EvaluationReport(name="run", results=results)
    assert report.vacuous_lines == [f"? Tool Order: never delete_*: vacuous in 2 of 2, {WHY}"]


@pytest.mark.parametrize("said", [{}, {"path": None, "never": None}, {"never": []}, expect()])
def test_an_expectation_that_says_nothing_is_told_as_vacuous(said):
    for scorer in (ToolOrderScorer(), TrajectoryScorer()):
        score = scorer.score(Example(expected_tools=said), RUN)
        assert score.passed
        assert score.details["vacuous"] == ["nothing expected"]
        assert score.reason.endswith("nothing expected (the expectation says nothing)")
