"""``agenttrace health`` and ``agenttrace doctor``."""

import json
import os

from agenttrace import Tracer
from agenttrace.cli import doctor_checks
from agenttrace.cli.doctor_checks import library_checks, setting_checks, store_checks
from agenttrace.core.batch import Batch
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore


def record(path, **options):
    tracer = Tracer("shop", store=path, **options)
    with tracer.span("a"):
        pass
    tracer.shutdown()


def test_recording_that_lost_nothing_is_sound(agenttrace, tmp_path):
    record(tmp_path / "traces.db")
    ran = agenttrace("health")
    assert ran.code == 0
    assert ran.out.startswith("recording is sound\n")
    assert "1 spans written" in ran.out
    data = json.loads(agenttrace("health", "--json").out)
    assert (data["ok"], data["counts"]["written"], len(data["writers"])) == (True, 1, 1)
    assert (data["file"]["mode"], data["projects"][0]["project"]) == ("600", "shop")


def test_what_was_lost_in_any_process_is_said_with_its_reason(agenttrace, tmp_path):
    class Recorder:
        def counts(self):
            return {"queue_full": 9}

    store = SQLiteStore(tmp_path / "traces.db")
    record(tmp_path / "traces.db")
    recorder = Recorder()
    store.write(
        Batch([Span(trace_key=9, span_key=1, name="b", span_type="x", start_ns=1)], recorder=recorder)
    )
    store.close()
    ran = agenttrace("health")
    assert ran.code == 1
    assert ran.out.startswith("recording is in trouble\n")
    assert "queue_full 9" in ran.out


def test_the_metrics_come_with_the_exit_code_of_what_they_tell(agenttrace, tmp_path):
    class Recorder:
        def counts(self):
            return {"queue_full": 9}

    record(tmp_path / "traces.db")
    store = SQLiteStore(tmp_path / "traces.db")
    span, recorder = Span(trace_key=9, span_key=1, name="b", span_type="x", start_ns=1), Recorder()
    store.write(Batch([span], recorder=recorder))
    store.close()
    ran = agenttrace("health", "--openmetrics")
    assert (ran.code, ran.out.endswith("# EOF\n")) == (1, True)


def test_recording_that_is_off_is_told_as_recording_reads_it():
    for value in ("0", "0 ", " Off", "no"):
        recording, _ = setting_checks({"AGENTTRACE_ENABLED": value})
        assert recording.state == "problem", value


def test_the_metrics_are_those_of_the_page(agenttrace, tmp_path):
    record(tmp_path / "traces.db")
    ran = agenttrace("health", "--openmetrics")
    assert "agenttrace_spans_written 1\n" in ran.out
    assert ran.out.endswith("# EOF\n")


def test_doctor_looks_at_everything_and_changes_nothing(agenttrace, tmp_path):
    ran = agenttrace("doctor")
    assert "not made yet" in ran.out
    assert os.listdir(tmp_path) == []
    names = [json.loads(line)["name"] for line in agenttrace("doctor", "--json").out.splitlines()]
    assert {"versions", "recording", "judges", "store", "permissions", "disk", "clock"} <= set(names)


def test_a_library_s_switch_is_named_with_its_setting(monkeypatch):
    versions = {"google-adk": "2.13"}
    monkeypatch.setattr(doctor_checks, "installed", versions.get)
    variable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    (check,) = library_checks({})
    assert (check.name, check.state) == ("google-adk 2.13", "note")
    assert f"{variable} is not set" in check.text
    assert [check.state for check in library_checks({variable: "true"})] == ["note"]
    assert [check.state for check in library_checks({variable: "SPAN_ONLY"})] == ["ok"]


def test_recording_that_is_switched_off_is_a_problem_and_keys_are_not_shown():
    recording, judges = setting_checks({"AGENTTRACE_ENABLED": "0", "OPENAI_API_KEY": "k-8472"})
    assert recording.state == "problem"
    assert "OPENAI_API_KEY" in judges.text
    assert "k-8472" not in judges.text


def states(store):
    return {check.name: check.state for check in store_checks(store)}


def test_a_store_of_another_kind_a_full_disk_and_a_clock_ahead_are_problems(tmp_path, monkeypatch):
    foreign = tmp_path / "notes.db"
    foreign.write_text("no database")
    assert states(SQLiteStore(foreign))["store"] == "problem"
    store = SQLiteStore(tmp_path / "t.db")
    store.export([Span(trace_key=1, span_key=1, name="a", span_type="x", start_ns=(1 << 62))])
    os.chmod(store.path, 0o644)
    monkeypatch.setattr(doctor_checks, "LEAST_FREE", 1 << 80)
    found = states(store)
    assert (found["disk"], found["clock"], found["permissions"]) == ("problem", "problem", "note")
    store.close()
