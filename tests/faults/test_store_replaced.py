"""Another file in the store's place while the store is in use."""

import os
import shutil
import sqlite3

import pytest
from store_faults import a_span, ask, count, finish, is_sound, rows, run, scaled, start

from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore, connection, log_owner

pytestmark = pytest.mark.faults

SAVED = 1 << 100
"""Where the traces of a backup begin; those of the tests' writers have small numbers."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sub" / "traces.db"


def in_use(path, spans=40):
    store = SQLiteStore(path)
    store.export([a_span(number, number, output="x" * 200) for number in range(1, spans + 1)])
    return store


def a_backup(tmp_path, spans):
    """What the documented command makes of a store with so many spans, ten to a trace."""
    origin = SQLiteStore(tmp_path / "origin.db")
    for first in range(0, spans, 5_000):
        numbers = range(first, min(first + 5_000, spans))
        origin.export([a_span(n % 10 + 1, SAVED + n // 10, output="y" * 200) for n in numbers])
    origin.close()
    backup = tmp_path / "backup.db"
    rows(origin.path, "VACUUM INTO ?", str(backup))
    return backup


def restore(backup, path):
    """As documented: a rename over the store, which leaves the backup where it is for the next time."""
    shutil.copy(backup, f"{backup}.copy")
    os.replace(f"{backup}.copy", path)


def saved(path):
    return rows(path, "SELECT count(*) FROM spans WHERE output LIKE '\"yyy%'")[0][0]


def stored_by(path, trace):
    return rows(path, "SELECT count(*) FROM spans WHERE trace_id = ?", f"{trace:032x}")[0][0]


def orphans(path):
    return sorted(entry.name.rpartition("-")[2] for entry in path.parent.glob("*.orphan-*"))


def an_applications_database(tmp_path, lines):
    other = tmp_path / "notes.db"
    db = sqlite3.connect(other)
    with db:
        db.execute("CREATE TABLE notes (text)")
        db.executemany("INSERT INTO notes VALUES (?)", [(f"note {n} " * 30,) for n in range(lines)])
    db.close()
    return other


@pytest.mark.parametrize("lines", [1, 5_000])
@pytest.mark.parametrize("moment", ["export", "flush", "close", "read"])
def test_another_applications_database_in_the_stores_place_is_left_alone(
    path, tmp_path, caplog, lines, moment
):
    """Scenario 77, replaced."""
    store = in_use(path)
    os.replace(an_applications_database(tmp_path, lines), path)
    before = path.read_bytes()
    match moment:
        case "export":
            store.export([a_span(100)])
        case "flush":
            store.flush(1.0)
        case "close":
            store.close()
        case "read":
            with pytest.raises(StoreError, match="another application"):
                store.traces()
    for number in (101, 102, 103):
        store.export([a_span(number)])
    health = store.health()
    assert (health.mode, health.moved_aside) == ("memory", [])
    assert health.waiting == (4 if moment == "export" else 3)
    assert "another application" in health.trouble
    assert store.flush(0.1) is False
    store.close()
    assert len(caplog.records) == 1
    assert path.read_bytes() == before
    assert rows(path, "SELECT count(*) FROM notes") == [(lines,)]
    assert rows(path, "SELECT name FROM sqlite_master") == [("notes",)]
    assert is_sound(path)
    with pytest.raises(StoreError, match="another application"):
        store.traces()


def test_a_file_of_another_kind_in_the_stores_place_is_left_alone(path, tmp_path, caplog):
    """Scenario 77, replaced."""
    store = in_use(path)
    notes = tmp_path / "notes.txt"
    notes.write_text("my notes\n" * 500)
    os.replace(notes, path)
    with pytest.raises(StoreError, match="another kind"):
        store.traces()
    for number in (101, 102):
        store.export([a_span(number)])
    health = store.health()
    assert (health.mode, health.waiting, health.moved_aside) == ("memory", 2, [])
    assert len(caplog.records) == 1
    assert store.flush(0.1) is False
    store.close()
    later = SQLiteStore(path)
    later.export([a_span(103)])
    assert later.health().mode == "memory"
    assert path.read_text() == "my notes\n" * 500

    path.unlink()
    assert store.flush(60) is True
    assert count(path) == 2
    store.close()
    assert is_sound(path)


@pytest.mark.parametrize("spans", [10, 3_000, 20_000, 50_000])
def test_a_backup_restored_over_a_store_in_use_is_whole_and_gets_the_new_spans(path, tmp_path, caplog, spans):
    """Scenario 77, restored."""
    store = in_use(path)
    restore(a_backup(tmp_path, spans), path)
    store.export([a_span(7, 1)])
    health = store.health()
    assert (health.mode, health.trouble, health.moved_aside) == ("sqlite", None, [])
    assert (health.reopened, health.lost) == (1, 40)
    assert len(caplog.records) == 1
    assert "another file was put in the place" in caplog.text
    assert len(store.trace(f"{SAVED:032x}").spans) == 10
    store.close()
    assert (saved(path), count(path)) == (spans, spans + 1)
    assert is_sound(path)
    assert orphans(path) == ["shm", "wal"]


def test_restoring_again_and_again_keeps_every_file_apart(path, tmp_path):
    """Scenario 77, restored."""
    backup = a_backup(tmp_path, 1_000)
    store = in_use(path)
    for attempt in range(5):
        restore(backup, path)
        store.export([a_span(n, attempt + 1, output="x" * 500) for n in range(1, 300)])
        assert (saved(path), count(path)) == (1_000, 1_299)
        assert is_sound(path)
    assert store.health().reopened == 5
    store.close()


def test_what_has_not_been_written_yet_is_read_from_the_restored_file(path, tmp_path):
    """A reader of its own process, while the one that writes has noticed nothing."""
    writer = start("obey", path, 1)
    for _ in range(20):
        ask(writer, "store")
    restore(a_backup(tmp_path, 2_000), path)
    viewer = SQLiteStore(path)
    assert len(viewer.traces(limit=1_000)) == 200
    assert viewer.trace(f"{1:032x}") is None
    assert ask(writer, "store") == ["sqlite", "21", "20", "0"]
    assert len(viewer.trace(f"{1:032x}").spans) == 1
    ask(writer, "close")
    finish(writer)
    assert (saved(path), count(path)) == (2_000, 2_001)
    assert is_sound(path)


@pytest.mark.parametrize("spans", [2_000, 20_000, 50_000])
def test_processes_that_notice_one_after_the_other_share_the_restored_file(path, tmp_path, spans):
    """The log of the new file, which the first has begun, is not taken for the old one by the second."""
    backup = a_backup(tmp_path, spans)
    first, second, idle = (start("obey", path, trace) for trace in (1, 2, 3))
    for child in (first, second, idle):
        for _ in range(10):
            ask(child, "store")
    restore(backup, path)
    fresh = start("obey", path, 4)
    for child in (first, fresh, second, first, fresh, second):
        ask(child, "store")
    assert ask(idle, "close") == ["sqlite", "10", "10", "0"]
    finish(idle)
    for child in (first, second):
        assert ask(child, "store") == ["sqlite", "13", "10", "0"]
    first.kill()  # what the others hold of the new log must be all of it
    first.communicate()
    ask(second, "close")
    finish(second)
    finish(fresh)
    assert [stored_by(path, trace) for trace in (1, 2, 3, 4)] == [3, 3, 0, 2]
    assert saved(path) == spans
    assert is_sound(path)
    assert orphans(path) == ["shm", "wal"]


def test_one_that_ends_without_having_noticed_takes_nothing_from_the_new_file(path, tmp_path):
    """SQLite folds the log into a database that is closed, and deletes it by its name."""
    backup = a_backup(tmp_path, 500)
    first, second = (start("obey", path, trace) for trace in (1, 2))
    for child in (first, second):
        ask(child, "store")
    restore(backup, path)
    ask(second, "store")
    finish(first)  # its input ends: it exits without closing the store
    ask(second, "store")
    second.kill()  # so that all it stored is in the log
    second.communicate()
    assert (stored_by(path, 1), stored_by(path, 2), saved(path)) == (0, 2, 500)
    assert is_sound(path)


def test_a_backup_restored_over_the_file_of_a_killed_process_is_whole(path, tmp_path):
    """Its log lies there still, and no process knows it."""
    backup = a_backup(tmp_path, 5_000)
    for reader_first in (True, False):
        killed = start("obey", path, 1)
        for _ in range(10):
            ask(killed, "store")
        killed.kill()
        killed.communicate()
        assert os.path.getsize(f"{path}-wal") > 0
        restore(backup, path)
        store = SQLiteStore(path)
        if reader_first:
            assert len(store.traces(limit=1_000)) == 500
        store.export([a_span(1, 9)])
        store.close()
        assert (saved(path), stored_by(path, 9), stored_by(path, 1)) == (5_000, 1, 0)
        assert is_sound(path)


def test_a_backup_restored_over_a_file_that_was_just_being_made_is_whole(path, tmp_path):
    """The process was killed with the tables in the log, before it stored anything."""
    backup = a_backup(tmp_path, 5_000)
    run("die-after-migrating", path)
    assert os.path.getsize(f"{path}-wal") > 0
    restore(backup, path)
    store = SQLiteStore(path)
    assert len(store.traces(limit=1_000)) == 500
    store.export([a_span(1, 9)])
    store.close()
    assert (saved(path), stored_by(path, 9)) == (5_000, 1)
    assert is_sound(path)


def test_the_log_of_a_killed_process_is_not_taken_from_its_own_file(path):
    """The other side of it: what is only in the log is read by the next process."""
    killed = start("obey", path, 1)
    for _ in range(10):
        ask(killed, "store")
    killed.kill()
    killed.communicate()
    store = SQLiteStore(path)
    assert len(store.trace(f"{1:032x}").spans) == 10
    store.export([a_span(11)])
    store.close()
    assert count(path) == 11
    assert orphans(path) == []


def test_a_copied_directory_keeps_its_log(path, tmp_path):
    """There the note in the lock's file speaks of files elsewhere."""
    store = in_use(path)
    copy = tmp_path / "copy"
    shutil.copytree(path.parent, copy)
    other = SQLiteStore(copy / "traces.db")
    other.export([a_span(41, 41)])
    assert count(copy / "traces.db") == 41
    assert list(copy.glob("*.orphan-*")) == []
    other.close()
    store.close()


