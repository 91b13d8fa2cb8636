"""Killed while it evaluates."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from store_faults import is_sound, rows

pytestmark = pytest.mark.faults

CHILD = Path(__file__).with_name("evaluation_child.py")
EXAMPLES = 2_000


def start(path, ran, *more):
    command = [sys.executable, str(CHILD), str(path), str(ran), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_run_of_2000_examples_killed_half_way_goes_on_without_a_lost_or_doubled_result(
    tmp_path, record_property
):
    path, ran = tmp_path / "traces.db", tmp_path / "ran"
    child = start(path, ran)
    deadline = time.monotonic() + 120
    while not ran.exists() or ran.read_text().count("\n") < EXAMPLES // 2:
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.kill()
    child.communicate()
    before = Counter(map(int, ran.read_text().split()))
    traces = {trace_id for (trace_id,) in rows(path, "SELECT trace_id FROM traces")}
    results = rows(path, "SELECT position, trace_id FROM results")
    stored = {position: trace_id for position, trace_id in results if trace_id in traces}
    assert 0 < len(stored) < EXAMPLES

    ran.write_text("")
    child = start(path, ran, "last")
    run_id, passed, number = child.communicate(timeout=300)[0].split()
    after = Counter(map(int, ran.read_text().split()))

    assert (int(passed), int(number)) == (EXAMPLES, EXAMPLES)
    assert set(after) == set(range(EXAMPLES)) - set(stored), "what has a result is not run again, all else is"
    assert set(after.values()) == {1}
    found = rows(path, "SELECT run_id, position, trial FROM results ORDER BY position")
    assert found == [(run_id, position, 1) for position in range(EXAMPLES)]
    kept = dict(rows(path, "SELECT position, trace_id FROM results"))
    assert {position: kept[position] for position in stored} == stored
    scored = rows(path, "SELECT count(*), count(DISTINCT result) FROM scores WHERE run_id = ?", run_id)
    assert scored == [(EXAMPLES, EXAMPLES)]
    assert rows(path, "SELECT count(*), passed FROM runs") == [(1, EXAMPLES)]
    assert is_sound(path)
    record_property(
        "figure",
        f"killed after {len(before):,} of {EXAMPLES:,}: {len(stored):,} results stayed, "
        f"{len(before) - len(stored)} were run again",
    )
