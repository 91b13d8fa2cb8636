"""``agenttrace runs …`` and ``eval run --baseline``: what is printed, how it ends."""

import json
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agenttrace import Example, run_evaluation
from agenttrace.reports import report_text
from agenttrace.runs import metadata as run_metadata
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer
from agenttrace.store import SQLiteStore


@pytest.fixture
def store(agenttrace, tmp_path):
    return SQLiteStore(tmp_path / "traces.db")


def run(store, *called, name=None):
    examples = [
        Example(
            name=tool, input=tool, expected_tools=[tool], tools_called=[tool if tool in called else "other"]
        )
        for tool in ("book", "pay", "refund")
    ]
    return run_evaluation(examples, [ToolOrderScorer()], store=store, eval_run_name=name, project_name="shop")


def test_runs_are_listed_the_newest_first(agenttrace, store):
    first, second = run(store, "book", name="first"), run(store, "book", "pay", name="second")
    lines = agenttrace("runs", "list").out.splitlines()
    assert lines[0].split() == [
        "RUN",
        "STARTED",
        "NAME",
        "PROJECT",
        "PASSED",
        "FAILED",
        "ERRORED",
        "NOT",
        "RUN",
        "DURATION",
    ]
    assert [line.split()[0] for line in lines[1:]] == [second.run_id[:12], first.run_id[:12]]
    assert agenttrace("runs", "list", "--project", "none").out == ""
    (row,) = map(json.loads, agenttrace("runs", "list", "--limit", 1, "--json").out.splitlines())
    assert (row["run_id"], row["passed"]) == (second.run_id, 2)


def test_a_branch_s_runs_are_listed_alone(agenttrace, store, monkeypatch):
    for branch in ("main", "feature"):
        monkeypatch.setattr(
            run_metadata, "git_revision", lambda b=branch: {"commit": "c", "branch": b, "dirty": None}
        )
        run(store, "book", name=f"on {branch}")
    assert "on feature" not in agenttrace("runs", "list", "--branch", "main").out
    assert "on main" in agenttrace("runs", "list", "--branch", "main").out
    assert "on main" in agenttrace("runs", "show", "main").out


@pytest.mark.parametrize("reference", ["last", "last~0", "id", "ID", "second"])
def test_a_run_is_shown_by_place_id_and_name(agenttrace, store, reference):
    run(store, "book", name="first")
    second = run(store, "book", "pay", name="second")
    reference = {"id": second.run_id[:6], "ID": second.run_id}.get(reference, reference)
    shown = agenttrace("runs", "show", reference)
    assert shown.code == 0
    assert f"run {second.run_id}" in shown.out
    assert "TEST RESULTS: 2/3 passed (1 failed)" in shown.out
    assert "0 of 1 expected calls aligned" in shown.out
    assert json.loads(agenttrace("runs", "show", reference, "--json").out)["run_id"] == second.run_id


def test_every_trace_id_that_is_printed_can_be_shown(agenttrace, store):
    report = run(store, "book")
    for result in report:
        assert agenttrace("traces", "show", result.trace_id[:8]).code == 0
    assert "1970" not in agenttrace("traces", "list").out


def test_an_unknown_run_is_said_with_what_to_do(agenttrace, store):
    shown = agenttrace("runs", "show", "last")
    assert (shown.code, shown.out) == (2, "")
    assert "no run 'last'" in shown.err
    run(store)
    assert "runs list" in agenttrace("runs", "show", "nope").err
    assert agenttrace("runs", "compare", "last~1").code == 2


def test_a_comparison_says_what_got_worse_and_ends_with_one(agenttrace, store):
    run(store, "book", "pay")
    run(store, "book", "refund")
    compared = agenttrace("runs", "compare", "last~1", "last")
    assert compared.code == 1
    lines = compared.out.splitlines()
    assert lines[0] == "1 of 3 examples got worse, 1 got better, 1 the same"
    assert "examples matched: 3 by name" in lines
    assert "✗ pay: worse; Tool Order 1.0 → 0.0" in lines
    assert any("expected calls aligned" in line for line in lines)
    assert lines.index("✗ pay: worse; Tool Order 1.0 → 0.0") < lines.index(
        "✓ refund: better; Tool Order 0.0 → 1.0"
    )
    backwards = agenttrace("runs", "compare", "last", "last")
    assert backwards.code == 0
    assert backwards.out.splitlines()[0] == "3 of 3 examples the same"
    data = json.loads(agenttrace("runs", "compare", "last~1", "last", "--json").out)
    assert data["counts"] == {"worse": 1, "better": 1, "same": 1}


