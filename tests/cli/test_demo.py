import re
import subprocess
import time

import pytest
from click.testing import CliRunner

from agenttrace import Example, Tracer
from agenttrace.cli.demo_history import plant
from agenttrace.cli.main import cli
from agenttrace.core.query_parsing import parse
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_run
from agenttrace.store import SQLiteStore

DEMO = ".agenttrace/demo.db"


def test_the_demo_records_passes_fails_and_shows_the_stored_trace(agenttrace, tmp_path):
    ran = agenttrace("demo")
    assert ran.code == 0
    assert "TEST RESULTS: 2/2 passed" in ran.out
    assert "TEST RESULTS: 0/1 passed (1 failed)" in ran.out
    assert "amount: expected 12.5, got 12.0" in ran.out
    assert "missing" in ran.out
    assert "├─ lookup_order  [tool]" in ran.out
    assert "✗ Tool Order: 0.0" in ran.out
    assert len(agenttrace("traces", "list", "--project", "demo", "--store", DEMO).out.splitlines()) == 4
    assert not (tmp_path / ".agenttrace/traces.db").exists()


def test_the_demo_says_when_recording_is_switched_off(agenttrace, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
    ran = agenttrace("demo")
    assert ran.code == 2
    assert "AGENTTRACE_ENABLED=0 switches recording off" in ran.err


def test_the_demo_ends_with_commands_that_work_from_there(agenttrace, tmp_path):
    ran = agenttrace("demo", "--store", "my demo.db")
    commands = [line for line in ran.out.splitlines() if "--store 'my demo.db'" in line]
    assert len(commands) == 7
    for line in commands[:6]:  # the last one would open the browser
        command = re.split(r"\?|: ", line, maxsplit=1)[1].strip()
        ended = subprocess.run(
            command, shell=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
        )
        assert ended.returncode == (1 if "compare" in command else 0), ended.stderr
        assert ended.stdout.strip()
    again = agenttrace("demo", "--store", "my demo.db")
    assert again.code == 0
    stored = agenttrace("traces", "list", "--project", "demo", "--store", "my demo.db").out
    assert len(stored.splitlines()) == 7


@pytest.mark.parametrize("content", [b"", b"not a database"])
def test_the_demo_writes_into_no_file_that_it_has_not_planted(agenttrace, tmp_path, content):
    file = tmp_path / "mine.db"
    file.write_bytes(content)
    ran = agenttrace("demo", "--store", str(file))
    assert ran.code == 2
    assert "is no demo store" in ran.err
    assert file.read_bytes() == content


def test_the_demo_leaves_the_user_s_own_store_alone(agenttrace, tmp_path):
    from agenttrace.tracer import Tracer

    tracer = Tracer("mine", store=str(tmp_path / "mine.db"))
    tracer.observe(lambda: None)()
    tracer.shutdown()
    ran = agenttrace("demo", "--store", str(tmp_path / "mine.db"))
    assert ran.code == 2
    assert len(SQLiteStore(tmp_path / "mine.db").traces()) == 1
    assert agenttrace("demo", "--store", "memory").code == 2


NOW = time.time_ns()


@pytest.fixture(scope="module")
def demo_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("planted") / "demo.db"
    plant(str(path), NOW)
    store = SQLiteStore(path)
    yield store
    store.close()


@pytest.fixture(scope="module")
def matching(demo_store):
    reads = demo_store.trace_reads()

    def matching(text):
        return list(reads.each_match(parse(text)))

    reads.search(parse(""), limit=1)
    return matching


def test_it_holds_hundreds_of_traces_of_two_weeks_with_customers_sessions_and_releases(matching):
    traces = matching("")
    assert 500 < len(traces) < 3_000
    assert {facts.label("customer") for facts in matching("tag:production")} == {
        *("acme", "globex", "hooli", "initech", "umbrella")
    }
    assert len({facts.label("session") for facts in traces}) > 200
    assert all(matching(f"release:{number}") for number in ("2.3.0", "2.4.0", "2.4.1", "2.5.0"))
    ages = [(NOW - facts.start_ns) / 86_400e9 for facts in traces]
    assert min(ages) > 0
    assert 13 < max(ages) < 16


def test_the_newest_run_of_a_suite_is_worse_and_calls_something_else(demo_store, matching):
    runs = [run.run_id for run in demo_store.runs() if run.name == "refunds"]
    assert len(runs) == 4
    comparison = compare_runs(*(record_of_run(demo_store.run(run)) for run in (runs[1], runs[0])))
    kinds = {change.label: change.kind for change in comparison.changes if change.kind != "same"}
    assert kinds == {
        "refund gift card": "worse",
        "refund backpack": "less_stable",
        "asks for return window": "better",
    }
    (gift_card, *_) = matching(f'run:{runs[0]} example:"refund gift card"')
    assert [call.name for call in gift_card.calls] == ["lookup_order", "store_credit", "notify"]


def test_one_example_is_flaky_in_every_run(demo_store):
    for run in demo_store.runs():
        if run.name == "refunds":
            rows = demo_store.run(run.run_id)["results"]
            outcomes = [row["outcome"] for row in rows if row["name"] == "refund keyboard"]
            assert sorted(outcomes) == ["failed", "passed", "passed"]


def test_a_loop_is_six_equal_calls_with_tokens_and_a_cost(matching):
    loops = matching("looped:6")
    assert len(loops) == 3
    assert all([call.name for call in facts.calls] == ["search_kb"] * 6 for facts in loops)
    assert all(facts.tokens > 500 and facts.cost > 0.001 for facts in loops)
    assert matching("looped:6 score:Loop<1") == loops
    assert matching("looped:7") == [] or all(facts.spans == 2_000 for facts in matching("looped:7"))


def test_refund_fails_for_one_customer_and_for_no_other(matching):
    assert len(matching("failed:refund customer:acme")) > 4
    assert matching("failed:refund -customer:acme") == []
    assert matching("tool:refund -customer:acme tag:production since:5d")


def test_a_score_falls_with_a_release(matching):
    def mean(query):
        values = [s.value for facts in matching(query) for s in facts.scores if s.name == "Faithfulness"]
        return sum(values) / len(values)

    assert mean("tag:production release:2.5.0") < 0.85 < 0.95 < mean("tag:production -release:2.5.0")
    days = {int((NOW - facts.start_ns) / 86_400e9) for facts in matching("tag:production release:2.5.0")}
    assert days == {0, 1, 2}


def test_a_verdict_has_its_items_votes_evidence_and_raw_replies(demo_store):
    run = next(run for run in demo_store.runs() if run.name == "answers")
    scores = [score for row in demo_store.run(run.run_id)["results"] for score in row["scores"]]
    failed = next(score for score in scores if score["outcome"] == "failed")
    assert {"yes", "no"} <= {entry["verdict"] for entry in failed["details"]["verdicts"]}
    assert len(failed["details"]["votes"]["values"]) == 3
    assert "retrieval_context" in str(failed["evidence"])
    assert "verdicts" in str(failed["details"].get("raw", failed["evidence"]))
    assert failed["model"] == "scripted-judge"
    assert failed["cost"] > 0


def test_a_tool_says_that_it_failed_without_raising(matching):
    silent = matching("output.success:0 tool:create_label")
    assert silent
    assert all(facts.errors == 0 for facts in silent)
    assert {s.outcome for facts in silent for s in facts.scores if s.name == "Tools Succeeded"} <= {"failed"}


def test_one_trace_has_two_thousand_spans_and_one_failure_in_it(matching):
    (long,) = matching("spans>500")
    assert (long.spans, long.errors, long.name) == (2_000, 2, "reconcile_orders")


def test_failures_are_open_fixed_and_back_again(demo_store):
    states = {failure.title: failure.state for failure in demo_store.failures()}
    assert states["store_credit extra"] == "back"
    assert states["raised LookupError"] == "fixed"
    assert states["notify missing"] == "open"
    ages = [(NOW - failure.first_ns) / 86_400e9 for failure in demo_store.failures()]
    assert max(ages) > 10


def test_people_have_said_what_they_think_of_the_judge(demo_store):
    words = demo_store.annotations()
    assert {word.by for word in words} == {"ann", "li"}
    assert sum(word.label == "Faithfulness" for word in words) == 32
    assert any(word.note == "it asked six times" for word in words)
    assert any(word.expected for word in words)


def test_equal_seeds_plant_equal_traces_at_equal_times(tmp_path):
    ids = []
    for name in ("one", "other"):
        plant(str(tmp_path / f"{name}.db"), NOW, days=5)
        reads = SQLiteStore(tmp_path / f"{name}.db").trace_reads()
        ids.append([(f.trace_id, f.start_ns, f.duration_ns) for f in reads.each_match(parse(""))])
    assert ids[0] == ids[1]
    assert len(ids[0]) > 100


def test_a_demo_that_was_interrupted_is_not_taken_for_a_whole_one(tmp_path, monkeypatch):
    monkeypatch.setattr("agenttrace.cli.demo_history.move_notes", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        plant(str(tmp_path / "demo.db"), NOW, days=1)
    ran = CliRunner().invoke(cli, ["demo", "--store", str(tmp_path / "demo.db")], standalone_mode=False)
    assert "was interrupted" in str(ran.exception)


def test_a_tool_that_raised_did_not_succeed():
    from agenttrace.cli.demo_history import tools_succeeded

    tracer = Tracer("shop", store="memory")

    @tracer.observe(span_type="tool")
    def pay():
        raise ValueError("declined")

    with pytest.raises(ValueError, match="declined"):
        pay()
    tracer.flush()
    trace = tracer.store.trace(tracer.store.traces(limit=1)[0].trace_id)
    score = tools_succeeded.score(Example(input={}), trace)
    assert (score.value, score.reason) == (0.0, "pay: raised")
    tracer.shutdown()
