"""Writes spans, and the definitions of their tools, in an open transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.batch import Destination
from agenttrace.core.identity import trace_id_text
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.core.span import Span
from agenttrace.core.span_rows import SpanKind, SpanRow, as_span, without_values
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_text import definition_text
from agenttrace.store.function_ids import FunctionIds
from agenttrace.store.rows import SPAN_COLUMNS, flat_rows, tidied
from agenttrace.store.to_send import add_to_send

_LATEST = (1 << 63) - 1
_INSERT_SPANS = f"INSERT OR REPLACE INTO span_rows ({', '.join(SPAN_COLUMNS)}) VALUES "  # noqa: S608
_INSERT_TRACES = "INSERT INTO traces (id, trace_id, project, name, started_ns, customer) VALUES "
_NOTHING = 0
"""Stands for NULL in the last column, which seldom has a value: Python's SQLite module looks for an adapter
of each None, which takes longer than all else about a row of numbers."""

_STORED_TRACES = (
    "SELECT trace_id, id FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))"
    " UNION ALL SELECT NULL, coalesce(max(id), 0) FROM traces"
)


def keep_spans(
    db: sqlite3.Connection,
    functions: FunctionIds,
    spans: Sequence[Span | SpanRow],
    send_to: Sequence[Destination] = (),
    *,
    alone: bool = False,
) -> int:
    """Store spans or rows of them, whatever is among them, and that they are to be sent.

    `alone` says that nothing was written in this transaction yet.

    Returns how many had to be quarantined.
    """
    if not spans:
        return 0
    destinations = [destination for destination in send_to if destination.kind == "spans"]
    first = _next_row(db) if destinations else 0
    quarantined = 0
    if _store_all(db, functions, spans, alone=alone) is not None:
        quarantined = sum(_store_or_quarantine(db, functions, span) for span in spans)
    for destination in destinations if quarantined < len(spans) else ():
        add_to_send(db, destination, first, _next_row(db) - 1)
    return quarantined


def _next_row(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'span_rows'").fetchone()
    return 1 if row is None else int(row[0]) + 1


def _store_or_quarantine(db: sqlite3.Connection, functions: FunctionIds, item: Span | SpanRow) -> bool:
    if _store_all(db, functions, (item,)) is None:
        return False
    reason: BaseException | None
    span = as_span(item)
    try:
        reason = _store_all(db, functions, (tidied(span),))
    except BaseException as error:  # choke-point: a span that cannot even be tidied
        if not caused_by_value(error):
            raise
        reason = error
    if reason is not None:
        _quarantine(db, span, reason)
    return reason is not None


def _store_all(
    db: sqlite3.Connection, functions: FunctionIds, spans: Sequence[Span | SpanRow], *, alone: bool = False
) -> BaseException | None:
    """Store all of the spans and return None, or store none and return the error."""
    error = error_of_value(db, lambda: _insert_spans(db, functions, spans), alone=alone)
    if error is not None:
        functions.forget()
    return error


def error_of_value(
    db: sqlite3.Connection, write: Callable[[], None], *, alone: bool = False
) -> BaseException | None:
    """Write all of something and return None; or undo it, and return the error that a value in it caused.

    `alone` says that nothing was written in this transaction yet: then the whole of it is undone, and begun
    anew, which saves the statements of a savepoint.

    Raises:
        Exception: errors that no value caused; nothing is undone, the transaction must be.
    """
    if not alone:
        db.execute("SAVEPOINT part")
    try:
        write()
    except (
        BaseException
    ) as error:  # choke-point: an error of the file goes on, an error of a value is returned
        if not caused_by_value(error):
            raise
        if alone:
            db.execute("ROLLBACK")
            db.execute("BEGIN IMMEDIATE")
        else:
            db.execute("ROLLBACK TO part")
            db.execute("RELEASE part")
        return error
    if not alone:
        db.execute("RELEASE part")
    return None


def caused_by_value(error: BaseException) -> bool:
    """Return True if a value caused an error (binding, overflow, integrity, a panic in Rust).

    Other errors come from the file, from a library that is not installed, or from a signal handler.
    """
    if isinstance(error, sqlite3.OperationalError | OSError | ImportError):
        return False
    return type(error) is not sqlite3.DatabaseError and not raised_by_signal(error)


def _insert_spans(db: sqlite3.Connection, functions: FunctionIds, spans: Sequence[Span | SpanRow]) -> None:
    traces = _trace_numbers(db, spans)
    look_up = partial(functions.number, look_up=partial(_function_number, db))
    most = _ROWS_PER_STATEMENT[0]
    for start in range(0, len(spans), most):  # a list of all values would be large, and copied
        part = spans[start : start + most]
        flat = flat_rows(part, traces, functions.cached, look_up, _NOTHING)
        insert_many(db, _INSERT_SPANS, len(SPAN_COLUMNS), flat)


def _quarantine(db: sqlite3.Connection, span: Any, reason: BaseException) -> None:
    fields = (getattr(span, field, None) for field in ("trace_key", "span_key", "name"))
    quarantine(db, *(hex(value) if type(value) is int else value for value in fields), reason=reason)


def quarantine(
    db: sqlite3.Connection, trace_id: Any, span_id: Any, name: Any, *, reason: BaseException
) -> None:
    """Note something that could not be stored, with the error that it caused."""
    texts = [clean_text(text[:200]) if type(text) is str else None for text in (trace_id, span_id, name)]
    reason_text = clean_text(f"{type(reason).__name__}: {reason}"[:500])
    db.execute(
        "INSERT INTO quarantine (trace_id, span_id, name, reason, created_ns) VALUES (?, ?, ?, ?, ?)",
        (*texts, reason_text, time.time_ns()),
    )


def _trace_numbers(db: sqlite3.Connection, spans: Sequence[Span | SpanRow]) -> Mapping[int, int]:
    """The number of each span's trace; traces that are new get their row.

    Nothing is remembered between batches: another process may have deleted a trace in the meantime.
    """
    firsts: dict[int, Span] = {}
    roots: dict[int, Span] = {}
    last = None
    for item in spans:
        if isinstance(item, tuple):
            key, parent = item[0], item[2]
        else:
            key, parent = item.trace_key, item.parent_key
        if key != last:
            last = key
            if key not in firsts:
                firsts[key] = without_values(item)
        if parent is None and key not in roots:
            roots[key] = without_values(item)
    texts = {_checked_trace_id(key): key for key in firsts}
    numbers: dict[int, int] = {}
    highest = 0
    for text, number in db.execute(_STORED_TRACES, (to_json(list(texts)),)):
        if text is None:
            highest = number
        else:
            numbers[texts[text]] = number
    roots_of_stored_traces = roots.keys() & numbers.keys()
    new = {text: key for text, key in texts.items() if key not in numbers}
    _add_traces(db, new, highest, firsts, roots, numbers, len(spans))
    for key in roots_of_stored_traces:
        root = roots[key]
        db.execute(
            "UPDATE traces SET project = CASE WHEN name IS NULL THEN ? ELSE project END,"
            " name = coalesce(name, ?), started_ns = min(started_ns, ?), customer = ? WHERE id = ?",
            (root.project, root.name, min(root.start_ns, _LATEST), _customer(root), numbers[key]),
        )
    return numbers


def _checked_trace_id(key: int) -> str:
    if not 0 <= key < 1 << 128:
        raise ValueError(f"a trace's id has 128 bits, got {key!r}")
    return trace_id_text(key)


def _add_traces(
    db: sqlite3.Connection,
    new: Mapping[str, int],
    highest: int,
    firsts: Mapping[int, Span],
    roots: Mapping[int, Span],
    numbers: dict[int, int],
    spans: int,
) -> None:
    if not new:
        return
    flat: list[Any] = []
    for number, (text, key) in enumerate(new.items(), highest + 1):
        first, root = firsts[key], roots.get(key)
        numbers[key] = number
        start = min(first.start_ns, _LATEST if root is None else root.start_ns, _LATEST)
        name, customer = (None, None) if root is None else (root.name, _customer(root))
        flat += (
            number,
            text,
            (root or first).project,
            name,
            start,
            _NOTHING if customer is None else customer,
        )
    insert_many(db, _INSERT_TRACES, 6, flat, at_once=_SPANS_FOR_A_TEXT * len(new) <= spans)


def _customer(root: Span) -> str | None:
    customer = root.attributes.get(semconv.CUSTOMER_ID) if root.attributes else None
    return customer if type(customer) is str else None


# Each statement gives the interpreter lock away, and beside a busy traced thread the writer waits up to 5 ms
# to get it back: so few statements, as long as SQLite's limit of values allows. Each size is half of the one
# before: any number of rows up to 6,400 takes nine statements at most, and their texts are few enough to be
# kept. 25 rows of the widest table stay below the oldest such limit, 999 values. Of larger ones, which some
# builds of SQLite allow, each row takes longer.
_ROWS_PER_STATEMENT = (6_400, 3_200, 1_600, 800, 400, 200, 100, 50, 25)

_SPANS_FOR_A_TEXT = 20
"""Where so many spans come with each new trace, what a text for just so many traces takes is not felt."""


def insert_many(
    db: sqlite3.Connection, statement: str, width: int, flat: list[Any], *, at_once: bool = False
) -> None:
    """Run ``statement`` (up to its VALUES) for rows of `width` columns that lie end to end in `flat`.

    The last column is NULL where `flat` has `_NOTHING`. `at_once` takes as few statements as can be, and
    SQLite has to read the text of one that it has not had yet.
    """
    most = db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width
    start = 0
    for rows in (most,) if at_once else _ROWS_PER_STATEMENT:
        size = rows * width
        while rows <= most and len(flat) - start >= size:
            part = flat if len(flat) == size else flat[start : start + size]
            db.execute(_statement(statement, rows, width), part)
            start += size
    rest = flat[start:]
    if rest:
        db.execute(_statement(statement, len(rest) // width, width), rest)


@lru_cache(maxsize=64)
def _statement(statement: str, rows: int, width: int) -> str:
    return statement + ", ".join([f"({marks(width - 1)}, nullif(?, {_NOTHING}))"] * rows)


def marks(count: int) -> str:
    """That many question marks, for bound values."""
    return ", ".join("?" * count)


def _function_number(db: sqlite3.Connection, row: SpanKind) -> int:
    query = "SELECT id FROM functions WHERE project = ? AND name = ? AND span_type = ? AND definition = ?"
    ids = db.execute(query, row).fetchone()
    if ids is None:
        db.execute("INSERT INTO functions (project, name, span_type, definition) VALUES (?, ?, ?, ?)", row)
        ids = db.execute(query, row).fetchone()
    number: int = ids[0]
    return number


def insert_tools(db: sqlite3.Connection, project: str, tools: Sequence[ToolDefinition]) -> None:
    """Store the definitions of tools, whether they were called or not."""
    for tool in tools:
        _function_number(db, (project, clean_text(tool.name), "tool", definition_text(tool)))