def test_a_comparison_of_which_the_pass_rate_fell_ends_with_one_though_no_example_is_worse(agenttrace, store):
    def trials(passes):
        examples = [
            Example(
                name=str(task),
                input=str(task),
                expected_tools=["pay"],
                tools_called=["pay" if n < passes else "no"],
            )
            for task in range(8)
            for n in range(4)
        ]
        run_evaluation(examples, [ToolOrderScorer()], store=store, project_name="shop", trials_by="name")

    trials(3)
    trials(2)
    compared = agenttrace("runs", "compare", "last~1", "last")
    assert compared.code == 1
    lines = compared.out.splitlines()
    assert lines[0].startswith("the pass rate fell from 0.75 to 0.5 over 8 examples")
    assert "8 of 8 examples with a lower rate" in lines
    assert any(line.startswith("pass rate ") and "hardly chance" in line for line in lines)


def test_a_comparison_fits_the_terminal(agenttrace, store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    run(store, "book", "pay")
    run(store, "book")
    assert max(map(len, agenttrace("runs", "compare", "last~1").out.splitlines())) <= 50


def test_a_run_goes_to_another_store_and_back(agenttrace, store, tmp_path):
    report = run(store, "book", name="nightly")
    assert agenttrace("runs", "export", "last", "-o", "run.json").code == 0
    other = tmp_path / "other.db"
    assert agenttrace("runs", "import", "run.json", "--store", other).code == 0
    assert Path("run.json").stat().st_mode & 0o777 == 0o600  # as the store is
    exported, imported = store.run(report.run_id), SQLiteStore(other).run(report.run_id)
    assert imported == exported
    assert agenttrace("runs", "export", "last", "-o", "again.json", "--store", other).code == 0
    assert (tmp_path / "again.json").read_text() == (tmp_path / "run.json").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is damaged"),
        ("[]", "is no run"),
        ('{"agenttrace_run": 1}', "is damaged: KeyError"),
        ('{"agenttrace_run": 2}', "has version 2"),
        ('{"agenttrace_baseline": 1}', "used as it is"),
    ],
)
def test_what_is_no_run_is_not_imported(agenttrace, tmp_path, text, words):
    (tmp_path / "run.json").write_text(text)
    ran = agenttrace("runs", "import", "run.json")
    assert ran.code == 2
    assert words in ran.err
    assert not (tmp_path / "traces.db").exists()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("run_id",), "E" * 32),
        (("run_id",), "٣" * 32),
        (("run_id",), "1_" * 15 + "11"),
        (("name",), 5),
        (("started_ns",), "soon"),
        (("started_ns",), 10**30),
        (("duration",), "long"),
        (("duration",), None),
        (("metadata",), []),
        (("results", 0, "outcome"), "great"),
        (("results", 0, "position"), "first"),
        (("results", 0, "trial"), 10**30),
        (("results", 0, "example"), "text"),
        (("results", 0, "scores", 0, "value"), "high"),
        (("results", 0, "scores", 0, "value"), 10**400),
        (("results", 0, "scores", 0, "name"), 5),
        (("results", 0, "scores", 0, "outcome"), "great"),
        (("results", 0, "scores", 0, "threshold"), "high"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_run_that_nobody_could_have_exported_is_not_imported(agenttrace, store, tmp_path, path, value):
    run(store, "book")
    assert agenttrace("runs", "export", "last", "-o", "run.json").code == 0
    data = json.loads((tmp_path / "run.json").read_text())
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (tmp_path / "run.json").write_text(json.dumps(data))
    ran = agenttrace("runs", "import", "run.json")
    assert (ran.code, "run.json is damaged" in ran.err) == (2, True)
    assert len(store.runs()) == 1


def test_a_name_with_control_characters_is_printed_without_effect(agenttrace, store, tmp_path):
    run_evaluation(
        [Example(actual_output="x", expected_output="x")],
        [ExactMatchScorer()],
        store=store,
        eval_run_name="a\x1b[31m\x07b",
    )
    assert agenttrace("runs", "export", "last", "-o", "run.json").code == 0
    for command in (("import", "run.json"), ("delete", "last", "--yes")):
        out = agenttrace("runs", *command).out
        assert "a\\x1b[31m\\x07b" in out


def test_a_deleted_run_is_gone_and_its_traces_with_it_if_asked(agenttrace, store, monkeypatch):
    kept, gone = run(store, "book"), run(store, "pay")
    monkeypatch.setattr("sys.stdin", StringIO(""))
    asked = agenttrace("runs", "delete", "last")
    assert (asked.code, "give --yes" in asked.err) == (2, True)
    assert len(store.runs()) == 2
    monkeypatch.setattr("sys.stdin", StringIO("n\n"))
    asked = agenttrace("runs", "delete", "last")
    assert (asked.code, asked.err.endswith("nothing was deleted\n")) == (0, True)
    assert len(store.runs()) == 2
    assert "and 3 traces" in agenttrace("runs", "delete", gone.run_id, "--traces", "--yes").out
    assert [line.run_id for line in store.runs()] == [kept.run_id]
    assert store.trace(gone[0].trace_id) is None
    assert store.trace(kept[0].trace_id) is not None


YAML = """examples:
- name: refund
  input: a
  expected_tools: [refund]
  tools_called: [{called}]
- name: never right
  input: b
  expected_tools: [pay]
  tools_called: []
"""


def test_an_evaluation_fails_against_its_baseline_only_where_it_got_worse(agenttrace, tmp_path):
    tests = tmp_path / "tests.yaml"
    tests.write_text(YAML.format(called="refund"))
    command = ("eval", "run", tests, "--scorer", "ToolOrder")
    missing = agenttrace(*command, "--baseline", "b.json")
    assert missing.code == 2
    assert "--save-baseline" in missing.err
    saved = agenttrace(*command, "--save-baseline", "b.json")
    assert (saved.code, (tmp_path / "b.json").exists()) == (1, True)

    (tmp_path / "traces.db").unlink()  # a CI machine starts empty
    same = agenttrace(*command, "--baseline", "b.json")
    assert same.code == 0
    assert "2 of 2 examples the same" in same.out
    tests.write_text(YAML.format(called="other"))
    worse = agenttrace(*command, "--baseline", "b.json")
    assert worse.code == 1
    assert "1 of 2 examples got worse, 1 the same" in worse.out
    assert "missing" not in worse.out.partition("got worse")[2]  # the report has the diff
    assert f"\nrun {SQLiteStore(tmp_path / 'traces.db').runs()[0].run_id[:8]}\n" in worse.out
    assert agenttrace("runs", "compare", "b.json", "last").code == 1
    assert agenttrace("runs", "export", "last", "--baseline", "-o", "new.json").code == 0
    assert agenttrace(*command, "--baseline", "new.json").code == 0


class TestTheFilesOfARunWithABaseline:
    """They say no other than the exit code."""

    @pytest.fixture
    def run(self, agenttrace, tmp_path):
        def run(called, *options, more=""):
            (tmp_path / "t.yaml").write_text(YAML.format(called=called) + more)
            files = ("--junit", "j.xml", "--md", "r.md")
            ran = agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder", *files, *options)
            suite = ElementTree.parse(tmp_path / "j.xml").getroot().find("testsuite")
            cases = {case.get("name"): case for case in suite.findall("testcase")}
            return ran, suite.attrib, cases

        return run

    def test_what_failed_before_is_skipped(self, run, tmp_path):
        _, suite, _ = run("refund", "--save-baseline", "b.json")
        assert (suite["failures"], suite["skipped"]) == ("1", "0")
        ran, suite, cases = run("refund", "--baseline", "b.json")
        assert (ran.code, suite["failures"], suite["skipped"]) == (0, "0", "1")
        skipped = cases["never right"].find("skipped")
        assert skipped.get("message").startswith("no worse than b.json: 0 of 1 expected calls")
        assert skipped.get("type") == "pytest.xfail"
        assert "✓ TEST RESULTS: 1/2 passed (1 xfailed)" in ran.out
        assert "✅" in (tmp_path / "r.md").read_text()

    def test_what_is_worse_or_new_stays_a_failure(self, run):
        run("refund", "--save-baseline", "b.json")
        ran, suite, cases = run("other", "--baseline", "b.json")
        assert (ran.code, suite["failures"], suite["skipped"]) == (1, "1", "1")
        assert cases["never right"].find("skipped") is not None
        new = "- {name: unknown, input: c, expected_tools: [pay], tools_called: []}\n"
        _, suite, cases = run("refund", "--baseline", "b.json", more=new)
        assert cases["unknown"].find("failure") is not None
        assert suite["skipped"] == "1"

    def test_nothing_is_where_the_run_is_not_as_required(self, run):
        run("refund", "--save-baseline", "b.json")
        ran, suite, _ = run("refund", "--baseline", "b.json", "--require", "pass_rate >= 0.9")
        assert (ran.code, suite["failures"], suite["skipped"]) == (1, "1", "0")


def flipped(store):
    """A run of one example that passed once of twice, by other calls."""
    examples = [
        Example(name="pay", expected_tools=["pay"], tools_called=[tool], actual_output="same")
        for tool in ("pay", "other")
    ]
    return run_evaluation(examples, [ToolOrderScorer()], store=store, project_name="shop", trials_by="name")


def test_a_stored_run_names_the_calls_by_which_a_verdict_flipped_as_the_run_itself_did(agenttrace, store):
    report = flipped(store)
    (flip,) = [line for line in report_text(report).splitlines() if "Flip:" in line]
    assert "the agent did something else" in flip
    assert flip in agenttrace("runs", "show").out.splitlines()
    assert flip.strip() in agenttrace("runs", "export", "--md", "-").out


def test_nothing_is_said_of_a_flip_where_the_traces_are_elsewhere(agenttrace, store, tmp_path):
    flipped(store)
    agenttrace("runs", "export", "-o", str(tmp_path / "run.json"))
    other = str(tmp_path / "other.db")
    agenttrace("runs", "import", str(tmp_path / "run.json"), "--store", other)
    shown = agenttrace("runs", "show", "--store", other).out
    assert "1 of 2 trials passed" in shown
    assert "Flip" not in shown


def test_a_run_is_shown_with_its_rates_and_its_trials_by_name(agenttrace, store):
    flipped(store)
    lines = agenttrace("runs", "show").out.splitlines()
    assert "  trials    2" in [line for line in lines if line.split()[:1] == ["trials"]]
    assert any(line.startswith("  pass rate 0.5 (1 of 2; 95 % interval ") for line in lines)
    assert "  pass^k 1: 0.5, 2: 0" in lines


MANY = """examples:
- {{name: a, input: x, expected_tools: [refund], tools_called: [{a}]}}
- {{name: b, input: y, expected_tools: [refund], tools_called: [{b}]}}
- {{name: c, input: z, expected_tools: [refund], tools_called: [refund]}}
"""


class TestARunOfAPart:
    @pytest.fixture
    def run(self, agenttrace, tmp_path):
        def run(*options, a="refund", b="refund"):
            (tmp_path / "t.yaml").write_text(MANY.format(a=a, b=b))
            return agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder", *options)

        return run

    def test_replaces_its_part_of_a_saved_baseline_alone(self, run, tmp_path):
        run("--save-baseline", "b.json", b="other")
        part = run("--save-baseline", "b.json", "--only", "b")
        assert "1 of its 3 examples are of this run, the others as they were" in part.err
        rows = {
            row["name"]: row["outcomes"] for row in json.loads((tmp_path / "b.json").read_text())["examples"]
        }
        assert rows == {"a": ["passed"], "b": ["passed"], "c": ["passed"]}

    def test_that_ends_early_leaves_what_was_not_run_as_it_was(self, run, tmp_path):
        run("--save-baseline", "b.json")
        part = run("--save-baseline", "b.json", "--fail-fast", a="other")
        assert "1 of its 3 examples are of this run" in part.err
        rows = {
            row["name"]: row["outcomes"] for row in json.loads((tmp_path / "b.json").read_text())["examples"]
        }
        assert rows == {"a": ["failed"], "b": ["passed"], "c": ["passed"]}

    def test_replaces_no_file_that_cannot_be_read(self, run, tmp_path):
        (tmp_path / "b.json").write_text("{")
        ran = run("--save-baseline", "b.json", "--only", "b")
        assert ran.code == 2
        assert "not all examples were run" in ran.err
        assert (tmp_path / "b.json").read_text() == "{"
        assert run("--save-baseline", "b.json").code == 0

    def test_says_of_no_example_that_was_not_chosen_that_it_is_gone(self, run):
        run("--save-baseline", "b.json")
        ran = run("--baseline", "b.json", "--only", "b")
        assert ran.code == 0
        assert "gone" not in ran.out
        assert "1 of 1 example the same" in ran.out


def test_a_baseline_that_gets_worse_is_a_warning(agenttrace, tmp_path):
    tests = tmp_path / "tests.yaml"
    command = ("eval", "run", tests, "--scorer", "ToolOrder", "--save-baseline", "b.json")
    tests.write_text(YAML.format(called="refund"))
    assert "gets worse" not in agenttrace(*command).err
    tests.write_text(YAML.format(called="other"))
    assert (
        "warning: the baseline gets worse: 1 of 2 examples got worse than b.json: refund"
        in agenttrace(*command).err
    )
    assert "gets worse" not in agenttrace(*command).err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--name", "no such"), 'none matches name:"no such"'),
        (("--project", "x", "--name", "y"), "none matches project:x"),
    ],
)
def test_a_store_without_traces_of_a_name_is_not_called_empty(agenttrace, store, options, words):
    run(store, "book")
    listed = agenttrace("traces", "list", *options)
    assert words in listed.err
    assert "decorate" not in listed.err


