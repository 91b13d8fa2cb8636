"""The end of a process waits while spans get through, not for a stuck store, and says what is lost."""

import logging
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from stored import Sink

from agenttrace.tracer import Tracer
from agenttrace.tracing import process_end
from agenttrace.tracing.delivery import BATCH
from agenttrace.tracing.process_end import Patience

SLOW = """
import time
from agenttrace import Tracer
from agenttrace.store import SQLiteStore

class Slow(SQLiteStore):
    def write(self, batch):
        time.sleep(0.4)
        super().write(batch)

tracer = Tracer("slow", store=Slow({path!r}))
work = tracer.observe(lambda n: n, name="work")
for n in range({count}):
    work(n)
"""


@pytest.fixture
def sink():
    sink = Sink()
    yield sink
    sink.gate.set()


@pytest.fixture
def tracer(sink):
    tracer = Tracer("test", store=sink)
    yield tracer
    sink.gate.set()
    tracer.shutdown()


def test_a_process_ends_with_all_its_spans_stored_though_that_takes_longer_than_its_patience(tmp_path):
    # Half of what waits is stored in one go, so that these take about four writes.
    path, count = tmp_path / "traces.db", 6 * BATCH
    code = SLOW.format(path=str(path), count=count)
    done = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM spans").fetchone() == (count,)


