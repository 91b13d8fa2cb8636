import os
import sqlite3
import sys
import threading
import time

import pytest
from store_values import TRACE, a_report, a_score, a_span, a_trace

from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore, migrations, writer
from agenttrace.store.connection import open_for_writing
from agenttrace.store.health import StoreHealth
from agenttrace.store.lock import FileLock


def rows(path, query):
    with sqlite3.connect(path) as db:
        result = db.execute(query).fetchall()
    db.close()
    return result


def test_making_and_reading_a_store_makes_no_file(tmp_path):
    store = SQLiteStore(tmp_path / "sub" / "traces.db")
    assert store.traces() == []
    assert store.trace("abcd") is None
    assert store.delete_trace("a" * 32) is False
    assert store.load_dataset("d", "p") is None
    assert store.flush(60) is True
    store.close()
    assert os.listdir(tmp_path) == []


def test_the_view_of_spans_is_readable_as_documented(sqlite_store, path):
    sqlite_store.export([*a_trace(), a_span(99, status="error", start_ns=10, end_ns=2_000_010)])
    assert rows(
        path,
        "SELECT name, count(*), sum(status = 'error') FROM spans WHERE span_type = 'tool' GROUP BY name",
    ) == [("get_weather", 4, 1)]
    assert rows(
        path, "SELECT trace_id, parent_id, duration_ms FROM spans WHERE span_id = '0000000000000063'"
    ) == [(f"{TRACE:032x}", None, 2.0)]
    assert rows(path, "SELECT json_extract(input, '$.days') FROM spans WHERE output = '\"day 2\"'") == [(2,)]


def test_a_poison_span_loses_none_of_its_neighbours(sqlite_store, path, caplog):
    good = [a_span(number) for number in range(1, 40)]
    poison = [
        a_span(1 << 64),
        a_span(5, trace=1 << 128),
        a_span(7, name=None),
        object(),
        a_span(8, index="x" * 3),
    ]
    sqlite_store.export([*good[:20], *poison, *good[20:]])
    spans = sqlite_store.trace(f"{TRACE:032x}").spans
    assert {s.span_key for s in spans} == set(range(1, 40))
    reasons = [reason for (reason,) in rows(path, "SELECT reason FROM quarantine")]
    assert any("64 bits" in reason for reason in reasons)
    assert any("128 bits" in reason for reason in reasons)
    assert sqlite_store.health().quarantined == len(reasons) == 5
    assert caplog.text.count("could not be stored") == 1


@pytest.mark.parametrize(
    "span",
    [
        a_span(3, name="lone \ud800"),
        a_span(3, input={"x": object(), "\udfff": "\ud800"}),
        a_span(3, output=b"\xff\xfe"),
        a_span(3, output=float("nan")),
        a_span(3, attributes={"x": {1, 2}}),
        a_span(3, start_ns=0, end_ns=(1 << 64) - 1),
        a_span(3, start_ns=1 << 63, end_ns=5),
        a_span(3, start_ns=-(1 << 70), end_ns=0),
        a_span(3, index=1 << 70),
        a_span(3, output={"n": 10**400}),
    ],
)
def test_a_span_of_odd_values_is_kept_in_a_sound_form(sqlite_store, path, span):
    sqlite_store.export([a_span(1), span, a_span(2)])
    assert {s.span_key for s in sqlite_store.trace(f"{TRACE:032x}").spans} == {1, 2, 3}
    assert rows(path, "SELECT count(*) FROM quarantine") == [(0,)]
    assert rows(path, "SELECT count(*) FROM spans WHERE json_valid(output) OR output IS NULL") == [(3,)]


def test_names_that_differ_in_every_span_are_stored(sqlite_store, path, monkeypatch):
    monkeypatch.setattr("agenttrace.store.function_ids._MOST_FUNCTIONS", 10)
    sqlite_store.export([a_span(number, name=f"step {number}") for number in range(1, 101)])
    assert {s.name for s in sqlite_store.trace(f"{TRACE:032x}").spans} == {f"step {n}" for n in range(1, 101)}


def test_rotten_json_is_shown_as_what_it_is(sqlite_store, path):
    sqlite_store.export([a_span(1, output="x", attributes={"a": 1})])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE span_rows SET output = '{\"broken', rest = '[]'")
    db.close()
    (span,) = sqlite_store.trace(f"{TRACE:032x}").spans
    assert span.output == {"$unreadable": '{"broken'}


