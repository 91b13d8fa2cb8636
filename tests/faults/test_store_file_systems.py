"""A store on a file system that is not a local disk's: without locks, without shared memory, in memory."""

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from recorder_faults import finish, numbers, run, start
from store_faults import a_span, count, is_sound

from agenttrace.store import SQLiteStore

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def poor_file_system(tmp_path_factory):
    """The environment of a process whose file system lacks something."""
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("shim") / "poor.so"
    source = Path(__file__).with_name("poor_file_system.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return lambda lacking: {**os.environ, "LD_PRELOAD": str(library), "TEST_WITHOUT": lacking}


RECORD = """
import logging, sys
logging.basicConfig(format="%(message)s")
from agenttrace import Tracer
from agenttrace.store import SQLiteStore
tracer = Tracer("x", store=SQLiteStore(sys.argv[1], busy_timeout=0.2))
work = tracer.observe(lambda n: n, name="work")
for n in range(5):
    assert work(n) == n
flushed = tracer.flush(3)
for n in range(5, 10):
    assert work(n) == n
print(bool(tracer.flush(3)), tracer.flush(3).pending, tracer.store.health().mode)
"""


def recorded(environment, path):
    """What a process that records ten calls there says on stdout, and what it logs."""
    done = subprocess.run(
        [sys.executable, "-c", RECORD, str(path)], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr.splitlines()


def test_a_file_system_without_any_locks_is_told_once_and_nothing_is_lost_meanwhile(
    poor_file_system, tmp_path
):
    """Scenario 82: NFS without its lock daemon. SQLite takes that for a file that others hold, for ever."""
    said, logged = recorded(poor_file_system("locks"), tmp_path / "traces.db")
    assert said == ["False", "10", "memory"]
    told = [line for line in logged if "has no locks" in line]
    assert len(told) == 1
    assert "a local disk" in told[0]


def test_a_file_system_without_shared_memory_is_told_once_and_nothing_is_lost_meanwhile(
    poor_file_system, tmp_path
):
    """Scenario 82."""
    said, logged = recorded(poor_file_system("mmap"), tmp_path / "traces.db")
    assert said == ["False", "10", "memory"]
    assert sum("cannot be written" in line for line in logged) == 1


def test_where_only_the_locks_of_whole_files_are_missing_everything_is_stored(poor_file_system, tmp_path):
    """Scenario 82, by three processes at once: SQLite's own locks do."""
    path = tmp_path / "traces.db"
    children = [
        start("write_many", path, number * 100, 100, extra=poor_file_system("flock")) for number in range(3)
    ]
    for child in children:
        code, out, err = finish(child)
        assert (code, out.split(), err) == (0, ["100"], "")
    assert sorted(numbers(path)) == list(range(300))


@pytest.fixture(params=[errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def without_locks(request, monkeypatch):
    """Locks of whole files are refused in each of the ways that systems have."""

    def refuse(handle, how):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr("agenttrace.store.lock.fcntl.flock", refuse)


def at_once(count, action):
    """What each of several threads got that began at once: None, or the error that it raised."""
    start, errors = threading.Barrier(count), [None] * count

    def run(number):
        start.wait(60)
        try:
            action(number)
        except Exception as error:
            errors[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return errors


def write(path, trace, times):
    store = SQLiteStore(path)
    for number in range(1, times + 1):
        store.export([a_span(number, trace)])
    store.close()


def test_without_locks_everything_is_stored(tmp_path, without_locks):
    """Scenario 82, by two threads with stores of their own."""
    path = tmp_path / "traces.db"
    assert at_once(2, lambda number: write(path, number + 1, 50)) == [None, None]
    assert count(path) == 100
    assert is_sound(path)


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="no locks of ranges that belong to a handle")
def test_without_locks_of_whole_files_a_store_is_made_by_several_at_once(tmp_path, without_locks):
    """Scenario 82: SQLite refuses at once whoever changes a new file's journal beside another."""
    for attempt in range(20):
        path = tmp_path / f"{attempt}.db"
        assert at_once(4, lambda number, path=path: write(path, number + 1, 1)) == [None] * 4
        assert count(path) == 4


@pytest.fixture
def shared_memory():
    """A directory on the tmpfs of the machine."""
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK):
        pytest.skip("there is no /dev/shm here")
    with tempfile.TemporaryDirectory(dir=place) as directory:
        yield Path(directory)


def test_a_store_on_tmpfs_is_shared_forked_and_killed_like_any_other(shared_memory):
    """Scenarios 65, 73 and 75, on a file system in memory."""
    path = shared_memory / "traces.db"
    children = [start("write_many", path, number * 100, 100) for number in range(3)]
    for child in children:
        assert finish(child)[0] == 0
    run("leave_at_once", shared_memory / "left.db")
    run("fork_and_do_nothing", shared_memory / "forked.db")
    assert sorted(numbers(path)) == list(range(300))
    assert set(range(20)) <= set(numbers(shared_memory / "left.db"))
    assert numbers(shared_memory / "forked.db") == [0, 1]
