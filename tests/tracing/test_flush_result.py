"""What a flush says is stored is stored: in the file, where one was asked for."""

import json
import os
import sqlite3
import subprocess
import sys

import pytest
from stored import Sink

from agenttrace.store import MemoryStore, SQLiteStore, span_writes
from agenttrace.tracer import Tracer


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def put_a_directory(path):
    path.mkdir()


def put_a_foreign_file(path):
    path.write_text("somebody's notes")


def put_a_foreign_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE notes (text)")
    db.commit()
    db.close()


def put_a_link(path):
    path.symlink_to(path.with_name("elsewhere.db"))


def put_a_file_for_its_directory(path):
    path.parent.rmdir()
    path.parent.write_text("in the way")


def clear(path):
    if path.parent.is_file():
        path.parent.unlink()
        path.parent.mkdir()
    elif path.is_dir():
        path.rmdir()
    else:
        path.unlink()


@pytest.mark.parametrize(
    "obstruct",
    [put_a_directory, put_a_foreign_file, put_a_foreign_database, put_a_link, put_a_file_for_its_directory],
)
def test_what_only_memory_has_is_pending_until_the_file_can_be_written(path, obstruct):
    place = path.parent / "place" / "traces.db"
    place.parent.mkdir()
    tracer = Tracer("test", store=place)
    work = tracer.observe(lambda n: n)
    obstruct(place)
    for n in range(3):
        work(n)
    result = tracer.flush()
    assert (bool(result), result.stored, result.pending, result.dropped) == (False, 0, 3, {})
    stats, health = tracer.stats(), tracer.store.health()
    assert (stats["written"], stats["pending"]) == (health.written, health.waiting) == (0, 3)

    clear(place)

    result = tracer.flush()
    assert (bool(result), result.stored, result.pending) == (True, 3, 0)
    stats, health = tracer.stats(), tracer.store.health()
    assert (stats["written"], stats["pending"]) == (health.written, health.waiting) == (3, 0)
    assert tracer.shutdown()


def test_a_shutdown_that_leaves_spans_in_memory_says_so_and_so_does_a_flush_after_it(path):
    tracer = Tracer("test", store=path)
    put_a_directory(path)
    tracer.observe(lambda: 1)()
    assert not tracer.shutdown()
    assert not tracer.shutdown()
    assert tracer.flush().pending == 1


def test_a_shutdown_at_the_end_of_which_the_file_can_be_written_is_true(path, monkeypatch):
    tracer = Tracer("test", store=path)
    put_a_directory(path)
    tracer.observe(lambda: 1)()
    assert not tracer.flush()
    close = tracer.store.close

    def close_when_the_way_is_free():
        path.rmdir()
        close()

    monkeypatch.setattr(tracer.store, "close", close_when_the_way_is_free)
    assert tracer.shutdown()


def test_a_score_that_only_memory_has_makes_a_flush_untrue(path):
    tracer = Tracer("test", store=path)
    tracer.observe(lambda: 1)()
    assert tracer.flush()
    trace_id = tracer.store.traces()[0].trace_id
    tracer.store.close()
    for side in ("", "-wal", "-shm"):
        path.with_name(path.name + side).unlink(missing_ok=True)
    put_a_directory(path)
    from agenttrace.core.score import Score

    tracer.store.write_scores([(trace_id, None, Score.of("quality", 1.0, 0.5))])
    assert not tracer.flush()
    path.rmdir()
    assert tracer.shutdown()


FULL_DISK = """
import json, resource, signal, sys
from agenttrace import Tracer
tracer = Tracer("full", store=sys.argv[1])
work = tracer.observe(lambda n: n)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
for n in range(5):
    work(n)
results = [tracer.flush(), tracer.shutdown()]
print(json.dumps([[bool(r), r.stored, r.pending] for r in results]))
"""


def test_a_full_disk_makes_flush_and_shutdown_untrue(path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[False, 0, 5], [False, 0, 5]]
    assert done.stderr.count("cannot be written") == 1


class Panic(BaseException):
    """As a library that is written in Rust raises it."""


