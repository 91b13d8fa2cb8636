"""A command that ends with what it was given in memory says so: nothing of it is kept."""

import json

import pytest

from agenttrace import Example, Tracer, run_evaluation
from agenttrace.core.errors import StoreError
from agenttrace.core.session_figures import session_figures
from agenttrace.runs.file import write_run
from agenttrace.scorers import ContainsScorer
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.store.kept import check_kept


@pytest.fixture
def below_a_file(tmp_path):
    """The path of a store that cannot be: a part of it is a file."""
    (tmp_path / "a-file").write_text("mine")
    return tmp_path / "a-file" / "traces.db"


@pytest.fixture
def run_file(tmp_path):
    report = run_evaluation([Example(input="x")], [ContainsScorer("h")], function=lambda x: "hi")
    path = tmp_path / "run.json"
    write_run(report.to_dict(), path)
    return path


def test_a_transcript_is_not_imported_into_a_store_that_cannot_be_written(agenttrace, tmp_path, below_a_file):
    spans = [{"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "agent"}]
    payload = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    (tmp_path / "t.json").write_text(json.dumps(payload))
    ran = agenttrace("traces", "import", tmp_path / "t.json", "--store", below_a_file)
    assert (ran.code, ran.out) == (2, "")
    assert f"{below_a_file} cannot be written, and nothing was kept" in ran.err


def test_a_run_is_not_imported_into_a_store_that_cannot_be_written(agenttrace, run_file, below_a_file):
    ran = agenttrace("runs", "import", run_file, "--store", below_a_file)
    assert (ran.code, ran.out) == (2, "")
    assert f"{below_a_file} cannot be written, and nothing was kept" in ran.err


def test_an_evaluation_says_that_its_run_is_not_kept(agenttrace, tmp_path, below_a_file):
    (tmp_path / "d.json").write_text(
        json.dumps({"examples": [{"input": "x", "actual_output": "h", "expected_output": "h"}]})
    )
    ran = agenttrace("eval", "run", tmp_path / "d.json", "--scorer", "ExactMatch", "--store", below_a_file)
    assert ran.code == 2
    assert "passed" in ran.out
    assert "cannot be written, and nothing was kept" in ran.err


def test_a_store_that_is_meant_to_be_in_memory_keeps_what_it_is_given(tmp_path):
    check_kept(MemoryStore())
    check_kept(SQLiteStore(tmp_path / "traces.db"))


def test_what_waits_in_memory_is_not_kept(below_a_file):
    tracer = Tracer("p", store=below_a_file)
    with tracer.span("a"):
        pass
    tracer.flush()
    with pytest.raises(StoreError, match="nothing was kept"):
        check_kept(tracer.store)
    tracer.shutdown()


def test_a_session_that_is_not_found_by_its_name_hides_no_other(agenttrace, tmp_path):
    tracer = Tracer("p", store=tmp_path / "traces.db")
    for session in ("chat-1", "chat\0-2"):
        with tracer.span("turn"):
            tracer.set_session_id(session)
    tracer.shutdown()
    ran = agenttrace("sessions", "--store", tmp_path / "traces.db", "--json")
    assert ran.code == 0
    assert json.loads(ran.out.splitlines()[0])["session"] == "chat-1"
    with pytest.raises(ValueError, match="empty"):
        session_figures("nobody", [])


def test_a_run_that_is_imported_is_redacted(agenttrace, tmp_path):
    secret = "Zq9LmX2Vb7KtRw4NpYc8"
    tracer = Tracer("p", store="memory", redact="off")
    examples, scorers = [Example(input={"api_key": secret})], [ContainsScorer("ok")]
    report = run_evaluation(
        examples, scorers, function=lambda api_key: f"password={secret} ok", tracer=tracer
    )
    assert secret in json.dumps(report.to_dict())
    write_run(report.to_dict(), tmp_path / "run.json")
    ran = agenttrace("runs", "import", tmp_path / "run.json", "--store", tmp_path / "shared.db")
    assert ran.code == 0
    store = SQLiteStore(tmp_path / "shared.db")
    assert secret not in json.dumps(store.run(report.run_id))
