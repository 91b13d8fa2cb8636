"""What a report says of all its results together."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed, EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.store import MemoryStore, SQLiteStore


def scored(value: float, name: str = "Tool Order") -> Score:
    return Score.of(name, value, 0.5)


def report_of(*scores: tuple[Score, ...]) -> EvaluationReport:
    return EvaluationReport(
        results=tuple(
            ScoringResult(example=Example(), outcome="failed", scores=each, position=position)
            for position, each in enumerate(scores)
        )
    )


def test_a_mean_says_over_how_many_of_how_many_it_is() -> None:
    mean = report_of((scored(1.0),), (), (Score.errored("Tool Order", 0.5, "broke"),)).means["Tool Order"]
    assert mean == 1.0
    assert (mean.count, mean.total) == (1, 3)
    assert str(mean) == repr(mean) == "1.0 over 1 of 3"
    assert f"{mean:.2f}" == "1.00"


def test_a_mean_stays_a_number_and_what_it_is_of_when_it_is_copied() -> None:
    mean = report_of((scored(0.25),), ()).means["Tool Order"]
    for twin in (copy.deepcopy(mean), pickle.loads(pickle.dumps(mean))):
        assert (twin, twin.count, twin.total) == (0.25, 1, 2)
    assert json.loads(json.dumps(mean)) == 0.25


def test_the_printed_report_has_the_means_and_names_a_scorer_without_any_value() -> None:
    broken = Score.errored("Judge", 0.5, "broke")
    text = str(report_of((scored(1.0), broken), (scored(0.5), broken), ()))
    assert text.endswith("\nTool Order: mean 0.75 over 2 of 3\nJudge: no value in any of 3")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_stored_run_says_it_too(kind: str, tmp_path: object) -> None:
    store = MemoryStore() if kind == "memory" else SQLiteStore(f"{tmp_path}/traces.db")
    run_id = store.write_report(report_of((scored(1.0),), (), ()))
    run = store.run(run_id)
    assert run is not None
    assert run["means"] == {"Tool Order": 1.0}
    assert run["mean_counts"] == {"Tool Order": {"count": 1, "total": 3}}
    store.close()


def test_a_guard_of_a_tool_that_nobody_knows_is_said_once_for_all_results() -> None:
    score = Score.of("Tool Order", 1.0, 0.5, details={"vacuous": ["never delte_*"]})
    report = report_of((score,), (score,), (scored(1.0),))
    line = "? Tool Order: never delte_*: vacuous in 2 of 3, no known tool has such a name"
    assert report.vacuous_lines == [line]
    assert str(report).endswith(line)


def test_a_failed_evaluation_comes_out_of_another_process_whole() -> None:
    """An exception that cannot be unpickled breaks a process pool, or has it wait for ever."""
    result = ScoringResult(example=Example(name="a"), outcome="errored", scores=[Score.of("s", 0.2, 0.5)])
    failure = EvaluationFailed("a: 0.2", EvaluationReport(name="run", results=[result]))
    again = pickle.loads(pickle.dumps(failure))
    assert (str(again), again.errored, again.report.to_dict()) == ("a: 0.2", True, failure.report.to_dict())