def test_many_threads_read_while_one_writes(sqlite_store):
    sqlite_store.export(a_trace())
    problems = []

    def read():
        try:
            for _ in range(20):
                assert len(sqlite_store.trace(f"{TRACE:032x}").spans) >= 4
                sqlite_store.traces()
        except Exception as error:
            problems.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(50, 100):
        sqlite_store.export([a_span(number)])
    for reader in readers:
        reader.join()
    assert problems == []


def test_a_damaged_store_cannot_be_read_and_the_error_says_what_to_do(path):
    store = SQLiteStore(path)
    store.export(a_trace())
    store.close()
    with open(path, "wb") as file:
        file.write(b"not a database at all" * 200)
    with pytest.raises(StoreError, match="moves it aside"):
        SQLiteStore(path).traces()


def test_a_file_of_another_kind_is_left_alone_with_one_warning(tmp_path, caplog):
    notes = tmp_path / "notes.md"
    notes.write_text("# my notes\n" * 200)
    for _ in range(2):  # what the first store leaves must not make the second take the file for its own
        store = SQLiteStore(notes)
        store.export(a_trace())
        assert store.health().mode == "memory"
        assert store.flush(0.1) is False
        with pytest.raises(StoreError, match="another kind"):
            store.save_dataset("d", "p", [])
        with pytest.raises(StoreError, match="another kind"):
            store.traces()
        store.close()
        assert caplog.text.count("another kind") == 1
        caplog.clear()
    assert notes.read_text() == "# my notes\n" * 200
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.md"]


@pytest.mark.parametrize("side", [".lock", "-wal"])
def test_a_file_with_garbage_in_its_header_is_ours_when_our_sidecar_is_there(path, side):
    with open(path, "wb") as file:
        file.write(b"garbage" * 200)
    with open(f"{path}{side}", "wb"):
        pass
    store = SQLiteStore(path)
    store.export(a_trace())
    assert len(store.health().moved_aside) == 1
    assert store.health().mode == "sqlite"
    store.close()


def test_reading_an_older_file_for_what_it_lacks_says_that_a_write_mends_it(path, monkeypatch):
    whole = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:1])
    store = SQLiteStore(path)
    store.export(a_trace())
    store.close()
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    with pytest.raises(StoreError, match="the next write brings it up to date"):
        SQLiteStore(path).pending_evaluations("p")
    store = SQLiteStore(path)
    store.export(a_trace())
    assert store.pending_evaluations("p") == []
    assert store.health().moved_aside == []
    store.close()


