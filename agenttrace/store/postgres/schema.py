"""The tables on the server, as named steps; several processes may come at once, of several versions."""

from __future__ import annotations

import time
from typing import Any
from zlib import crc32

from agenttrace.core.errors import StoreError

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0001_first_tables",
        (
            "CREATE TABLE about (key text PRIMARY KEY, value text NOT NULL)",
            "INSERT INTO about VALUES ('store', gen_random_uuid()::text)",
            "CREATE TABLE commits (id uuid PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
            """CREATE TABLE traces (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                trace_id text NOT NULL UNIQUE,
                project text NOT NULL,
                name text,
                started_ns bigint NOT NULL,
                customer text
            )""",
            "CREATE INDEX traces_by_start ON traces (started_ns)",
            """CREATE TABLE functions (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                digest bytea NOT NULL UNIQUE,
                project text NOT NULL,
                name text NOT NULL,
                span_type text NOT NULL,
                definition text NOT NULL
            )""",
            """CREATE TABLE span_rows (
                trace bigint NOT NULL,
                span bigint NOT NULL,
                month integer NOT NULL,
                parent bigint,
                seq bigint NOT NULL,
                function bigint NOT NULL,
                start_ns bigint NOT NULL,
                end_ns bigint NOT NULL,
                input text,
                output text,
                rest text,
                written xid8 NOT NULL DEFAULT pg_current_xact_id(),
                PRIMARY KEY (trace, span, month)
            ) PARTITION BY RANGE (month)""",
            "CREATE INDEX span_rows_by_writing ON span_rows (written)",
            """CREATE TABLE scores (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                trace_id text,
                span_id text,
                run_id text,
                result integer,
                name text NOT NULL,
                value double precision,
                threshold double precision NOT NULL,
                outcome text NOT NULL,
                reason text NOT NULL,
                error text,
                model text,
                cost double precision,
                duration double precision,
                rest text,
                created_ns bigint NOT NULL,
                written xid8 NOT NULL DEFAULT pg_current_xact_id()
            )""",
            "CREATE INDEX scores_by_trace ON scores (trace_id)",
            "CREATE INDEX scores_by_run ON scores (run_id, result)",
            "CREATE INDEX scores_by_time ON scores (created_ns) WHERE run_id IS NULL",
            "CREATE INDEX scores_by_writing ON scores (written)",
            """CREATE TABLE runs (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                run_id text NOT NULL UNIQUE,
                name text NOT NULL,
                project text NOT NULL,
                model text,
                started_ns bigint NOT NULL,
                duration double precision NOT NULL,
                passed integer NOT NULL,
                failed integer NOT NULL,
                errored integer NOT NULL,
                metadata text,
                written xid8 NOT NULL DEFAULT pg_current_xact_id()
            )""",
            """CREATE TABLE results (
                run_id text NOT NULL,
                result integer NOT NULL,
                position integer NOT NULL,
                name text,
                outcome text NOT NULL,
                trial integer NOT NULL,
                trials integer NOT NULL,
                trace_id text,
                run_duration double precision,
                error text,
                source text,
                example text,
                PRIMARY KEY (run_id, result)
            )""",
            """CREATE TABLE datasets (
                project text NOT NULL,
                alias text NOT NULL,
                version integer NOT NULL,
                created_ns bigint NOT NULL,
                content text NOT NULL,
                PRIMARY KEY (project, alias, version)
            )""",
            """CREATE TABLE pending_evaluations (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                key text NOT NULL UNIQUE,
                project text NOT NULL,
                owner text,
                request text NOT NULL,
                created_ns bigint NOT NULL
            )""",
            """CREATE TABLE quarantine (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                trace_id text,
                span_id text,
                name text,
                reason text NOT NULL,
                created_ns bigint NOT NULL
            )""",
            """CREATE TABLE failures (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                project text NOT NULL,
                fingerprint text NOT NULL,
                scorer text NOT NULL,
                title text NOT NULL,
                state text NOT NULL,
                fixed_in text,
                changed_ns bigint,
                first_ns bigint NOT NULL,
                last_ns bigint NOT NULL,
                count bigint NOT NULL,
                revisions text NOT NULL,
                alerted_ns bigint,
                UNIQUE (project, fingerprint)
            )""",
            """CREATE TABLE failure_cases (
                failure bigint NOT NULL,
                trace_id text,
                run_id text,
                result integer,
                seen_ns bigint NOT NULL
            )""",
            "CREATE INDEX failure_cases_by_failure ON failure_cases (failure, seen_ns)",
            "CREATE INDEX failure_cases_by_trace ON failure_cases (trace_id, failure)",
            "CREATE INDEX failure_cases_by_run ON failure_cases (run_id, result) WHERE run_id IS NOT NULL",
            """CREATE TABLE annotations (
                id text PRIMARY KEY,
                project text NOT NULL,
                trace_id text,
                span_id text,
                run_id text,
                result integer,
                label text,
                thumbs text,
                score double precision,
                note text,
                expected text,
                author text,
                created_ns bigint NOT NULL
            )""",
            "CREATE INDEX annotations_by_trace ON annotations (trace_id, created_ns)",
            """CREATE TABLE writers (
                id text PRIMARY KEY,
                machine text NOT NULL,
                pid integer NOT NULL,
                program text NOT NULL,
                started_ns bigint NOT NULL,
                seen_ns bigint NOT NULL,
                ended_ns bigint,
                counts text NOT NULL
            )""",
            """CREATE TABLE work (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                project text NOT NULL,
                trace_id text NOT NULL,
                rule text NOT NULL,
                due timestamptz NOT NULL,
                state text NOT NULL DEFAULT 'waiting',
                again timestamptz,
                owner text,
                number bigint NOT NULL DEFAULT 0,
                tries integer NOT NULL DEFAULT 0,
                seen text,
                scores bigint[] NOT NULL DEFAULT '{}',
                UNIQUE (project, trace_id, rule)
            )""",
            "CREATE INDEX work_open ON work (state, rule, project, due) WHERE state <> 'done'",
            "CREATE INDEX work_done ON work (due) WHERE state = 'done'",
        ),
    ),
    (
        "0002_gone_traces",
        (
            """CREATE TABLE gone_traces (
                trace bigint PRIMARY KEY,
                at timestamptz NOT NULL DEFAULT now(),
                written xid8 NOT NULL DEFAULT pg_current_xact_id()
            )""",
            "CREATE INDEX gone_traces_by_writing ON gone_traces (written)",
        ),
    ),
)
"""A step is applied once, whole. Later versions add steps, and change none.

A step that versions without it cannot live with also says ``INSERT INTO about VALUES ('least', name)``, or
updates it. To the others, whatever it adds means nothing.
"""

