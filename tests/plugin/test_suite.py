"""What the command line says of all marked tests together, over all workers of pytest-xdist, too."""

import json
import re

import pytest

from tests.plugin.project import EXAMPLES, MARKED, RAISES, SHOP

BOTH_WAYS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])

COMMENTED = """\
# what refunds look like
examples:
- name: right
  input: {order: 7, amount: 12}
  expected_tools: [{refund: {order: 7, amount: 12}}]
- name: wrong  # the tool rounds
  input: {order: 8, amount: 12.5}
  expected_tools:
  - refund: {order: 8, amount: 12}   # euros
"""

PAID = """
@tracer.observe(span_type="llm")
def ask():
    tracer.update_current_span(model="m", usage={"input_tokens": 60, "output_tokens": 0})

@pytest.mark.agenttrace(
    [Example(name=str(n), input={"order": n, "amount": 1}, expected_tools=["refund"]) for n in range(4)],
    [ToolOrderScorer()],
)
def test_paid(order, amount):
    ask()
    refund(order, amount)
"""


FADING = """
import os
import pytest
from agenttrace import Example
from agenttrace.scorers import scorer

worth = scorer(lambda: float(os.environ.get("WORTH", "1")), name="worth", threshold=0.5)

@pytest.mark.agenttrace([Example(name=str(n), input={"n": n}) for n in range(6)], [worth])
def test_worth(n):
    return n
"""