def test_a_run_is_named_on_the_command_line_and_found_by_its_name(agenttrace, tmp_path):
    tests = tmp_path / "tests.yaml"
    tests.write_text(YAML.format(called="refund"))
    agenttrace("eval", "run", tests, "--scorer", "ToolOrder", "--name", "nightly")
    assert "name      nightly" in agenttrace("runs", "show", "nightly").out


def test_each_requirement_is_a_line_with_whether_it_is_met_and_the_headline_says_so(agenttrace, tmp_path):
    tests = tmp_path / "tests.yaml"
    tests.write_text(YAML.format(called="refund"))
    lines = ["pass_rate >= 0.5", "mean(Tool Order) >= 0.5", "pass_rate(Tool Order) >= 0.4"]
    command = ("eval", "run", tests, "--scorer", "ToolOrder", "--md", "x.md")
    met = agenttrace(*command, *(word for line in lines for word in ("--require", line)))
    assert met.code == 0
    assert "✓ TEST RESULTS: 1/2 passed (1 failed); what is required is met" in met.out
    for line in lines:
        assert f"✓ required: {line}, got 0.5 (" in met.out
        assert f"✓ Required: `{line}, got 0.5 (" in (tmp_path / "x.md").read_text()
    unmet = agenttrace(*command, "--require", "pass_rate >= 0.4", "--require", "mean(Tool Order) >= 0.9")
    assert unmet.code == 1
    assert "⚠️  TEST RESULTS: 1/2 passed (1 failed); 1 of 2 requirements not met" in unmet.out
    assert "✗ required: mean(Tool Order) >= 0.9, got 0.5" in unmet.out
    assert "✓ required: pass_rate >= 0.4, got 0.5" in unmet.out


