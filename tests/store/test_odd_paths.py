"""Stores at odd paths, with odd permissions, and with files taken away while they are used."""

import os
import stat

import pytest

from agenttrace import Tracer
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.store import SQLiteStore


def record(path, calls=1):
    tracer = Tracer("odd", store=path)
    tool = tracer.observe(lambda number: number)
    for number in range(calls):
        tool(number)
    assert tracer.flush()
    stored = tracer.store.traces()
    tracer.shutdown()
    return stored


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_path_with_bytes_of_no_encoding_holds_a_store(tmp_path):
    place = os.fsencode(tmp_path) + b"/tr\xff\xfeaces.db"
    try:
        open(place, "wb").close()
        os.remove(place)
    except OSError:
        pytest.skip("this file system takes no such names")
    assert len(record(os.fsdecode(place))) == 1
    assert os.path.exists(place)


@pytest.mark.parametrize("length", [300, 5_000])
def test_a_path_that_is_too_long_is_wrong_use(tmp_path, length):
    with pytest.raises(ConfigError):
        Tracer("odd", store=str(tmp_path / ("a" * length)))


def test_directories_that_are_made_for_a_store_are_for_their_owner_only(tmp_path, open_umask):
    record(str(tmp_path / "one" / "two" / "three" / "traces.db"))
    made = ["one", "one/two", "one/two/three"]
    assert [oct(mode(tmp_path / name)) for name in made] == ["0o700"] * 3


def test_a_store_that_everybody_could_read_is_closed_to_them_when_it_is_written(tmp_path, open_umask):
    """As a backup is restored, by ``VACUUM INTO`` or a copy."""
    path = tmp_path / "traces.db"
    record(str(path))
    os.chmod(path, 0o644)
    tracer = Tracer("odd", store=str(path))
    tracer.observe(lambda: 1)()
    tracer.flush()
    for suffix in ("", "-wal", "-shm"):
        assert mode(f"{path}{suffix}") & stat.S_IRWXO == 0, suffix
    tracer.shutdown()


def test_a_store_that_a_group_shares_stays_theirs(tmp_path):
    path = tmp_path / "traces.db"
    record(str(path))
    os.chmod(path, 0o660)
    record(str(path))
    assert oct(mode(path)) == "0o660"


def test_a_log_that_is_removed_while_it_is_used_is_named_and_nothing_is_lost(tmp_path):
    """SQLite still has the log that has no name any more; the next write folds it into the file."""
    path = str(tmp_path / "traces.db")
    tracer = Tracer("odd", store=path)
    tool = tracer.observe(lambda number: number)
    tool(1)
    assert tracer.flush()
    os.remove(path + "-wal")
    with pytest.raises(StoreError, match="its log FILE-wal was removed while it is in use"):
        SQLiteStore(path).traces()
    tool(2)
    assert tracer.flush()
    assert len(SQLiteStore(path).traces()) == 2
    tracer.shutdown()
    tracer.store.close()
    assert len(SQLiteStore(path).traces()) == 2


@pytest.mark.parametrize("suffixes", [["-shm"], ["-wal", "-shm"]], ids=str)
def test_an_index_of_the_log_that_is_removed_while_it_is_used_loses_nothing(tmp_path, suffixes):
    path = str(tmp_path / "traces.db")
    tracer = Tracer("odd", store=path)
    tool = tracer.observe(lambda number: number)
    tool(1)
    assert tracer.flush()
    for suffix in suffixes:
        os.remove(path + suffix)
    tool(2)
    assert tracer.flush()
    tracer.shutdown()
    tracer.store.close()
    assert len(SQLiteStore(path).traces()) == 2


def test_a_home_that_nobody_has_is_wrong_use():
    with pytest.raises(ConfigError, match="no home directory"):
        Tracer("odd", store="~nobody-of-this-name/traces.db")


def test_a_working_directory_that_is_gone_breaks_no_call(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    tracer = Tracer("odd", store="traces.db")
    assert tracer.observe(lambda number: number)(7) == 7
    assert not tracer.flush()
    assert tracer.stats()["pending"] == 1
    tracer.shutdown()
