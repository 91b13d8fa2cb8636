"""Changes what is stored of traces, and leaves nothing of the old in the file's bytes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from agenttrace.core.errors import ExportError, StoreError
from agenttrace.core.jsonable import to_json
from agenttrace.store import files, index_file
from agenttrace.store.health import StoreHealth
from agenttrace.store.rows import loaded
from agenttrace.store.span_table import tables_of_spans
from agenttrace.store.span_writes import FunctionIds
from agenttrace.store.writer import Unavailable, Writer

Clean = Callable[[str, Any], Any]
"""``clean(column, value) -> value``: a text, or the data of a column (``"span_rows.input"``)."""

_TABLES: dict[str, tuple[str, ...]] = {
    "traces": ("name", "customer"),
    "scores": ("name", "reason", "error", "rest"),
    "results": ("name", "error", "source", "example"),
    "annotations": ("label", "note", "expected", "author"),
    "quarantine": ("name", "reason"),
}
"""The texts of each table whose rows name their trace."""

_OF_SPANS = ("input", "output", "rest")
_DATA = frozenset({"input", "output", "rest", "example", "expected", "request"})
_AT_ONCE = 500


class Mended(NamedTuple):
    """How many stored values were changed, and whether a reader kept the log from being emptied."""

    values: int
    log_is_empty: bool


def mend(path: str, timeout: float, trace_ids: Sequence[str], clean: Clean) -> Mended:
    """Put what `clean` returns in the place of each text of these traces, in one transaction.

    These are texts of their spans, scores, annotations, results and pending evaluations. Then the file is
    written anew, without what is free in it, and the index beside it is removed, which readers make again.

    Raises:
        StoreError: the file cannot be written, or others hold it for longer than `timeout` seconds.
    """
    writer = Writer(path, timeout, StoreHealth(path=path))

    def run(db: sqlite3.Connection, _: FunctionIds) -> Mended:
        db.execute("PRAGMA secure_delete = ON")
        values = sum(
            _mend_traces(db, trace_ids[begin : begin + _AT_ONCE], clean)
            for begin in range(0, len(trace_ids), _AT_ONCE)
        )
        return Mended(values, _write_anew(db) if values else True)

    try:
        mended = writer.write(run)
    except (Unavailable, ExportError) as cause:
        raise StoreError(f"{path} cannot be written: {cause}") from cause
    finally:
        writer.close()
    if mended.values:
        for end in files.SUFFIXES:
            with suppress(FileNotFoundError):
                os.remove(path + index_file.SUFFIX + end)
    return mended


def _write_anew(db: sqlite3.Connection) -> bool:
    db.execute("COMMIT")  # no transaction may be open; the lock among processes is held all the same
    try:
        db.execute("VACUUM")
        busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        db.execute("BEGIN IMMEDIATE")
    return not busy


def _mend_traces(db: sqlite3.Connection, trace_ids: Sequence[str], clean: Clean) -> int:
    ids = to_json(list(trace_ids))
    numbers = "trace IN (SELECT t.id FROM traces t JOIN json_each(?) j ON j.value = t.trace_id)"
    named = "trace_id IN (SELECT value FROM json_each(?))"
    changed = 0
    for table in tables_of_spans(db):
        changed += _mend_rows(db, table, _OF_SPANS, numbers, ids, clean)
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, columns in _TABLES.items():
        if table in there:
            changed += _mend_rows(db, table, columns, named, ids, clean)
    waiting = "EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(request, j.value))"
    return changed + _mend_rows(db, "pending_evaluations", ("request",), waiting, ids, clean)


def _mend_rows(
    db: sqlite3.Connection, table: str, columns: Iterable[str], where: str, ids: str, clean: Clean
) -> int:
    keys = [name for _, name, _, _, _, is_key in db.execute(f"PRAGMA table_info({table})") if is_key]
    changed = 0
    for column in columns:
        rows = db.execute(
            f"SELECT {', '.join(keys)}, {column} FROM {table} WHERE {column} IS NOT NULL AND {where}",  # noqa: S608 - names of ours
            (ids,),
        ).fetchall()
        for *key, text in rows:
            mended = _mended(f"{table}.{column}", column, text, clean)
            if mended != text:
                same = " AND ".join(f"{name} = ?" for name in keys)
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {same}", (mended, *key))  # noqa: S608 - names of ours
                changed += 1
    return changed


def _mended(place: str, column: str, text: Any, clean: Clean) -> Any:
    if type(text) is not str:
        return text
    if column not in _DATA:
        value = clean(place, text)
        return value if isinstance(value, str) else to_json(value)
    data = loaded(text)
    value = clean(place, data)
    return text if value == data else to_json(value)