class TestABaseline:
    @BOTH_WAYS
    def test_lets_fail_what_failed_before_and_nothing_else(self, project, workers):
        project.write("test_shop.py", SHOP + MARKED)
        assert "the baseline is in main.json" in project.run("--agenttrace-save-baseline=main.json", *workers)
        assert project.code == 1
        lines = project.run("--agenttrace-baseline=main.json", *workers, "-rx")
        assert project.code == 0
        assert "1 passed, 1 xfailed" in lines[-1]
        assert any("no worse than main.json; wrong: 0 of 1 expected calls aligned" in line for line in lines)
        project.write("refunds.yaml", EXAMPLES.replace("order: 7, amount: 12}}", "order: 7, amount: 13}}"))
        lines = project.run("--agenttrace-baseline=main.json", *workers)
        assert project.code == 1
        (failed,) = [line for line in lines if line.startswith("FAILED")]
        assert "[right] - Failed: worse than main.json: right: 0 of 1 expected calls aligned" in failed
        assert "1 of 2 examples got worse, 1 the same" in lines

    def test_fails_the_run_where_a_mean_fell_over_all_tests_though_each_passes(self, project):
        project.write("test_shop.py", FADING)
        project.run("--agenttrace-save-baseline=main.json")
        assert project.code == 0, project.out
        lines = project.run("--agenttrace-baseline=main.json", WORTH="0.6")
        assert project.code == 1, lines
        assert (
            "the mean of worth fell from 1.0 to 0.6 over 6 examples (6 worse, 0 better, p = 0.031)" in lines
        )

    def test_may_be_the_newest_run_of_a_branch(self, project):
        git = project.path / ".git"
        (git / "refs" / "heads").mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "refs" / "heads" / "main").write_text("a" * 40 + "\n")
        project.write("test_shop.py", SHOP + MARKED)
        project.run("--agenttrace-store=runs.db")
        (git / "HEAD").write_text("ref: refs/heads/feature\n")
        lines = project.run("--agenttrace-store=runs.db", "--agenttrace-baseline=main", "-n", "2", "-rx")
        assert project.code == 0, lines
        assert any("no worse than main (run " in line for line in lines)

    def test_is_no_run_that_ended_early_whose_rest_was_not_run(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        project.run("--agenttrace-save-baseline=main.json")
        baseline = project.path / "main.json"
        before = baseline.read_bytes()
        project.write("refunds.yaml", EXAMPLES.replace("order: 7, amount: 12}}", "order: 7, amount: 13}}"))
        lines = project.run("-x", "--agenttrace-baseline=main.json", "--agenttrace-save-baseline=main.json")
        assert "no baseline was written to main.json: the run was interrupted" in lines
        assert baseline.read_bytes() == before
        assert "1 of 1 example got worse, 1 not run" in lines

    def test_lets_fail_what_raised_before(self, project):
        project.write("test_shop.py", SHOP + RAISES.replace("next(turns) % 2 == 0", "True"))
        project.run("--agenttrace-save-baseline=main.json")
        lines = project.run("--agenttrace-baseline=main.json")
        assert project.code == 0
        assert "1 xfailed" in lines[-1]

    def test_differs_from_one_saved_later_in_run_and_time_alone(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        project.run("--agenttrace-save-baseline=one.json")
        project.run("--agenttrace-save-baseline=other.json", "-n", "2")
        one, other = [json.loads((project.path / name).read_text()) for name in ("one.json", "other.json")]
        assert {key for key in one if one[key] != other[key]} <= {"run", "started"}

    def test_that_cannot_be_written_fails_the_run(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        lines = project.run("--agenttrace-save-baseline=.", "-k", "right")
        assert project.code == 1
        assert any(line.startswith("the baseline could not be written: ") for line in lines)

    def test_keeps_what_a_run_of_a_part_did_not_run_and_calls_none_of_it_gone(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        project.run("--agenttrace-save-baseline=main.json")
        rows = json.loads((project.path / "main.json").read_text())["examples"]
        assert [sorted(row) for row in rows] == [["fingerprint", "name", "outcomes", "values"]] * 2
        lines = project.run("--agenttrace-save-baseline=main.json", "-k", "right", "-n", "2")
        place = "the baseline is in main.json; 1 of its 2 examples are of this run, the others as they were"
        assert place in lines
        assert json.loads((project.path / "main.json").read_text())["examples"] == rows
        project.write("test_more.py", SHOP + MARKED.replace("test_refund", "test_more"))
        lines = project.run("--agenttrace-save-baseline=main.json", "test_more.py")
        assert place.replace("1 of its 2", "2 of its 4") in lines
        assert "2 of 2 examples the same" in project.run("--agenttrace-baseline=main.json", "test_shop.py")

    def test_that_is_not_there_is_an_error_before_any_test(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        project.run("--agenttrace-baseline=none.json")
        assert project.code == 4
        assert "ERROR: the baseline none.json: there is no such file; save one with" in project.out


class TestABudget:
    @BOTH_WAYS
    def test_that_is_spent_fails_the_run_and_says_what_was_not_run(self, project, workers):
        project.write("test_shop.py", SHOP + PAID)
        lines = project.run("--agenttrace-budget=100 tokens", "-rs", *workers)
        assert project.code == 1
        skipped = 1 if "3 passed, 1 skipped" in lines[-1] else 2  # two workers may each have begun one
        assert f"{4 - skipped} passed, {skipped} skipped" in lines[-1]
        assert "not run: the budget of 100 tokens is spent (120 tokens after 2)" in project.out or workers
        why = f"{skipped} of 4 not run: the budget of 100 tokens is spent"
        assert any(line.startswith(why) for line in lines)

    def test_that_cannot_be_read_is_an_error_before_any_test(self, project):
        project.write("test_shop.py", SHOP + PAID)
        project.run("--agenttrace-budget=2 uds")
        assert project.code == 4
        assert "ERROR: budget has no unit 'uds'; did you mean 'usd'" in project.out


class TestAnUpdate:
    @BOTH_WAYS
    def test_rewrites_what_failed_and_keeps_the_rest_as_it_stands(self, project, workers):
        project.write("refunds.yaml", COMMENTED)
        project.write("test_shop.py", SHOP + MARKED)
        lines = project.run("--agenttrace-update", *workers)
        assert project.code == 1
        assert "+  - refund: {order: 8, amount: 12.5}   # euros" in lines
        assert "updated refunds.yaml: run again to see it pass" in lines
        updated = COMMENTED.replace("order: 8, amount: 12}", "order: 8, amount: 12.5}")
        assert (project.path / "refunds.yaml").read_text() == updated
        assert "2 passed" in project.run("--agenttrace-update", *workers)[-1]
        assert (project.path / "refunds.yaml").read_text() == updated

    def test_of_a_read_only_file_says_so_and_leaves_it(self, project):
        project.write("refunds.yaml", COMMENTED)
        (project.path / "refunds.yaml").chmod(0o444)
        project.write("test_shop.py", SHOP + MARKED)
        lines = project.run("--agenttrace-update")
        assert any(line.startswith("not updated: ") and "read-only" in line for line in lines)
        assert (project.path / "refunds.yaml").read_text() == COMMENTED


class TestCoverage:
    @BOTH_WAYS
    def test_is_that_of_all_tests_together(self, project, workers):
        project.write(
            "test_shop.py",
            SHOP
            + """
@tracer.observe(span_type="tool")
def notify():
    pass
"""
            + MARKED,
        )
        lines = project.run("-k", "right", "--agenttrace-coverage-fail-under=80", *workers)
        assert project.code == 1
        assert "1 passed" in project.out
        assert any("50" in line and "80" in line and "%" in line for line in lines)
        project.run("-k", "right", "--agenttrace-coverage", *workers)
        assert project.code == 0
        assert "notify" in project.out


class TestTrials:
    def test_end_when_the_verdict_is_settled(self, project):
        project.write(
            "test_shop.py", SHOP + MARKED.replace("scorers=", 'trials="auto", max_trials=5, scorers=')
        )
        project.run("--junit-xml=junit.xml")
        ran = {
            name: sum(p.get("name") == "agenttrace:result" for p in case.iter("property"))
            for name, case in project.cases().items()
        }
        assert ran == {"test_refund[right]": 5, "test_refund[wrong]": 1}

    @pytest.mark.parametrize("text", ["many", "0", "-1"])
    def test_that_are_no_number_are_an_error_of_the_collection(self, project, text):
        project.write("test_shop.py", SHOP + MARKED)
        project.run(f"--agenttrace-trials={text}")
        assert project.code == 2
        assert (
            f"trials is a whole number from 1, or auto, got {json.dumps(text)[1:-1]}"
            in project.out.replace("'", "")
        )


SECRET = "Bearer abcdefghijklmnop0123"


@BOTH_WAYS
def test_no_file_of_a_run_holds_a_secret(project, workers):
    project.write(
        "test_shop.py",
        SHOP
        + """
from agenttrace.scorers import ExactMatchScorer, RegexScorer

SECRET = "Bearer abcdefghijk" + "lmnop0123"  # a failure's text has lines of this file

@pytest.mark.agenttrace(
    [Example(name="one", input="hello", expected_output=SECRET + " no")],
    [ExactMatchScorer(), RegexScorer(SECRET)],
)
def test_marked(question):
    return SECRET + " " + question

def test_fixture(agenttrace):
    example = Example(name="two", expected_output=SECRET + " no", actual_output=SECRET)
    agenttrace.check(example=example, scorers=[ExactMatchScorer()])
""",
    )
    project.run(
        *("--agenttrace-store=runs.db", "--agenttrace-save-baseline=b.json", "--junit-xml=junit.xml"),
        *(f"--agenttrace-model=https://example.com/?key={SECRET}", *workers),
        GITHUB_STEP_SUMMARY="summary.md",
    )
    assert project.code == 1, project.out
    files = {
        path.name: path.read_bytes()
        for path in project.path.iterdir()
        if path.is_file() and path.suffix not in (".py", ".yaml")
    }
    assert {"runs.db", "b.json", "junit.xml", "summary.md"} <= files.keys()
    assert [name for name, data in files.items() if b"abcdefghijklmnop0123" in data] == []
    assert b"[redacted]" in files["junit.xml"]


class TestSecrets:
    @BOTH_WAYS
    def test_are_in_no_file_and_not_in_what_is_printed(self, project, workers):
        project.write(
            "test_shop.py",
            SHOP
            + """
from agenttrace.scorers import ExactMatchScorer
KEY = "sk-0123456789abcdef" + "ABCDEF"

@pytest.mark.agenttrace([Example(name="said", expected_output="x")], [ExactMatchScorer()])
def test_says(example):
    return {"answer": KEY, "password": "hunter" + "2"}

@pytest.mark.agenttrace([Example(name="raised", expected_output="x")], [ExactMatchScorer()], trials=2)
def test_raises(example):
    raise ValueError(KEY)

def test_checks(agenttrace):
    refund({"password": "hunter" + "2"}, KEY)
    agenttrace.check([{"refund": {"amount": 1}}])
""",
        )
        options = ("--junit-xml=junit.xml", "--agenttrace-save-baseline=main.json", "--agenttrace-store=s.db")
        project.run(*options, *workers, GITHUB_STEP_SUMMARY="summary.md")
        files = [(project.path / name).read_text() for name in ("junit.xml", "main.json", "summary.md")]
        for text in (project.out, *files):
            assert "sk-0123456789abcdefABC" not in text
            assert "hunter2" not in text


class TestAnHtmlReport:
    @BOTH_WAYS
    def test_holds_the_tests_of_all_workers_and_the_calls_of_what_failed(self, project, workers):
        shop = SHOP.replace('store="memory"', 'store="traces.db"')
        project.write("test_shop.py", shop + MARKED)
        lines = project.run("--agenttrace-report=out/report.html", *workers)
        assert project.code == 1
        assert any("the report is in out/report.html" in line for line in lines)
        html = (project.path / "out" / "report.html").read_text()
        assert "1 of 2 passed" in html
        assert "test_refund[right]" in html
        assert "test_refund[wrong]" in html
        assert "expected 12, got 12.5" in html
        assert "Calls of failed results" in html
        assert "<script" not in html
        assert [path.name for path in (project.path / "out").iterdir()] == ["report.html"]

    def test_where_it_cannot_be_written_is_said_before_any_test_runs(self, project):
        project.write("test_shop.py", SHOP + MARKED)
        project.run("--agenttrace-report=.")
        assert project.code == 4
        assert "--agenttrace-report .: wanted the path of a file" in project.out


def test_a_failed_test_ends_with_the_command_that_shows_its_trace(project):
    shop = SHOP.replace('store="memory"', 'store="traces.db"')
    raises = RAISES.replace("        raise KeyError", "        refund(1, 2)\n        raise KeyError")
    project.write("test_shop.py", shop + MARKED + raises)
    project.run()
    see = [line for line in project.out.splitlines() if "see: agenttrace view " in line]
    assert len(see) == 2
    assert all("KeyError" in project.out and line.endswith(" --store traces.db") for line in see)


XFAILING = """
from agenttrace.scorers import scorer

tracer = Tracer("shop", store="traces.db")

@tracer.observe(span_type="tool")
def pay(order):
    return "ok"

kind = scorer(lambda: 1.0, name="kind", threshold=0.5)
ALL = [
    Example(name="a bug", xfail="ticket 12", input={"order": 1}, expected_tools=["refund"]),
    Example(name="broken", input={"order": 2}, expected_tools=["refund"]),
    Example(name="right", input={"order": 3}, expected_tools=["pay"]),
]

@pytest.mark.agenttrace(ALL, [ToolOrderScorer(), kind], tracer=tracer)
def test_pay(order):
    pay(order)

def test_by_the_fixture(agenttrace):
    pay(4)
    agenttrace.check(["refund"])

@pytest.mark.xfail(reason="ticket 13")
def test_by_the_fixture_too(agenttrace):
    pay(5)
    agenttrace.check(["refund"])
"""


class TestAnExpectedFailure:
    @BOTH_WAYS
    def test_is_one_in_the_stored_run_and_its_reports_too(self, project, workers):
        from click.testing import CliRunner

        from agenttrace.cli.main import cli

        project.write("test_shop.py", SHOP + XFAILING)
        lines = project.run(
            "--agenttrace-report=r.html",
            "--agenttrace-store=s.db",
            *workers,
            GITHUB_STEP_SUMMARY="summary.md",
        )
        assert "2 failed, 1 passed, 2 xfailed" in lines[-1]

        def command(*arguments):
            return CliRunner().invoke(cli, [*arguments, "--store", str(project.path / "s.db")]).output

        head, row = (line.split() for line in command("runs", "list").splitlines())
        assert dict(zip(head[-7:-3], row[-7:-3], strict=True)) == {
            "PASSED": "1",
            "FAILED": "2",
            "XFAILED": "2",
            "ERRORED": "0",
        }
        shown = command("runs", "show", "last")
        assert "TEST RESULTS: 1/5 passed (2 failed, 2 xfailed)" in shown
        assert "expected to fail: test_shop.py::test_pay[a bug]: ticket 12" in shown
        assert "expected to fail: test_shop.py::test_by_the_fixture_too: ticket 13" in shown
        assert "expected_failures" not in shown
        summary = (project.path / "summary.md").read_text()
        assert "1 of 5 passed (2 failed, 2 xfailed)" in summary
        assert "ticket 12" in summary
        html = (project.path / "r.html").read_text()
        assert "2 failed" in html
        assert "2 xfailed" in html
        assert "xfailed: ticket 12" in html
        assert "4 failed" not in html
        assert re.search(r">kind<.{,60}>3 of 3<", html, re.DOTALL)  # the fixture's tests did not ask it
        assert html.partition("Calls of failed results")[2].count("<summary>pay ") == 4


WIDE = """
from agenttrace import assert_test

EXAMPLES = [Example(name="eight", expected_tools=[call("refund", order=8, amount=12)])]

def agent():
    refund(8, 12.5)

def test_asserted():
    assert_test(EXAMPLES, [ToolOrderScorer()], function=agent)

@pytest.mark.agenttrace(EXAMPLES, [ToolOrderScorer()])
def test_marked(example):
    agent()
"""


class TestTheWidthOfATerminal:
    @BOTH_WAYS
    @pytest.mark.parametrize("columns", [60, 170])
    def test_is_that_of_a_failure_though_pytest_captures_the_output(self, project, workers, columns):
        project.write("test_shop.py", SHOP + WIDE)
        printed = project.run_on_a_terminal("--color=no", *workers, COLUMNS=str(columns))
        rules = [line for line in printed.splitlines() if line.removeprefix("E").strip(" ").strip("=") == ""]
        lengths = {len(line) for line in rules if "=" in line}
        assert lengths == {columns}
        side_by_side = "refund(order=8, amount=12)   refund(order=8, amount=12.5)"
        assert printed.count(side_by_side) == (2 if columns == 170 else 0)

    def test_is_80_where_there_is_none(self, project):
        project.write("test_shop.py", SHOP + WIDE)
        lines = project.run("-k", "marked", COLUMNS="170")
        assert "=" * 80 in lines
