"""Scorers that inform: their scores are shown, stored and counted, and fail nothing."""

import inspect
from functools import partial

import pytest

import agenttrace.judges as judges
import agenttrace.scorers as scorers
from agenttrace.core.errors import ConfigError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.report import outcome_of
from agenttrace.core.score import Score
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.judges import FakeChatModel
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer, scorer, scorer_named
from agenttrace.store import MemoryStore, SQLiteStore
from tests.evaluation.evaluation_fakes import Does, scored

EXAMPLE = Example(
    name="one", actual_output="x", expected_output="x", expected_tools=["a"], tools_called=["b"]
)
NEEDED = {
    "ToolPermissionScorer": {"deny": "x"},
    "JSONCorrectnessScorer": {"json_schema": {}},
    "BudgetScorer": {"calls": 1},
    "ToolCallCountScorer": {"counts": {"a": (">", 0)}},
    "PromptScorer": {"name": "own", "prompt": "{{input}}"},
    "ClassifierScorer": {"name": "own", "prompt": "{{input}}", "options": {"a": 1.0, "b": 0.0}},
    "ComparisonScorer": {"criteria": "tone"},
}


def every_class():
    offered = [getattr(room, name) for room in (scorers, judges) for name in room.__all__]
    kinds = {kind for kind in offered if inspect.isclass(kind) and callable(getattr(kind, "score", None))}
    return sorted(kinds - {judges.JudgeScorer, scorers.custom.FunctionScorer}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", every_class(), ids=lambda kind: kind.__name__)
def test_every_scorer_has_a_gate_that_is_open_to_choice(kind):
    options = NEEDED.get(kind.__name__, {})
    assert kind(**options).gate is True
    assert kind(**options, gate=False).gate is False


def test_a_failed_score_that_informs_fails_nothing():
    report = run_evaluation([EXAMPLE], [ExactMatchScorer(), ToolOrderScorer(gate=False)])
    assert report.passed
    assert [(score.outcome, score.gate) for score in report[0].scores] == [
        ("passed", True),
        ("failed", False),
    ]
    assert report.means["Tool Order"] == 0.0


def test_a_scorer_that_informs_and_breaks_is_shown_as_errored_and_fails_nothing():
    @scorer(gate=False)
    def broken(actual_output):
        raise RuntimeError("no")

    report = run_evaluation([EXAMPLE], [ExactMatchScorer(), broken])
    assert report.passed
    assert report[0].scores[1].outcome == "errored"


def test_a_judge_and_a_function_can_inform_and_so_can_a_class_of_one_s_own():
    class Own(Does):
        gate = False

    judge = judges.PromptScorer(
        "own", "{{input}}", model=FakeChatModel(['{"score": 0, "reason": "r"}']), gate=False
    )
    example = EXAMPLE.model_copy(update={"input": "?"})
    report = run_evaluation([example], [ExactMatchScorer(), judge, Own(lambda e, t: scored(0.0))])
    assert report.passed
    assert [score.gate for score in report[0].scores] == [True, False, False]


def test_a_function_may_say_of_a_single_score_that_it_informs():
    @scorer
    def sometimes():
        return Score(name="sometimes", value=0.0, threshold=0.5, outcome="failed", gate=False)

    assert run_evaluation([EXAMPLE], [ExactMatchScorer(), sometimes]).passed


def test_scorers_that_all_inform_are_an_error_before_anything_runs():
    calls = []
    with pytest.raises(ConfigError, match=r"every scorer only informs \(gate=False\): Exact Match"):
        run_evaluation([EXAMPLE], [ExactMatchScorer(gate=False)], function=calls.append)
    assert calls == []


def test_a_gate_that_is_no_truth_value_is_an_error():
    for make in (ToolOrderScorer, ExactMatchScorer, judges.FaithfulnessScorer, partial(scorer, lambda: 1)):
        with pytest.raises(ScorerError, match="gate is True or False, got 'no'"):
            make(gate="no")


def test_a_scorer_of_one_s_own_may_call_another_thing_its_gate():
    own = Does(lambda e, t: scored(0.0))
    own.gate = object()
    assert not run_evaluation([EXAMPLE], [own]).passed


def test_where_no_score_gates_nothing_says_that_it_passes():
    outcome, error = outcome_of(None, None, [scored(1.0).informing()])
    assert outcome == "errored"
    assert "only informs" in error


def test_the_name_of_a_scorer_in_a_file_takes_it_too():
    assert scorer_named("ToolOrder", {"gate": False}).gate is False


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_store_keeps_it(kind, tmp_path):
    store = MemoryStore() if kind == "memory" else SQLiteStore(tmp_path / "traces.db")
    report = run_evaluation([EXAMPLE], [ExactMatchScorer(), ToolOrderScorer(gate=False)], store=store)
    run = store.run(report.run_id)
    assert [score["gate"] for score in run["results"][0]["scores"]] == [True, False]
    store.close()