_STEPS_TABLE = """CREATE TABLE IF NOT EXISTS steps (
    name text PRIMARY KEY, applied_ns bigint NOT NULL)"""


def prepare(db: Any, schema: str, quoted: str) -> None:
    """Make the schema and its tables where they are not there; of several processes at once, one does.

    Args:
        db: A connection of the driver, in no transaction.
        schema: The schema's name, and `quoted`, the same as it is written in a statement.

    Raises:
        StoreError: a newer version made the tables: it changed what this one relies on.
    """
    known = [name for name, _ in STEPS]
    with db.transaction():
        db.execute(f"SET LOCAL search_path TO {quoted}")
        started = db.execute("SELECT to_regclass(%s)", (f"{quoted}.steps",)).fetchone()[0] is not None
        applied = {name for (name,) in db.execute("SELECT name FROM steps")} if started else set()
        if applied >= set(known):
            _refuse_newer(db, schema)
            return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (crc32(f"agenttrace {schema}".encode()),))
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted}")
        db.execute(f"SET LOCAL search_path TO {quoted}")
        db.execute(_STEPS_TABLE)
        applied = {name for (name,) in db.execute("SELECT name FROM steps")}
        if applied:
            _refuse_newer(db, schema)
        for name, statements in STEPS:
            if name not in applied:
                for statement in statements:
                    db.execute(statement)
                db.execute("INSERT INTO steps VALUES (%s, %s)", (name, time.time_ns()))


def _refuse_newer(db: Any, schema: str) -> None:
    """Stop where a newer version made tables that this one cannot use."""
    row = db.execute("SELECT value FROM about WHERE key = 'least'").fetchone()
    if row is not None and row[0] not in {name for name, _ in STEPS}:
        raise StoreError(
            f"the tables in schema {schema!r} were made by a newer version of agenttrace ({row[0]}); "
            "use that version, or another schema: ?schema=…"
        )
