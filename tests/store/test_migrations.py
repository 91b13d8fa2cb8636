import sqlite3

import pytest

from agenttrace.store import migrations


@pytest.fixture
def db():
    made = sqlite3.connect(":memory:", isolation_level=None)
    yield made
    made.close()


def test_the_steps_are_applied_once_and_named(db):
    assert migrations.state(db) == "empty"
    migrations.migrate(db)
    before = db.execute("SELECT name, applied_ns FROM migrations").fetchall()
    migrations.migrate(db)
    assert db.execute("SELECT name, applied_ns FROM migrations").fetchall() == before
    assert [name for name, _ in before] == [name for name, _ in migrations.MIGRATIONS]
    assert migrations.state(db) == "current"


def test_a_file_of_an_earlier_version_gets_the_missing_steps(db, monkeypatch):
    whole = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:1])
    migrations.migrate(db)
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    assert migrations.state(db) == "older"
    migrations.migrate(db)
    assert migrations.state(db) == "current"


def test_a_step_that_fails_leaves_nothing_of_itself(db, monkeypatch):
    broken = (*migrations.MIGRATIONS, ("9999_broken", ("CREATE TABLE half (x)", "CREATE TABLE half (x)")))
    monkeypatch.setattr(migrations, "MIGRATIONS", broken)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrations.migrate(db)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    assert "half" not in tables
    assert "span_rows" in tables
    assert migrations.state(db) == "older"


def test_an_unknown_step_means_a_newer_file(db):
    migrations.migrate(db)
    db.execute("INSERT INTO migrations VALUES ('9999_from_the_future', 1)")
    assert migrations.state(db) == "newer"


def test_tables_of_others_mean_a_foreign_file(db):
    db.execute("CREATE TABLE migrations (name)")
    assert migrations.state(db) == "foreign"
