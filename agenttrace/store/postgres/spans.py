"""Writes spans in an open transaction: copied to the server, and from there put into their months."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.identity import trace_id_text
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.core.span import Span
from agenttrace.core.span_rows import SpanKind, SpanRow, as_span, without_values
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_text import definition_text
from agenttrace.store.function_ids import FunctionIds
from agenttrace.store.rows import SPAN_COLUMNS, flat_rows, tidied

EARLIEST_MONTH, LATEST_MONTH = 202_001, 209_912
"""Spans of other times, as of a clock that is wrong, go into the month 0, or one after the last."""
# Every statement here is put together from constants of this module; values are always bound.
# ruff: noqa: S608

_LATEST = (1 << 63) - 1
_NS_PER_DAY = 86_400 * 10**9

_INCOMING = """CREATE TEMP TABLE IF NOT EXISTS incoming (
    trace bigint, span bigint, parent bigint, seq bigint, function bigint, start_ns bigint, end_ns bigint,
    input text, output text, rest text, month integer) ON COMMIT DELETE ROWS"""
_COLUMNS = f"{', '.join(SPAN_COLUMNS)}, month"
_CHANGED = ", ".join(f"{name} = excluded.{name}" for name in SPAN_COLUMNS[2:])
_COPY = f"COPY incoming ({_COLUMNS}) FROM STDIN"
_INSERT = (
    "WITH moved AS (DELETE FROM incoming RETURNING *)"
    f" INSERT INTO span_rows ({_COLUMNS}) SELECT {_COLUMNS} FROM moved ORDER BY trace, span"
    f" ON CONFLICT (trace, span, month) DO UPDATE SET {_CHANGED}, written = pg_current_xact_id()"
)
_TRACES = """INSERT INTO traces (trace_id, project, name, started_ns, customer)
    SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[])
    ON CONFLICT (trace_id) DO UPDATE SET
        project = CASE WHEN traces.name IS NULL THEN excluded.project ELSE traces.project END,
        name = coalesce(traces.name, excluded.name),
        started_ns = least(traces.started_ns, excluded.started_ns), customer = excluded.customer
    WHERE excluded.name IS NOT NULL
    RETURNING trace_id, id"""
_FUNCTION = """INSERT INTO functions (digest, project, name, span_type, definition)
    VALUES (%s, %s, %s, %s, %s) ON CONFLICT (digest) DO NOTHING RETURNING id"""


class SpanWriter:
    """Writes spans over one connection; remembers the numbers of functions, and which months there are."""

    def __init__(self) -> None:
        self._functions = FunctionIds()
        self._months: set[int] = set()

    def forget(self) -> None:
        """Forget what was looked up, after a transaction that was undone or on a new connection."""
        self._functions.forget()
        self._months.clear()

    def keep(self, db: Any, spans: Sequence[Span | SpanRow]) -> int:
        """Write spans, each of which replaces one with its ids; returns how many had to be quarantined."""
        if not spans or self._wrote(db, spans) is None:
            return 0
        return sum(self._wrote_or_quarantined(db, span) for span in spans)

    def _wrote(self, db: Any, spans: Sequence[Span | SpanRow]) -> BaseException | None:
        """Write all of them and return None, or none and return the error that a value caused."""
        try:
            with db.transaction():
                self._insert(db, spans)
        except BaseException as error:  # choke-point: an error of the server goes on
            pass_on_interruption(error)
            self.forget()
            if not caused_by_value(error):
                raise
            return error
        return None

    def _wrote_or_quarantined(self, db: Any, item: Span | SpanRow) -> bool:
        if self._wrote(db, (item,)) is None:
            return False
        span = as_span(item)
        reason: BaseException | None
        try:
            reason = self._wrote(db, (tidied(span),))
        except BaseException as error:  # choke-point: a span that cannot even be tidied
            pass_on_interruption(error)
            if not caused_by_value(error):
                raise
            reason = error
        if reason is not None:
            fields = (getattr(span, field, None) for field in ("trace_key", "span_key", "name"))
            texts = [hex(value) if type(value) is int else value for value in fields]
            quarantine(db, *texts, reason=reason)
        return reason is not None

    def _insert(self, db: Any, spans: Sequence[Span | SpanRow]) -> None:
        numbers = self._trace_numbers(db, spans)
        look_up = partial(self._functions.number, look_up=partial(function_number, db))
        flat = flat_rows(spans, numbers, self._functions.cached, look_up)
        width = len(SPAN_COLUMNS)
        rows: dict[tuple[int, int, int], list[Any]] = {}
        for at in range(0, len(flat), width):
            row = flat[at : at + width]
            month = month_of(row[5])
            rows.pop((row[0], row[1], month), None)
            rows[row[0], row[1], month] = [*row, month]  # of the same span twice, the last one
        db.execute(_INCOMING)
        with db.cursor() as cursor:
            with cursor.copy(_COPY) as copy:
                for row in rows.values():
                    copy.write_row(row)
            cursor.execute(_INSERT)

    def missing_months(self, spans: Sequence[Span | SpanRow]) -> set[int]:
        """The months of spans that there may be no table for."""
        starts = {item[5] if isinstance(item, tuple) else item.start_ns for item in spans}
        return {month_of(start) for start in starts if type(start) is int} - self._months

    def make_months(self, db: Any, months: set[int]) -> None:
        """Make the tables of months, in a transaction of their own: nothing else of it may be locked."""
        db.execute("SELECT pg_advisory_xact_lock(hashtext('agenttrace months'))")
        for month in sorted(months):
            db.execute(
                f"CREATE TABLE IF NOT EXISTS span_rows_{month} PARTITION OF span_rows"
                f" FOR VALUES FROM ({month}) TO ({month + 1})"
            )

    def knows_months(self, months: set[int]) -> None:
        """Note that there are tables of months."""
        self._months |= months

    def _trace_numbers(self, db: Any, spans: Iterable[Span | SpanRow]) -> dict[int, int]:
        """The number of each span's trace; traces that are new get their row."""
        firsts: dict[int, Span] = {}
        roots: dict[int, Span] = {}
        for item in spans:
            key, parent = (item[0], item[2]) if isinstance(item, tuple) else (item.trace_key, item.parent_key)
            if key not in firsts:
                firsts[key] = without_values(item)
            if parent is None and key not in roots:
                roots[key] = without_values(item)
        keys = {_checked_trace_id(key): key for key in sorted(firsts)}
        columns: list[list[Any]] = [[], [], [], [], []]
        for text, key in keys.items():
            first, root = firsts[key], roots.get(key)
            start = min(first.start_ns, _LATEST if root is None else root.start_ns, _LATEST)
            name, customer = (None, None) if root is None else (stored_text(root.name), _customer(root))
            row = (text, stored_text((root or first).project), name, start, customer)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        stored = dict(db.execute(_TRACES, columns).fetchall())
        others = [text for text in keys if text not in stored]
        if others:
            stored |= dict(db.execute("SELECT trace_id, id FROM traces WHERE trace_id = ANY(%s)", (others,)))
        return {key: stored[text] for text, key in keys.items()}


