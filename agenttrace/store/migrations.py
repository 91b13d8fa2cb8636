"""The schema of a store's file, as named steps that are each applied once.

A step runs in a transaction of its own together with the row that names it, so a process that is killed in
between leaves either the old schema or the new one.

The first three steps are named in the table ``migrations``, all later ones in ``later_migrations``: versions
that know the former alone would take a step that they do not know for damage, and move the file aside. Such
versions go on reading; what they would write into a table that has changed SQLite refuses, and they keep it
in memory.

A file that names a step which this version does not know was written by a newer version. It is left alone
unless it says that older versions may use it: its ``user_version`` is the number of steps that a version
must know to read and write it; 0 says nothing. So every step after the third sets it. A step that versions
with four steps may ignore has ``PRAGMA user_version = 4`` among its statements; others set their own number.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Literal

from agenttrace.store.span_table import SPANS_VIEW, number_span_rows

APPLICATION_ID = 0x61677472
"""What marks a SQLite file as ours (the letters agtr)."""

Step = tuple[str, ...] | Callable[[sqlite3.Connection], None]
"""SQL statements, or a function, for one transaction."""

_TABLES_BESIDE = ("0006_failures_people_writers", "0007_queued_work")

MIGRATIONS: tuple[tuple[str, Step], ...] = (
    (
        "0001_first_tables",
        (
            """CREATE TABLE traces (
                id INTEGER PRIMARY KEY,
                trace_id TEXT NOT NULL UNIQUE,
                project TEXT NOT NULL,
                name TEXT,
                started_ns INTEGER NOT NULL
            )""",
            "CREATE INDEX traces_by_start ON traces (started_ns)",
            """CREATE TABLE functions (
                id INTEGER PRIMARY KEY,
                project TEXT NOT NULL,
                name TEXT NOT NULL,
                span_type TEXT NOT NULL,
                definition TEXT NOT NULL,
                UNIQUE (project, name, span_type, definition)
            )""",
            """CREATE TABLE span_rows (
                trace INTEGER NOT NULL,
                span INTEGER NOT NULL,
                parent INTEGER,
                seq INTEGER NOT NULL,
                function INTEGER NOT NULL,
                start_ns INTEGER NOT NULL,
                end_ns INTEGER NOT NULL,
                input TEXT,
                output TEXT,
                rest TEXT,
                PRIMARY KEY (trace, span)
            ) WITHOUT ROWID""",
            SPANS_VIEW.format(rows="span_rows", more=""),
            """CREATE VIEW tools AS SELECT id, project, name, definition
                FROM functions WHERE span_type = 'tool' AND definition <> ''""",
            """CREATE TABLE scores (
                id INTEGER PRIMARY KEY,
                trace_id TEXT,
                span_id TEXT,
                run_id TEXT,
                result INTEGER,
                name TEXT NOT NULL,
                value REAL,
                threshold REAL NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                error TEXT,
                model TEXT,
                cost REAL,
                duration REAL,
                rest TEXT,
                created_ns INTEGER NOT NULL
            )""",
            "CREATE INDEX scores_by_trace ON scores (trace_id)",
            "CREATE INDEX scores_by_run ON scores (run_id, result)",
            """CREATE TABLE runs (
                run_id TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                project TEXT NOT NULL,
                model TEXT,
                started_ns INTEGER NOT NULL,
                duration REAL NOT NULL,
                passed INTEGER NOT NULL,
                failed INTEGER NOT NULL,
                errored INTEGER NOT NULL,
                metadata TEXT
            )""",
            """CREATE TABLE results (
                run_id TEXT NOT NULL,
                result INTEGER NOT NULL,
                position INTEGER NOT NULL,
                name TEXT,
                outcome TEXT NOT NULL,
                trial INTEGER NOT NULL,
                trials INTEGER NOT NULL,
                trace_id TEXT,
                run_duration REAL,
                error TEXT,
                source TEXT,
                example TEXT,
                PRIMARY KEY (run_id, result)
            ) WITHOUT ROWID""",
            """CREATE TABLE datasets (
                project TEXT NOT NULL,
                alias TEXT NOT NULL,
                version INTEGER NOT NULL,
                created_ns INTEGER NOT NULL,
                content TEXT NOT NULL,
                PRIMARY KEY (project, alias, version)
            )""",
            """CREATE TABLE quarantine (
                id INTEGER PRIMARY KEY,
                trace_id TEXT,
                span_id TEXT,
                name TEXT,
                reason TEXT NOT NULL,
                created_ns INTEGER NOT NULL
            )""",
        ),
    ),
    (
        "0002_pending_evaluations",
        (
            """CREATE TABLE pending_evaluations (
                id INTEGER PRIMARY KEY,
                key TEXT NOT NULL UNIQUE,
                project TEXT NOT NULL,
                request TEXT NOT NULL,
                created_ns INTEGER NOT NULL
            )""",
        ),
    ),
    (
        "0003_outbox",
        (
            """CREATE TABLE outbox (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                destination TEXT NOT NULL,
                kind TEXT NOT NULL,
                content_type TEXT NOT NULL,
                items INTEGER NOT NULL,
                bytes INTEGER NOT NULL,
                refused TEXT,
                created_ns INTEGER NOT NULL,
                body BLOB NOT NULL
            )""",
            "CREATE INDEX outbox_sizes ON outbox (destination, refused IS NULL, id, bytes, items)",
            "CREATE INDEX outbox_waiting ON outbox (destination, id) WHERE refused IS NULL",
            """CREATE TABLE outbox_senders (
                destination TEXT PRIMARY KEY,
                holder TEXT NOT NULL,
                until_ns INTEGER NOT NULL
            )""",
        ),
    ),
    ("0004_numbered_rows", number_span_rows),
    (
        "0005_what_is_to_be_sent",
        (
            """CREATE TABLE to_send (
                id INTEGER PRIMARY KEY,
                destination TEXT NOT NULL,
                kind TEXT NOT NULL,
                first INTEGER NOT NULL,
                last INTEGER NOT NULL,
                items INTEGER NOT NULL,
                refused TEXT,
                extended_ns INTEGER NOT NULL
            )""",
            "CREATE INDEX to_send_waiting ON to_send (destination, kind, first) WHERE refused IS NULL",
            """CREATE TABLE leases (
                name TEXT PRIMARY KEY,
                holder TEXT NOT NULL,
                until_ns INTEGER NOT NULL
            ) WITHOUT ROWID""",
            "ALTER TABLE traces ADD COLUMN customer TEXT",
            "CREATE INDEX traces_by_customer ON traces (customer, started_ns) WHERE customer IS NOT NULL",
            "CREATE INDEX traces_by_project ON traces (project, started_ns)",
            "CREATE INDEX scores_by_outcome ON scores (name, outcome, created_ns)",
            "PRAGMA user_version = 5",
        ),
    ),
    (
        _TABLES_BESIDE[0],
        (
            """CREATE TABLE failures (
                id INTEGER PRIMARY KEY,
                project TEXT NOT NULL,
                fingerprint TEXT NOT NULL,
                scorer TEXT NOT NULL,
                title TEXT NOT NULL,
                state TEXT NOT NULL,
                fixed_in TEXT,
                changed_ns INTEGER,
                first_ns INTEGER NOT NULL,
                last_ns INTEGER NOT NULL,
                count INTEGER NOT NULL,
                revisions TEXT NOT NULL,
                alerted_ns INTEGER,
                UNIQUE (project, fingerprint)
            )""",
            """CREATE TABLE failure_cases (
                failure INTEGER NOT NULL,
                trace_id TEXT,
                run_id TEXT,
                result INTEGER,
                seen_ns INTEGER NOT NULL
            )""",
            "CREATE INDEX failure_cases_by_failure ON failure_cases (failure, seen_ns)",
            "CREATE INDEX failure_cases_by_trace ON failure_cases (trace_id, failure)",
            "CREATE INDEX failure_cases_by_run ON failure_cases (run_id, result) WHERE run_id IS NOT NULL",
            """CREATE TABLE annotations (
                id TEXT PRIMARY KEY,
                project TEXT NOT NULL,
                trace_id TEXT,
                span_id TEXT,
                run_id TEXT,
                result INTEGER,
                label TEXT,
                thumbs TEXT,
                score REAL,
                note TEXT,
                expected TEXT,
                author TEXT,
                created_ns INTEGER NOT NULL
            ) WITHOUT ROWID""",
            "CREATE INDEX annotations_by_trace ON annotations (trace_id, created_ns)",
            "CREATE INDEX scores_by_time ON scores (created_ns) WHERE run_id IS NULL",
            """CREATE TABLE writers (
                id TEXT PRIMARY KEY,
                machine TEXT NOT NULL,
                pid INTEGER NOT NULL,
                program TEXT NOT NULL,
                started_ns INTEGER NOT NULL,
                seen_ns INTEGER NOT NULL,
                ended_ns INTEGER,
                counts TEXT NOT NULL
            ) WITHOUT ROWID""",
            "PRAGMA user_version = 5",  # of these tables a version with five steps needs to know nothing
        ),
    ),
    (
        _TABLES_BESIDE[1],
        (
            """CREATE TABLE work (
                id INTEGER PRIMARY KEY,
                project TEXT NOT NULL,
                trace_id TEXT NOT NULL,
                rule TEXT NOT NULL,
                due_ns INTEGER NOT NULL,
                state TEXT NOT NULL DEFAULT 'waiting',
                again_ns INTEGER,
                owner TEXT,
                number INTEGER NOT NULL DEFAULT 0,
                tries INTEGER NOT NULL DEFAULT 0,
                seen TEXT,
                scores TEXT,
                UNIQUE (project, trace_id, rule)
            )""",
            "CREATE INDEX work_open ON work (state, rule, project, due_ns) WHERE state <> 'done'",
            "CREATE INDEX work_done ON work (due_ns) WHERE state = 'done'",
            "PRAGMA user_version = 5",  # older versions queue nothing
        ),
    ),
)

_STEPS_OF_OLD_VERSIONS = 3
SchemaState = Literal["empty", "older", "current", "newer", "foreign"]


def state(db: sqlite3.Connection) -> SchemaState:
    """Compare a database's schema with this version's. *foreign*: it belongs to another application.

    *empty*: no step was applied, also where a process was killed before the first one. *current*: also where
    a newer version wrote it and says that this one may go on with it.

    Raises:
        sqlite3.DatabaseError: the file is damaged, or no database.
    """
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return "empty"
    (mark,) = db.execute("PRAGMA application_id").fetchone()
    if mark != APPLICATION_ID or "migrations" not in tables:
        return "foreign"
    steps = _steps(db)
    our_steps = {name for name, _ in MIGRATIONS}
    if not steps:
        return "empty"
    if steps - our_steps:
        (least_steps,) = db.execute("PRAGMA user_version").fetchone()
        return "current" if 1 <= least_steps <= len(MIGRATIONS) and steps > our_steps else "newer"
    return "current" if steps == our_steps else "older"


def _steps(db: sqlite3.Connection) -> set[str]:
    names = {name for (name,) in db.execute("SELECT name FROM migrations")}
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'later_migrations'").fetchone() is not None:
        names |= {name for (name,) in db.execute("SELECT name FROM later_migrations")}
    return names


def make_tables_beside(db: sqlite3.Connection) -> None:
    """Make the tables of failures, people's word, writers and work for this connection, where it has none.

    For reading a file of an older version, and for a store in memory.
    """
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    steps = dict(MIGRATIONS)
    for step in _TABLES_BESIDE:
        for statement in steps.get(step, ()):  # type: ignore[union-attr]  # they are of statements
            kind, _, rest = statement.partition(" TABLE ")
            if kind == "CREATE" and rest.split(" ", 1)[0] not in tables:
                db.execute(f"CREATE TEMP TABLE {rest}")


def count_steps(db: sqlite3.Connection) -> int:
    """How many steps of a current file were applied. Every write begins with this; it costs microseconds.

    Raises:
        sqlite3.DatabaseError: a table of steps is damaged or gone.
    """
    (steps,) = db.execute(
        "SELECT (SELECT count(*) FROM migrations) + (SELECT count(*) FROM later_migrations)"
    ).fetchone()
    return int(steps)


def migrate(db: sqlite3.Connection) -> None:
    """Apply the steps that are missing, in order. The caller holds the file's lock."""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for table in ("migrations", "later_migrations"):
            db.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (name TEXT PRIMARY KEY, applied_ns INTEGER NOT NULL)"
            )
        earlier_steps = _steps(db)
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise
    for number, (name, step) in enumerate(MIGRATIONS):
        if name not in earlier_steps:
            _apply(db, name, step, "migrations" if number < _STEPS_OF_OLD_VERSIONS else "later_migrations")


def _apply(db: sqlite3.Connection, name: str, step: Step, table: str) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        if name not in _steps(db):
            if callable(step):
                step(db)
            else:
                for statement in step:
                    db.execute(statement)
            db.execute(f"INSERT INTO {table} VALUES (?, ?)", (name, time.time_ns()))  # noqa: S608
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: sqlite3.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")
