"""Signals, stalls and long runs: no deadlock, bounded memory, exact counts."""

import pytest
from recorder_faults import numbers, run, scaled

pytestmark = pytest.mark.faults


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def test_calls_in_a_signal_handler_neither_hang_nor_lose_spans(path, record_property):
    """Scenarios 53 and 54: SIGALRM 500 times a second, flushes in the handler too."""
    main, handler = map(int, run("many_signals", path, 500, scaled(1, 60), timeout=200))
    stored = numbers(path)
    assert handler > 0
    record_property("figure", f"{handler:,} calls in the handler, {main:,} outside: none lost")
    assert sorted(stored) == [*range(main), *range(10_000_000, 10_000_000 + handler)]


def test_the_first_call_may_come_while_threading_is_interrupted(path):
    """Scenario 54: the worker is started without the lock that `threading` holds."""
    run("first_call_in_a_handler", path)
    assert numbers(path) == [0]


def test_a_long_run_keeps_memory_threads_and_files_as_they_are(path, record_property):
    """Scenario 58."""
    count = scaled(20_000, 1_000_000)
    growth, written = map(int, run("soak", path, count, timeout=1_200))
    assert written == count
    record_property("figure", f"{count:,} spans: {growth / 1e6:.1f} MB more in the second half")
    assert growth < 20_000_000


def test_a_stalled_store_costs_bounded_memory_and_everything_is_counted(path, record_property):
    """Scenario 47: heavy values are replaced by marks beyond 64 MB, spans dropped beyond the queue."""
    count = scaled(20_000, 200_000)
    said = run("stalled_store", path, count, 10_000, timeout=300, quiet=False)  # losses are logged
    growth, marks, dropped, stored, pending = map(int, said)
    assert growth < 64 * 1024 * 1024 + count * 2_000
    assert marks > 0
    record_property("figure", f"{count:,} calls: {growth / 1e6:.0f} MB, {dropped:,} dropped, all counted")
    assert dropped > 0
    assert (stored + dropped, pending) == (count + 1, 0)
