import os
from pathlib import Path

import pytest

from agenttrace.store import files, sides
from agenttrace.store.lock import FileLock


@pytest.fixture
def beside(path):
    """A database with its log and the log's index, noted as belonging together."""
    for side in files.SIDES:
        Path(path + side).write_text(f"old{side}")
    lock = FileLock(path)
    assert lock.acquire(1)
    sides.note(lock, sides.group(path, files.identity(path)))
    yield lock
    lock.release()


def replace(path, side=""):
    Path(path + ".new").write_text(f"new{side}")
    os.replace(path + ".new", path + side)


def kept(path):
    return sorted(entry.read_text() for entry in Path(path).parent.glob("*.orphan-*"))


def test_the_log_of_a_replaced_database_is_moved_aside(path, beside):
    replace(path)
    assert sides.strays(path, sides.noted(beside)) == ["-wal", "-shm"]
    sides.move_strays(path, beside)
    assert kept(path) == ["old-shm", "old-wal"]
    assert Path(path).read_text() == "new"
    assert sides.noted(beside) is None


def test_a_log_stays_with_the_database_that_stands_there_still(path, beside):
    sides.move_strays(path, beside)
    assert kept(path) == []
    assert sides.noted(beside) == sides.group(path, files.identity(path))


def test_a_log_that_came_with_the_new_database_stays(path, beside):
    for side in files.SIDES:
        replace(path, side)
    sides.move_strays(path, beside)
    assert kept(path) == []
    assert Path(path + "-wal").read_text() == "new-wal"


def test_what_a_kill_left_between_two_renames_is_moved_next_time(path, beside):
    replace(path)
    os.unlink(path + "-wal")
    sides.move_strays(path, beside)
    assert kept(path) == ["old-shm"]


def test_what_is_noted_goes_before_what_is_remembered(path, beside):
    """Another process has noticed first, and the log is that of the new file by now."""
    remembered = sides.noted(beside)
    replace(path)
    sides.note(beside, sides.group(path, files.identity(path)))
    sides.move_strays(path, beside, remembered)
    assert kept(path) == []


def test_what_is_remembered_serves_where_nothing_is_noted(path, beside):
    remembered = sides.noted(beside)
    sides.note(beside, None)
    replace(path)
    sides.move_strays(path, beside)
    assert kept(path) == []
    sides.move_strays(path, beside, remembered)
    assert kept(path) == ["old-shm", "old-wal"]


@pytest.mark.parametrize(
    "text", ["", "agenttrace", "agenttrace 1:2", "agenttrace 1:x - -", "agenttrace - - -"]
)
def test_a_note_of_another_form_says_nothing(path, text):
    Path(path + ".lock").write_text(text)
    assert sides.noted(FileLock(path)) is None
