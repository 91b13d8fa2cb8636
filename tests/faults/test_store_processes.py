"""Many processes, forks and foreign locks round one file."""

import sqlite3
import subprocess
import sys

import pytest
from store_faults import a_span, count, finish, is_sound, rows, run, scaled, start

from agenttrace.core.errors import ExportError
from agenttrace.store import SQLiteStore
from agenttrace.store.lock import FileLock

pytestmark = pytest.mark.faults


_MAY_BE_CUT = """
import fcntl, sys
# SQLite's dead man's switch, and the bytes that readers of a database share.
for name, first in ((sys.argv[1] + "-shm", 128), (sys.argv[1], 0x40000002)):
    with open(name, "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1 if first == 128 else 510, first)
            print("not locked:", name)
        except OSError:
            pass
"""


def test_a_second_store_of_a_process_leaves_the_locks_of_the_first_as_they_are(tmp_path):
    """Scenario 73. Whoever opens and closes SQLite's files beside it ends its locks; the next reader then
    cuts the memory that both share, and the process that still uses it gets a bus error."""
    path = tmp_path / "traces.db"
    stores = [SQLiteStore(path) for _ in range(3)]
    for number, store in enumerate(stores, 1):
        store.export([a_span(number)])
        told = subprocess.run(
            [sys.executable, "-c", _MAY_BE_CUT, path], capture_output=True, text=True, check=True, timeout=60
        )
        assert told.stdout == ""
        assert len(store.traces()) == 1
    for store in stores:
        store.close()


def test_ten_processes_on_one_file_lose_nothing(tmp_path):
    """Scenario 73, and 81: writes and checkpoints are serialised by the lock beside the file."""
    path = tmp_path / "traces.db"
    each = scaled(500, 20_000)
    children = [start("write", path, number, each) for number in range(1, 11)]
    results = [finish(child, timeout=300).split() for child in children]
    assert [int(written) for written, _ in results] == [each] * 10
    assert count(path) == 10 * each
    assert sum(int(refusals) for _, refusals in results) == 0, "no writer was told that the file is locked"
    assert is_sound(path)


def test_children_forked_while_a_thread_writes_store_their_spans(tmp_path):
    """Scenarios 65 and 66, for the store alone."""
    path = tmp_path / "traces.db"
    forks = scaled(20, 500)
    stored = int(finish(start("fork-while-writing", path, forks), timeout=300))
    assert count(path) == stored + 3 * forks
    assert is_sound(path)


def test_a_child_that_outlives_its_parent_keeps_all_it_stores(tmp_path):
    """Scenario 64: reconnected over an inherited connection, SQLite would lose these rows in silence."""
    path = tmp_path / "traces.db"
    assert run("outlive-the-parent", path) == "done\n"
    assert count(path) == 12


def test_a_child_that_does_not_trace_never_touches_the_inherited_connection(tmp_path):
    """Scenario 67: closed at the child's end, it would roll back the parent's transaction."""
    path = tmp_path / "traces.db"
    run("leave-a-fork-alone", path)
    assert rows(path, "SELECT output, count(*) FROM spans GROUP BY output") == [(None, 1), ('"changed"', 999)]
    assert is_sound(path)


def test_a_file_held_by_another_application_is_refused_in_bounded_time_and_recovers(tmp_path):
    """Scenario 74: the batch stays with the caller, which comes again."""
    path = tmp_path / "traces.db"
    store = SQLiteStore(path, busy_timeout=0.1)
    store.export([a_span(1)])
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    for _ in range(3):
        with pytest.raises(ExportError, match="locked"):
            store.export([a_span(2)])
    assert store.health().mode == "sqlite"
    assert store.health().busy == 3
    holder.execute("COMMIT")
    holder.close()
    store.export([a_span(2)])
    assert count(path) == 2
    store.close()


def test_scores_written_while_the_file_is_held_are_not_lost(tmp_path):
    """Scenario 74, for scores: memory keeps them until the file is free."""
    from agenttrace.core.score import Score

    path = tmp_path / "traces.db"
    store = SQLiteStore(path, busy_timeout=0.05)
    store.export([a_span(1)])
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    store.write_scores([(f"{1:032x}", None, Score.of("s", 1.0, 0.5))])
    holder.execute("COMMIT")
    holder.close()
    assert store.flush(60) is True
    assert rows(path, "SELECT name FROM scores") == [("s",)]
    store.close()


def test_a_writer_waits_for_the_lock_beside_the_file_and_not_for_ever(tmp_path):
    """Scenario 81."""
    path = str(tmp_path / "traces.db")
    store = SQLiteStore(path, busy_timeout=0.05)
    store.export([a_span(1)])
    other = FileLock(path)
    assert other.acquire(60)
    with pytest.raises(ExportError, match="in use by other processes"):
        store.export([a_span(2)])
    assert store.flush(0.05) is True, "nothing of it is pending here: the caller still has its batch"
    other.release()
    store.export([a_span(2)])
    assert count(path) == 2
    store.close()
