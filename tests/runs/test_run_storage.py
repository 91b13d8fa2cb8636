"""Every evaluation is a run in a store, and every trace that its report prints can be shown."""

import logging

import pytest

from agenttrace import Example, Tracer, assert_test, run_evaluation
from agenttrace.datasets import EvalDataset
from agenttrace.store import MemoryStore, SQLiteStore, default_store
from agenttrace.tracing.default_recorder import default_recorder
from tests.evaluation.evaluation_fakes import Answer


@pytest.fixture
def alone(monkeypatch):
    """No tracer of another test is the process's first one."""
    from agenttrace.tracing import default_recorder as module

    monkeypatch.setattr(module, "_default", [])


def recorded():
    return [Example(input="?", actual_output=1, expected_output=1, tools_called=["look", "book"])]


def test_a_run_without_tracer_and_store_is_in_the_default_store(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "default.db"))
    report = run_evaluation([Example(input={"x": 1}, expected_output=1)], [Answer()], function=lambda x: x)
    (run,) = SQLiteStore(tmp_path / "default.db").runs()
    assert (run.run_id, run.project, run.passed) == (report.run_id, "default", 1)


def test_the_default_store_is_opened_once(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "default.db"))
    first = default_store()
    assert default_store() is first
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "other.db"))
    assert default_store() is not first


def test_a_recorded_runs_trace_can_be_shown_with_its_project_and_a_time_of_today(alone):
    report = assert_test(recorded(), [Answer()], project_name="desk")
    stored = default_store().trace(report[0].trace_id)
    assert [call.name for call in stored.tool_calls] == ["look", "book"]
    assert stored.is_recorded_run
    (line,) = default_store().traces(project="desk")
    assert report.started_ns <= line.start_ns <= report.started_ns + 10**9
    assert report[0].trace.spans[0].start_ns == 0


def test_the_stored_trace_of_a_recorded_run_says_what_its_example_says(alone):
    example = Example(
        name="refund 7",
        input={"order": 7},
        actual_output="Done.",
        tools_called=["look"],
        tags=["money"],
        additional_metadata={"reward": 1.0, "password": "hunter2"},
    )
    report = run_evaluation([example], [Answer()], project_name="desk")
    stored = default_store().trace(report[0].trace_id)
    assert (stored.name, stored.input, stored.output) == ("refund 7", {"order": 7}, "Done.")
    assert stored.tags == ("money",)
    assert stored.metadata["reward"] == 1.0
    assert "hunter2" not in str(stored.to_dict())
    assert [line.name for line in default_store().traces(name="refund 7")] == ["refund 7"]
    (again,) = EvalDataset.from_traces([stored])
    assert (again.name, again.input, again.actual_output, again.tags) == (
        "refund 7",
        {"order": 7},
        "Done.",
        ["money"],
    )


def test_a_redaction_rule_sees_the_metadata_of_a_recorded_run_by_their_names(alone):
    def rule(name, value):
        return "gone" if name == "ward" else value

    tracer = Tracer("clinic", store="memory", redact=rule)
    example = Example(tools_called=["look"], additional_metadata={"ward": "3"}, actual_output=1)
    report = run_evaluation([example], [Answer()], tracer=tracer)
    assert tracer.store.trace(report[0].trace_id).metadata == {"ward": "gone"}
    tracer.shutdown()


def test_tags_among_the_metadata_of_a_recorded_run_are_its_traces_tags(alone):
    example = Example(tools_called=["look"], additional_metadata={"tags": ["book"], "n": 1}, actual_output=1)
    trace = run_evaluation([example], [Answer()])[0].trace
    assert (trace.tags, trace.metadata) == (("book",), {"n": 1})


def test_a_capture_without_tracer_is_in_the_store_that_has_its_run(alone):
    import agenttrace

    @agenttrace.observe(span_type="tool")
    def look():
        return 1

    try:
        report = run_evaluation([Example(expected_output=1)], [Answer()], function=look)
        tracer = default_recorder().owner
        assert tracer.flush()
        assert tracer.store is default_store()
        assert [call.name for call in default_store().trace(report[0].trace_id).tool_calls] == ["look"]
        assert default_store().run(report.run_id)["results"][0]["trace_id"] == report[0].trace_id
    finally:
        default_recorder().owner.shutdown()


def test_without_tracer_a_run_goes_where_the_first_tracer_records(alone):
    tracer = Tracer("shop", store="memory")
    report = run_evaluation(recorded(), [Answer()])
    assert [run.project for run in tracer.store.runs()] == ["shop"]
    assert tracer.store.trace(report[0].trace_id) is not None
    tracer.shutdown()


def test_a_store_of_its_own_gets_what_a_tracer_recorded_elsewhere(tracer):
    store = MemoryStore()

    @tracer.tool
    def look():
        return 1

    report = run_evaluation(
        [Example(expected_output=1)], [Answer()], function=look, tracer=tracer, store=store
    )
    assert [call.name for call in store.trace(report[0].trace_id).tool_calls] == ["look"]


def test_secrets_of_a_recorded_run_are_not_in_its_stored_trace(alone):
    calls = [{"name": "login", "arguments": {"password": "hunter2"}}]
    example = Example(actual_output=1, expected_output=1, tools_called=calls)
    report = run_evaluation([example], [Answer()])
    assert "hunter2" not in str(default_store().trace(report[0].trace_id).to_dict())


def test_recording_that_is_switched_off_stores_nothing_by_default(alone, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
    run_evaluation(recorded(), [Answer()])
    assert default_store().runs() == []


def test_a_store_that_cannot_be_written_is_one_warning_and_no_failure(alone, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "file" / "traces.db"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert_test(recorded(), [Answer()])
    assert len(caplog.records) == 1
