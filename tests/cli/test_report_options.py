"""``eval run --junit --md --json --csv``: what is written where, what is said where it cannot be."""

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest

from agenttrace.reports import report_schema
from agenttrace.store import open_store

AGENT = """
import os, signal, time
from agenttrace import Tracer
tracer = Tracer(project_name="shop")

@tracer.observe(span_type="tool")
def look(n):
    return n

@tracer.observe
def agent(n):
    if n == 7:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    if n:
        look(n)
    return "Bearer abcdefghijklmnop0123"

def leaves_a_note(n):
    open("ran", "w").close()
    look(n)
"""


@pytest.fixture
def examples(tmp_path, monkeypatch):
    (tmp_path / "shop.py").write_text(AGENT)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def write(*inputs):
        rows = [f"  - {{name: n{n}, input: {{n: {n}}}, expected_tools: [look]}}\n" for n in inputs]
        (tmp_path / "tests.yaml").write_text("examples:\n" + "".join(rows))
        return tmp_path / "tests.yaml"

    yield write
    sys.modules.pop("shop", None)


RUN = ("--function", "shop:agent", "--scorer", "ToolOrder")


def test_each_format_is_written_as_often_as_asked_for(agenttrace, examples, tmp_path):
    ran = agenttrace(
        *("eval", "run", examples(0, 1), *RUN, "--junit", "x.xml", "--junit", "deep/er/y.xml"),
        *("--md", "x.md", "--json", "x.json", "--csv", "x.csv"),
    )
    assert ran.code == 1
    assert ran.err == ""
    assert ran.out.startswith("=" * 80)
    (suite,) = ElementTree.parse(tmp_path / "x.xml").getroot()
    assert [case.get("name") for case in suite.iter("testcase")] == ["n0", "n1"]
    assert (tmp_path / "deep/er/y.xml").read_bytes() == (tmp_path / "x.xml").read_bytes()
    assert (tmp_path / "x.md").read_text().startswith("### ❌ ")
    data = json.loads((tmp_path / "x.json").read_text())
    jsonschema.validate(data, report_schema())
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 3
    assert sorted(path.name for path in tmp_path.iterdir() if "tmp" in path.name) == []


def test_what_is_written_holds_no_secret(agenttrace, examples, tmp_path):
    path = examples(0, 1)
    path.write_text(path.read_text().replace("look]", "look], expected_output: Bearer abcdefghijklmnop0123"))
    files = ["x.xml", "x.md", "x.json", "x.csv"]
    options = zip(("--junit", "--md", "--json", "--csv"), files, strict=True)
    run = ("eval", "run", path, *RUN, "--scorer", "ExactMatch")
    agenttrace(*run, *(word for pair in options for word in pair))
    text = "".join((tmp_path / file).read_text() for file in files)
    assert "abcdefghijklmnop0123" not in text
    assert "[redacted]" in text


def test_what_is_printed_holds_no_secret(agenttrace, examples):
    path = examples(0, 1)
    path.write_text(path.read_text().replace("name: n", "name: Bearer abcdefghijklmnop0123"))
    ran = agenttrace("eval", "run", path, *RUN)
    assert ran.code == 1
    assert "abcdefghijklmnop0123" not in ran.out + ran.err
    assert "[redacted]" in ran.out


def test_a_comparison_that_is_written_holds_no_secret(agenttrace, examples, tmp_path, monkeypatch):
    path = examples(1)
    path.write_text(
        path.read_text().replace("look]", "look], expected_output: Bearer abcdefghijklmnop0123 x")
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    run = ("eval", "run", path, *RUN, "--scorer", "ExactMatch")
    agenttrace(*run, "--save-baseline", "b.json")
    (tmp_path / "b.json").write_text((tmp_path / "b.json").read_text().replace('"failed"', '"passed"'))
    agenttrace(*run, "--baseline", "b.json", "--md", "x.md")
    for name in ("x.md", "summary.md"):
        text = (tmp_path / name).read_text()
        assert "1 of 1 example got worse" in text
        assert "abcdefghijklmnop0123" not in text


def test_stdout_has_the_file_alone_and_the_report_goes_to_stderr(agenttrace, examples):
    ran = agenttrace("eval", "run", examples(1), *RUN, "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["passed"] is True
    assert "TEST RESULTS: 1/1 passed" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--junit", "."], "--junit: .: this is a directory, wanted a file"),
        (["--md", ""], "wanted a path, or - for stdout"),
        (["--csv", "shop.py/x.csv"], "cannot be written"),
        (["--json", "x", "--csv", "./x"], "--csv: ./x: another report goes there"),
        (["--json", "-", "--csv", "-"], "another report goes there"),
    ],
)
def test_a_path_that_cannot_be_written_is_said_before_any_agent_runs(
    agenttrace, examples, tmp_path, options, said
):
    run = ("eval", "run", examples(1), "--function", "shop:leaves_a_note", "--scorer", "ToolOrder")
    ran = agenttrace(*run, *options)
    assert ran.code == 2
    assert said in " ".join(ran.err.replace("│", " ").split())
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_is_read_only_is_said_before(agenttrace, examples, tmp_path):
    (tmp_path / "sealed").mkdir(mode=0o500)
    ran = agenttrace("eval", "run", examples(1), *RUN, "--md", "sealed/x.md")
    assert ran.code == 2
    assert "Permission denied" in ran.err


