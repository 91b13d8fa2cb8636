import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

AGENT = """
import time
from agenttrace import Tracer
tracer = Tracer(project_name="shop")

@tracer.observe(span_type="tool")
def look(n):
    return n

@tracer.observe(span_type="tool")
def pay(n):
    return n

@tracer.observe
def agent(n):
    if n == 9:
        raise RuntimeError("sold out")
    if n == 8:
        time.sleep(30)
    look(n)
    if n < 2:
        pay(n)

def flaky(n, calls=[]):
    calls.append(n)
    look(n)
    if len(calls) % 5:
        pay(n)
"""


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Write examples for the inputs given; the agent lies beside them."""
    (tmp_path / "shop.py").write_text(AGENT)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(*inputs, tool="pay"):
        rows = [f"  - input: {{n: {n}}}\n    expected_tools: [look, {tool}]\n" for n in inputs]
        (tmp_path / "tests.yaml").write_text("examples:\n" + "".join(rows))
        return tmp_path / "tests.yaml"

    yield write
    sys.modules.pop("shop", None)


def test_passed_is_0(agenttrace, examples):
    ran = agenttrace("eval", "run", examples(0, 1), "--function", "shop:agent", "--scorer", "ToolOrder")
    assert ran.code == 0
    assert "TEST RESULTS: 2/2 passed" in ran.out
    assert ran.err == ""


def test_failed_is_1_with_the_diff_and_the_place(agenttrace, examples):
    path = examples(0, 2, 9)
    ran = agenttrace("eval", "run", path, "--function", "shop:agent", "--scorer", "ToolOrder")
    assert ran.code == 1
    assert "TEST RESULTS: 1/3 passed (2 failed)" in ran.out
    assert "missing" in ran.out
    assert "expected at tests.yaml:4" in ran.out
    assert "RuntimeError: sold out" in ran.out


def test_errored_is_2(agenttrace, examples):
    path = examples(0, tool="pya")
    ran = agenttrace("eval", "run", path, "--function", "shop:agent", "--scorer", "ToolOrder")
    assert ran.code == 2
    assert "did you mean 'pay'" in ran.out
    assert ran.err == (
        "warning: " + str(path) + ":2: expected_tools: no tool 'pya' is known; did you mean 'pay'?\n"
    )


def test_the_traces_and_the_scores_are_stored(agenttrace, examples):
    agenttrace(
        "eval", "run", examples(2), "--function", "shop:agent", "--scorer", "ToolOrder", "--project", "shop"
    )
    listed = agenttrace("traces", "list", "--project", "shop").out
    assert "agent" in listed
    assert "✗ Tool Order: 0.0" in agenttrace("traces", "show").out


def test_a_guard_that_no_tool_could_break_is_shown_though_all_passed(agenttrace, examples):
    path = examples(0)
    path.write_text(path.read_text().replace("[look, pay]", "{path: [look, pay], never: ['delte_*']}"))
    ran = agenttrace("eval", "run", path, "--function", "shop:agent", "--scorer", "ToolOrder")
    assert ran.code == 0
    assert "? Tool Order: never delte_*: vacuous in 1 of 1, no known tool has such a name" in ran.out
    shown = agenttrace("traces", "show").out
    assert "vacuous, no known tool has such a name: never delte_*" in shown


def test_limits_trials_and_a_requirement_are_passed_on(agenttrace, examples):
    command = (
        "eval",
        "run",
        examples(0),
        "--function",
        "shop:flaky",
        "--scorer",
        "ToolOrder",
        "--trials",
        10,
    )
    assert agenttrace(*command, "--require", "pass_rate >= 0.8").code == 0
    both = ("--require", "pass_rate >= 0.8", "--require", "pass^2 >= 0.9")
    assert agenttrace(*command, *both).code == 1
    ran = agenttrace(*command, "--require", "pass_rate >= 0.9")
    assert ran.code == 1
    assert "required: pass_rate >= 0.9, got 0.8" in ran.out
    slow = examples(8)
    ran = agenttrace(
        "eval", "run", slow, "--function", "shop:agent", "--scorer", "ToolOrder", "--timeout", 0.2
    )
    assert "did not return within its timeout of 0.2 s" in ran.out


def test_recorded_runs_need_no_function(agenttrace, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"tools_called": ["a", "b"], "expected_tools": ["a", "b"]}\n')
    assert agenttrace("eval", "run", path, "--scorer", "ToolOrder").code == 0


def test_recorded_runs_of_one_name_are_trials_and_can_be_required_to_pass_together(agenttrace, tmp_path):
    path = tmp_path / "runs.jsonl"
    row = '{"name": "a", "example_id": "one", "tools_called": ["%s"], "expected_tools": ["b"]}\n'
    path.write_text(row % "b" + row % "b" + row % "c")
    command = ("eval", "run", path, "--scorer", "ToolOrder", "--require")
    refused = agenttrace(*command, "pass^2 >= 0.3")
    assert refused.code == 2
    assert "needs 2 trials of each example, got 1; give trials= (--trials), or" in refused.err
    assert "--trials-by name" in refused.err
    for word in ("name", "id"):
        assert agenttrace(*command, "pass^2 >= 0.3", "--trials-by", word).code == 0
        ran = agenttrace(*command, "pass^2 >= 0.4", "--trials-by", word)
        assert ran.code == 1
        assert "required: pass^2 >= 0.4, got 0.333" in ran.out


def test_a_scorer_of_ones_own_is_asked(agenttrace, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_scorers_of_a_run.py").write_text(
        "from agenttrace.scorers import scorer\n"
        "@scorer\ndef reward(metadata):\n    return metadata['reward']\n"
    )
    path = tmp_path / "runs.jsonl"
    path.write_text('{"actual_output": "x", "additional_metadata": {"reward": 0.4}}\n')
    command = ("eval", "run", path, "--scorer")
    assert agenttrace(*command, "own_scorers_of_a_run:reward").code == 1
    assert agenttrace(*command, "own_scorers_of_a_run:reward:threshold=0.3").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scorer", "Tool"], "there is no scorer 'Tool'"),
        (["--scorer", "ToolOrder", "--function", "shop:agnet"], "did you mean 'agent'"),
        (["--scorer", "ToolOrder", "--require", "always"], "require is a line such as"),
        (["--scorer", "ToolOrder", "--timeout", "0"], "timeout is a number"),
        ([], "--scorer"),
    ],
)
def test_wrong_use_is_2_and_says_what_to_do(agenttrace, examples, arguments, said):
    ran = agenttrace("eval", "run", examples(0), *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_a_bad_examples_file_is_2_with_its_place(agenttrace, tmp_path):
    (tmp_path / "bad.yaml").write_text("examples:\n  - inputt: x\n")
    ran = agenttrace("eval", "run", tmp_path / "bad.yaml", "--scorer", "ToolOrder")
    assert ran.code == 2
    assert "bad.yaml:2" in ran.err
    assert "did you mean 'input'" in ran.err


def test_what_is_stored_of_a_run_holds_no_secret(agenttrace, tmp_path):
    (tmp_path / "tests.yaml").write_text(
        "examples:\n"
        "  - input: {password: hunter2}\n"
        "    actual_output: Bearer abcdefghijklmnop0123\n"
        "    expected_output: hunter2\n"
    )
    ran = agenttrace("eval", "run", tmp_path / "tests.yaml", "--scorer", "ExactMatch")
    assert ran.code == 1
    with closing(sqlite3.connect(tmp_path / "traces.db")) as db:
        (example,) = db.execute("SELECT example FROM results").fetchone()
        ((reason, rest),) = db.execute("SELECT reason, rest FROM scores").fetchall()
    assert json.loads(example)["input"] == {"password": "[redacted]"}
    assert "abcdefghijklmnop0123" not in f"{example} {reason} {rest}"


SEVERAL = """\
examples:
  - {name: pays, input: {n: 1}, expected_tools: [look, pay], tags: [money]}
  - {name: looks, input: {n: 2}, expected_tools: [look]}
  - {name: looks again, input: {n: 3}, expected_tools: [look], tags: [slow]}
