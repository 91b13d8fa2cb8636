"""The table of spans: its numbered rows, the views over it, the move of an older file's rows, new columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from agenttrace.store.rows import SPAN_COLUMNS

SPANS_VIEW = """CREATE VIEW spans AS SELECT
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
    json_extract(s.rest, '$.usage') AS usage{more}
FROM {rows} s JOIN traces t ON t.id = s.trace JOIN functions f ON f.id = s.function"""


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})") if name != "id"]


def _show_spans(db: sqlite3.Connection) -> None:
    """Make the views anew: `all_span_rows` over what is moved and what is not, `spans` for users.

    Columns that came after the first ones are shown under their own names, as NULL where the old table has
    none.
    """
    columns, old = _columns(db, "span_rows"), _columns(db, "old_span_rows")
    rows = "SELECT * FROM span_rows"
    if old:
        in_old = [name if name in old else f"NULL AS {name}" for name in columns]
        rows = (
            f"SELECT {', '.join(columns)} FROM span_rows UNION ALL"  # noqa: S608 - names of ours
            f" SELECT {', '.join(in_old)} FROM old_span_rows o"
            " WHERE NOT EXISTS (SELECT 1 FROM span_rows n WHERE n.trace = o.trace AND n.span = o.span)"
        )
    db.execute("DROP VIEW IF EXISTS spans")
    db.execute("DROP VIEW IF EXISTS all_span_rows")
    db.execute(f"CREATE VIEW all_span_rows AS {rows}")
    more = "".join(f", s.{name}" for name in columns if name not in _FIRST_COLUMNS)
    db.execute(SPANS_VIEW.format(rows="all_span_rows", more=more))


_FIRST_COLUMNS = frozenset(
    ["trace", "span", "parent", "seq", "function", "start_ns", "end_ns", "input", "output", "rest"]
)


def add_column(declaration: str) -> Callable[[sqlite3.Connection], None]:
    """A step that adds a column to the table of spans, such as ``"model TEXT"``, and shows it in `spans`.

    Versions that know five steps may go on with the file: they name the columns that they write and read.
    """

    def add(db: sqlite3.Connection) -> None:
        db.execute("DROP VIEW spans")
        db.execute("DROP VIEW all_span_rows")
        db.execute(f"ALTER TABLE span_rows ADD COLUMN {declaration}")
        _show_spans(db)
        (least_steps,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {max(least_steps, 5)}")

    return add


def number_span_rows(db: sqlite3.Connection) -> None:
    """Begin a table of spans with numbered rows; what the old one holds is moved later, slice by slice.

    Rows of more than about a kilobyte took a page of their own each in the old table, which had no row
    numbers. The numbers also say which spans are still to be sent: AUTOINCREMENT, so that none is used twice.
    """
    db.execute("DROP VIEW spans")
    db.execute("ALTER TABLE span_rows RENAME TO old_span_rows")
    db.execute(
        """CREATE TABLE span_rows (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
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
            UNIQUE (trace, span)
        )"""
    )
    db.execute("PRAGMA user_version = 4")
    _show_spans(db)
    if db.execute("SELECT 1 FROM old_span_rows LIMIT 1").fetchone() is None:
        _drop_old_rows(db)


def tables_of_spans(db: sqlite3.Connection) -> list[str]:
    """The tables that hold rows of spans: two while the old one is being emptied."""
    query = "SELECT name FROM sqlite_master WHERE name IN ('span_rows', 'old_span_rows')"
    return [name for (name,) in db.execute(query)]


_OLD_LENGTHS = """SELECT trace, span,
        ifnull(length(input), 0) + ifnull(length(output), 0) + ifnull(length(rest), 0)
    FROM old_span_rows ORDER BY trace, span"""
_SLICE_BYTES = 4 * 1024 * 1024


def move_old_rows(db: sqlite3.Connection, most: int) -> bool:
    """Move a slice of the old table of spans to the new one, in the caller's transaction.

    It has `most` rows, or as many as take about 4 MB, whichever is less; always one. Returns False once the
    old table is gone. Until then `all_span_rows` and `spans` show both.
    """
    if len(tables_of_spans(db)) == 1:
        return False
    end, size = None, 0
    for count, (trace, span, length) in enumerate(db.execute(_OLD_LENGTHS)):
        if count and (count == most or size > _SLICE_BYTES):
            end = (trace, span)
            break
        size += length
    of_slice = "" if end is None else " WHERE (trace, span) < (?, ?)"
    columns = ", ".join(_columns(db, "old_span_rows"))
    db.execute(
        f"INSERT OR IGNORE INTO span_rows ({columns}) SELECT {columns} FROM old_span_rows"  # noqa: S608
        f"{of_slice} ORDER BY trace, span",
        end or (),
    )
    if end is None:
        _drop_old_rows(db)
        return False
    db.execute(f"DELETE FROM old_span_rows{of_slice}", end)  # noqa: S608
    return True


def _drop_old_rows(db: sqlite3.Connection) -> None:
    db.execute("DROP VIEW spans")
    db.execute("DROP VIEW all_span_rows")
    db.execute("DROP TABLE old_span_rows")
    _show_spans(db)


def stand_in_for_reading(db: sqlite3.Connection) -> None:
    """Let a reader's connection to an older file see, as empty or under its new name, what is read today."""
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    rows = "main.all_span_rows" if "all_span_rows" in names else "main.span_rows"
    present = {name for name, *_ in db.execute(f"SELECT * FROM {rows} LIMIT 0").description}  # noqa: S608
    columns = ", ".join(name if name in present else f"NULL AS {name}" for name in SPAN_COLUMNS)
    db.execute(f"CREATE TEMP VIEW all_span_rows AS SELECT {columns} FROM {rows}")  # noqa: S608
    if "to_send" not in names:
        db.execute("CREATE TEMP TABLE to_send (destination, kind, first, last, items, refused)")