def test_what_cannot_be_written_afterwards_loses_nothing(agenttrace, examples, tmp_path, monkeypatch):
    def full(path, text, **_):
        if path.name == "x.json":
            raise OSError("no space left on device")
        path.write_text(text)

    monkeypatch.setattr("agenttrace.cli.report_options.write_text", full)
    run = ("eval", "run", examples(1), *RUN, "--json", "x.json", "--md", "x.md")
    ran = agenttrace(*run)
    assert ran.code == 2
    assert "TEST RESULTS: 1/1 passed" in ran.out
    assert "Error: the report was not written to x.json: no space left on device" in ran.err
    assert (tmp_path / "x.md").exists()
    assert len(open_store(str(tmp_path / "traces.db")).runs()) == 1


def test_an_old_file_is_replaced_in_one_step_and_a_link_stays_one(agenttrace, examples, tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    agenttrace("eval", "run", examples(1), *RUN, "--json", "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["passed"] is True


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_a_new_file_is_for_its_user_alone_and_an_old_one_keeps_its_mode(agenttrace, examples, tmp_path):
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "old.html").chmod(0o644)
    agenttrace("eval", "run", examples(1), *RUN, "--html", "new.html")
    agenttrace("eval", "run", examples(1), *RUN, "--html", "old.html")
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("new.html", "old.html")]
    assert modes == [0o600, 0o644]


def test_what_is_no_regular_file_is_written_to_as_it_is(agenttrace, examples):
    ran = agenttrace("eval", "run", examples(1), *RUN, "--json", os.devnull)
    assert ran.code == 0
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_the_step_summary_of_the_ci_has_the_markdown(agenttrace, examples, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    agenttrace("eval", "run", examples(0), *RUN)
    assert "0 of 1 passed" in (tmp_path / "summary.md").read_text()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    ran = agenttrace("eval", "run", examples(1), *RUN)
    assert ran.code == 0
    assert "the step summary could not be written" in ran.err


def test_a_stored_run_is_written_as_the_same_reports(agenttrace, examples, tmp_path):
    agenttrace("eval", "run", examples(0, 1), *RUN, "--json", "now.json", "--csv", "now.csv")
    ran = agenttrace("runs", "export", "last", "--json", "then.json", "--csv", "-", "--junit", "then.xml")
    assert ran.code == 0
    assert ran.out == (tmp_path / "now.csv").read_text()
    now, then = (json.loads((tmp_path / name).read_text()) for name in ("now.json", "then.json"))
    assert {**then, "metadata": {}} == {**now, "metadata": {}}
    (suite,) = ElementTree.parse(tmp_path / "then.xml").getroot()
    assert suite.get("failures") == "1"
    both = agenttrace("runs", "export", "-o", "run.json", "--md", "run.md")
    assert (both.code, (tmp_path / "run.json").exists(), (tmp_path / "run.md").exists()) == (0, True, True)


@pytest.mark.parametrize("options", [(), ("--baseline", "--md", "x.md")])
def test_an_export_to_nowhere_is_wrong_use(agenttrace, examples, options):
    agenttrace("eval", "run", examples(1), *RUN)
    ran = agenttrace("runs", "export", *options)
    assert ran.code == 2
    assert "say where to: --output FILE" in ran.err


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="needs signals")
def test_control_c_prints_writes_and_stores_what_finished(examples, tmp_path):
    examples(1, 0, 2, 7, 3, 4, 5, 6)
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "agenttrace", "eval", "run", "tests.yaml", *RUN),
            *("--concurrency", "1", "--junit", "x.xml", "--json", "x.json", "--md", "x.md"),
            *("--save-baseline", "b.json"),
        ],
        cwd=tmp_path,
        env={**os.environ, "AGENTTRACE_STORE": str(tmp_path / "traces.db")},
        # A shell lets what it runs in the background ignore Control-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 130, ran.stderr
    data = json.loads((tmp_path / "x.json").read_text())
    names = [result["name"] for result in data["results"]]
    assert names in (
        ["n1"],
        ["n1", "n0"],
        ["n1", "n0", "n2"],
    )  # what was scored by then
    assert f"interrupted: {8 - len(names)} of 8 were not run" in ran.stdout
    (suite,) = ElementTree.parse(tmp_path / "x.xml").getroot()
    assert [case.get("name") for case in suite.iter("testcase")] == [*names, "(interrupted)"]
    assert data["metadata"]["interrupted"] is True
    assert "no baseline was written to b.json: the run was interrupted" in ran.stderr
    assert not (tmp_path / "b.json").exists()
    (run,) = open_store(str(tmp_path / "traces.db")).runs()
    assert run.run_id == data["run_id"]
    assert run.passed + run.failed == len(names)
