import os
from pathlib import Path

import pytest

from agenttrace.store import files, log_owner
from agenttrace.store.lock import FileLock


@pytest.fixture
def lock_with_note(path):
    """A database with its log and the log's index, noted as belonging together."""
    for suffix in files.SUFFIXES:
        Path(path + suffix).write_text(f"old{suffix}")
    lock = FileLock(path)
    assert lock.acquire(60)
    log_owner.note_files(lock, log_owner.current_files(path, files.identity(path)))
    yield lock
    lock.release()


def replace(path, suffix=""):
    Path(path + ".new").write_text(f"new{suffix}")
    os.replace(path + ".new", path + suffix)


def texts_moved_aside(path):
    return sorted(entry.read_text() for entry in Path(path).parent.glob("*.orphan-*"))


def test_the_log_of_a_replaced_database_is_moved_aside(path, lock_with_note):
    replace(path)
    assert log_owner.orphan_suffixes(path, log_owner.noted_files(lock_with_note)) == ["-wal", "-shm"]
    log_owner.move_orphans(path, lock_with_note)
    assert texts_moved_aside(path) == ["old-shm", "old-wal"]
    assert Path(path).read_text() == "new"
    assert log_owner.noted_files(lock_with_note) is None


def test_a_log_stays_with_the_database_that_stands_there_still(path, lock_with_note):
    log_owner.move_orphans(path, lock_with_note)
    assert texts_moved_aside(path) == []
    assert log_owner.noted_files(lock_with_note) == log_owner.current_files(path, files.identity(path))


def test_a_log_that_came_with_the_new_database_stays(path, lock_with_note):
    for suffix in files.SUFFIXES:
        replace(path, suffix)
    log_owner.move_orphans(path, lock_with_note)
    assert texts_moved_aside(path) == []
    assert Path(path + "-wal").read_text() == "new-wal"


def test_what_a_kill_left_between_two_renames_is_moved_next_time(path, lock_with_note):
    replace(path)
    os.unlink(path + "-wal")
    log_owner.move_orphans(path, lock_with_note)
    assert texts_moved_aside(path) == ["old-shm"]


def test_the_note_counts_before_what_was_open(path, lock_with_note):
    """Another process has noticed first, and the log is that of the new file by now."""
    opened = log_owner.noted_files(lock_with_note)
    replace(path)
    log_owner.note_files(lock_with_note, log_owner.current_files(path, files.identity(path)))
    log_owner.move_orphans(path, lock_with_note, opened)
    assert texts_moved_aside(path) == []


def test_what_was_open_counts_where_nothing_is_noted(path, lock_with_note):
    opened = log_owner.noted_files(lock_with_note)
    log_owner.note_files(lock_with_note, None)
    replace(path)
    log_owner.move_orphans(path, lock_with_note)
    assert texts_moved_aside(path) == []
    log_owner.move_orphans(path, lock_with_note, opened)
    assert texts_moved_aside(path) == ["old-shm", "old-wal"]


@pytest.mark.parametrize(
    "text", ["", "agenttrace", "agenttrace 1:2", "agenttrace 1:x - -", "agenttrace - - -"]
)
def test_a_note_of_another_form_says_nothing(path, text):
    Path(path + ".lock").write_text(text)
    assert log_owner.noted_files(FileLock(path)) is None
