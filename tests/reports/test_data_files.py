"""Reports as JSON, by their published schema, and as CSV."""

import csv
import io
import json
import math
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example, ToolOrderScorer, run_evaluation
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.redaction import Redaction
from agenttrace.reports import csv_report, json_report, junit_report, markdown_report, report_schema
from agenttrace.scorers import scorer
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import MemoryStore
from tests.reports.reports_for_tests import HOSTILE, hostile_report, shop_report


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


def checked(report):
    data = json.loads(json_report(report), parse_constant=no_constant)
    jsonschema.Draft202012Validator(report_schema()).validate(data)
    return data


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(report_schema())


@pytest.mark.parametrize("report", [shop_report(), shop_report(trials=2), hostile_report()])
def test_a_report_is_valid_by_the_schema(report):
    data = checked(report)
    assert data["format_version"] == 1
    assert data["passed"] is False
    assert data["counts"] == report.counts


def test_a_redacted_report_is_valid_too_and_holds_no_secret():
    report = redacted_report(hostile_report("Bearer abcdefghijklmnop0123"), Redaction())
    report = replace(report, project="shop")  # a project's name is never redacted
    checked(report)
    assert "abcdefghijklmnop0123" not in json_report(report) + csv_report(report)


def test_the_schema_names_every_key_that_is_written():
    data, schema = checked(shop_report()), report_schema()
    assert set(data) == set(schema["properties"])
    assert set(data["results"][0]) == set(schema["$defs"]["result"]["properties"])
    written = set(data["results"][0]["scores"][0])
    assert written == set(schema["$defs"]["score"]["properties"])


def test_a_file_is_read_back_as_a_report():
    report = shop_report(trials=2)
    twin = EvaluationReport.from_dict(json.loads(json_report(report)))
    assert json_report(twin) == json_report(report)


def test_numbers_that_json_has_not_are_written_as_data():
    score = Score.of("Answer", 1.0, 0.5, details={"distance": math.inf, "object": object()})
    result = ScoringResult(example=Example(input={"x": math.nan}), outcome="passed", scores=(score,))
    checked(EvaluationReport(results=(result,)))


def rows_of(report):
    return list(csv.DictReader(io.StringIO(csv_report(report), newline="")))


def test_csv_has_a_row_for_each_score_and_one_for_a_result_without_any():
    report = shop_report()
    rows = rows_of(report)
    assert [row["example"] for row in rows] == ["right", "wrong", "raises", ""]
    assert [row["position"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["outcome"] for row in rows] == ["passed", "failed", "failed", "errored"]
    assert [row["score"] for row in rows] == ["1.0", "0.0", "", ""]
    assert [row["score_outcome"] for row in rows] == ["passed", "failed", "", "errored"]
    assert rows[1]["reason"] == "0 of 2 expected calls aligned (in_order)"
    assert rows[1]["trace_id"] == report[1].trace_id
    assert rows[2]["error"] == "RuntimeError: sold out"
    assert {row["run_id"] for row in rows} == {report.run_id}
    assert len(rows_of(shop_report(trials=3))) == 12


def test_csv_of_nothing_is_the_head():
    assert csv_report(EvaluationReport(results=())).count("\n") == 1


texts = st.sampled_from(["", " ", "\t", "\r", "\n", "\x00"]).flatmap(
    lambda before: st.sampled_from("=+-@＝＋－＠").map(lambda sign: f"{before}{sign}cmd|' /C calc'!A0,\"1")
)


@given(texts)
def test_no_cell_begins_a_formula(text):
    for row in rows_of(hostile_report(text)):
        for value in row.values():
            assert not value.lstrip().startswith(tuple("=+-@＝＋－＠"))


def test_hostile_text_stays_in_its_cell():
    rows = rows_of(hostile_report())
    assert len(rows) == 6
    assert all(None not in row and None not in row.values() for row in rows)
    assert rows[0]["example"].startswith("'=cmd|")
    assert HOSTILE not in csv_report(hostile_report())


def tagged_report():
    """Two trials each of two examples with a tag, scored by one scorer that decides and one that informs."""
    examples = [
        Example(name=name, tags=["book"], expected_tools=["pay"], tools_called=[tool], actual_output="ok")
        for name in "ab"
        for tool in ("pay", "other")
    ]
    names = scorer(lambda trace: float(trace.tool_calls[0].name == "pay"), name="Names", gate=False)
    scorers = [ToolOrderScorer(), names]
    return run_evaluation(examples, scorers, store=MemoryStore(), trials_by="name", eval_run_name="tagged")


def test_a_file_of_a_report_has_its_summary_and_is_read_back_with_it():
    report = tagged_report()
    data = checked(report)
    summary = report.summary().to_dict()
    del summary["examples"]
    assert data["summary"] == json.loads(json.dumps(summary))
    assert list(data).index("summary") < list(data).index("results")
    assert data["summary"]["pass_hat"] == {"1": 0.5, "2": 0.0}


def test_csv_says_which_tags_an_example_has_and_which_scores_decide():
    rows = rows_of(tagged_report())
    assert {row["tags"] for row in rows} == {"book"}
    assert [(row["scorer"], row["gate"]) for row in rows[:2]] == [("Tool Order", "True"), ("Names", "False")]


def test_markdown_and_junit_have_the_rates_of_trials_and_tags():
    report = tagged_report()
    text, junit = markdown_report(report), junit_report(report)
    assert "`pass^k 1: 0.5, 2: 0`" in text
    assert "`tag book: pass rate 0.5 (2 of 4; " in text
    assert "| Names | 0.50 over 4 of 4 | 2 passed, 2 failed, informs |" in text
    assert '<property name="agenttrace:pass^k" value="1: 0.5, 2: 0" />' in junit
    assert '<property name="agenttrace:tag book: pass rate" value="0.5 (2 of 4; ' in junit
