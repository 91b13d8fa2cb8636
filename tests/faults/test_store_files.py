"""Files that are deleted, replaced, damaged, copied or linked."""

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest
from store_faults import a_span, count, is_sound, rows, scaled

from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore

pytestmark = pytest.mark.faults


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sub" / "traces.db"


def filled(path, spans=300):
    store = SQLiteStore(path)
    store.export([a_span(number, number // 10 + 1, output="x" * 200) for number in range(1, spans + 1)])
    store.save_dataset("d", "p", [1])
    store.close()
    return store


def delete(path):
    for side in ("", "-wal", "-shm"):
        if os.path.exists(f"{path}{side}"):
            os.unlink(f"{path}{side}")


@pytest.mark.parametrize(
    "vanish",
    [
        delete,
        lambda path: os.unlink(path),
        lambda path: os.rename(path, f"{path}.bak"),
        lambda path: shutil.rmtree(path.parent),
        lambda path: os.rename(path.parent, f"{path.parent}.bak"),
    ],
    ids=["deleted", "deleted without its log", "renamed", "directory deleted", "directory renamed"],
)
def test_a_file_that_is_gone_is_noticed_before_the_next_batch(path, caplog, vanish):
    """Scenario 77."""
    store = SQLiteStore(path)
    store.export([a_span(number) for number in range(1, 11)])
    vanish(path)
    store.export([a_span(11)])
    health = store.health()
    assert (health.mode, health.reopened, health.lost) == ("sqlite", 1, 10)
    assert caplog.text.count("deleted or renamed") == 1
    assert count(path) == 1
    store.export([a_span(12)])
    assert store.health().reopened == 1
    store.close()
    assert is_sound(path)


def test_a_file_that_is_gone_is_noticed_by_a_flush(path):
    """Scenario 77."""
    store = SQLiteStore(path)
    store.export([a_span(1)])
    delete(path)
    assert store.flush(60) is True
    assert (store.health().reopened, store.health().lost) == (1, 1)
    store.close()


@pytest.mark.parametrize("notice", ["write", "flush"])
def test_a_file_that_is_emptied_in_use_is_moved_aside_and_counted(path, caplog, notice):
    """Scenario 77. SQLite would go on in its log, which the first reader of an empty file removes."""
    store = SQLiteStore(path)
    store.export([a_span(number) for number in range(1, 11)])
    os.truncate(path, 0)
    if notice == "flush":
        assert store.flush(60) is True
        assert store.health().lost == 10
    for number in range(11, 14):
        store.export([a_span(number)])
        assert count(path) == number - 10
    health = store.health()
    assert (health.mode, health.reopened, health.lost, len(health.moved_aside)) == ("sqlite", 1, 10, 1)
    assert caplog.text.count("it was emptied while in use") == 1
    store.close()
    assert is_sound(path)


@pytest.mark.parametrize("folded", [0, 5])
def test_a_log_that_is_emptied_in_use_is_noticed_and_what_was_only_there_is_counted(path, caplog, folded):
    """Scenario 77. SQLite would fold zeros for the gap into the file, which no reader could open then."""
    store = SQLiteStore(path)
    store.export([a_span(number) for number in range(1, 6)])
    if folded:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.export([a_span(number) for number in range(6, 11)])
    os.truncate(f"{path}-wal", 0)
    for number in range(11, 14):
        store.export([a_span(number)])
        assert count(path) == folded + number - 10
    health = store.health()
    assert (health.mode, health.reopened, health.lost, health.moved_aside) == ("sqlite", 1, 10, [])
    assert caplog.text.count("was emptied while in use") == 1
    store.close()
    assert is_sound(path)
    assert count(path) == folded + 3


def garbage(path, chance):
    path.write_bytes(chance.randbytes(20_000))


def header(path, chance):
    with open(path, "r+b") as file:
        file.write(chance.randbytes(100))


def truncate(path, chance):
    os.truncate(path, os.path.getsize(path) // 2 - 123)


def schema_page(path, chance):
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(chance.randbytes(3_900))


def text(path, chance):
    path.write_text("name,amount\nann,12\n" * 300)


@pytest.mark.parametrize("damage", [garbage, header, schema_page, truncate, text])
def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(path, caplog, damage):
    """Scenario 78."""
    filled(path)
    damage(path, random.Random(78))
    before = path.read_bytes()

    store = SQLiteStore(path)
    for number in range(1, 400):
        store.export([a_span(number, number)])

    (kept,) = store.health().moved_aside
    assert os.path.basename(kept).startswith("traces.db.corrupt-")
    assert caplog.text.count("could not be used") == 1
    assert store.health().mode == "sqlite"
    store.close()
    if damage is not truncate:  # there the new rows went into the old file until the hole was met
        with open(kept, "rb") as file:
            assert file.read() == before
        assert count(path) == 399
    assert is_sound(path)


def test_4_kb_of_noise_anywhere_never_reach_the_caller(path):
    """Scenario 78."""
    chance = random.Random(7878)
    filled(path, 2_000)
    whole = path.read_bytes()
    for _ in range(scaled(12, 200)):
        delete(path)
        damaged = bytearray(whole)
        at = chance.randrange(len(whole) - 4096)
        damaged[at : at + 4096] = chance.randbytes(4096)
        path.write_bytes(damaged)
        store = SQLiteStore(path)
        for number in range(1, 5):
            store.export([a_span(number, 1 << 100)])
            try:
                store.traces()
                store.trace(f"{1 << 100:032x}")
            except StoreError:
                continue
        assert store.health().mode == "sqlite"
        store.close()


def test_an_empty_file_becomes_a_store(path):
    """Scenario 78."""
    path.parent.mkdir()
    path.touch()
    store = SQLiteStore(path)
    assert store.traces() == []
    store.export([a_span(1)])
    assert count(path) == 1
    store.close()


def test_a_file_whose_tables_are_gone_is_moved_aside(path):
    """Scenario 78."""
    filled(path)
    db = sqlite3.connect(path)
    db.execute("DROP TABLE span_rows")
    db.close()
    store = SQLiteStore(path)
    store.export([a_span(1)])
    assert len(store.health().moved_aside) == 1
    assert count(path) == 1
    store.close()


def test_two_stores_that_meet_one_damaged_file_move_it_aside_once(path):
    """Scenario 78, with the second writer finding the first one's new file."""
    filled(path)
    first, second = SQLiteStore(path), SQLiteStore(path)
    first.export([a_span(1, 1 << 90)])
    second.export([a_span(2, 1 << 90)])
    header(path, random.Random(1))
    first.close()
    first.export([a_span(3, 1 << 91)])
    second.export([a_span(4, 1 << 91)])
    assert len(list(path.parent.glob("*.corrupt-*"))) <= 3, "one file with its log"
    assert rows(path, "SELECT count(*) FROM spans WHERE trace_id = ?", f"{1 << 91:032x}") == [(2,)]
    first.close()
    second.close()
    assert is_sound(path)


def test_a_copy_without_its_log_opens_as_of_the_last_checkpoint(path, tmp_path):
    """Scenario 79."""
    store = SQLiteStore(path)
    store.export([a_span(number) for number in range(1, 11)])
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    store.close()
    other = SQLiteStore(copy)
    other.export([a_span(11)])
    assert count(copy) <= 11
    other.close()
    assert is_sound(copy)


def test_a_copy_with_its_log_but_without_the_index_of_it_is_whole(path, tmp_path):
    """Scenario 79."""
    store = SQLiteStore(path)
    store.export([a_span(number) for number in range(1, 11)])
    for side in ("", "-wal"):
        shutil.copy(f"{path}{side}", tmp_path / f"copy.db{side}")
    store.close()
    other = SQLiteStore(tmp_path / "copy.db")
    assert len(other.trace(f"{1:032x}").spans) == 10
    other.export([a_span(11)])
    assert count(tmp_path / "copy.db") == 11
    other.close()


@pytest.mark.parametrize("size", [0, 31, 5_000])
def test_a_log_of_noise_is_not_read(path, size):
    """Scenario 79."""
    filled(path)
    (path.parent / "traces.db-wal").write_bytes(random.Random(79).randbytes(size))
    store = SQLiteStore(path)
    store.export([a_span(1, 1 << 100)])
    store.close()
    assert count(path) == 301
    assert is_sound(path)


def test_the_documented_backup_is_a_whole_store(path, tmp_path):
    """Scenario 79: VACUUM INTO, while the store is in use."""
    store = SQLiteStore(path)
    store.export([a_span(number) for number in range(1, 11)])
    backup = tmp_path / "backup.db"
    rows(path, "VACUUM INTO ?", str(backup))
    assert len(SQLiteStore(backup).trace(f"{1:032x}").spans) == 10
    store.close()


def test_only_the_owner_may_read_the_store(path):
    """Scenario 87."""
    old = os.umask(0)
    try:
        store = SQLiteStore(path)
        store.export([a_span(1)])
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    modes = {name: stat.S_IMODE(os.stat(path.parent / name).st_mode) for name in os.listdir(path.parent)}
    assert modes == dict.fromkeys(["traces.db", "traces.db-wal", "traces.db-shm", "traces.db.lock"], 0o600)
    store.close()


@pytest.mark.parametrize("side", ["", "-wal", "-shm", ".lock"])
def test_a_symbolic_link_is_never_followed(path, tmp_path, side):
    """Scenario 87."""
    path.parent.mkdir()
    target = tmp_path / "precious"
    target.write_text("keep me")
    os.symlink(target, f"{path}{side}")
    store = SQLiteStore(path)
    store.export([a_span(1)])
    assert store.health().mode == "memory"
    assert target.read_text() == "keep me"
    assert len(store.health().trouble) > 10
    assert store.flush(0.1) is False


_CLOSES_DESCRIPTORS = """
import os, sys, time
from agenttrace import Tracer

tracer = Tracer("s", store=sys.argv[1])

@tracer.observe
def call(number):
    return "x" * 2_000

for number in range(10):
    call(number)
assert tracer.flush(30).stored == 10
os.closerange(3, 256)  # as code does that closes what it inherited
kept = []
for number in range(12):
    kept.append(open(f"{sys.argv[2]}/{number}.txt", "w+"))
    kept[-1].write("the user's")
    kept[-1].flush()
if sys.argv[3] != "at once":
    for number in range(3_000):
        call(number)
    tracer.flush(5)
    health = tracer.store.health()
    print(health.mode, health.waiting, health.trouble, flush=True)
tracer.shutdown(timeout=5) if sys.argv[3] == "shutdown" else None
"""


@pytest.mark.parametrize("ending", ["shutdown", "exit", "at once"])
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list descriptors")
def test_files_that_get_the_numbers_of_closed_descriptors_are_not_written(path, tmp_path, ending):
    ended = subprocess.run(
        [sys.executable, "-c", _CLOSES_DESCRIPTORS, path, tmp_path, ending],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert [(tmp_path / f"{number}.txt").read_text() for number in range(12)] == ["the user's"] * 12
    if ending != "at once":
        assert ended.stdout.startswith("memory 3000 ")
        assert "closed the descriptors" in ended.stdout
        assert "closed the descriptors" in ended.stderr
    assert is_sound(path)
    assert count(path) == 10
