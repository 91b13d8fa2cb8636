"""``agenttrace eval traces`` and ``eval run --resume``, as a shell calls them."""

import json
import re

import pytest
from click.testing import CliRunner

from agenttrace.cli.main import cli
from agenttrace.tracer import Tracer


@pytest.fixture
def store(tmp_path):
    tracer = Tracer("bulk", store=str(tmp_path / "traces.db"))
    search = tracer.observe(lambda q: q, span_type="tool", name="search")
    agent = tracer.observe(lambda q: [search(q) for _ in range(q)], span_type="agent", name="agent")
    for number in (1, 2):
        agent(number)
    tracer.shutdown()
    return str(tmp_path / "traces.db")


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def test_the_outcomes_are_counted_and_decide_the_exit_code(store):
    result = run("eval", "traces", "--store", store, "--scorer", "Budget:calls=1", "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines[0] == {"scorer": "Budget", "passed": 1, "failed": 1, "skipped": 0, "errored": 0, "mean": 0.5}
    assert lines[1] == {"traces": 2, "unchanged": 0}
    assert result.return_value == 1
    again = run("eval", "traces", "--store", store, "--scorer", "Budget:calls=1")
    assert "2 traces, 2 of them had these scores" in again.stdout
    assert again.return_value == 0
    passing = run("eval", "traces", "--store", store, "--scorer", "Loop:repeats=5", "--where", "tool:search")
    assert re.search(r"Loop +2 +0", passing.stdout)
    assert passing.return_value == 0


def test_where_nothing_matches_it_says_so(store):
    result = run("eval", "traces", "--store", store, "--scorer", "Loop", "--where", "tool:book")
    assert "no traces found" in result.stderr
    assert result.return_value == 2
    data = run("eval", "traces", "--store", store, "--scorer", "Loop", "--where", "tool:book", "--json")
    assert json.loads(data.stdout.splitlines()[-1]) == {"traces": 0, "unchanged": 0}
    assert data.return_value == 2


BROKEN = """from agenttrace import scorer

@scorer
def fragile(output):
    raise ValueError(f"no score for {output}")
"""


def test_an_errored_score_says_why_and_what_to_do(store, tmp_path, monkeypatch):
    (tmp_path / "fragile_scorers.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    result = run(
        "eval", "traces", "--store", store, "--scorer", "fragile_scorers:fragile", "--scorer", "Loop"
    )
    (line,) = re.findall("fragile errored: .*", result.stdout)
    assert re.fullmatch(
        r"fragile errored: ValueError: no score for .* \(trace [0-9a-f]{12}, and 1 more\)", line
    )
    assert re.search(r"run the same again: .* traces show [0-9a-f]{12}", result.stdout)
    assert "Loop errored" not in result.stdout
    assert result.return_value == 2
    data = run("eval", "traces", "--store", store, "--scorer", "fragile_scorers:fragile", "--json")
    (error,) = [line["error"] for line in map(json.loads, data.stdout.splitlines()) if "error" in line]
    assert len(error["trace_id"]) == 32
    assert error["reason"].startswith("ValueError: no score for ")
    assert data.return_value == 2


def test_scores_of_one_name_with_other_options_are_said_on_stderr(store):
    first = run("eval", "traces", "--store", store, "--scorer", "Budget:calls=1")
    assert first.stderr == ""
    assert run("eval", "traces", "--store", store, "--scorer", "Budget:calls=1").stderr == ""
    other = run("eval", "traces", "--store", store, "--scorer", "Budget:calls=2", "--json")
    assert "Budget: the store has scores of this name with other options (calls: 1 → 2)" in other.stderr
    assert "name=" in other.stderr
    assert all(map(json.loads, other.stdout.splitlines()))
    named = run("eval", "traces", "--store", store, "--scorer", "Budget:calls=3,name=Budget of 3")
    assert (named.stderr, named.return_value) == ("", 0)
    assert "Budget of 3" in run("scores", "list", "--store", store).stdout


def test_a_scorer_is_needed(store):
    assert "scorer" in str(run("eval", "traces", "--store", store).exception)


def test_eval_run_goes_on_with_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [{"input": str(n), "expected_output": "x", "actual_output": "x"} for n in range(3)]
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, lines)))
    options = ("eval", "run", "some.jsonl", "--scorer", "ExactMatch", "--store", "s.db", "-q")
    assert run(*options).return_value == 0
    again = run(*options, "--resume", "last")
    assert again.return_value == 0
    assert "3/3 passed" in again.stdout
    assert "there is no run 'none'" in str(run(*options, "--resume", "none").exception)
