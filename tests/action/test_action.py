"""The GitHub action: its form, and what its scripts do, run by bash with a fake ``gh``."""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

FAKE_GH = """#!/bin/bash
printf '%s\\n' "$@" >> "$GH_LOG"
echo --- >> "$GH_LOG"
for argument in "$@"; do
  case "$argument" in body=@*) cp "${argument#body=@}" "$GH_LOG.body" ;; esac
done
if [[ "$*" == *--paginate* ]]; then printf '%s' "$GH_FOUND"; fi
exit "${GH_CODE:-0}"
"""


class Runner:
    """A machine that runs one step after another, as a runner of GitHub does."""

    def __init__(self, path):
        self.path = path
        for name in ("bin", "temp"):
            (path / name).mkdir()
        (path / "bin/gh").write_text(FAKE_GH)
        (path / "bin/gh").chmod(0o755)

    def run(self, step, **variables):
        names = set(STEPS[step].get("env", {}))
        assert names >= set(variables) - {"GH_FOUND", "GH_CODE"}
        env = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
        env |= dict.fromkeys(names, "")
        env |= {
            "PATH": f"{self.path / 'bin'}:{env['PATH']}",
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(self.path / "temp"),
            "GITHUB_OUTPUT": str(self.path / "output"),
            "GITHUB_STEP_SUMMARY": str(self.path / "summary.md"),
            "GH_LOG": str(self.path / "gh"),
            "AGENTTRACE_STORE": str(self.path / "traces.db"),
        }
        ran = subprocess.run(
            # as GitHub runs a script of shell: bash
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]],
            cwd=self.path,
            env={**env, **{name: str(value) for name, value in variables.items()}},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.out = ran.stdout + ran.stderr
        return ran.returncode

    @property
    def outputs(self):
        return dict(line.split("=", 1) for line in (self.path / "output").read_text().splitlines())

    @property
    def requests(self):
        log = self.path / "gh"
        return [part.split("\n") for part in log.read_text().split("\n---\n")[:-1]] if log.exists() else []


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


def test_it_is_a_composite_action_whose_every_script_names_its_shell():
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert ("run" in step) != ("uses" in step)
        assert "run" not in step or step["shell"] == "bash"
    assert {name for name, each in ACTION["inputs"].items() if each.get("required")} == {"arguments"}
    assert all(each["description"] for each in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))


def test_no_input_becomes_code_of_the_shell():
    assert not [name for name, step in STEPS.items() if "${{" in step.get("run", "")]


def test_every_input_that_is_read_exists_and_every_one_is_read():
    text = (ROOT / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    assert set(re.findall(r"outputs\.([\w-]+)", text)) == set(ACTION["outputs"])


def test_the_reports_are_kept_and_commented_also_when_examples_failed():
    assert "!cancelled()" in STEPS["Keep the reports"]["if"]
    assert "!cancelled()" in STEPS["Comment on the pull request"]["if"]
    assert STEPS["Keep the reports"]["uses"].startswith("actions/upload-artifact@")


def test_an_evaluation_gives_a_junit_file_the_summary_and_its_exit_code(runner):
    (runner.path / "my runs.jsonl").write_text(
        '{"name": "a; exit 9", "tools_called": [], "expected_tools": ["b"]}\n'
    )
    arguments = "my runs.jsonl\n\n--scorer\nToolOrder\n  \n"
    code = runner.run("Evaluate", RUN="eval", ARGUMENTS=arguments, PYTHON=sys.executable)
    assert code == 0, runner.out
    assert runner.outputs["exit-code"] == "1"
    (suite,) = ElementTree.parse(runner.outputs["junit"]).getroot()
    assert suite.get("failures") == "1"
    summary = (runner.path / "summary.md").read_text()
    assert "0 of 1 passed (1 failed)" in summary
    assert Path(runner.outputs["markdown"]).read_text() == summary
    assert runner.run("Pass or fail", CODE=runner.outputs["exit-code"]) == 1


def test_pytest_gives_the_same(runner):
    (runner.path / "test_one.py").write_text(
        "from agenttrace import Tracer\nfrom agenttrace.scorers import ToolOrderScorer\nimport pytest\n"
        "tracer = Tracer('shop', store='memory')\n"
        "@tracer.observe(span_type='tool')\ndef a():\n    pass\n"
        "def test_one(agenttrace):\n    with agenttrace.capture():\n        a()\n"
        "    agenttrace.check(['a'])\n"
    )
    arguments = "test_one.py\n-q\n-p\nno:cacheprovider"
    code = runner.run("Evaluate", RUN="pytest", ARGUMENTS=arguments, PYTHON=sys.executable)
    assert (code, runner.outputs["exit-code"]) == (0, "0"), runner.out
    assert "Tool Order" in (runner.path / "summary.md").read_text()
    assert ElementTree.parse(runner.outputs["junit"]).getroot().find(".//testcase") is not None


def test_what_else_is_to_be_run_is_an_error(runner):
    assert runner.run("Evaluate", RUN="make", ARGUMENTS="x", PYTHON=sys.executable) == 2
    assert "run is eval or pytest, got make" in runner.out


@pytest.fixture
def comment(runner):
    (runner.path / "report.md").write_text("### ❌ report\n")

    def run(**variables):
        usual = {
            "REPOSITORY": "shop/agent",
            "HEAD_REPOSITORY": "shop/agent",
            "NUMBER": 7,
            "MARKER": "<!-- agenttrace: nightly -->",
            "MARKDOWN": runner.path / "report.md",
            "GH_TOKEN": "t",
        }
        return runner.run("Comment on the pull request", **{**usual, **variables})

    return run


class TestTheComment:
    def test_is_posted_the_first_time(self, runner, comment):
        assert comment() == 0, runner.out
        look, post = runner.requests
        assert "repos/shop/agent/issues/7/comments" in look
        assert post[:4] == ["api", "--silent", "--method", "POST"]
        body = (runner.path / "gh.body").read_text()
        assert body == "<!-- agenttrace: nightly -->\n### ❌ report\n"

    def test_is_replaced_afterwards(self, runner, comment):
        assert comment(GH_FOUND="41\n42") == 0, runner.out
        _, patch = runner.requests
        assert patch[:5] == ["api", "--silent", "--method", "PATCH", "repos/shop/agent/issues/comments/41"]

    def test_of_another_s_is_left_alone(self, runner, comment):
        comment()
        (look, _) = runner.requests
        assert 'select(.user.type == "Bot" and (.body | startswith($ENV.MARKER)))' in look[-1]

    def test_is_not_tried_from_a_fork(self, runner, comment):
        assert comment(HEAD_REPOSITORY="stranger/agent") == 0
        assert runner.requests == []
        assert "comes from a fork" in runner.out

    def test_that_is_refused_fails_nothing(self, runner, comment):
        assert comment(GH_CODE=1) == 0
        assert "::warning::the comment could not be written" in runner.out

    def test_of_nothing_is_none(self, runner, comment):
        (runner.path / "report.md").write_text("")
        assert comment() == 0
        assert runner.requests == []
