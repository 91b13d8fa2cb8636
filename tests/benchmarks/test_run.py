"""Everything together: the file of results, the scripts' own outputs."""

import json
import subprocess
import sys

from benchmarks import assert_test, import_time, long_runs, online, run, unresting
from benchmarks.options import root
from tests.benchmarks import sample


def test_importing_is_measured_over_bare_python(monkeypatch):
    wanted = {
        name: row for name, row in import_time.rows([]).items() if name in ("bare Python", "import wrapt")
    }
    monkeypatch.setattr(import_time, "rows", lambda interpreters: wanted)
    found = import_time.measure(quick=True, interpreters=[])
    assert set(found["rows"]) == set(wanted)
    assert "| import wrapt" in import_time.report(found)
    assert found["loaded"] == []


def test_assert_test_is_measured_with_both_stores(monkeypatch):
    monkeypatch.setattr(assert_test, "WAIT", 0.001)
    found = assert_test.measure(quick=True)
    assert set(found["trivial"]) == {"memory", "SQLite"}
    text = assert_test.report(found)
    assert "| async agent" in text
    assert "100 examples, store: SQLite" in text


def test_asking_for_evaluations_is_measured_and_each_is_accounted_for(monkeypatch):
    monkeypatch.setattr(online, "TROUBLES", ("429",))
    found = online.measure(quick=True)
    assert set(found["microseconds"]) == {"room", "full", "judge: 429"}
    assert all(row["asked"] == row["accounted"] for row in found["microseconds"].values())
    assert found["microseconds"]["full"]["dropped"] > 0
    assert "| judge: 429" in online.report(found)


def test_an_app_that_never_rests_is_measured_with_what_it_loses(monkeypatch):
    monkeypatch.setattr(unresting, "LOADS", {"scalars, paced": ("sync", 2_000), "scalars": ("sync", None)})
    found = unresting.measure(quick=True)
    paced, flat_out = found["rows"]["scalars, paced"], found["rows"]["scalars"]
    assert paced["lost"] == 0
    assert paced["calls_lost"] is None
    assert flat_out["made_per_s"] > paced["made_per_s"]
    assert flat_out["calls_lost"] < 1
    assert "| scalars, paced" in unresting.report(found)


def test_long_runs_are_measured_with_their_steps(monkeypatch):
    names = ["many(par(a, b)), 200 calls", "refused: 3,000 levels of opt"]
    monkeypatch.setattr(long_runs, "CASES", {name: long_runs.CASES[name] for name in names})
    found = long_runs.measure(quick=True)
    assert found[names[0]]["result"] == "holds"
    assert found[names[0]]["steps"] > 0
    assert found[names[1]]["result"] == "refused"
    assert "| many(par(a, b)), 200 calls" in long_runs.report(found)


def test_the_file_of_results_has_the_machine_the_budgets_and_each_script(monkeypatch):
    monkeypatch.setattr(run, "OURS", {"assert_test": "What evaluating costs"})
    text = run.results(["here and now"], sample.everything(), {"store": "a table"})
    assert "- here and now" in text
    assert "## Budgets" in text
    assert "## What evaluating costs" in text
    assert "```\na table\n```" in text
    assert "python benchmarks/" not in text


def test_the_machine_is_described_without_its_name():
    text = "\n".join(run.machine((0.0, 0.0, 0.0), 1.0, quick=True))
    assert "cores" in text
    assert "SQLite" in text
    assert "--quick" in text
    assert "a bare call takes" in text


def test_a_script_prints_json_when_asked():
    command = [sys.executable, "benchmarks/assert_test.py", "--quick", "--json", "--no-peers"]
    done = subprocess.run(command, cwd=root(), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["examples"] == 100
