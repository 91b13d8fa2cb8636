import sqlite3

import pytest

from agenttrace.store import migrations


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:", isolation_level=None)
    yield db
    db.close()


def test_the_steps_are_applied_once_and_named(db):
    assert migrations.state(db) == "empty"
    migrations.migrate(db)
    steps = "SELECT name, applied_ns FROM migrations UNION ALL SELECT name, applied_ns FROM later_migrations"
    before = db.execute(steps).fetchall()
    migrations.migrate(db)
    assert db.execute(steps).fetchall() == before
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


@pytest.mark.parametrize("table", ["migrations", "later_migrations"])
def test_an_unknown_step_means_a_newer_file(db, table):
    migrations.migrate(db)
    db.execute(f"INSERT INTO {table} VALUES ('9999_from_the_future', 1)")
    db.execute(f"PRAGMA user_version = {len(migrations.MIGRATIONS) + 1}")
    assert migrations.state(db) == "newer"


def test_tables_of_others_mean_a_foreign_file(db):
    db.execute("CREATE TABLE migrations (name)")
    assert migrations.state(db) == "foreign"


@pytest.mark.parametrize(
    ("more_than_ours", "state"), [(-99, "newer"), (-2, "current"), (0, "current"), (1, "newer")]
)
def test_a_newer_file_says_how_many_steps_one_must_know_to_go_on_with_it(db, more_than_ours, state):
    migrations.migrate(db)
    least_steps = max(0, len(migrations.MIGRATIONS) + more_than_ours)  # 0: it says nothing
    db.execute("INSERT INTO migrations VALUES ('9999_from_the_future', 1)")
    db.execute(f"PRAGMA user_version = {least_steps}")
    assert migrations.state(db) == state


def test_a_newer_file_that_lacks_a_step_of_ours_is_none_to_go_on_with(db):
    migrations.migrate(db)
    db.execute("UPDATE migrations SET name = '9999_from_the_future' WHERE name = '0003_outbox'")
    db.execute("PRAGMA user_version = 2")
    assert migrations.state(db) == "newer"


def test_every_later_step_says_which_versions_may_go_on(db, monkeypatch):
    steps = migrations.MIGRATIONS
    for count in range(4, len(steps) + 1):
        monkeypatch.setattr(migrations, "MIGRATIONS", steps[:count])
        db.execute("PRAGMA user_version = 0")
        migrations.migrate(db)
        assert db.execute("PRAGMA user_version").fetchone() != (0,)