@pytest.mark.parametrize("kind", [ValueError, Panic], ids=["error", "panic"])
def test_a_span_in_quarantine_is_dropped_not_stored(path, monkeypatch, kind):
    rows = span_writes.flat_rows

    def refuse(spans, *rest):
        if any(span.name == "poison" for span in spans):
            raise kind("no such value")
        return rows(spans, *rest)

    monkeypatch.setattr(span_writes, "flat_rows", refuse)
    tracer = Tracer("test", store=path)
    for name in ("good", "poison", "good", "poison", "good"):
        tracer.observe(lambda: 1, name=name)()
    result = tracer.flush()
    assert (bool(result), result.stored, result.pending, result.dropped) == (False, 3, 0, {"quarantined": 2})
    assert tracer.stats()["dropped"]["quarantined"] == tracer.store.health().quarantined == 2
    assert tracer.stats()["written"] == tracer.store.health().written == 3
    assert not tracer.shutdown()


def test_what_was_in_quarantine_before_is_nothing_of_this_tracers(path, monkeypatch):
    store = SQLiteStore(path)
    store.export([object()])
    assert store.health().quarantined == 1
    tracer = Tracer("test", store=store)
    tracer.observe(lambda: 1)()
    assert tracer.flush().stored == 1
    assert tracer.shutdown()


def test_spans_that_a_broken_installation_cannot_write_wait_and_it_is_said_once(path, monkeypatch, caplog):
    tracer = Tracer("test", store=path)
    work = tracer.observe(lambda n: n)
    with monkeypatch.context() as broken:
        broken.setitem(sys.modules, "pydantic_core", None)
        for n in range(5):
            work(n)
        result = tracer.flush(0.5)
        assert (bool(result), result.stored, result.pending, result.dropped) == (False, 0, 5, {})
        work(5)
        assert tracer.flush(0.5).pending == 6
    assert len(caplog.records) == 1
    assert "pydantic_core" in caplog.text
    assert tracer.flush().stored == 6
    assert tracer.store.health().quarantined == 0
    assert tracer.shutdown()


def test_spans_for_which_even_memory_has_no_room_are_dropped(path):
    tracer = Tracer("test", store=path)
    put_a_directory(path)
    tracer.store._fallback.memory.max_bytes = 10_000
    work = tracer.observe(lambda text: None)
    for _ in range(10):
        work("x" * 3_000)
        tracer.flush()
    result, health = tracer.flush(), tracer.store.health()
    assert health.dropped > 0
    assert result.dropped == {"memory_full": health.dropped}
    assert result.pending == health.waiting == 10 - health.dropped
    assert result.stored == 0
    path.rmdir()
    result = tracer.flush()
    assert (result.stored, result.pending) == (10 - health.dropped, 0)
    tracer.shutdown()


def test_memory_that_was_asked_for_is_where_spans_belong():
    tracer = Tracer("test", store=MemoryStore(max_bytes=10_000))
    work = tracer.observe(lambda text: None)
    for _ in range(10):
        work("x" * 3_000)
    assert tracer.flush().stored == 10
    assert tracer.store.health().dropped > 0
    assert tracer.shutdown()


class Lazy(Sink):
    """A store of the user's that says it has not finished."""

    done = False

    def flush(self, timeout):
        return self.done


def test_a_store_that_has_not_finished_is_believed():
    store = Lazy()
    tracer = Tracer("test", store=store)
    tracer.observe(lambda: 1)()
    assert not tracer.flush()
    store.done = True
    assert tracer.flush()
    tracer.shutdown()


@pytest.mark.parametrize("health", [5, lambda: None, lambda: object(), lambda: 1 / 0], ids=range(4))
def test_a_store_whose_health_is_something_else_is_believed_what_its_flush_says(health):
    store = Sink()
    store.health = health
    tracer = Tracer("test", store=store)
    tracer.observe(lambda: 1)()
    assert tracer.flush().stored == 1
    assert tracer.shutdown()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "postgresql://127.0.0.1:1/x"])
def test_spans_of_a_server_that_is_away_are_pending(address):
    from agenttrace import Tracer

    if address.startswith("postgresql"):
        pytest.importorskip("psycopg")
    tracer = Tracer("p", store=address)
    work = tracer.observe(lambda: 1)
    for _ in range(50):
        work()
    result = tracer.flush(timeout=2)
    assert (result.stored, result.pending, bool(result)) == (0, 50, False)
    assert (tracer.stats()["written"], tracer.stats()["pending"]) == (0, 50)
    tracer.shutdown(timeout=0.1)