ACCEPTED = """examples:
- {{name: known, {field}, expected_tools: [pay], tools_called: [{called}]}}
- {{name: fine, expected_tools: [pay], tools_called: [pay]}}
"""


@pytest.mark.parametrize(
    ("field", "called", "code", "words"),
    [
        ("xfail: the tool rounds", "no", 0, "· expected to fail: known: xfail: the tool rounds"),
        ("xfail: the tool rounds", "pay", 0, "✓ TEST RESULTS: 2/2"),
        (
            'quarantine: "ops until 2999-01-15: rounds"',
            "no",
            0,
            "in quarantine until 2999-01-15 (ops: rounds)",
        ),
        ('quarantine: "ops until 2001-01-15: rounds"', "no", 1, "the quarantine ended on 2001-01-15"),
        ('quarantine: "ops until 2001-01-15: rounds"', "pay", 1, "it passes: remove its quarantine"),
        ("skip: too slow", "no", 0, "✓ TEST RESULTS: 1/1 passed"),
    ],
)
def test_eval_run_does_what_examples_say_of_their_failures(agenttrace, tmp_path, field, called, code, words):
    (tmp_path / "t.yaml").write_text(ACCEPTED.format(field=field, called=called))
    ran = agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder")
    assert ran.code == code
    assert words in ran.out
    assert ("✓ TEST RESULTS" in ran.out) == (code == 0)
    assert ran.err == ("skipped: known: too slow\n" if "skip" in field else "")