"""


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ([], 3),
        (["--only", "pays"], 1),
        (["--only", "looks*"], 2),
        (["--only", "looks*", "--limit", 1], 1),
        (["--tag", "money", "--tag", "slow"], 2),
    ],
)
def test_examples_are_chosen_by_name_tag_and_number(agenttrace, examples, options, count):
    path = examples()
    path.write_text(SEVERAL)
    ran = agenttrace("eval", "run", path, "--function", "shop:agent", "--scorer", "ToolOrder", *options)
    assert f"TEST RESULTS: {count}/{count} passed" in ran.out


@pytest.mark.parametrize(("options", "count"), [(["--fail-fast"], 1), (["--fail-fast", 2], 2), ([], 3)])
def test_fail_fast_runs_no_more_once_so_many_failed(agenttrace, examples, options, count):
    ran = agenttrace(
        "eval", "run", examples(2, 3, 4), "--function", "shop:agent", "--scorer", "ToolOrder", *options
    )
    assert ran.code == 1
    assert f"{count} failed" in ran.out


def test_the_file_s_own_scorers_are_enough(agenttrace, examples):
    path = examples()
    path.write_text("scorers: [ToolOrder]\n" + SEVERAL)
    assert agenttrace("eval", "run", path, "--function", "shop:agent").code == 0
    ran = agenttrace("eval", "run", examples(0))
    assert ran.code == 2
    assert "scorer" in ran.err


def test_a_name_that_no_example_has_is_2_with_the_nearest_one(agenttrace, examples):
    path = examples()
    path.write_text(SEVERAL)
    ran = agenttrace("eval", "run", path, "--scorer", "ToolOrder", "--only", "lokks")
    assert (ran.code, ran.err) == (2, "Error: no example is called 'lokks'; did you mean 'looks'?\n")


def test_two_examples_of_one_name_are_2_with_both_places(agenttrace, examples):
    path = examples()
    path.write_text(SEVERAL.replace("looks again", "looks"))
    ran = agenttrace("eval", "run", path, "--scorer", "ToolOrder")
    assert ran.code == 2
    assert "tests.yaml:4: examples[2].name: the name 'looks' is that of the example in line 3, too" in ran.err


UPDATABLE = "examples:\n  - {name: a, input: {n: 2}, expected_tools: [look, {pay: {n: 1}}]}  # mine\n"


def test_update_shows_the_diff_then_writes(agenttrace, examples):
    path = examples()
    path.write_text(UPDATABLE)
    command = ("eval", "run", path, "--function", "shop:agent", "--scorer", "ToolOrder", "--update")
    ran = agenttrace(*command)
    assert ran.out.endswith("nothing was written: give --yes to write it where no terminal can ask\n")
    assert path.read_text() == UPDATABLE
    command = (*command, "--yes")
    ran = agenttrace(*command)
    assert ran.code == 1  # the run failed; what it is compared with changes for the next one
    assert "-  - {name: a, input: {n: 2}, expected_tools: [look, {pay: {n: 1}}]}  # mine" in ran.out
    assert ran.out.endswith("tests.yaml: 1 example updated\n")
    assert path.read_text() == UPDATABLE.replace(", {pay: {n: 1}}", "")
    assert agenttrace(*command).out.endswith("tests.yaml: nothing to update\n")


WANDERER = """
import os
from agenttrace import observe

