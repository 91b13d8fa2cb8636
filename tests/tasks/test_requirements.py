"""A metric's `require` decides whether the run passes, and every report says so."""

# ruff: noqa: E501 - a case a line

import json

import pytest

from agenttrace import DatasetError, load_task
from agenttrace.cli.main import main
from agenttrace.tasks import metrics_of

TASK = """
key: gated
function: an_agent:run
examples:
- {input: a sum, name: one, additional_metadata: {label: "yes"}}
- {input: a word, name: two, additional_metadata: {label: "yes"}}
scorers:
- type: function_call_coverage
  function_calls: [search, calculator]
  metrics:
  - METRIC
"""
BINARY = (
    "type: binary_classification, field_gt: sample.label, field_pred: output, "
    "positive_answer: 'yes', negative_answer: 'no'"
)


@pytest.fixture
def run(write, capsys):
    def call(metric, *arguments, more="", task=TASK):
        path = write(task.replace("METRIC", metric) + more)
        with pytest.raises(SystemExit) as left:
            main(["eval", "run", str(path), "--quiet", *arguments])
        printed = capsys.readouterr()
        return left.value.code, printed.out + printed.err

    return call


@pytest.mark.parametrize(
    ("metric", "code", "line"),
    [
        ("{type: recall, require: 0.75}", 0, "✓ required: recall of Function Call Coverage >= 0.75, got 0.75"),
        ("{type: recall, require: '>= 0.8'}", 1, "✗ required: recall of Function Call Coverage >= 0.8, got 0.75"),
        ("{type: max, field: num_unrequired_calls, require: '<= 0'}", 0, "max of Function Call Coverage <= 0, got 0"),
        (f"{{{BINARY}, require: {{recall: 0.5, f1: '> 0.9'}}}}", 1, "f1 of binary_classification of Function Call"),
        (f"{{{BINARY}, require: {{recall: 0.5, precision: 1}}}}", 0, "precision of binary_classification of"),
        ("{type: frequency, field: outcome, require: {failed: '<= 0.5'}}", 0, "failed of outcome of Function"),
        ("{type: frequency, field: output, require: {maybe: '== 0'}}", 0, "maybe of output of Function"),
        ("{type: python, function: 'an_agent:largest', require: 1}", 0, "largest of Function Call Coverage >= 1"),
    ],
)  # fmt: skip
def test_what_a_metric_requires_decides_instead_of_all_examples(run, metric, code, line):
    """One of the two examples fails in each."""
    done, printed = run(metric)
    assert done == code, printed
    assert line in printed
    assert ("what is required is met" in printed) is (code == 0)


def test_the_requirements_of_a_task_and_of_its_metrics_all_hold(run):
    metric = "{type: recall, require: 0.7}"
    assert run(metric, more="require: pass_rate >= 0.5\n")[0] == 0
    code, printed = run(metric, more="require: pass_rate >= 0.9\n")
    assert code == 1
    assert "1 of 2 requirements not met" in printed
    assert run(metric, "--require", "pass_rate >= 0.9")[0] == 1
    assert run("{type: recall, require: 0.9}", "--require", "pass_rate >= 0.1")[0] == 1


def test_every_report_says_what_was_required(run, tmp_path):
    files = [f"--{name}={tmp_path / name}" for name in ("junit", "md", "json", "html")]
    assert run("{type: recall, require: '>= 0.8'}", *files)[0] == 1
    text = "recall of Function Call Coverage >= 0.8, got 0.75 (over 2 of 2)"
    metadata = json.loads((tmp_path / "json").read_text())["metadata"]
    assert metadata["requirement"] == text
    row = {"require": "recall of Function Call Coverage >= 0.8", "value": 0.75, "counts": "over 2 of 2"}
    assert metadata["metrics"][0]["requirements"] == [{**row, "holds": False}]
    escaped = text.replace(">", "&gt;")
    for name in ("junit", "html"):
        assert escaped in (tmp_path / name).read_text(), name
    assert "❌" in (tmp_path / "md").read_text()
    assert text in (tmp_path / "md").read_text()


