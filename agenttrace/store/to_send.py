"""What is still to be sent: ranges of row numbers for each destination, and the leases of who sends."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import Any

from agenttrace.core.batch import Destination, Refusal, ScoreRow, Unsent, UnsentCounts
from agenttrace.core.jsonable import clean_text
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.store.files import Identity
from agenttrace.store.queries import known_tools_of, tools_of
from agenttrace.store.rows import SCORE_COLUMNS, SPAN_FIELDS, score_of, span_of

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

MAX_AGE_NS = 14 * 24 * 3600 * 10**9
"""What nothing was added to for so long is no longer sent: its destination is not used any more."""

_TOO_MANY = "not sent in time: half of the store waited to be sent"
_WAITING = "destination = ? AND kind = ? AND refused IS NULL"


def add_to_send(db: sqlite3.Connection, destination: Destination, first: int, last: int) -> None:
    """Remember that the rows from `first` to `last` are to be sent; a range that ends before them grows."""
    now = time.time_ns()
    items = last - first + 1
    grown = db.execute(
        "UPDATE to_send SET last = ?, items = items + ?, extended_ns = ? WHERE last = ?"
        f" AND id = (SELECT id FROM to_send WHERE {_WAITING} ORDER BY first DESC LIMIT 1)",
        (last, items, now, first - 1, *destination),
    )
    if not grown.rowcount:
        _insert(db, destination, first, last, items, None)


def _insert(
    db: sqlite3.Connection, destination: Destination, first: int, last: int, items: int, refused: str | None
) -> None:
    db.execute(
        "INSERT INTO to_send (destination, kind, first, last, items, refused, extended_ns)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*destination, first, last, items, refused, time.time_ns()),
    )


def next_unsent(
    db: sqlite3.Connection, file: Identity | None, destination: Destination, most: int, max_bytes: int
) -> Unsent | None:
    """See `KeepsUnsent.unsent`."""
    encoded = _next_encoded(db, file, destination)
    if encoded is not None:
        return encoded
    definitions: dict[tuple[str, str], ToolDefinition | None] = {}
    tools = _Tools(db)
    ranges: list[tuple[int, int]] = []
    numbers: list[int] = []
    items: list[Any] = []
    times: list[int] = []
    for first, last in db.execute(
        f"SELECT first, last FROM to_send WHERE {_WAITING} ORDER BY first LIMIT ?", (*destination, most)
    ).fetchall():
        end = last
        for number, stored_ns, trace_id, *row in db.execute(_ROWS[destination.kind], (first, last)):
            if items and (len(items) >= most or max_bytes <= 0):
                end = number - 1
                break
            max_bytes -= sum(len(value) for value in row if type(value) is str)
            numbers.append(number)
            times.append(stored_ns)
            if destination.kind == "spans":
                span = span_of(int(trace_id, 16), row, definitions)
                items.append(span)
                max_bytes -= tools.beside(span)
            else:
                items.append(ScoreRow(trace_id, row[0], score_of(row[1:])))
        if end >= first:
            ranges.append((first, end))
        if end < last:
            break
    if not ranges:
        return None
    return Unsent(
        destination=destination,
        ranges=ranges,
        numbers=numbers,
        items=items,
        times=times,
        tools=tools.of_project,
        file=file,
    )


def _next_encoded(db: sqlite3.Connection, file: Identity | None, destination: Destination) -> Unsent | None:
    """The next request that waits as it is to be sent."""
    encoded = db.execute(
        "SELECT id, content_type, body FROM outbox WHERE destination = ? AND refused IS NULL"
        " ORDER BY id LIMIT 1",
        (destination.name,),
    ).fetchone()
    if encoded is None:
        return None
    number, content_type, body = encoded
    return Unsent(
        destination=destination,
        ranges=[(number, number)],
        body=body,
        content_type=content_type,
        file=file,
    )


class _Tools:
    """The tools that go out beside spans: those of a project once with each trace."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._sizes: dict[str, int] = {}
        self._seen: set[tuple[int, str]] = set()
        self.of_project: dict[str, Sequence[ToolDefinition]] = {}

    def beside(self, span: Span) -> int:
        """How many characters the definitions have that go out for the sake of this span."""
        project = span.project
        if (span.trace_key, project) in self._seen:
            return 0
        self._seen.add((span.trace_key, project))
        if project not in self.of_project:
            rows = known_tools_of(self._db, project)
            self._sizes[project] = sum(len(name) + len(definition) for name, definition in rows)
            self.of_project[project] = list(tools_of(rows, {}).values())
        return self._sizes[project]


_ROWS = {
    "spans": f"SELECT s.id, s.end_ns, t.trace_id, {SPAN_FIELDS} FROM span_rows s"
    " JOIN traces t ON t.id = s.trace JOIN functions f ON f.id = s.function"
    " WHERE s.id BETWEEN ? AND ? ORDER BY s.id",
    "scores": f"SELECT id, created_ns, trace_id, span_id, {SCORE_COLUMNS} FROM scores"
    " WHERE id BETWEEN ? AND ? ORDER BY id",
}