def caused_by_value(error: BaseException) -> bool:
    """Whether a value caused an error: one of the server's about data, or one of Python's."""
    from agenttrace.store.postgres.connection import driver

    psycopg = driver()
    if isinstance(error, psycopg.Error):
        return isinstance(error, psycopg.DataError | psycopg.IntegrityError)
    return not isinstance(error, OSError | ImportError | MemoryError)


def month_of(start_ns: int) -> int:
    """The month of a moment, such as 202611, in UTC."""
    days = start_ns // _NS_PER_DAY
    if not 18_262 <= days < 47_482:  # 2020-01-01 and 2100-01-01
        return 0 if days < 18_262 else LATEST_MONTH + 1
    moment = time.gmtime(days * 86_400)
    return moment.tm_year * 100 + moment.tm_mon


def function_number(db: Any, row: SpanKind) -> int:
    """The number of a function: project, name, type, and the text of its definition."""
    texts = [stored_text(text) for text in row]
    digest = blake2b(to_json(texts).encode(), digest_size=16).digest()
    query = "SELECT id FROM functions WHERE digest = %s"
    numbered = db.execute(query, (digest,)).fetchone() or db.execute(_FUNCTION, (digest, *texts)).fetchone()
    if numbered is None:  # another writer was quicker
        numbered = db.execute(query, (digest,)).fetchone()
    return int(numbered[0])


def insert_tools(db: Any, project: str, tools: Sequence[ToolDefinition]) -> None:
    """Store the definitions of tools, whether they were called or not."""
    for tool in tools:
        function_number(db, (project, clean_text(tool.name), "tool", definition_text(tool)))


def quarantine(db: Any, trace_id: Any, span_id: Any, name: Any, *, reason: BaseException) -> None:
    """Note something that could not be stored, with the error that it caused."""
    texts = [stored_text(text[:200]) if type(text) is str else None for text in (trace_id, span_id, name)]
    reason_text = stored_text(f"{type(reason).__name__}: {reason}"[:500])
    db.execute(
        "INSERT INTO quarantine (trace_id, span_id, name, reason, created_ns) VALUES (%s, %s, %s, %s, %s)",
        (*texts, reason_text, time.time_ns()),
    )


def stored_text(text: str) -> str:
    """A text as the server takes it: it has no zero character, and no half of a pair."""
    return clean_text(text).replace("\0", "\N{SYMBOL FOR NULL}")


def _checked_trace_id(key: int) -> str:
    if not 0 <= key < 1 << 128:
        raise ValueError(f"a trace's id has 128 bits, got {key!r}")
    return trace_id_text(key)


def _customer(root: Span) -> str | None:
    customer = root.attributes.get(semconv.CUSTOMER_ID) if root.attributes else None
    return stored_text(customer) if type(customer) is str else None