@observe(span_type="tool")
def look():
    return 1

def agent(x):
    os.chdir(os.path.join(os.path.dirname(__file__), "elsewhere"))
    return look()
"""


def test_files_are_written_where_the_command_was_given_though_the_agent_went_elsewhere(agenttrace, tmp_path):
    (tmp_path / "wanderer.py").write_text(WANDERER)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "w.yaml").write_text("examples: [{name: one, input: {x: 1}, expected_tools: [look]}]\n")
    command = ("eval", "run", "w.yaml", "--function", "wanderer:agent", "--scorer", "ToolOrder")
    ran = agenttrace(*command, "--json", "o.json", "--junit", "o.xml", "--save-baseline", "base.json")
    assert ran.code == 0
    assert all((tmp_path / name).is_file() for name in ("o.json", "o.xml", "base.json"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_update_of_a_read_only_file_is_2_and_the_diff_was_shown(agenttrace, examples):
    path = examples()
    path.write_text(UPDATABLE)
    path.chmod(0o444)
    ran = agenttrace(
        "eval", "run", path, "--function", "shop:agent", "--scorer", "ToolOrder", "--update", "--yes"
    )
    assert ran.code == 2
    assert "-  - {name: a" in ran.out
    assert "the file is read-only; nothing was written" in ran.err
    assert path.read_text() == UPDATABLE


def test_coverage_and_mutation_score_are_printed_after_the_report(agenttrace, examples):
    ran = agenttrace(
        "eval", "run", examples(0, 1), "--function", "shop:agent", "--scorer", "ToolOrder",
        "--coverage", "--mutation",
    )  # fmt: skip
    assert ran.code == 0
    report, coverage, mutation = (
        ran.out.index(t) for t in ("TEST RESULTS", "Tool coverage:", "Mutation score:")
    )
    assert report < coverage < mutation
    assert "nobody notices a second pay: add at_most={'pay': 1}" in ran.out


def test_too_little_coverage_is_1(agenttrace, examples, tmp_path):
    (tmp_path / "tests.yaml").write_text(
        "examples:\n  - input: {n: 0}\n    expected_tools: {never: [ghost]}\n"
    )
    arguments = ("eval", "run", tmp_path / "tests.yaml", "--function", "shop:agent", "--scorer", "ToolOrder")
    examples_passed = agenttrace(*arguments)
    assert examples_passed.code == 0
    ran = agenttrace(*arguments, "--coverage-fail-under", "90")
    assert ran.code == 1
    assert "is under the 90 % asked for; no expectation names" in ran.out


LEAVES = """
import os
from agenttrace import Tracer
tracer = Tracer(project_name="leaves")

