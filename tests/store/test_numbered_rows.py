"""A file of an older version: its spans are moved into the new table slice by slice, readable throughout."""

import sqlite3
from contextlib import closing

import pytest
from store_values import a_trace, write_as_before

from agenttrace.store import SQLiteStore, migrations, span_table, writer

TRACES = 60


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "_LEAST_ROWS", 100)
    monkeypatch.setattr(
        writer, "_SLICE_SECONDS", 0.0
    )  # each slice was too slow: none is larger than the least
    path = tmp_path / "traces.db"
    write_as_before(path)
    return path


def tables(path):
    with closing(sqlite3.connect(path)) as db:
        return set(span_table.tables_of_spans(db))


def shape(trace):
    return [(span.span_key, span.parent_key, span.name, span.input) for span in trace.spans]


def check(store, path):
    """Every span is there once, for readers of ours and for the user's own SQL."""
    for number in (1, TRACES // 2, TRACES):
        trace = store.trace(f"{number:032x}")
        assert [span.span_key for span in trace.spans] == list(range(1, 12))
        assert trace.spans[4].input == {"n": 5}
    summaries = {line.trace_id: line for line in store.traces(limit=1_000)}
    assert all(summaries[f"{number:032x}"].spans == 11 for number in range(1, TRACES + 1))
    with closing(sqlite3.connect(path)) as db:
        ours = "SELECT count(*), count(DISTINCT trace_id || span_id) FROM spans WHERE trace_id <= ?"
        assert db.execute(ours, (f"{TRACES:032x}",)).fetchone() == (11 * TRACES, 11 * TRACES)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_older_file_can_be_read_before_anything_is_written(path):
    store = SQLiteStore(path)
    check(store, path)
    assert tables(path) == {"span_rows"}
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM migrations").fetchone() == (3,)


def test_each_write_moves_a_slice_and_what_is_asked_is_the_same_throughout(path):
    store = SQLiteStore(path)
    writes = 0
    while writes == 0 or len(tables(path)) == 2:
        writes += 1
        store.export(a_trace(10**6 + writes))
        check(store, path)
        assert len(store.trace(f"{10**6 + writes:032x}").spans) == 4
    assert writes >= 5
    assert tables(path) == {"span_rows"}
    check(store, path)
    store.close()


def test_a_file_that_is_being_moved_is_opened_and_moved_on_by_another_process(path):
    for number in range(20):
        store = SQLiteStore(path)
        store.export(a_trace(10**6 + number))
        check(store, path)
        store.close()
    assert tables(path) == {"span_rows"}


def test_a_span_that_is_written_again_while_its_old_row_waits_is_there_once(path):
    store = SQLiteStore(path)
    store.get_ready()
    last = store.trace(f"{TRACES:032x}")
    assert len(tables(path)) == 2
    store.export(last.spans[:3])
    check(store, path)
    while len(tables(path)) == 2:
        store.export(a_trace(10**6))
    check(store, path)
    store.close()


def test_a_trace_is_deleted_wherever_its_rows_are(path):
    store = SQLiteStore(path)
    store.get_ready()
    assert len(tables(path)) == 2
    for number in (1, TRACES):
        assert store.delete_trace(f"{number:032x}")
        assert store.trace(f"{number:032x}") is None
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM spans").fetchone() == (11 * (TRACES - 2),)
    store.close()


def test_retention_takes_the_oldest_traces_of_both_tables(path):
    store = SQLiteStore(path, max_bytes=300_000)
    for number in range(120):
        store.export([*a_trace(10**6 + number, calls=30, start=10**6 + number)])
    left = [int(line.trace_id, 16) for line in store.traces(limit=1_000)]
    assert 1 not in left
    assert 10**6 + 119 in left
    with closing(sqlite3.connect(path)) as db:
        lost = "SELECT count(*) FROM span_rows WHERE trace NOT IN (SELECT id FROM traces)"
        assert db.execute(lost).fetchone() == (0,)
    store.close()


def test_a_version_that_knows_only_the_old_table_is_refused_and_moves_nothing_aside(path):
    """What it writes names no columns: SQLite refuses it, and it goes on in memory."""
    store = SQLiteStore(path)
    store.export(a_trace(10**6))
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        with pytest.raises(sqlite3.OperationalError, match=r"has \d\d columns but 10 values") as refused:
            db.execute("INSERT OR REPLACE INTO span_rows VALUES (1, 1, NULL, 1, 1, 1, 1, NULL, NULL, NULL)")
        assert refused.value.sqlite_errorcode == sqlite3.SQLITE_ERROR
        # Its own check of the schema: the steps that it knows, no other.
        names = [name for (name,) in db.execute("SELECT name FROM migrations ORDER BY name")]
        assert names == [name for name, _ in migrations.MIGRATIONS[:3]]


def test_rows_of_a_kilobyte_do_not_take_a_page_each(tmp_path):
    from store_values import a_span

    store = SQLiteStore(tmp_path / "traces.db")
    store.export([a_span(number, output="x" * 1_000) for number in range(1, 2_001)])
    store.close()
    assert (tmp_path / "traces.db").stat().st_size < 2_000 * 1_600


@pytest.mark.parametrize("moved", [True, False])
def test_a_later_step_adds_a_column_whether_the_old_rows_are_moved_or_not(path, moved, monkeypatch):
    store = SQLiteStore(path)
    store.get_ready()
    while moved and len(tables(path)) == 2:
        store.export(a_trace(10**6))
    store.close()
    later = ("9999_a_column", span_table.add_column("later TEXT"))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, later))
    store = SQLiteStore(path)
    store.export(a_trace(10**6 + 1))
    check(store, path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT DISTINCT later FROM spans").fetchall() == [(None,)]
    while len(tables(path)) == 2:
        store.export(a_trace(10**6 + 2))
    check(store, path)
    store.close()


def test_a_slice_of_wide_rows_has_few_of_them(path, monkeypatch):
    """A thousand rows of 100 KB would hold up every other process for a second, and double the log."""
    monkeypatch.setattr(writer, "_LEAST_ROWS", 1_000)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE span_rows SET output = printf('\"%.*c\"', 100000, 'x')")
    store = SQLiteStore(path)
    store.export(a_trace(10**6))
    with closing(sqlite3.connect(path)) as db:
        (rows,) = db.execute("SELECT count(*) FROM old_span_rows").fetchone()
    assert 11 * TRACES - 100 < rows < 11 * TRACES
    store.close()