@pytest.mark.skipif(sys.platform == "win32", reason="there a process does not end by a signal")
def test_a_process_that_control_c_ends_still_ends_by_that_signal_where_the_end_stores_spans(tmp_path):
    script = """
import signal
from agenttrace import Tracer

work = Tracer("ended", store={path!r}).observe(lambda n: n)
work(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
signal.raise_signal(signal.SIGINT)
"""
    path = tmp_path / "traces.db"
    done = subprocess.run(
        [sys.executable, "-c", script.format(path=str(path))], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -signal.SIGINT, done.stderr
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert sqlite3.connect(path).execute("SELECT count(*) FROM span_rows").fetchone() == (1,)


def test_a_stuck_store_gets_no_more_than_the_patience_and_what_is_lost_is_said(tracer, sink, caplog):
    work = tracer.observe(lambda: None, name="work")
    sink.gate.clear()
    for _ in range(3):
        work()
    with caplog.at_level(logging.WARNING, "agenttrace"):
        tracer._pipeline.finish_up(Patience(0.2))
    (said,) = [r.getMessage() for r in caplog.records if "process ended" in r.getMessage()]
    assert "spans lost: 3;" in said
    assert "tracer.flush(timeout=)" in said


def test_nothing_is_said_to_be_lost_where_nothing_waits_though_no_time_is_left(caplog):
    """As where one tracer's exporter has used up the patience of all."""
    tracer = Tracer("test", store=Sink())
    tracer.observe(lambda: None)()
    assert tracer.flush()
    with caplog.at_level(logging.WARNING, "agenttrace"):
        for _ in range(20):
            tracer._pipeline.finish_up(Patience(0.0))
    assert "spans lost" not in caplog.text
    tracer.shutdown()


_WHILE_TAKEN_APART = """
import os
from agenttrace import Tracer

tracer = Tracer("late", store={path!r})
work = tracer.observe(lambda x: x)

class Connection:
    def __init__(self):
        self.work = work

    def __del__(self):
        os.write(1, str(self.work(9)).encode())

@tracer.observe
def pages():
    try:
        yield 1
    finally:
        os.write(1, str(work(2)).encode())

connection, left_open = Connection(), pages()
next(left_open)
work(1)
"""


def test_calls_while_modules_are_taken_apart_work_and_are_said_to_be_lost(tmp_path):
    path = tmp_path / "traces.db"
    code = _WHILE_TAKEN_APART.format(path=str(path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert sorted(done.stdout) == ["2", "9"]
    assert done.stderr.count("\n") == 1
    assert "was not stored" in done.stderr
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM spans").fetchone() == (1,)


@pytest.mark.parametrize("seconds", [0.6, 10])
def test_what_a_shutdown_left_behind_is_stored_or_said_to_be_lost(tmp_path, seconds):
    """The time given to `shutdown` was over before a slow store had all of it."""
    path = tmp_path / "traces.db"
    code = SLOW.replace("0.4", str(seconds)).format(path=str(path), count=3)
    code += "time.sleep(0.3)\ntracer.shutdown(timeout=0.01)"
    done = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0
    with sqlite3.connect(path) as db:
        has_spans = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'spans'").fetchone() == (1,)
        (count,) = db.execute("SELECT count(*) FROM spans").fetchone() if has_spans else (0,)
    # How much of it is stored depends on how busy the machine is.
    assert (count, "spans lost: 3" in done.stderr) in ((3, False), (0, True)), done.stderr


def test_a_first_write_may_take_longer_than_the_patience(tracer, sink, caplog):
    """As where many processes begin at once on a busy machine, and each has to import the store."""
    original = sink.write

    def write(batch):
        time.sleep(0.6)
        original(batch)

    sink.write = write
    tracer.observe(lambda: None, name="work")()
    with caplog.at_level(logging.WARNING, "agenttrace"):
        tracer._pipeline.finish_up(Patience(0.2))
    assert caplog.records == []
    assert sink.names == ["work"]


def test_nothing_is_said_where_all_is_stored(tracer, caplog):
    tracer.observe(lambda: None, name="work")()
    with caplog.at_level(logging.WARNING, "agenttrace"):
        tracer._pipeline.finish_up(Patience(30.0))
    assert caplog.records == []


def test_patience_is_renewed_no_longer_than_for_the_most_there_is(monkeypatch):
    now = 100.0
    monkeypatch.setattr(process_end.time, "monotonic", lambda: now)
    patience = Patience(1.0)
    ends = []
    for second in range(15):
        now = 100.0 + second * 0.9
        ends.append(now + patience.renew())
    assert ends[0] == pytest.approx(101.0)
    assert max(ends) == pytest.approx(max(110.0, now))
    assert patience.left() == 0.0


def test_patience_that_is_not_renewed_ends(monkeypatch):
    now = 100.0
    monkeypatch.setattr(process_end.time, "monotonic", lambda: now)
    patience = Patience(1.0)
    now = 100.75
    assert patience.left() == pytest.approx(0.25)
    now = 101.5
    assert patience.left() == 0.0


def test_a_next_write_may_take_three_times_as_long_as_the_last_one(monkeypatch):
    now = 100.0
    monkeypatch.setattr(process_end.time, "monotonic", lambda: now)
    patience = Patience(1.0)
    assert patience.allow_for(0.1) == pytest.approx(1.0)
    assert patience.allow_for(2.0) == pytest.approx(6.0)
    assert patience.renew(0.1) == pytest.approx(1.0)
    assert patience.renew(1.5) == pytest.approx(4.5)
    assert patience.renew(60.0) == pytest.approx(10.0)


def test_a_store_that_becomes_slower_gets_all_spans(tracer, sink, caplog):
    work, original = tracer.observe(lambda: None, name="work"), sink.write
    took = iter([0.3, 0.6, 0.6, 0.6])

    def write(batch):
        time.sleep(next(took, 0.0))
        original(batch)

    sink.write, tracer._pipeline._delivery.last_write = write, 0.1
    for _ in range(4 * BATCH):
        work()
    with caplog.at_level(logging.WARNING, "agenttrace"):
        tracer._pipeline.finish_up(Patience(0.45))
    assert caplog.records == []
    assert len(sink.names) == 4 * BATCH


def test_spans_of_another_thread_that_never_rests_are_not_waited_for(tracer, sink):
    """The end waits for what had ended before it, however much is recorded meanwhile."""
    work = tracer.observe(lambda: None, name="work")
    work()
    started = time.monotonic()
    original, more = sink.write, iter(range(1_000))

    def write(batch):
        if next(more, None) is not None:
            work()
        original(batch)

    sink.write = write
    tracer._pipeline.finish_up(Patience(30.0))
    assert time.monotonic() - started < 30.0
    assert sink.names[:1] == ["work"]