def settle(db: sqlite3.Connection, unsent: Unsent, refused: Sequence[Refusal]) -> None:
    """See `KeepsUnsent.settle`."""
    if unsent.body is not None:
        ((number, _),) = unsent.ranges
        if refused:
            db.execute("UPDATE outbox SET refused = ? WHERE id = ?", (clean_text(refused[0].reason), number))
        else:
            db.execute("DELETE FROM outbox WHERE id = ?", (number,))
        return
    for first, last in unsent.ranges:
        _take_out(db, unsent.destination, first, last)
    for start, stop, count, reason in refused:
        rest = count
        for first, last in unsent.ranges:  # what lies between these is not for this destination
            first, last = max(first, unsent.numbers[start]), min(last, unsent.numbers[stop - 1])
            if first <= last:
                items = min(rest, last - first + 1)
                rest -= items
                _insert(db, unsent.destination, first, last, items, clean_text(reason))


def _take_out(db: sqlite3.Connection, destination: Destination, first: int, last: int) -> None:
    """Let the rows from `first` to `last` wait no more; what waits before and after them goes on waiting."""
    overlapping = db.execute(
        f"SELECT id, first, last FROM to_send WHERE {_WAITING} AND first <= ? AND last >= ?",
        (*destination, last, first),
    ).fetchall()
    for key, start, end in overlapping:
        db.execute("DELETE FROM to_send WHERE id = ?", (key,))
        for left, right in ((start, first - 1), (last + 1, end)):
            if left <= right:
                _insert(db, destination, left, right, right - left + 1, None)


def retry_refused(db: sqlite3.Connection, destination: Destination) -> int:
    """See `KeepsUnsent.retry_refused`."""
    refused = count_unsent(db, destination).refused
    db.execute(
        "UPDATE to_send SET refused = NULL, items = last - first + 1"
        " WHERE destination = ? AND kind = ? AND refused IS NOT NULL",
        destination,
    )
    db.execute(
        "UPDATE outbox SET refused = NULL WHERE destination = ? AND refused IS NOT NULL", (destination.name,)
    )
    return refused


def count_unsent(db: sqlite3.Connection, destination: Destination) -> UnsentCounts:
    """See `KeepsUnsent.count_unsent`."""
    waiting, refused = db.execute(
        "SELECT total(items * (refused IS NULL)), total(items * (refused IS NOT NULL)) FROM"
        " (SELECT items, refused FROM to_send WHERE destination = ? AND kind = ?"
        " UNION ALL SELECT items, refused FROM outbox WHERE destination = ?)",
        (*destination, destination.name),
    ).fetchone()
    return UnsentCounts(int(waiting), int(refused))


def give_up_oldest(db: sqlite3.Connection, most_rows: int) -> None:
    """Forget what waits for destinations that are no longer used; of others, refuse the oldest rows beyond
    `most_rows`, so that they are counted, and sent again on demand as long as they are there."""
    db.execute("DELETE FROM to_send WHERE extended_ns < ?", (time.time_ns() - MAX_AGE_NS,))
    db.execute("DELETE FROM outbox WHERE created_ns < ?", (time.time_ns() - MAX_AGE_NS,))
    for name, kind, excess in db.execute(
        "SELECT destination, kind, total(last - first + 1) - ? AS excess FROM to_send"
        " WHERE refused IS NULL GROUP BY destination, kind HAVING excess > 0",
        (most_rows,),
    ).fetchall():
        rows_left = int(excess)
        for first, last in db.execute(
            f"SELECT first, last FROM to_send WHERE {_WAITING} ORDER BY first", (name, kind)
        ).fetchall():
            if rows_left <= 0:
                break
            end = min(last, first + rows_left - 1)
            _take_out(db, Destination(name, kind), first, end)
            _insert(db, Destination(name, kind), first, end, end - first + 1, _TOO_MANY)
            rows_left -= end - first + 1


def lease(db: sqlite3.Connection, name: str, holder: str, seconds: float) -> bool:
    """See `KeepsUnsent.lease`."""
    now = time.time_ns()
    cursor = db.execute(
        "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET holder = excluded.holder, until_ns = excluded.until_ns"
        " WHERE holder = excluded.holder OR until_ns < ? OR until_ns > ?",
        # A lease that begins in the future was made before the clock was set back: it is void, too.
        (name, holder, now + int(seconds * 1e9), now, now + int(10 * seconds * 1e9)),
    )
    return cursor.rowcount > 0


def release(db: sqlite3.Connection, name: str, holder: str) -> None:
    """See `KeepsUnsent.release`."""
    db.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
