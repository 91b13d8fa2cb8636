"""Forks, process pools, many processes on one file: every span is stored, and stored once."""

import collections

import pytest
from recorder_faults import numbers, run, scaled, spans, start

pytestmark = pytest.mark.faults


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def test_a_fork_inside_a_call_stores_each_span_once(path):
    """Scenario 64: the child leaves through the call that its parent has open, which stays the parent's."""
    run("fork_in_a_call", path)
    assert sorted(numbers(path)) == [0, 1, 2, 3, 4]
    (open_call,) = [span for span in spans(path) if span["name"] == "open"]
    assert open_call["status"] == "ok"
    parents = {span["input"]["n"]: span["parent_id"] for span in spans(path) if span["name"] == "work"}
    assert parents == {0: None, **dict.fromkeys([1, 2, 3, 4], open_call["span_id"])}
    assert len({span["span_id"] for span in spans(path)}) == 6


def test_a_child_that_leaves_a_call_after_its_parent_says_nothing_of_it(path):
    """Scenario 64: the call ended well, whatever the child ends with."""
    run("child_outlives_the_call", path)
    (open_call,) = spans(path)
    assert (open_call["name"], open_call["status"]) == ("open", "ok")


def test_both_sides_of_a_fork_go_on_in_the_same_trace(path):
    """Scenario 64."""
    run("fork_and_go_on", path)
    stored = spans(path)
    assert sorted(numbers(path)) == [0, 1, 2, 5, 10, 11, 12, 15]
    assert len({span["span_id"] for span in stored}) == len(stored) == 9
    inside = {span["trace_id"] for span in stored if span["name"] == "work" and span["input"]["n"] % 10 < 3}
    assert len(inside) == 1


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_children_of_multiprocessing_store_their_spans(path, method):
    """Scenario 65: four of four, though they leave through os._exit."""
    run("multiprocess", path, method, quiet=False)
    expected = [0, *range(1, 5), *range(101, 105)]
    assert sorted(numbers(path)) == expected


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_process_pool_store_their_spans(path, method):
    """Scenario 65."""
    run("process_pool", path, method, quiet=False)
    assert sorted(numbers(path)) == [0, *range(1, 9), *range(101, 109)]


def test_a_storm_of_forks_hangs_nothing_and_doubles_nothing(path, record_property):
    """Scenario 66: while three threads trace and one flushes."""
    forks = scaled(20, 500)
    (traced,) = run("fork_storm", path, forks, timeout=1_200)
    counted = collections.Counter(numbers(path))
    assert set(counted.values()) == {1}
    record_property("figure", f"{forks} forks, {len(counted):,} spans: none lost, none twice")
    assert sum(n >= 0 for n in counted) == int(traced)
    assert sorted(n for n in counted if n < 0) == list(range(-forks, 0))


def test_a_forked_child_that_never_traces_has_no_thread_and_no_file(path):
    """Scenario 67."""
    assert run("fork_and_do_nothing", path) == ["threads", "1", "files", "0"]
    assert sorted(numbers(path)) == [0, 1]


def test_ten_processes_on_one_file_lose_no_span(path, record_property):
    """Scenario 73, through the whole recorder."""
    each = scaled(200, 20_000)
    children = [start("write_many", path, number * each, each) for number in range(10)]
    ends = [child.communicate(timeout=600) for child in children]  # all of them, before any is looked at
    assert [(out.split(), err) for out, err in ends] == [([str(each)], "")] * 10
    record_property("figure", f"10 processes × {each:,} spans: none lost")
    assert sorted(numbers(path)) == list(range(10 * each))


def test_tests_that_run_in_parallel_share_one_store(tmp_path, path):
    """Scenario 68: pytest-xdist's workers."""
    xdist = pytest.importorskip("xdist")
    assert xdist
    test = tmp_path / "test_parallel.py"
    test.write_text(
        "import pytest\nfrom agenttrace.tracer import Tracer\n"
        f"tracer = Tracer('x', store={str(path)!r})\n"
        "work = tracer.observe(lambda n: n, name='work')\n"
        "@pytest.mark.parametrize('n', range(20))\ndef test_one(n):\n    assert work(n) == n\n"
    )
    import os
    import subprocess
    import sys

    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ), timeout=60
    )
    assert done.returncode == 0, done.stdout
    assert sorted(numbers(path)) == list(range(20))
