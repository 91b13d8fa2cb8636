"""Traces of any shape and size, and a file that keeps its bounds."""

import os
import sqlite3

import pytest
from store_faults import a_span, count, rows, scaled

from agenttrace.store import SQLiteStore

pytestmark = pytest.mark.faults

MANY = scaled(20_000, 100_000)


@pytest.fixture
def store(tmp_path):
    made = SQLiteStore(tmp_path / "traces.db")
    yield made
    made.close()


def test_a_log_pinned_by_a_foreign_reader_is_cut_when_it_lets_go(tmp_path, monkeypatch):
    """Scenario 80."""
    monkeypatch.setattr("agenttrace.store.connection.LARGEST_LOG", 400_000)
    path = tmp_path / "traces.db"
    log = tmp_path / "traces.db-wal"
    store = SQLiteStore(path)
    store.export([a_span(1)])
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM spans").fetchone() == (1,)
    for number in range(2, 102):
        store.export([a_span(number, output="x" * 8_000)])
    assert log.stat().st_size > 400_000
    reader.execute("COMMIT")
    store.export([a_span(102)])
    assert log.stat().st_size == 0
    reader.close()
    store.close()


def test_reading_all_the_time_does_not_let_the_log_grow(tmp_path):
    """Scenario 80: our own readers never pin it."""
    path = tmp_path / "traces.db"
    store, viewer = SQLiteStore(path), SQLiteStore(path)
    for number in range(1, scaled(60, 1_000)):
        store.export([a_span(number * 100 + n, number, output="x" * 2_000) for n in range(100)])
        assert viewer.trace(f"{number:032x}") is not None
    assert os.path.getsize(f"{path}-wal") < 32 * 1024 * 1024
    store.close()


def test_a_resent_span_is_one_row_whoever_sends_it(tmp_path):
    """Scenario 83."""
    path = tmp_path / "traces.db"
    for attempt in range(12):
        store = SQLiteStore(path)
        store.export([a_span(1, 1, output=attempt), a_span(2, 1)])
        store.close()
    assert rows(path, "SELECT output FROM spans ORDER BY span_id") == [("11",), (None,)]


def test_replaying_a_batch_twelve_times_changes_nothing(store):
    """Scenario 83."""
    batch = [a_span(number, number % 7 + 1, index=number, parent_key=number - 1) for number in range(1, 500)]
    store.export(batch)
    before = [store.trace(f"{trace:032x}").to_dict() for trace in range(1, 8)]
    for _ in range(11):
        store.export(batch)
    assert [store.trace(f"{trace:032x}").to_dict() for trace in range(1, 8)] == before


def test_a_child_before_its_parent_and_one_without(store):
    """Scenario 84."""
    store.export([a_span(2, parent_key=1, start_ns=5)])
    store.export([a_span(3, parent_key=99, start_ns=6)])
    store.export([a_span(1, start_ns=4, name="root")])
    trace = store.trace(f"{1:032x}")
    assert [(depth, span.span_key) for depth, span in trace.walk()] == [(0, 1), (1, 2), (0, 3)]
    assert [line.name for line in store.traces()] == ["root"]


def test_parents_in_a_loop_are_read_to_the_end(store):
    """Scenario 84."""
    store.export([a_span(1, parent_key=1), a_span(2, parent_key=3), a_span(3, parent_key=2)])
    trace = store.trace(f"{1:032x}")
    assert sorted(span.span_key for _, span in trace.walk()) == [1, 2, 3]
    assert len(trace.tool_calls) == 3
    assert store.traces()[0].status == "open"


def test_very_many_children_are_read_to_the_end(store):
    """Scenario 84."""
    store.export([a_span(1), *(a_span(n, parent_key=1, index=n) for n in range(2, MANY + 2))])
    trace = store.trace(f"{1:032x}")
    assert sum(1 for _ in trace.walk()) == MANY + 1
    assert store.traces()[0].spans == MANY + 1


def test_a_chain_10_000_deep_is_read_to_the_end(store):
    """Scenario 84."""
    store.export([a_span(n, parent_key=n - 1 or None, span_type="agent", index=n) for n in range(1, 10_001)])
    trace = store.trace(f"{1:032x}")
    assert [depth for depth, _ in trace.walk()] == list(range(10_000))


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, 0), (1 << 63, 1 << 63), ((1 << 64) - 1, 0), (5, -5), (253402300800 * 10**9, 1), (-1, -(1 << 80))],
)
def test_impossible_times_are_kept_beside_sound_spans(store, start, end):
    """Scenario 85."""
    store.export([a_span(1), a_span(2, start_ns=start, end_ns=end), a_span(3)])
    assert len(store.trace(f"{1:032x}").spans) == 3
    assert store.traces()[0].spans == 3
    assert store.health().quarantined == 0


@pytest.mark.parametrize(("trace", "span"), [(0, 1), (1, 0), (1, 1 << 64), (1 << 128, 1), (-1, 1), (1, -1)])
def test_ids_out_of_range_never_cost_their_neighbours(store, tmp_path, trace, span):
    """Scenario 85."""
    store.export([a_span(7, 7), a_span(span, trace), a_span(8, 7)])
    assert len(store.trace(f"{7:032x}").spans) == 2
    kept, quarantined = count(store.path), store.health().quarantined
    assert kept + quarantined == 3
    assert rows(store.path, "SELECT count(*) FROM quarantine") == [(quarantined,)]


def test_the_file_keeps_its_size_and_what_must_stay_stays(tmp_path):
    """Scenario 86."""
    path = tmp_path / "traces.db"
    largest = scaled(1_000_000, 20_000_000)
    store = SQLiteStore(path, max_bytes=largest)
    store.save_dataset("d", "p", {"examples": ["x"] * 1_000})
    now = 10**18 * 9
    store.export([a_span(2, 1, parent_key=1, start_ns=now)])
    for number in range(2, largest // 1_000):
        store.export([a_span(n, number, start_ns=now + number, output="x" * 300) for n in range(1, 7)])
    store.close()
    assert os.path.getsize(path) < largest * 1.2
    assert store.health().retired_traces > 0
    assert store.load_dataset("d", "p") == {"examples": ["x"] * 1_000}
    assert store.trace(f"{1:032x}") is not None, "its root has not been stored: it may still run"
    newest = largest // 1_000 - 1
    assert len(store.trace(f"{newest:032x}").spans) == 6
    assert store.trace(f"{2:032x}") is None