@tracer.observe(span_type="tool")
def look(n):
    if n == 1:
        os._exit(0)

def agent(n):
    child = os.fork() if n == 2 else None
    if child == 0:
        os._exit(7)
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    look(n)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it needs a fork")
@pytest.mark.parametrize(("inputs", "code"), [((0, 1, 2), 2), ((0, 2), 0)])
def test_an_agent_that_ends_the_process_ends_it_with_2_and_a_forked_one_as_it_likes(tmp_path, inputs, code):
    (tmp_path / "leaves.py").write_text(LEAVES)
    rows = [f"  - input: {{n: {n}}}\n    expected_tools: [look]\n" for n in inputs]
    (tmp_path / "tests.yaml").write_text("examples:\n" + "".join(rows))
    command = [sys.executable, "-m", "agenttrace", "eval", "run", "tests.yaml", "--store", "memory"]
    options = ["--function", "leaves:agent", "--scorer", "ToolOrder", "--concurrency", "1"]
    ran = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == code, ran.stderr
    assert ("os._exit(0) ended the process before its evaluation was done" in ran.stderr) == (code == 2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--trials", "many"], "--trials': got 'many', wanted a whole number from 1 on, or auto"),
        (["--trials", "0"], "--trials': got '0', wanted a whole number from 1 on, or auto"),
        (
            ["--function", "shop.agent"],
            "--function: got 'shop.agent', wanted package.module:function, with a colon",
        ),
        (["--scorer", "ToolOrdr"], "--scorer: there is no scorer 'ToolOrdr'; did you mean"),
    ],
)
def test_an_option_that_cannot_be_read_is_named_with_what_is_wanted(agenttrace, examples, options, text):
    ran = agenttrace("eval", "run", examples(0), "--scorer", "ToolOrder", *options)
    assert (ran.code, text in ran.err) == (2, True), ran.err