def test_without_the_lock_beside_it_the_process_itself_knows_its_log(path, tmp_path):
    """Deleted by somebody who took it for a leftover."""
    store = in_use(path)
    os.unlink(f"{path}.lock")
    restore(a_backup(tmp_path, 3_000), path)
    store.export([a_span(7, 1)])
    store.close()
    assert (saved(path), count(path)) == (3_000, 3_001)
    assert is_sound(path)


@pytest.mark.parametrize("moment", ["before it is opened", "after it is opened"])
def test_a_file_replaced_in_the_moment_of_opening_is_noticed_before_a_log_is_read(
    path, tmp_path, monkeypatch, moment
):
    """Closed as the only one of its database, that connection would fold the old log into the new file."""
    backup = a_backup(tmp_path, 3_000)
    user = start("obey", path, 1)
    for _ in range(10):
        ask(user, "store")
    connect, move_orphans = sqlite3.connect, log_owner.move_orphans
    restored = []

    def restore_once():
        if not restored:
            restored.append(True)
            restore(backup, path)

    def move_then_restore(*args):
        move_orphans(*args)
        restore_once()

    def connect_then_restore(*args, **kwargs):
        db = connect(*args, **kwargs)
        restore_once()
        return db

    if moment == "before it is opened":
        monkeypatch.setattr(log_owner, "move_orphans", move_then_restore)
    else:
        monkeypatch.setattr(connection.sqlite3, "connect", connect_then_restore)
    store = SQLiteStore(path)
    store.export([a_span(1, 2)])
    monkeypatch.undo()
    assert restored
    assert store.health().mode == "sqlite"
    ask(user, "store")
    finish(user)
    store.close()
    assert (saved(path), stored_by(path, 1), stored_by(path, 2)) == (3_000, 1, 1)
    assert is_sound(path)