@pytest.mark.parametrize(
    ("metric", "code", "line"),
    [
        ("{type: mean, field: nothing, require: 0}", 2, "errored: "),
        ("{type: std_dev, field: value, require: '<= 1'}", 1, "value_std_dev of Function Call Coverage <= 1, got no number"),
        ("{type: python, function: 'an_agent:largest', require: {top: 1}}", 2, "require asks for 'top', which is no number of it"),
    ],
)  # fmt: skip
def test_a_metric_without_a_number_meets_no_bound(run, metric, code, line):
    done, printed = run(metric, "--only", "one")
    assert done == code, printed
    assert line in printed
    assert "is required is met" not in printed


def test_an_errored_example_is_met_by_no_requirement(run):
    task = TASK.replace("a word", "boom")
    code, printed = run("{type: recall, require: 0}", task=task)
    assert code == run("{type: recall}", task=task, more="require: pass_rate >= 0\n")[0], printed
    assert "an_agent.py" in printed


def test_with_a_baseline_a_metric_s_requirement_still_decides(run, tmp_path):
    saved = tmp_path / "saved.json"
    assert run("{type: recall}", "--save-baseline", str(saved))[0] == 1
    assert run("{type: recall}", "--baseline", str(saved))[0] == 0
    assert run("{type: recall, require: 0.7}", "--baseline", str(saved))[0] == 0
    assert run("{type: recall, require: 0.8}", "--baseline", str(saved))[0] == 1


def test_where_every_failure_is_expected_a_metric_still_decides(run):
    task = TASK.replace("name: one", "name: one, xfail: known").replace(
        "name: two", "name: two, xfail: known"
    )
    task = task.replace("a sum", "a text")
    assert run("{type: recall}", task=task)[0] == 0
    assert run("{type: recall, require: 0.9}", task=task)[0] == 1


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("{type: mean, require: high}", "require is a number, or a sign and a number such as '>= 0.8'; got str 'high'"),
        ("{type: mean, require: [0.8]}", "require is a number, or a sign and a number such as '>= 0.8'; got list [0.8]"),
        ("{type: mean, require: true}", "got bool True"),
        ("{type: mean, require: .nan}", "got str '.nan'"),
        ("{type: mean, require: {}}", "require is empty"),
        ("{type: mean, require: {value: 1}}", "require is a mapping, and this metric is one number"),
        (f"{{{BINARY}, require: 0.8}}", "require names one of its numbers, such as {accuracy: '>= 0.8'}"),
        (f"{{{BINARY}, require: {{recal: 0.8}}}}", "require asks for 'recal'; did you mean 'recall'?"),
        ("{type: frequency, require: 1}", "require names one of its numbers, such as {value: '>= 0.8'}"),
    ],
)  # fmt: skip
def test_a_requirement_that_cannot_be_read_is_said_with_file_and_line(write, metric, message):
    with pytest.raises(DatasetError) as trouble:
        load_task(write(TASK.replace("METRIC", metric)))
    assert "task.yaml:10: scorers[0].metrics[0]" in str(trouble.value)
    assert message in str(trouble.value)


def test_quality_informs_and_requires_nothing(write):
    task = TASK.replace("  metrics:", "  purpose: qa\n  metrics:").replace(
        "METRIC", "{type: mean, require: 1}"
    )
    with pytest.raises(DatasetError, match=r"task.yaml:11: .*purpose: qa informs, require decides; keep one"):
        load_task(write(task))


def test_the_python_interface_tells_what_was_required(write):
    (metric,) = metrics_of(load_task(write(TASK.replace("METRIC", "{type: recall, require: 0.8}"))).run())
    assert [row["holds"] for row in metric.requirements] == [False]
