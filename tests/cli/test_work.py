"""``agenttrace work``: what waits is done, and said."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from agenttrace import Tracer
from agenttrace.core.pending import WorkCounts
from agenttrace.store import SQLiteStore
from agenttrace.work import Observing, read_rules

RULES = """
observe:
  - name: sound
    scorers: [Loop]
    rest: 0
"""


@pytest.fixture
def store(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    store = SQLiteStore(tmp_path / "traces.db")
    tracer = Tracer("shop", store=store)
    for number in range(3):
        tracer.observe(span_type="agent")(lambda n: n)(number)
    tracer.flush(60)
    tracer.shutdown()
    yield store
    store.close()


def queue(store, rules="rules.yaml"):
    spans = [span for trace in store.iter_traces() for span in trace.spans]
    Observing(store, read_rules(rules)).arrived(spans)


def test_what_waits_is_done_once(agenttrace, store, tmp_path):
    queue(store, tmp_path / "rules.yaml")
    ran = agenttrace("work", "--rules", "rules.yaml", "--once")
    assert ran.code == 0
    first, last = ran.out.splitlines()
    assert "8 at a time, leases of 60 s; rules: sound (Loop)" in first
    assert last == "done 3; 0 are due, 0 rest"
    assert store.work_queue().counts() == {"shop": WorkCounts(done=3)}
    assert agenttrace("work", "--rules", "rules.yaml", "--once").out.splitlines()[1].startswith("done 0;")


def test_as_json_each_line_is_an_object(agenttrace, store, tmp_path):
    queue(store, tmp_path / "rules.yaml")
    ran = agenttrace("work", "--rules", "rules.yaml", "--scorer", "Loop", "--once", "--json")
    start, end = map(json.loads, ran.out.splitlines())
    assert (start["event"], start["rules"], start["scorers"]) == ("start", {"sound": ["Loop"]}, ["Loop"])
    assert (end["event"], end["done"], end["due"]) == ("end", 3, 0)


def test_what_could_not_be_done_is_the_exit_code(agenttrace, store, tmp_path):
    queue(store, tmp_path / "rules.yaml")
    store.delete_trace(store.traces()[0].trace_id)
    ran = agenttrace("work", "--rules", "rules.yaml", "--once")
    assert ran.code == 1
    assert "not in the store any more" in ran.out


def test_wrong_use_is_told(agenttrace, store):
    assert "--rules FILE, --scorer NAME" in agenttrace("work").err
    assert "did you mean" in agenttrace("work", "--scorer", "Lop").err
    ran = agenttrace("work", "--scorer", "ToolOrder", "--once")
    assert (ran.code, "expected_tools" in ran.err) == (2, True)
    ran = agenttrace("work", "--rules", "rules.yaml", "--store", "away.db", "--once")
    assert (ran.code, "there is no store at" in ran.err) == (2, True)


def test_a_store_that_cannot_be_used_ends_one_round_with_an_error(agenttrace, store, tmp_path):
    queue(store, tmp_path / "rules.yaml")
    with sqlite3.connect(tmp_path / "foreign.db") as db:
        db.execute("CREATE TABLE of_another_program (x)")
    ran = agenttrace("work", "--rules", "rules.yaml", "--store", "foreign.db", "--once")
    assert (ran.code, "foreign.db" in ran.err) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_cleanly(store, tmp_path, number):
    command = [sys.executable, "-m", "agenttrace", "work", "--rules", "rules.yaml", "--store", "traces.db"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout.readline().startswith("works on")
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, out
    assert out == "done 0; 0 are due, 0 rest\n"
