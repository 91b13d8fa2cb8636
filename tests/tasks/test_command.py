"""``agenttrace eval run task.yaml``: the same command and the same options as for a file of examples."""

import json
from typing import NamedTuple

import pytest

from agenttrace.cli.main import main
from agenttrace.store import SQLiteStore

TASK = """
key: command
function: an_agent:run
examples:
  - {input: a sum, name: one, expected_tools: [search, calculator], tags: [x]}
  - {input: a word, name: two, expected_tools: [search, calculator]}
scorers:
  - type: tool_order
    metrics: [{type: mean}, {type: frequency, field: outcome}]
"""


class Ran(NamedTuple):
    code: object
    output: str


@pytest.fixture
def run(write, capsys):
    def call(*arguments, task=TASK):
        path = write(task)
        with pytest.raises(SystemExit) as left:
            main(["eval", "run", str(path), "--quiet", *arguments])
        printed = capsys.readouterr()
        return Ran(left.value.code, printed.out + printed.err)

    return call


def test_a_failed_example_ends_with_1_and_metrics_are_printed(run):
    done = run()
    assert done.code == 1, done.output
    assert "value_mean of Tool Order: 0.5 over 2 of 2" in done.output
    assert "outcome of Tool Order: failed 0.5, passed 0.5 over 2 of 2" in done.output


def test_what_the_file_requires_decides_unless_the_command_says_otherwise(run):
    task = TASK + "require: [pass_rate >= 0.5]\n"
    assert run(task=task).code == 0
    assert run("--require", "pass_rate >= 0.9", task=task).code == 1


def test_the_options_of_a_file_of_examples_hold(run, tmp_path):
    files = [f"--{name}={tmp_path / name}" for name in ("junit", "md", "json", "csv", "html")]
    done = run("--only", "one", "--trials", "2", "--scorer", "an_agent:is_short", "--name", "named", *files)
    assert done.code == 0, done.output
    report = json.loads((tmp_path / "json").read_text())
    assert (report["project"], report["name"], len(report["results"])) == ("command", "named", 2)
    assert [metric["count"] for metric in report["metadata"]["metrics"]] == [2, 2]
    assert "agenttrace:metric:Tool Order:value_mean" in (tmp_path / "junit").read_text()
    assert "| `value_mean` | Tool Order | `1` | `2 of 2` |" in (tmp_path / "md").read_text()
    assert "value_mean" in (tmp_path / "html").read_text()


def test_another_function_takes_the_place_of_the_file_s(run, write):
    write("def agent(query):\n    return 'nothing'\n", "another_agent.py")
    done = run("--function", "another_agent:agent")
    assert done.code == 2, done.output


def test_a_metric_that_cannot_be_worked_out_ends_with_2_and_the_results_are_kept(run, tmp_path):
    done = run("--only", "one", task=TASK.replace("{type: mean}", "{type: mean, field: outcome}"))
    assert done.code == 2, done.output
    assert "! outcome_mean of Tool Order: errored: " in done.output
    assert "outcome is str 'passed' in" in done.output
    assert [run.passed for run in SQLiteStore(tmp_path / "traces.db").runs()] == [1]


def test_what_is_wrong_in_the_file_ends_with_2_before_anything_runs(run, tmp_path):
    done = run(task=TASK.replace("type: tool_order", "type: tool_ordr"))
    assert done.code == 2
    assert (
        "task.yaml:7: scorers[0]: there is no scorer 'tool_ordr'; did you mean 'ToolOrderScorer'?"
        in done.output
    )
    assert not (tmp_path / "traces.db").exists()


def test_expectations_are_updated_in_the_file_of_examples_that_the_task_names(run, write):
    assert "this task has them in itself" in run("--update").output
    rows = write(
        """
        examples:
        - name: two
          input: a word
          expected_tools: [search, calculator]
        """,
        "rows.yaml",
    )
    task = "dataset: rows.yaml\nfunction: an_agent:run\nscorers: [tool_order]\n"
    done = run("--update", "--yes", task=task)
    assert "expected_tools: [search]" in rows.read_text(), done.output
