"""What a notebook shows of a value is short; what `print` shows is for reading."""

import pytest

from agenttrace import Example, Score, run_evaluation
from agenttrace.runs.baseline import compare_runs, record_of_report
from agenttrace.scorers import ToolOrderScorer
from agenttrace.store import MemoryStore


def report_of(passes):
    called = [{"name": "refund", "arguments": {"text": "long " * 500}}]
    examples = [
        Example(
            name=f"example {n}",
            input="word " * 500,
            expected_tools=["refund"],
            tools_called=called if n < passes else [],
        )
        for n in range(30)
    ]
    return run_evaluation(examples, [ToolOrderScorer()], store=MemoryStore())


@pytest.fixture(scope="module")
def report():
    return report_of(20)


def test_the_repr_of_everything_in_a_report_is_one_short_line(report):
    comparison = compare_runs(record_of_report(report), record_of_report(report_of(10)))
    summary = report.summary()
    for value in (
        *(report[0], report[0].example, report[0].scores[0], summary, comparison, comparison.before),
        *(comparison.changes[0], comparison.scorers[0], summary.examples[0], summary.scorers[0]),
    ):
        assert len(repr(value)) < 200, value
        assert "\n" not in repr(value)
    assert repr(report[0].example).startswith("Example(name='example 0', input='word word")
    assert repr(Example(input="hi")).startswith("Example(input='hi'")
    assert repr(report[25]) == "<ScoringResult 'example 25': failed, Tool Order 0>"
    assert repr(report[25].scores[0]).startswith("<Score Tool Order: 0 (threshold 1) failed: 0 of 1")
    assert repr(summary).startswith("<ReportSummary pass rate 0.667 (20 of 30; ")
    assert repr(comparison).endswith("10 worse, 20 same>")


def test_a_comparison_is_printed_with_what_became_of_each_example(report):
    text = str(compare_runs(record_of_report(report), record_of_report(report_of(10))))
    lines = text.splitlines()
    assert lines[0] == "10 worse, 20 same"
    assert lines[1] == "pass rate: 0.6667 to 0.3333 over 30 pairs, 10 worse, 0 better, p = 0.00195: fell"
    assert "Tool Order: 0.6667 to 0.3333 over 30 pairs, 10 worse, 0 better, p = 0.00195: fell" in lines
    assert "worse: example 10 (1 of 1 passed, then 0 of 1)" in lines
    assert not any(line.startswith("same") for line in lines)


def test_a_printed_report_of_many_results_is_bounded(report):
    lines = str(report).splitlines()
    assert len(lines) < 70
    assert lines[0] == "TEST RESULTS: 20/30 passed (10 failed)"
    many = str(type(report)(results=report.results * 10)).splitlines()
    assert len(many) < 120
    assert "… 270 more results, 70 of which did not pass: report_text and the results have them" in many


def test_what_a_report_and_a_score_print_moves_no_cursor():
    bad = "a\x1b[2J\x07\u202e"
    score = Score.of(bad, 0.0, 1.0, reason=bad)
    report = run_evaluation(
        [Example(name=bad, tools_called=[bad], expected_tools=["b"])], [ToolOrderScorer()]
    )
    for text in (str(report), str(score), repr(score)):
        assert not set(text) & set("\x1b\x07\u202e"), text
