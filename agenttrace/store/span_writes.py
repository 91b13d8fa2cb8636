"""Spans into an open transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.identity import trace_id_text
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.core.span import Span
from agenttrace.store.functions import Functions
from agenttrace.store.rows import SPAN_WIDTH, flat_rows, tidied
from agenttrace.store.statements import insert_many

_LATEST = (1 << 63) - 1
_KNOWN_TRACES = "SELECT trace_id, id FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))"


def keep_spans(db: sqlite3.Connection, functions: Functions, spans: Sequence[Span]) -> int:
    """Keep spans, whatever is among them; returns how many had to be quarantined."""
    if _kept(db, functions, spans) is None:
        return 0
    return sum(_quarantined(db, functions, span) for span in spans)


def _quarantined(db: sqlite3.Connection, functions: Functions, span: Span) -> bool:
    if _kept(db, functions, (span,)) is None:
        return False
    reason: BaseException | None
    try:
        reason = _kept(db, functions, (tidied(span),))
    except BaseException as error:  # choke-point: a span that cannot even be tidied
        if not speaks_of_a_span(error):
            raise
        reason = error
    if reason is not None:
        _quarantine(db, span, reason)
    return reason is not None


def _kept(db: sqlite3.Connection, functions: Functions, spans: Sequence[Span]) -> BaseException | None:
    """Keep all of the spans, or none and return why."""
    db.execute("SAVEPOINT kept")
    try:
        _insert_spans(db, functions, spans)
    except BaseException as error:  # choke-point: sorted into the store's troubles and the spans' own
        if not speaks_of_a_span(error):
            raise
        db.execute("ROLLBACK TO kept")
        functions.forget()
        db.execute("RELEASE kept")
        return error
    db.execute("RELEASE kept")
    return None


def speaks_of_a_span(error: BaseException) -> bool:
    """Whether an error speaks of a value (binding, overflow, integrity, the panic of a library in Rust).

    Others speak of the file, or of this installation, which lacks a library; or they came from a signal.
    """
    if isinstance(error, sqlite3.OperationalError | OSError | ImportError):
        return False
    return type(error) is not sqlite3.DatabaseError and not raised_by_signal(error)


def _insert_spans(db: sqlite3.Connection, functions: Functions, spans: Sequence[Span]) -> None:
    traces = _trace_numbers(db, spans)
    flat = flat_rows(spans, traces, functions.known, lambda span: functions.number(db, span))
    insert_many(db, "INSERT OR REPLACE INTO span_rows VALUES ", SPAN_WIDTH, flat)


def _quarantine(db: sqlite3.Connection, span: Any, reason: BaseException) -> None:
    def shown(field: str) -> str | None:
        value = getattr(span, field, None)
        if type(value) is int:
            return hex(value)[:80]
        return clean_text(value[:200]) if type(value) is str else None

    text = clean_text(f"{type(reason).__name__}: {reason}"[:500])
    db.execute(
        "INSERT INTO quarantine (trace_id, span_id, name, reason, created_ns) VALUES (?, ?, ?, ?, ?)",
        (shown("trace_key"), shown("span_key"), shown("name"), text, time.time_ns()),
    )


def _trace_numbers(db: sqlite3.Connection, spans: Sequence[Span]) -> Mapping[int, int]:
    """The number of each span's trace; traces that are new get their row.

    Nothing is remembered between batches: another process may have deleted a trace in the meantime.
    """
    firsts: dict[int, Span] = {}
    roots: dict[int, Span] = {}
    last = None
    for span in spans:
        key = span.trace_key
        if key != last:
            last = key
            if key not in firsts:
                firsts[key] = span
        if span.parent_key is None and key not in roots:
            roots[key] = span
    texts = {_checked_trace_id(key): key for key in firsts}
    numbers: dict[int, int] = {}
    asked = to_json(list(texts))
    for text, number in db.execute(_KNOWN_TRACES, (asked,)):
        numbers[texts[text]] = number
    known = roots.keys() & numbers.keys()
    _add_traces(db, {text: key for text, key in texts.items() if key not in numbers}, firsts, roots, numbers)
    for key in known:
        root = roots[key]
        db.execute(
            "UPDATE traces SET project = CASE WHEN name IS NULL THEN ? ELSE project END,"
            " name = coalesce(name, ?), started_ns = min(started_ns, ?) WHERE id = ?",
            (root.project, root.name, min(root.start_ns, _LATEST), numbers[key]),
        )
    return numbers


def _checked_trace_id(key: int) -> str:
    if not 0 <= key < 1 << 128:
        raise ValueError(f"a trace's id has 128 bits, got {key!r}")
    return trace_id_text(key)


def _add_traces(
    db: sqlite3.Connection,
    new: Mapping[str, int],
    firsts: Mapping[int, Span],
    roots: Mapping[int, Span],
    numbers: dict[int, int],
) -> None:
    if not new:
        return
    (highest,) = db.execute("SELECT coalesce(max(id), 0) FROM traces").fetchone()
    flat: list[Any] = []
    for number, (text, key) in enumerate(new.items(), highest + 1):
        first, root = firsts[key], roots.get(key)
        numbers[key] = number
        start = min(first.start_ns, _LATEST if root is None else root.start_ns, _LATEST)
        flat += (number, text, (root or first).project, None if root is None else root.name, start)
    insert_many(db, "INSERT INTO traces (id, trace_id, project, name, started_ns) VALUES ", 5, flat)


def delete_trace(db: sqlite3.Connection, number: int, trace_id: str) -> None:
    """Delete a trace, its spans and its scores, but for the scores of a run."""
    db.execute("DELETE FROM span_rows WHERE trace = ?", (number,))
    db.execute("DELETE FROM scores WHERE trace_id = ? AND run_id IS NULL", (trace_id,))
    db.execute("DELETE FROM traces WHERE id = ?", (number,))
