"""Every call of what is observed with scorers is evaluated, or pending, however its process ends."""

import os
import sqlite3
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.faults

HEAD = """
import atexit, faulthandler, multiprocessing, os, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
if not {forks}:
    faulthandler.dump_traceback_later(40, exit=True)
atexit.register(lambda: last())
last = lambda: None
from agenttrace import Score, Tracer

class Good:
    name, threshold = "Good", 0.5
    def score(self, example, trace):
        return Score.of(self.name, float(example.actual_output.startswith("order")), self.threshold)

class Hangs(Good):
    def score(self, example, trace):
        time.sleep(3600)

tracer = Tracer("observed", drain_seconds={drain})

@tracer.observe(scorers=[{scorer}()])
def describe(number):
    return f"order {number}"

def describe_all(first=0, last=10, after=0.0):
    time.sleep(after)
    for number in range(first, last):
        describe(number)
"""

ENDINGS = {
    "at once": "describe_all()",
    "after a while": "describe_all()\ntime.sleep(1.0)",
    "with sys.exit": "describe_all()\nsys.exit(0)",
    "in threads that nobody joins": """
        for first in (0, 5):
            threading.Thread(target=describe_all, args=(first, first + 5)).start()
    """,
    "in a thread that goes on when the main one has ended": """
        threading.Thread(target=describe_all, kwargs={"after": 1.0}).start()
    """,
    "in a thread that goes on after calls of the main one": """
        describe_all(0, 5)
        threading.Thread(target=describe_all, args=(5, 10, 1.0)).start()
    """,
    "in a pool that nobody shuts down": """
        pool = ThreadPoolExecutor(2)
        for number in range(10):
            pool.submit(describe, number)
    """,
    "in an exit handler": "atexit.register(describe_all)",
    "in the last exit handler of all": "last = describe_all",
    "in both": "describe_all(0, 5)\nlast = lambda: describe_all(5, 10)",
    "in a forked child": """
        child = os.fork()
        if child == 0:
            describe_all(0, 5)
            sys.exit(0)
        describe_all(5, 10)
        assert os.waitpid(child, 0)[1] == 0
    """,
    "in a child of multiprocessing": """
        describe_all(0, 5)
        child = multiprocessing.get_context("fork").Process(target=describe_all, args=(5, 10))
        child.start()
        child.join()
        assert child.exitcode == 0
    """,
}


def counts(tmp_path, body, *, scorer="Good", drain=5.0):
    """How many spans are stored, how many of them were scored, how many are pending; stderr must be clean."""
    forks = "fork" in body
    head = HEAD.replace("{forks}", str(forks)).replace("{scorer}", scorer).replace("{drain}", str(drain))
    path = tmp_path / "traces.db"
    done = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(body)],
        env={**os.environ, "AGENTTRACE_STORE": str(path), "PYTHONWARNINGS": "ignore:This process"},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert (done.returncode, done.stderr) == (0, "")
    db = sqlite3.connect(path)
    try:
        (spans,) = db.execute("SELECT count(*) FROM spans").fetchone()
        scored = db.execute("SELECT count(*) FROM scores WHERE outcome = 'passed'").fetchone()[0]
        assert db.execute("SELECT count(*) FROM scores").fetchone() == (scored,)
        pending = db.execute("SELECT count(*) FROM pending_evaluations").fetchone()[0]
    finally:
        db.close()
    return spans, scored, pending


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_call_is_scored_or_pending(tmp_path, ending):
    spans, scored, pending = counts(tmp_path, ENDINGS[ending])
    assert (spans, scored + pending) == (10, 10)


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="it starts no threads at the end of a process")
@pytest.mark.parametrize(
    "ending",
    ["at once", "in threads that nobody joins", "in a thread that goes on when the main one has ended"],
)
def test_what_a_script_asks_last_is_scored_within_the_drain_time(tmp_path, ending):
    assert counts(tmp_path, ENDINGS[ending]) == (10, 10, 0)


@pytest.mark.parametrize("ending", ["at once", "after a while", "in threads that nobody joins"])
def test_what_is_not_scored_in_the_drain_time_is_pending_and_another_process_finishes_it(tmp_path, ending):
    assert counts(tmp_path, ENDINGS[ending], scorer="Hangs", drain=0.3) == (10, 0, 10)
    finish = "[handle.result(30) for handle in tracer.resume_evaluations([Good()])]"
    assert counts(tmp_path, finish) == (10, 10, 0)
