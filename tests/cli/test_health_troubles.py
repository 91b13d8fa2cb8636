"""Each trouble of recording: logged once, and said by ``agenttrace health`` with what to do."""

import json
import os
import sqlite3
import subprocess
import sys
import time

import pytest

from agenttrace import Tracer
from agenttrace.core.batch import Batch, Destination, Refusal
from agenttrace.core.losses import LOSSES
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore, memory_note
from agenttrace.store.damage import damage_of
from agenttrace.tracing import pipeline as pipelines
from agenttrace.tracing import process_end


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Notes of this test alone."""
    folder = tmp_path / "runtime"
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder / f"agenttrace-{os.getuid()}"


def a_span(number=1, **fields):
    values = {"trace_key": 9, "span_key": number, "name": "b", "span_type": "tool", "start_ns": 1, **fields}
    return Span(**values)


def troubles(agenttrace):
    """The exit code, and each trouble by its cause."""
    ran = agenttrace("health", "--json")
    return ran.code, {one["cause"]: one for one in json.loads(ran.out)["troubles"]}


def in_the_way(path):
    """Put another application's database where the store's file goes; what to call to take it away."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (a)")
    db.close()
    return path.unlink


class TestADamagedFile:
    @pytest.fixture
    def damaged(self, tmp_path, notes):
        path = tmp_path / "traces.db"
        store = SQLiteStore(path)
        store.write(Batch([a_span(number, input={"text": "x" * 2_000}) for number in range(1, 301)]))
        store.close()
        size = os.path.getsize(path)
        with path.open("r+b") as file:
            file.seek(size // 2 // 4096 * 4096)
            file.write(bytes(16_384))
        return path

    def test_is_said_although_what_health_counts_can_be_read(self, agenttrace, damaged):
        code, found = troubles(agenttrace)
        assert code == 1
        assert "is damaged" in found["damaged"]["text"]
        assert str(damaged.name) in found["damaged"]["text"]
        assert ".recover" in found["damaged"]["remedy"]

    def test_is_a_problem_for_doctor(self, agenttrace, damaged):
        ran = agenttrace("doctor", "--json")
        checks = [json.loads(line) for line in ran.out.splitlines()]
        assert ran.code == 1
        (text,) = (one["text"] for one in checks if one["state"] == "problem" and one["name"] == "store")
        assert "damaged" in text or "malformed" in text

    def test_a_large_file_is_not_read_as_a_whole(self, damaged):
        size = os.path.getsize(damaged)
        assert damage_of(str(damaged), 5.0, largest=size) != ""
        assert damage_of(str(damaged), 5.0, largest=size - 1) == ""


class TestAStoreInMemory:
    def test_is_logged_once_and_said_with_its_cause_until_the_file_can_be_written(
        self, agenttrace, notes, tmp_path, caplog
    ):
        path = tmp_path / "traces.db"
        go_away = in_the_way(path)
        store = SQLiteStore(path)
        for number in range(1, 4):
            store.export([a_span(number)])
        assert sum("are kept in memory" in text for text in caplog.messages) == 1
        code, found = troubles(agenttrace)
        assert (code, set(found)) == (1, {"memory", "store"})
        assert "keeps 1 spans in memory" in found["memory"]["text"]
        assert "another application's database" in found["memory"]["text"]
        assert "agenttrace doctor" in found["memory"]["remedy"]
        ran = agenttrace("health")
        assert (ran.code, ran.out.splitlines()[0]) == (1, "recording is in trouble")
        assert "  to do mend that before the process ends" in ran.out

        go_away()
        assert store.flush(60)
        assert troubles(agenttrace) == (0, {})
        assert list(notes.iterdir()) == []
        store.close()

    def test_of_a_process_that_has_ended_is_said_to_be_lost(self, agenttrace, notes, tmp_path):
        in_the_way(tmp_path / "traces.db")
        script = (
            "from agenttrace import Tracer\nt = Tracer('x')\nf = t.observe(lambda n: n)\n"
            "for n in range(5): f(n)\nassert not t.flush(5)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("are kept in memory") == 1
        code, found = troubles(agenttrace)
        assert (code, set(found)) == (1, {"lost_in_memory", "store"})
        assert "5 spans in memory, which are lost" in found["lost_in_memory"]["text"]

    def test_that_is_full_is_logged_once_and_said(self, agenttrace, notes, tmp_path, caplog):
        in_the_way(tmp_path / "traces.db")
        store = SQLiteStore(tmp_path / "traces.db")
        store._fallback.memory = type(store._fallback.memory)(max_bytes=2_000)
        for number in range(1, 40):
            store.export([a_span(number, trace_key=number, output="x" * 500)])
        store._fallback.note()
        assert store.health().dropped > 0
        assert sum(LOSSES["memory_full"].text in text for text in caplog.messages) == 1
        code, found = troubles(agenttrace)
        assert code == 1
        assert "dropped" in found["memory_full"]["text"]

    def test_a_note_of_another_user_or_of_nonsense_is_not_believed(self, agenttrace, notes, tmp_path):
        path = str(tmp_path / "traces.db")
        memory_note.write_note(path, since_ns=time.time_ns(), waiting=3, dropped=0, cause="full")
        (one,) = notes.iterdir()
        assert one.stat().st_mode & 0o777 == 0o600
        (notes / one.name.replace(str(os.getpid()), "1")).write_text("no JSON")
        (notes / one.name.replace(str(os.getpid()), "2")).write_text(json.dumps({"path": path, "pid": "x"}))
        assert [note.waiting for note in memory_note.memory_notes(path)] == [3]
        notes.chmod(0o777)
        assert memory_note.memory_notes(path) == []

    def test_where_no_note_can_be_left_nothing_fails(self, monkeypatch, tmp_path):
        monkeypatch.setenv("XDG_RUNTIME_DIR", "/proc/nowhere")
        monkeypatch.setenv("TMPDIR", "/proc/nowhere")
        memory_note.write_note("/x", since_ns=1, waiting=1, dropped=0, cause="full")
        memory_note.remove_note("/x")
        assert memory_note.memory_notes("/x") == []


class TestACollectorThatTakesNothing:
    TO = Destination("http://127.0.0.1:9/v1/traces", "spans")

    def store(self, path, end_ns):
        store = SQLiteStore(path)
        store.write(Batch([a_span(end_ns=end_ns)], send_to=[self.TO]))
        return store

    def test_is_said_when_spans_have_waited_for_five_minutes(self, agenttrace, notes, tmp_path):
        store = self.store(tmp_path / "traces.db", time.time_ns() - 400 * 10**9)
        code, found = troubles(agenttrace)
        assert (code, set(found)) == (1, {"not_sent"})
        assert found["not_sent"]["text"].startswith("1 spans wait to be sent to http://127.0.0.1:9/v1/traces")
        assert "collector" in found["not_sent"]["remedy"]
        store.settle(store.unsent(self.TO, most=10, max_bytes=10_000))
        assert troubles(agenttrace) == (0, {})
        store.close()

    def test_is_not_said_while_spans_have_just_ended(self, agenttrace, notes, tmp_path):
        self.store(tmp_path / "traces.db", time.time_ns()).close()
        assert troubles(agenttrace) == (0, {})

    def test_that_refuses_is_said_with_its_reason(self, agenttrace, notes, tmp_path):
        store = self.store(tmp_path / "traces.db", time.time_ns())
        unsent = store.unsent(self.TO, most=10, max_bytes=10_000)
        store.settle(unsent, [Refusal(0, 1, 1, "answered 400: no such field")])
        code, found = troubles(agenttrace)
        assert (code, set(found)) == (1, {"refused"})
        assert "answered 400: no such field" in found["refused"]["text"]
        assert "exporter.resend()" in found["refused"]["remedy"]
        store.close()


class Stalled:
    """A store in memory that does not go on until it is told to."""

    def __init__(self, tmp_path):
        import threading

        self.gate = threading.Event()
        self.store = SQLiteStore(tmp_path / "traces.db")
        write = self.store.write
        self.store.write = lambda batch: (self.gate.wait(30), write(batch))


def tell_losses(tracer):
    """What the end of the process does, for this tracer alone: others may live in the same process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(process_end, "_waited_for", [tracer._pipeline])
        process_end._finish_all()


class TestDroppedSpans:
    def test_of_a_full_queue_are_logged_once_and_said(self, agenttrace, notes, tmp_path, caplog):
        stalled = Stalled(tmp_path)
        tracer = Tracer("x", store=stalled.store, queue_limit=10)
        work = tracer.observe(lambda n: n)
        for n in range(200):
            work(n)
        stalled.gate.set()
        assert not tracer.flush(10)
        tracer.shutdown()
        tell_losses(tracer)
        assert sum(LOSSES["queue_full"].text in text for text in caplog.messages) == 1
        code, found = troubles(agenttrace)
        assert (code, set(found)) == (1, {"queue_full"})
        assert "sample_rate" in found["queue_full"]["remedy"]

    def test_after_a_shutdown_are_logged_once(self, notes, tmp_path, caplog):
        tracer = Tracer("x", store=tmp_path / "traces.db")
        work = tracer.observe(lambda n: n)
        with tracer.span("open"):
            tracer.shutdown()
        for n in range(3):
            work(n)
        tell_losses(tracer)
        tell_losses(tracer)
        assert sum(LOSSES["after_shutdown"].text in text for text in caplog.messages) == 1

    def test_of_values_that_found_no_room_are_logged_once(self, notes, tmp_path, caplog, monkeypatch):
        monkeypatch.setattr(pipelines, "MAX_WEIGHT", 100)
        tracer = Tracer("x", store=tmp_path / "traces.db")
        work = tracer.observe(lambda text: None)
        for _ in range(3):
            work("x" * 5_000)
        assert tracer.flush(60)
        tracer.shutdown()
        tell_losses(tracer)
        assert sum(LOSSES["values_dropped"].text in text for text in caplog.messages) == 1


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_that_is_counted_is_said_with_what_to_do(agenttrace, notes, tmp_path, name):
    class Recorder:
        def counts(self):
            return {name: 9}

    recorder, store = Recorder(), SQLiteStore(tmp_path / "traces.db")
    store.write(Batch([a_span()], recorder=recorder))
    counts = json.dumps({"written": 1, name: 9})  # some of them the store counts itself
    store.close()
    with sqlite3.connect(tmp_path / "traces.db") as db:
        db.execute("UPDATE writers SET counts = ?", (counts,))
    db.close()
    code, found = troubles(agenttrace)
    assert (code, set(found)) == (1, {name})
    assert found[name]["text"].startswith("9 ")
    ran = agenttrace("health")
    assert f"  to do {LOSSES[name].remedy}" in ran.out


def test_a_store_without_a_file_that_nobody_wrote_to_is_sound(agenttrace, notes):
    assert troubles(agenttrace) == (0, {})
