"""A disk that is full, read-only or forbidden."""

import os
import subprocess

import pytest
from store_faults import a_span, count, is_sound, run

from agenttrace.store import SQLiteStore

pytestmark = pytest.mark.faults


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MB, where this process may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_survived_and_writing_resumes_when_there_is_room(small_disk, caplog):
    """Scenario 75."""
    path = small_disk / "traces.db"
    store = SQLiteStore(path)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    for number in range(1, 201):
        store.export([a_span(number, output="x" * 10_000)])
    assert store.health().mode == "memory"
    assert "full" in store.health().trouble
    assert caplog.text.count("cannot be written") == 1
    assert len(store.trace(f"{1:032x}").spans) == 200

    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)

    assert store.flush(60) is True
    assert count(path) == 200
    assert is_sound(path)
    store.close()


def test_a_read_only_disk_makes_memory_take_over(small_disk, caplog):
    """Scenario 76."""
    path = small_disk / "traces.db"
    store = SQLiteStore(path)
    store.export([a_span(1)])
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for number in (2, 3):
        store.export([a_span(number)])
    health = store.health()
    assert (health.mode, health.waiting) == ("memory", 2)
    assert caplog.text.count("cannot be written") == 1
    assert len(store.trace(f"{1:032x}").spans) == 3

    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert store.flush(60) is True
    assert count(path) == 3
    store.close()


def test_a_file_that_may_not_grow_makes_memory_take_over_until_it_may(tmp_path):
    """Scenario 75, without a disk of its own: the process may write files of 200 KB only."""
    path = tmp_path / "traces.db"
    assert run("fill-a-limited-file", path, 200_000).split() == ["memory", "True", "sqlite", "0"]
    assert count(path) == 100
    assert is_sound(path)


def test_a_flush_says_that_nothing_is_on_a_disk_that_takes_nothing(tmp_path):
    """Scenarios 52 and 75, through the whole recorder."""
    path = tmp_path / "traces.db"
    said = run("record-where-no-file-may-grow", path).split()
    assert said == ["False", "0", "5", "memory", "True", "sqlite"]
    assert count(path) == 5


def test_a_process_without_file_handles_keeps_its_spans(tmp_path):
    """Scenario 76, EMFILE."""
    path = tmp_path / "traces.db"
    assert run("run-out-of-handles", path).split() == ["memory", "True", "sqlite"]
    assert count(path) == 2


def test_a_directory_that_may_not_be_written_makes_memory_take_over(tmp_path):
    """Scenario 76, EACCES."""
    place = tmp_path / "closed"
    place.mkdir()
    os.chmod(place, 0o500)
    assert run("write-as-nobody", place / "traces.db").split() == ["memory", "2", "False"]
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("error", [5, 122], ids=["EIO", "EDQUOT"])
def test_an_input_output_error_makes_memory_take_over(tmp_path, monkeypatch, caplog, error):
    """Scenario 76, EIO and EDQUOT."""

    def fail(*args):
        raise OSError(error, os.strerror(error))

    store = SQLiteStore(tmp_path / "traces.db")
    monkeypatch.setattr("agenttrace.store.files.create_private", fail)
    store.export([a_span(1)])
    store.export([a_span(2)])
    assert store.health().mode == "memory"
    assert os.strerror(error) in store.health().trouble
    assert len(caplog.records) == 1
    monkeypatch.undo()
    assert store.flush(60) is True
    assert count(tmp_path / "traces.db") == 2
    store.close()