def test_what_is_read_while_the_file_is_replaced_is_read_again(path, tmp_path):
    backup = a_backup(tmp_path, 100)
    store = in_use(path)
    attempts = []

    def query(db):
        attempts.append(db.execute("SELECT count(*) FROM spans").fetchone()[0])
        if len(attempts) == 1:
            restore(backup, path)
        return attempts[-1]

    assert store._read(query, None) == 100
    assert attempts == [40, 100]

    def query_and_replace(db):
        restore(backup, path)

    with pytest.raises(StoreError, match="replaced while it was read, try again"):
        store._read(query_and_replace, None)
    store.close()


@pytest.mark.parametrize("spans", [1_000, scaled(20_000, 50_000)])
def test_restoring_while_many_processes_write_and_read_harms_no_file(path, tmp_path, spans):
    """Scenario 77, restored, at any moment of theirs."""
    backup = a_backup(tmp_path, spans)
    restore_into = path.parent
    restore_into.mkdir()
    restore(backup, path)
    writers = [start("write-until-told", path, trace) for trace in (1, 2, 3)]
    readers = [start("read-until-told", path, SAVED + 5, 10) for _ in range(2)]
    for child in (*writers, *readers):
        assert child.stdout.readline() == "ready\n"
    for _ in range(scaled(8, 100)):
        for _ in range(5):
            SQLiteStore(path).export([a_span(1, 4)])  # comes, writes and goes
        restore(backup, path)
    for child in writers:
        mode, written, lost, moved_aside = finish(child).split()
        assert (mode, moved_aside) == ("sqlite", "0")
        assert int(written) > 0
        child.stayed = int(written) - int(lost)
    for child in readers:
        assert int(finish(child).split()[0]) > 0
    assert [stored_by(path, trace) for trace in (1, 2, 3)] == [child.stayed for child in writers]
    assert saved(path) == spans
    assert is_sound(path)
    assert list(path.parent.glob("*.corrupt-*")) == []