@pytest.mark.parametrize("field", ["xfail: the tool rounds", 'quarantine: "ops until 2999-01-15: rounds"'])
def test_what_is_errored_is_no_failure_that_was_expected(agenttrace, tmp_path, field):
    (tmp_path / "broken.py").write_text(BROKEN_SCORER)
    (tmp_path / "t.yaml").write_text(
        ACCEPTED.format(field=field, called="pay").rpartition("- {name: fine")[0]
    )
    ran = agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder", "--scorer", "broken:judge")
    assert ran.code == 2
    assert "⚠️  TEST RESULTS: 0/1 passed (1 errored)" in ran.out


BROKEN_SCORER = """
from agenttrace import scorer

@scorer
def judge(tool_calls):
    raise RuntimeError("no such model")
"""


def test_the_list_says_which_runs_are_not_whole(agenttrace, tmp_path):
    (tmp_path / "t.yaml").write_text(MANY.format(a="other", b="refund"))
    agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder")
    assert "ENDED" not in agenttrace("runs", "list").out
    agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder", "--fail-fast")
    head, newest, oldest = agenttrace("runs", "list").out.splitlines()
    assert head.endswith("ENDED")
    assert newest.endswith("before all were run")
    assert "before" not in oldest
    assert "⚠️  TEST RESULTS" in agenttrace("runs", "show").out


