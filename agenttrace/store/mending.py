"""Changes what is stored of traces, and leaves nothing of the old in the file's bytes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from agenttrace.core.errors import ExportError, StoreError
from agenttrace.core.jsonable import to_json
from agenttrace.store import file_source, files
from agenttrace.store.function_ids import FunctionIds
from agenttrace.store.health import StoreHealth
from agenttrace.store.rows import loaded
from agenttrace.store.span_table import tables_of_spans
from agenttrace.store.writer import Unavailable, Writer

Row = dict[str, Any]
"""Some columns of a row: texts, and what is data in them as data."""

Clean = Callable[[str, list[Row]], list[Row]]
"""``clean(table, rows) -> rows``: the rows without what is to go; those of spans are all of one trace."""


class Which(NamedTuple):
    """What is changed: traces and runs by their ids, datasets by their names (all projects and versions)."""

    traces: Sequence[str] = ()
    runs: Sequence[str] = ()
    datasets: Sequence[str] = ()


_NAMED = "trace_id IN (SELECT value FROM json_each(:traces))"
_OF_RUNS = "run_id IN (SELECT value FROM json_each(:runs))"
_RESULTS = f"SELECT run_id, result FROM results WHERE {_NAMED} OR {_OF_RUNS}"  # noqa: S608 - names of ours
_NAMED_OR_OF_RESULTS = f"({_NAMED} OR (run_id, result) IN ({_RESULTS}))"

_TABLES: dict[str, tuple[tuple[str, ...], str]] = {
    "traces": (("name", "customer"), _NAMED),
    "scores": (("name", "reason", "error", "rest"), _NAMED_OR_OF_RESULTS),
    "annotations": (("label", "note", "expected", "author"), _NAMED_OR_OF_RESULTS),
    "runs": (("name", "model", "metadata"), f"({_OF_RUNS} OR run_id IN (SELECT run_id FROM ({_RESULTS})))"),  # noqa: S608
    "results": (("name", "error", "source", "example"), f"({_NAMED} OR {_OF_RUNS})"),
    "datasets": (("content",), "alias IN (SELECT value FROM json_each(:datasets))"),
    "quarantine": (("name", "reason"), _NAMED),
    "work": (("seen",), _NAMED),
    "failures": (("scorer", "title"), f"id IN (SELECT failure FROM failure_cases WHERE {_NAMED})"),  # noqa: S608
    "pending_evaluations": (
        ("request",),
        "EXISTS (SELECT 1 FROM json_each(:traces) j WHERE instr(request, j.value))",
    ),
}
"""The texts of each table, and which of its rows are those of some traces."""

_OF_SPANS = ("input", "output", "rest")
_OF_FUNCTIONS = ("name", "span_type", "definition")
_DATA = frozenset(
    {"input", "output", "rest", "example", "expected", "request", "metadata", "definition", "content"}
)
_AT_ONCE = 500
_MOST_EQUAL = 1_000
"""Functions that may become the same one when their secrets are taken out."""


class Mended(NamedTuple):
    """How many stored values were changed; how many requests that an earlier version had encoded, to be sent,
    were removed; whether a reader kept the log from being emptied, so that it does not hold old bytes."""

    values: int
    requests: int
    log_is_empty: bool


def mend(path: str, timeout: float, which: Which, clean: Clean) -> Mended:
    """Put what `clean` returns in the place of each text of `which`, in one transaction.

    These are texts of traces' spans, scores, annotations, results, runs, failures and pending evaluations, of
    the functions that were called in them, and of the tools of their projects; of runs with all of their
    results and scores, whether these have a trace or not; and of datasets. Requests about the traces that an
    earlier version encoded are removed. Then the file is written anew, without what is free in it, and the
    index beside it is removed, which readers make again.

    Raises:
        StoreError: the file cannot be written, or others hold it for longer than `timeout` seconds.
    """
    writer = Writer(path, timeout, StoreHealth(path=path))

    def run(db: sqlite3.Connection, _: FunctionIds) -> Mended:
        db.execute("PRAGMA secure_delete = ON")
        values = sum(_mend_part(db, part, clean) for part in in_parts(which))
        requests = _remove_encoded(db, which.traces)
        return Mended(values, requests, _write_anew(db) if values or requests else True)

    try:
        mended = writer.write(run)
    except (Unavailable, ExportError) as cause:
        raise StoreError(f"{path} cannot be written: {cause}") from cause
    finally:
        writer.close()
    if mended.values or mended.requests:
        remove_index(path + file_source.SUFFIX)
    return mended


def remove_index(path: str) -> None:
    """Remove the index that readers have made on this machine, and make again."""
    for end in files.SUFFIXES:
        with suppress(FileNotFoundError):
            os.remove(path + end)


def _write_anew(db: sqlite3.Connection) -> bool:
    db.execute("COMMIT")  # no transaction may be open; the lock among processes is held all the same
    try:
        db.execute("VACUUM")
        busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        db.execute("BEGIN IMMEDIATE")
    return not busy


def in_parts(which: Which) -> Iterator[Which]:
    """The same in parts that one statement can name: some hundred traces each, then all that is no trace."""
    for begin in range(0, len(which.traces), _AT_ONCE):
        yield Which(which.traces[begin : begin + _AT_ONCE])
    if which.runs or which.datasets:
        yield which._replace(traces=())


def _mend_part(db: sqlite3.Connection, which: Which, clean: Clean) -> int:
    ids: dict[str, Any] = {name: to_json(list(those)) for name, those in which._asdict().items()}
    query = "SELECT t.id FROM traces t JOIN json_each(:traces) j ON j.value = t.trace_id"
    numbers = [number for (number,) in db.execute(query, ids)]
    changed = 0
    for table in tables_of_spans(db):
        changed += sum(
            _mend_rows(db, table, _OF_SPANS, "trace = :trace", {"trace": one}, clean) for one in numbers
        )
        changed += _mend_rows(db, "functions", _OF_FUNCTIONS, _functions_of(table), ids, clean)
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, (columns, where) in _TABLES.items():
        if table in there:
            changed += _mend_rows(db, table, columns, where, ids, clean)
    return changed


def _remove_encoded(db: sqlite3.Connection, trace_ids: Sequence[str]) -> int:
    """Remove requests about these traces that a version before 0.2 encoded and could not send.

    What waits since then is read from the rows of its spans, which are mended.
    """
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'outbox'").fetchone():
        return 0
    removed = 0
    for number, body in db.execute("SELECT id, body FROM outbox").fetchall():
        if any(one.encode() in body or bytes.fromhex(one) in body for one in trace_ids):
            removed += db.execute("DELETE FROM outbox WHERE id = ?", (number,)).rowcount
    return removed


def _functions_of(table: str) -> str:
    """Which functions are those of some traces: what they call, and all tools of their projects."""
    traces = f"SELECT id FROM traces WHERE {_NAMED}"  # noqa: S608 - names of ours
    projects = f"SELECT project FROM traces WHERE {_NAMED}"  # noqa: S608
    called = f"id IN (SELECT function FROM {table} WHERE trace IN ({traces}))"  # noqa: S608
    return f"({called} OR (definition <> '' AND project IN ({projects})))"


def _mend_rows(
    db: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    where: str,
    values: Mapping[str, Any],
    clean: Clean,
) -> int:
    """Clean these columns of the rows of a table that `where` names by `values`. Returns how many changed."""
    keys = [name for _, name, _, _, _, is_key in db.execute(f"PRAGMA table_info({table})") if is_key]
    rows = db.execute(
        f"SELECT {', '.join((*keys, *columns))} FROM {table} WHERE {where}",  # noqa: S608 - names of ours
        values,
    ).fetchall()
    changed, count = 0, len(keys)
    same = " AND ".join(f"{name} = ?" for name in keys)
    texts = [dict(zip(columns, row[count:], strict=True)) for row in rows]
    for row, before, after in zip(rows, texts, new_texts(table, texts, clean), strict=True):
        changed += len(after)
        if after:
            if "definition" in before:
                after.setdefault("definition", before["definition"])
            places = ", ".join(f"{name} = ?" for name in after)
            _put(db, f"UPDATE {table} SET {places} WHERE {same}", after, row[:count])  # noqa: S608
    return changed


def new_texts(table: str, rows: Sequence[Mapping[str, Any]], clean: Clean) -> list[dict[str, str]]:
    """Of each of some rows, columns by name, those that `clean` changes, with their new texts."""
    data = [{name: _read(name, text) for name, text in row.items()} for row in rows]
    return [
        {
            name: _written(name, new[name])
            for name, text in row.items()
            if type(text) is str and new[name] != old[name]
        }
        for row, old, new in zip(rows, data, clean(table, data), strict=True)
    ]


def _put(db: sqlite3.Connection, statement: str, values: dict[str, str], key: Sequence[Any]) -> None:
    """Write values into a row. Functions that become the same are kept apart by spaces after their
    definition: running processes know them by their numbers."""
    for _ in range(_MOST_EQUAL):
        try:
            db.execute(statement, (*values.values(), *key))
        except sqlite3.IntegrityError:
            if "definition" not in values:
                raise
            values = {**values, "definition": f"{values['definition']} "}
        else:
            return
    raise StoreError(f"more than {_MOST_EQUAL} functions differ in their secrets alone")


def _read(column: str, text: Any) -> Any:
    return loaded(text) if column in _DATA and type(text) is str and text else text


def _written(column: str, value: Any) -> str:
    return value if column not in _DATA and isinstance(value, str) else to_json(value)
