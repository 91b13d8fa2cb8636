"""The schema of a store's file, as named steps that are each applied once.

A step runs in a transaction of its own together with the row that names it, so a process that is killed in
between leaves either the old schema or the new one.

A file that names a step which this version does not know was written by a newer version. It is left alone
unless it says that older versions may use it: its ``user_version`` is the number of steps that a version
must know to read and write it; 0 says nothing. So every step after the third sets it. A step that versions
with three steps may ignore has ``PRAGMA user_version = 3`` among its statements; others set their own number.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Literal

APPLICATION_ID = 0x61677472
"""What marks a SQLite file as ours (the letters agtr)."""

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
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
            """CREATE VIEW spans AS SELECT
                t.trace_id,
                printf('%016x', s.span) AS span_id,
                CASE WHEN s.parent IS NOT NULL THEN printf('%016x', s.parent) END AS parent_id,
                s.seq AS "index",
                f.project, f.name, f.span_type,
                coalesce(json_extract(s.rest, '$.status'), 'ok') AS status,
                s.start_ns, s.end_ns,
                (s.end_ns - s.start_ns) / 1e6 AS duration_ms,
                s.input, s.output,
                json_extract(s.rest, '$.error.type') AS error_type,
                json_extract(s.rest, '$.error.message') AS error_message,
                json_extract(s.rest, '$.attributes') AS attributes,
                json_extract(s.rest, '$.usage') AS usage
            FROM span_rows s JOIN traces t ON t.id = s.trace JOIN functions f ON f.id = s.function""",
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
)

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
    steps = {name for (name,) in db.execute("SELECT name FROM migrations")}
    our_steps = {name for name, _ in MIGRATIONS}
    if not steps:
        return "empty"
    if steps - our_steps:
        (least_steps,) = db.execute("PRAGMA user_version").fetchone()
        return "current" if 1 <= least_steps <= len(MIGRATIONS) and steps > our_steps else "newer"
    return "current" if steps == our_steps else "older"


def count_steps(db: sqlite3.Connection) -> int:
    """How many steps were applied. Every write begins with this; it costs a few microseconds.

    Raises:
        sqlite3.DatabaseError: the table of steps is damaged or gone.
    """
    (steps,) = db.execute("SELECT count(*) FROM migrations").fetchone()
    return int(steps)


def migrate(db: sqlite3.Connection) -> None:
    """Apply the steps that are missing, in order. The caller holds the file's lock."""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_ns INTEGER NOT NULL)"
        )
        earlier_steps = {name for (name,) in db.execute("SELECT name FROM migrations")}
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise
    for name, statements in MIGRATIONS:
        if name not in earlier_steps:
            _apply(db, name, statements)


def _apply(db: sqlite3.Connection, name: str, statements: tuple[str, ...]) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        if db.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone() is None:
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO migrations VALUES (?, ?)", (name, time.time_ns()))
        db.execute("COMMIT")
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: sqlite3.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")
