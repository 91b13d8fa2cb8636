import errno
import fcntl
import os
import stat
import threading
import time

import pytest

from agenttrace.store.lock import FileLock, ForkLock


def assert_one_holder_at_a_time(path):
    first, second = FileLock(path), FileLock(path)
    assert first.acquire(0)
    assert not second.acquire(0.02)
    first.release()
    assert second.acquire(0)
    second.release()


def test_one_holder_at_a_time(tmp_path):
    assert_one_holder_at_a_time(str(tmp_path / "x"))


def test_the_lock_of_a_deleted_file_does_not_outlive_it(tmp_path):
    lock = FileLock(str(tmp_path / "x"))
    assert lock.acquire(0)
    lock.release()
    os.unlink(lock.path)
    assert lock.acquire(0)
    assert stat.S_IMODE(os.stat(lock.path).st_mode) == 0o600
    lock.release()


def test_forgetting_and_releasing_without_holding_do_nothing(tmp_path):
    lock = FileLock(str(tmp_path / "x"))
    lock.release()
    lock.forget()
    assert lock.acquire(0)
    lock.forget()
    assert FileLock(str(tmp_path / "x")).acquire(0)


@pytest.fixture
def without_locks_of_whole_files(monkeypatch):
    def refuse(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("agenttrace.store.lock.fcntl.flock", refuse)


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="no locks of ranges that belong to a handle")
def test_without_locks_of_whole_files_a_lock_of_a_range_has_one_holder(
    tmp_path, without_locks_of_whole_files
):
    assert_one_holder_at_a_time(str(tmp_path / "x"))


def test_a_system_without_any_locks_goes_without(tmp_path, monkeypatch, without_locks_of_whole_files):
    monkeypatch.delattr("agenttrace.store.lock.fcntl.F_OFD_SETLK", raising=False)
    first, second = FileLock(str(tmp_path / "x")), FileLock(str(tmp_path / "x"))
    assert first.acquire(0)
    assert second.acquire(0)
    first.release()
    second.release()


def test_a_note_is_read_by_the_next_holder_and_by_those_who_hold_nothing(tmp_path):
    first, second = FileLock(str(tmp_path / "x")), FileLock(str(tmp_path / "x"))
    assert second.read_note() == ""
    first.write_note("lost: the lock is not held")
    assert first.acquire(0)
    assert second.read_note() == ""
    first.write_note("a note that is rather long")
    first.write_note("a note")
    assert second.read_note() == "a note"
    first.release()
    assert second.acquire(0)
    assert second.read_note() == "a note"
    second.release()


def test_a_lock_file_that_is_somebody_elses_keeps_its_content(tmp_path):
    """As of a store named after a tool that has a file of pinned versions."""
    lock = FileLock(str(tmp_path / "x"))
    (tmp_path / "x.lock").write_text("version = 3\n")
    assert lock.acquire(0)
    lock.write_note("a note")
    assert lock.read_note() == ""
    lock.release()
    assert (tmp_path / "x.lock").read_text() == "version = 3\n"


def test_a_pipe_in_the_place_of_the_lock_has_no_note(tmp_path):
    os.mkfifo(tmp_path / "x.lock")
    lock = FileLock(str(tmp_path / "x"))
    assert lock.read_note() == ""
    assert lock.acquire(0)
    lock.write_note("a note")
    lock.release()


def test_a_fork_goes_before_a_thread_that_takes_the_lock_again_at_once():
    lock, order = ForkLock(), []

    def fork():
        assert lock.before_fork()
        order.append("fork")
        lock.after_fork_in_parent()

    for _ in range(20):
        assert lock.acquire()
        forking = threading.Thread(target=fork)
        forking.start()
        while not lock._fork_first.locked():  # until it waits
            time.sleep(0.001)
        lock.release()
        assert lock.acquire(timeout=30)
        order.append("write")
        lock.release()
        forking.join()
    assert order == ["fork", "write"] * 20


def test_a_child_knows_whether_it_was_forked_within_a_write():
    lock = ForkLock()
    assert lock.before_fork()
    assert not lock.is_held_by_another
    lock.after_fork_in_parent()
    lock.acquire()
    assert lock.is_held_by_another
