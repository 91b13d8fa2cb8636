"""However a process ends, what had ended before is stored."""

import itertools
import random
import signal
import time

import pytest
from recorder_faults import BOUND_NS, finish, numbers, run, scaled, spans, start

pytestmark = pytest.mark.faults


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def test_a_plain_exit_stores_everything_without_a_flush(path):
    """Scenario 59."""
    run("plain_exit", path, 500)
    assert numbers(path) == list(range(500))


def test_an_interrupt_at_the_exit_keeps_no_other_tracer_from_its_flush(path):
    """Scenario 60."""
    run("interrupted_at_exit", path)
    assert sorted(numbers(path)) == [0, 1]


def test_an_unhandled_exception_stores_everything(path):
    """Scenario 60."""
    code, _, err = finish(start("unhandled", path))
    assert (code, err.count("Traceback")) == (1, 1)
    assert numbers(path) == list(range(10))


def test_sys_exit_in_a_thread_stores_everything(path):
    """Scenario 60."""
    run("exit_in_thread", path)
    assert numbers(path) == list(range(6))


def ended(child, path, kill):
    """Let a child trace for a while, end it; return what it had said, and which of its spans are missing."""
    first = child.stdout.readline()
    time.sleep(random.uniform(0.05, 0.7))
    moment = time.time_ns()
    kill(child)
    _, out, err = finish(child)
    said = [tuple(map(int, line.split())) for line in (first + out).splitlines() if line.count(" ") == 2]
    stored = set(numbers(path)) if path.exists() else set()
    return moment, said, [one for one in said if one[0] not in stored], err


def check_bound(moment, said, missing):
    """What is missing ended within 250 ms before the kill, and what the machine itself held the child up.

    Returns how many milliseconds before the kill the oldest of them ended, without those of the machine.
    """
    stall = max(later - earlier for earlier, later in itertools.pairwise([*(t for _, t, _ in said), moment]))
    waited_at_last = said[-1][2]
    ages = [
        moment - when - max(stall - 5_000_000, 0) - (waited_at_last - waited) for _, when, waited in missing
    ]
    oldest = max(ages, default=0)
    assert oldest <= BOUND_NS, f"lost though they ended {oldest / 1e6:.0f} ms before the kill"
    return max(oldest, 0) / 1e6


def test_an_interrupt_stores_everything(path):
    """Scenario 60."""
    _, said, missing, err = ended(
        start("wait_for_signal", path), path, lambda c: c.send_signal(signal.SIGINT)
    )
    assert said
    assert missing == []
    assert "KeyboardInterrupt" in err


def test_a_termination_loses_no_more_than_the_bound(path):
    """Scenario 61: no handler of the user's is replaced, so Python ends at once."""
    moment, said, missing, err = ended(start("wait_for_signal", path), path, lambda c: c.terminate())
    check_bound(moment, said, missing)
    assert err == ""


def test_a_kill_at_any_moment_leaves_a_sound_file_and_loses_no_more_than_the_bound(tmp_path, record_property):
    """Scenario 62."""
    kills, oldest = scaled(5, 200), 0.0
    for number in range(kills):
        path = tmp_path / f"{number}.db"
        moment, said, missing, _ = ended(start("wait_for_signal", path), path, lambda c: c.kill())
        assert said, "it was killed before its first span"
        oldest = max(oldest, check_bound(moment, said, missing))
    record_property("figure", f"{kills} kills: nothing lost that ended over {oldest:.0f} ms before")


def test_leaving_at_once_keeps_what_is_older_than_the_bound(path):
    """Scenario 62: os._exit."""
    run("leave_at_once", path)
    assert set(range(20)) <= set(numbers(path)) <= set(range(21))


def test_spans_of_exit_handlers_are_stored_whenever_they_run(path):
    """Scenario 70: before ours, after ours; while the interpreter is taken apart, without noise."""
    run("late_spans", path)
    assert {0, 1, 2} <= set(numbers(path)) <= {0, 1, 2, 3}


def test_a_process_that_is_stopped_and_goes_on_stores_everything(path):
    """Scenario 51."""
    child = start("paused", path)
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGSTOP)
    time.sleep(scaled(1, 10))
    child.send_signal(signal.SIGCONT)
    code, _, err = finish(child)
    assert (code, err) == (0, "")
    assert [span["name"] for span in spans(path)] == ["long", "work"]
    assert all(span["end_ns"] >= span["start_ns"] for span in spans(path))