def test_a_file_that_a_kill_left_without_tables_reads_as_empty(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
    db.close()
    store = SQLiteStore(path)
    assert store.traces() == []
    assert store.runs() == []
    store.close()


def test_a_file_that_a_kill_left_between_two_steps_reads_as_empty(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", ())
        open_for_writing(path, 1.0).close()
    store = SQLiteStore(path)
    assert store.traces() == []
    assert store.runs() == []
    store.export(a_trace())
    assert len(store.traces()) == 1
    assert store.health().moved_aside == []
    store.close()


def test_another_applications_database_is_left_alone(path, caplog):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE customers (name)")
        db.execute("INSERT INTO customers VALUES ('Ann')")
    db.close()
    store = SQLiteStore(path)
    store.export(a_trace())
    assert store.health().mode == "memory"
    assert "another application" in caplog.text
    with pytest.raises(StoreError, match="another application"):
        store.traces()
    with pytest.raises(StoreError, match="another application"):
        store.save_dataset("d", "p", [])
    assert store.flush(0.1) is False
    assert rows(path, "SELECT * FROM customers") == [("Ann",)]


def test_every_row_of_a_large_batch_is_stored(sqlite_store, path):
    spans = [a_span(number, trace=number // 7 + 1) for number in range(1, 2_222)]
    sqlite_store.export(spans)
    assert rows(path, "SELECT count(*) FROM spans") == [(2_221,)]
    assert rows(path, "SELECT count(*) FROM traces") == [(len({s.trace_key for s in spans}),)]


def test_a_trace_deleted_by_another_process_starts_anew(path):
    store, other_store = SQLiteStore(path), SQLiteStore(path)
    store.export([a_span(1)])
    other_store.delete_trace(f"{TRACE:032x}")
    other_store.export([a_span(1, trace=5, name="other")])
    store.export([a_span(2)])
    assert [s.span_key for s in store.trace(f"{TRACE:032x}").spans] == [2]
    assert [s.name for s in store.trace(f"{5:032x}").spans] == ["other"]
    store.close()
    other_store.close()


def test_what_memory_kept_reaches_the_file_when_it_can_be_written(tmp_path, caplog):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory should be")
    store = SQLiteStore(blocked / "traces.db")
    store.export(a_trace())
    store.export([a_span(77)])
    store.write_scores([(f"{TRACE:032x}", None, a_score())])
    store.write(Batch(tools={"p": []}))
    store.save_pending_evaluations("p", [{"key": "k"}])
    run_id = store.write_report(a_report())
    health = store.health()
    assert (health.mode, health.waiting, health.written) == ("memory", 5, 0)
    assert caplog.text.count("cannot be written") == 1

    blocked.unlink()

    assert store.flush(60) is True
    health = store.health()
    assert (health.mode, health.trouble, health.waiting, health.written) == ("sqlite", None, 0, 5)
    again = SQLiteStore(blocked / "traces.db")
    assert len(again.trace(f"{TRACE:032x}").spans) == 5
    assert len(again.scores(f"{TRACE:032x}")) == 3
    assert again.run(run_id)["name"] == "nightly"
    assert again.pending_evaluations("p") == [{"key": "k"}]
    store.close()


def test_a_trace_half_in_the_file_and_half_in_memory_reads_as_one(tmp_path, monkeypatch):
    store = SQLiteStore(tmp_path / "traces.db")
    *children, root = a_trace()
    store.export(children)
    monkeypatch.setattr("agenttrace.store.lock.os.open", _no_more_files)
    store.export([root])
    monkeypatch.undo()
    assert store.health().mode == "memory"
    assert len(store.trace(f"{TRACE:032x}").spans) == 4
    assert [line.name for line in store.traces()] == ["agent"]
    store.close()
    assert store.health().mode == "sqlite"


def _no_more_files(*args, **kwargs):
    raise OSError(24, "Too many open files")


def test_getting_ready_makes_the_file_with_its_tables(sqlite_store, path):
    sqlite_store.get_ready()
    assert rows(path, "SELECT count(*) FROM spans") == [(0,)]
    assert sqlite_store.health() == StoreHealth(path=path)


def test_getting_ready_leaves_what_is_in_the_way_to_the_first_write(tmp_path, caplog):
    place = tmp_path / "blocked"
    place.mkdir()
    store = SQLiteStore(place)
    store.get_ready()
    assert (store.health().mode, store.flush(1.0), caplog.text) == ("sqlite", True, "")
    store.export([a_span(1)])
    assert (store.health().mode, store.flush(1.0)) == ("memory", False)
    assert "blocked is a directory" in caplog.text


def test_getting_ready_does_not_wait_long_for_other_processes(path, caplog):
    store = SQLiteStore(path, busy_timeout=60.0)
    store.export([a_span(1)])
    other = FileLock(path)
    assert other.acquire(60)
    try:
        began = time.monotonic()
        store.get_ready()
        assert time.monotonic() - began < 10
    finally:
        other.release()
    store.export([a_span(2)])
    assert (store.health().written, caplog.text) == (2, "")
    store.close()


def test_getting_ready_in_a_broken_installation_is_left_to_the_first_write(sqlite_store, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setitem(sys.modules, "pydantic_core", None)
        sqlite_store.get_ready()
        with pytest.raises(ImportError, match="pydantic_core"):
            sqlite_store.export([a_span(1)])
    sqlite_store.export([a_span(1)])
    assert (sqlite_store.health().written, sqlite_store.health().quarantined) == (1, 0)


def test_what_memory_kept_is_counted_once_however_often_the_file_refuses_it(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory should be")
    store = SQLiteStore(blocked / "traces.db")
    store.export([a_span(1), a_span(7, name=None), a_span(2)])
    store.write_scores([(f"{TRACE:032x}", None, a_score())])
    blocked.unlink()
    with monkeypatch.context() as full:
        full.setattr("agenttrace.store.sqlite.writes.keep_scores", _full)
        assert store.flush(2.0) is False
        assert store.flush(2.0) is False
    assert (store.health().written, store.health().quarantined) == (0, 0)
    assert store.flush(60) is True
    assert (store.health().written, store.health().quarantined) == (2, 1)
    assert rows(store.path, "SELECT count(*) FROM quarantine") == [(1,)]
    store.close()


def _full(*args):
    raise OSError(28, "No space left on device")


def test_what_is_in_the_file_is_not_kept_in_memory_as_well_where_the_log_cannot_be_folded(path, monkeypatch):
    """As on a disk that is full: the transaction is over by then, and a score written twice counts twice."""

    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(writer, "cut_log", full)
    store = SQLiteStore(path)
    store.write(Batch(a_trace(), [ScoreRow(f"{TRACE:032x}", None, a_score())]))
    assert store.health().mode == "sqlite"
    assert store.flush(60)
    assert len(store.scores(f"{TRACE:032x}")) == 1
    store.close()
