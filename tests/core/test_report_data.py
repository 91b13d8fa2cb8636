"""A report is written as data and read back: to_dict and from_dict, also through a store."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.redaction import Redaction
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import MemoryStore, SQLiteStore
from tests.reports.reports_for_tests import hostile_report, shop_report

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=5)
mappings = st.dictionaries(st.text(max_size=3), scalars, max_size=2)
scores = st.builds(
    Score,
    name=st.text(max_size=5),
    value=st.none() | st.floats(0, 1),
    threshold=st.floats(0, 1),
    outcome=st.sampled_from(["passed", "failed", "skipped", "errored"]),
    reason=st.text(max_size=5),
    details=mappings,
    diff=st.none() | st.text(max_size=5),
    error=st.none() | st.text(max_size=5),
    strict=st.booleans(),
    cost=st.none() | st.floats(0, 1),
    usage=st.none() | mappings,
    metadata=mappings,
)
results = st.builds(
    ScoringResult,
    example=st.builds(
        Example,
        name=st.none() | st.text(max_size=5),
        input=st.none() | st.text(max_size=3),
        expected_tools=st.none() | st.lists(st.sampled_from(["a", "b"]), max_size=2),
        skip=st.none() | st.booleans(),
    ),
    scores=st.lists(scores, max_size=2).map(tuple),
    stored_trace_id=st.none() | st.just("0" * 31 + "1"),
    error=st.none() | st.text(max_size=5),
    outcome=st.sampled_from(["passed", "failed", "errored", "not_run"]),
    trial=st.integers(1, 3),
    trials=st.just(3),
    run_duration=st.none() | st.floats(0, 9),
    position=st.integers(0, 9),
    source=st.none() | st.text(max_size=5),
)
reports = st.builds(
    EvaluationReport,
    results=st.lists(results, max_size=3).map(tuple),
    name=st.text(max_size=5),
    project=st.text(max_size=5),
    model=st.none() | st.text(max_size=5),
    started_ns=st.integers(0, 2**62),
    duration=st.floats(0, 9),
    metadata=mappings,
)


@given(reports)
def test_what_is_written_and_read_back_is_the_same_report(report: EvaluationReport) -> None:
    twin = EvaluationReport.from_dict(report.to_dict())
    assert twin == report
    assert twin.run_id == report.run_id
    assert twin.to_dict() == report.to_dict()


def test_a_real_report_says_the_same_after_json() -> None:
    report = shop_report(trials=2)
    twin = EvaluationReport.from_dict(json.loads(to_json(jsonable(report.to_dict()))))
    assert jsonable(twin.to_dict()) == jsonable(report.to_dict())
    assert str(twin) == str(report)
    assert [result.trace_id for result in twin] == [result.trace_id for result in report]
    assert [result.trace for result in twin] == [None] * len(report)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("make", [shop_report, hostile_report])
def test_a_stored_run_is_read_as_a_report(kind: str, make, tmp_path: object) -> None:
    store = MemoryStore() if kind == "memory" else SQLiteStore(f"{tmp_path}/traces.db")
    data = store.run(store.write_report(redacted_report(make(), Redaction())))
    store.close()
    assert data is not None
    twin = EvaluationReport.from_dict(data)
    assert json.loads(to_json(jsonable(twin.to_dict()["results"]))) == json.loads(
        to_json(jsonable(data["results"]))
    )
    assert twin.run_id == data["run_id"]


def test_an_example_that_redaction_left_invalid_is_read_all_the_same() -> None:
    data = shop_report().to_dict()
    data["results"][0]["example"]["created_at"] = "[redacted]"
    data["results"][0]["example"]["of_a_later_version"] = 1
    report = EvaluationReport.from_dict(data)
    assert report[0].name == "right"
    assert report[0].example.created_at == "[redacted]"
    assert report[0].to_dict()["example"]["created_at"] == "[redacted]"


def test_keys_of_a_later_version_are_ignored_and_missing_ones_have_their_defaults() -> None:
    data = {"results": [{"example": {}, "outcome": "passed", "scores": [], "x": 1}], "y": 2}
    report = EvaluationReport.from_dict(data)
    assert report.passed
    assert report[0].trace_id is None


@pytest.mark.parametrize(
    "data", [{}, [], None, {"results": 3}, {"results": [{}]}, {"results": [{"example": 3}]}]
)
def test_other_data_is_refused(data: object) -> None:
    with pytest.raises(ConfigError, match="this is no report"):
        EvaluationReport.from_dict(data)  # type: ignore[arg-type]


def test_a_printed_report_names_its_examples_trials_and_scores() -> None:
    lines = str(shop_report(trials=2)).splitlines()
    assert lines[0] == "TEST RESULTS: 2/8 passed (4 failed, 2 errored)"
    assert lines[1] == "Test 1: PASSED  right · trial 1/2"
    assert lines[2].startswith("  Tool Order: 1 (threshold 1) passed: 1 of 1 expected calls aligned")
    assert "Test 3: FAILED  raises · trial 2/2" in lines


def test_a_printed_score_is_one_line() -> None:
    score = Score.of("Tool Order", 0.5, 1.0, reason="1 of 2 expected calls\naligned", diff="- 1  notify()")
    assert str(score) == "Tool Order: 0.5 (threshold 1) failed: 1 of 2 expected calls aligned"
    assert str(Score.skipped("Judge", 0.5, "no context")) == "Judge: skipped: no context"


def test_what_was_not_run_is_counted_and_is_no_pass() -> None:
    passed = ScoringResult(example=Example(), outcome="passed", trace=Trace())
    not_run = ScoringResult(example=Example(), outcome="not_run", position=1)
    report = EvaluationReport(results=(passed, not_run))
    assert report.counts == {"passed": 1, "failed": 0, "errored": 0, "not_run": 1}
    assert not report.passed
    assert str(report).startswith("TEST RESULTS: 1/2 passed (1 not run)")
    assert "not_run" not in EvaluationReport(results=(passed,)).counts