def test_a_quarantine_that_cannot_be_read_is_an_error_before_any_agent_runs(agenttrace, tmp_path):
    (tmp_path / "t.yaml").write_text(ACCEPTED.format(field="quarantine: flaky", called="pay"))
    ran = agenttrace("eval", "run", "t.yaml", "--scorer", "ToolOrder")
    assert ran.code == 2
    assert "t.yaml:2: quarantine is written 'OWNER until YYYY-MM-DD: WHY', got 'flaky'" in ran.err


def test_a_comparison_says_once_what_an_example_was_and_is(agenttrace, tmp_path):
    (tmp_path / "scorer_of_compare.py").write_text(
        "from agenttrace import scorer\n@scorer\ndef reward(metadata): return metadata['reward']\n"
    )

    def evaluate(metadata):
        row = f"{{name: seven, input: a, tools_called: [], additional_metadata: {metadata}}}"
        (tmp_path / "t.yaml").write_text(f"examples: [{row}]\n")
        return agenttrace("eval", "run", "t.yaml", "--scorer", "scorer_of_compare:reward").code

    def compared(before):
        printed = agenttrace("runs", "compare", before, "last").out.splitlines()
        return next(line for line in printed if line.startswith("! seven"))

    assert [evaluate("{reward: 1}"), evaluate("{}"), evaluate("{}")] == [0, 2, 2]
    assert compared("last~1") == "! seven: errored, as before"
    assert compared("last~2") == "! seven: passed → errored"
