"""A file that a newer version has written, met by this one."""

import contextlib
import sqlite3

import pytest
from store_faults import a_span, ask, count, finish, is_sound, rows, start

from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore, migrations

pytestmark = pytest.mark.faults

OURS = len(migrations.MIGRATIONS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def filled(path, spans=300):
    store = SQLiteStore(path)
    store.export([a_span(number, number // 10 + 1, output="x" * 200) for number in range(1, spans + 1)])
    store.close()


def migrate_as_newer(path, *statements, step="9999_later"):
    """What a later version does to a file, also while others have it open: it says which may go on."""
    if not any("user_version" in statement for statement in statements):
        statements = (*statements, f"PRAGMA user_version = {OURS + 1}")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        for statement in statements:
            db.execute(statement)
        db.execute("INSERT INTO later_migrations VALUES (?, 1)", (step,))
        db.execute("COMMIT")


def test_a_file_of_a_newer_version_is_left_alone(path, caplog):
    """Scenario 78: a team's file must not be moved away by the one process that was not upgraded."""
    filled(path)
    migrate_as_newer(path, "ALTER TABLE span_rows ADD COLUMN later")
    before = path.read_bytes()
    store = SQLiteStore(path)
    with pytest.raises(StoreError, match=r"newer version.*upgrade"):
        store.traces()
    for number in (1, 2, 3):
        store.export([a_span(number)])
    health = store.health()
    assert (health.mode, health.waiting, health.written, health.moved_aside) == ("memory", 3, 0, [])
    assert "newer version" in health.trouble
    assert "upgrade, or give the store another path" in health.trouble
    assert len(caplog.records) == 1
    assert "upgrade" in caplog.text
    assert store.flush(0.1) is False
    with pytest.raises(StoreError, match="newer version"):
        store.save_dataset("d", "p", [])
    with pytest.raises(StoreError, match="newer version"):
        store.traces()
    store.close()
    assert path.read_bytes() == before
    assert count(path) == 300
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["traces.db", "traces.db.lock"]


@pytest.mark.parametrize(
    "statements",
    [(), ("CREATE TABLE later (x)",), ("DROP TABLE quarantine", f"PRAGMA user_version = {OURS + 1}")],
    ids=["no tables", "another table", "a table less"],
)
def test_a_file_that_becomes_newer_while_it_is_open_is_written_no_more(path, caplog, statements):
    """Scenario 78, met between two batches."""
    store = SQLiteStore(path)
    store.export([a_span(1), a_span(2)])
    migrate_as_newer(path, *statements)
    store.export([a_span(3)])
    store.export([a_span(4)])
    health = store.health()
    assert (health.mode, health.waiting, health.written, health.moved_aside) == ("memory", 2, 2, [])
    assert "newer version" in health.trouble
    assert len(caplog.records) == 1
    assert store.flush(0.1) is False
    assert count(path) == 2
    with pytest.raises(StoreError, match="newer version"):
        store.traces()
    store.close()
    assert is_sound(path)
    assert list(path.parent.glob("*.corrupt-*")) == []


def test_processes_that_share_a_file_all_stop_when_a_newer_one_has_migrated_it(path):
    """Scenario 78, with processes of their own."""
    children = [start("obey", path, trace) for trace in (1, 2, 3)]
    for child in children:
        assert ask(child, "store") == ["sqlite", "1", "0", "0"]
    migrate_as_newer(path, "CREATE TABLE later (x)")
    for child in children:
        assert ask(child, "store") == ["memory", "1", "0", "1"]
        assert ask(child, "flush") == ["memory", "1", "0", "1"]
        finish(child)
    assert count(path) == 3
    assert is_sound(path)
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["traces.db", "traces.db.lock"]


@pytest.mark.parametrize("is_open", [True, False])
def test_a_newer_version_may_let_older_ones_go_on(path, is_open):
    """The file says how many steps one must know."""
    store = SQLiteStore(path)
    store.export([a_span(1)])
    if not is_open:
        store.close()
    migrate_as_newer(path, "CREATE TABLE later (x)", f"PRAGMA user_version = {OURS}")
    store.export([a_span(2)])
    assert (store.health().mode, store.health().written) == ("sqlite", 2)
    assert len(store.trace(f"{1:032x}").spans) == 2
    store.close()
    assert rows(path, "SELECT count(*) FROM later_migrations") == [(OURS - 3 + 1,)]
    assert rows(path, "PRAGMA user_version") == [(OURS,)]

    store.export([a_span(3)])
    migrate_as_newer(path, f"PRAGMA user_version = {OURS + 2}", step="99999_too_much")
    store.export([a_span(4)])
    assert (store.health().mode, store.health().waiting) == ("memory", 1)
    store.close()


def test_what_memory_held_goes_to_the_file_of_an_older_version_put_back_in_its_place(path, tmp_path):
    """A downgrade: the backup of before is restored."""
    filled(path)
    rows(path, "VACUUM INTO ?", str(tmp_path / "backup.db"))
    store = SQLiteStore(path)
    store.export([a_span(1, 1 << 90)])
    migrate_as_newer(path, "CREATE TABLE later (x)")
    store.export([a_span(2, 1 << 90)])
    assert store.health().mode == "memory"
    (tmp_path / "backup.db").replace(path)
    assert store.flush(60) is True
    assert count(path) == 301
    store.close()
    assert is_sound(path)
