"""What the side index of a store in a file is filled from: its rows, which have numbers that only grow."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from agenttrace.core.jsonable import to_json
from agenttrace.core.trace import Trace
from agenttrace.store import files, queries
from agenttrace.store.connection import read
from agenttrace.store.facts import Kind
from agenttrace.store.index_source import NeedsRebuilding, Numbers, Position, StoreRows
from agenttrace.store.sound_rows import is_trace_id, sound_text

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

T = TypeVar("T")

SUFFIX = "-index"
ROWS_AT_ONCE = 30_000
"""Spans among which traces are looked for at once."""
_SETTLED_NS = 100_000_000

_OUTLINES = """SELECT s.trace, s.start_ns, s.seq, s.span, s.parent, s.end_ns, s.function,
        CASE WHEN s.parent IS NULL OR f.span_type = 'tool' THEN CAST(s.input AS BLOB) END,
        CASE WHEN s.parent IS NULL THEN CAST(s.output AS BLOB) END,
        CAST(s.rest AS BLOB)
    FROM all_span_rows s JOIN functions f ON f.id = s.function WHERE {} ORDER BY s.trace"""
_VALUES = """SELECT s.trace, CAST(s.input AS BLOB), CAST(s.output AS BLOB)
    FROM all_span_rows s JOIN functions f ON f.id = s.function
    WHERE (s.parent IS NULL OR f.span_type = 'tool') AND {} ORDER BY s.trace"""


class FileSource:
    """The store in a file; its index lies beside it, with ``-index`` after its name."""

    def __init__(self, path: str, timeout: float) -> None:
        self.index_path = path + SUFFIX
        self.owned_as: str | None = path
        self._path = path
        self._timeout = timeout

    def is_there(self) -> bool:
        """Whether the file is there."""
        return os.path.lexists(self._path)

    def get_ready(self) -> None:
        """Refuse a file of another kind: no index is begun beside it."""
        files.refuse_foreign_file(self._path)

    def stamp(self) -> tuple[str, bool]:
        """What changes with every write to the files, and whether it will: a clock ticks in steps."""
        parts: list[Any] = []
        newest = 0
        for suffix in files.SUFFIXES[:2]:
            try:
                status = os.stat(self._path + suffix)
            except FileNotFoundError:
                parts.append(None)
                continue
            parts.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
            newest = max(newest, status.st_mtime_ns)
        return to_json(parts), abs(time.time_ns() - newest) > _SETTLED_NS

    def read(self, action: Callable[[StoreRows], T]) -> T:
        """Run an action on the rows, in one transaction. Raises StoreError."""

        def on_rows(db: sqlite3.Connection) -> T | None:
            return action(FileRows(db, self._path))

        return read(self._path, self._timeout, on_rows, None)  # type: ignore[return-value]  # it is there


class FileRows:
    """The rows of a store's file, as `StoreRows`.

    Spans always have higher numbers than earlier ones (AUTOINCREMENT); scores as long as the last one is
    still there; runs as well.
    """

    def __init__(self, db: sqlite3.Connection, path: str) -> None:
        self._db = db
        self._path = path

    def identity(self) -> str:
        """The file, and when its tables were made."""
        steps = "SELECT name, applied_ns FROM migrations ORDER BY applied_ns, name"
        return to_json([files.identity(self._path), self._db.execute(steps).fetchall()])

    def trace_count(self) -> int:
        """SQLite counts without looking at the rows, which makes this cheap with any number of them."""
        return self._number("SELECT count(*) FROM traces")

    def highest_trace(self) -> int:
        """See `StoreRows`."""
        return self._number("SELECT coalesce(max(id), 0) FROM traces")

    def newest_span(self) -> int | None:
        """The highest number of a span's row, None in a file of a version that did not number them."""
        if not any(column == "id" for _, column, *_ in self._db.execute("PRAGMA table_info(span_rows)")):
            return None
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'span_rows'").fetchone()
        return 0 if row is None else int(row[0])

    def new_spans(self, after: Position, until: Position) -> tuple[set[int], Position]:
        """See `StoreRows`."""
        if type(after) is not int or type(until) is not int or until < after:
            raise NeedsRebuilding
        end = min(until, after + ROWS_AT_ONCE)
        return self._set("SELECT DISTINCT trace FROM span_rows WHERE id > ? AND id <= ?", after, end), end

    def newest_score(self) -> str | None:
        """Number and time of the last score: the numbers of scores that were deleted are used again."""
        row = self._db.execute("SELECT id, created_ns FROM scores ORDER BY id DESC LIMIT 1").fetchone()
        return None if row is None else f"{row[0]} {row[1]}"

    def newly_scored(self, after: Position) -> set[str]:
        """See `StoreRows`. All, where the last one that was read is no longer there."""
        last = 0
        if after is not None:
            number, _, created = str(after).partition(" ")
            row = self._db.execute("SELECT created_ns FROM scores WHERE id = ?", (int(number),)).fetchone()
            last = int(number) if row is not None and str(row[0]) == created else 0
        return self._set("SELECT DISTINCT trace_id FROM scores WHERE id > ? AND trace_id IS NOT NULL", last)

    def new_runs(self, after: Position) -> tuple[list[tuple[str, str]], Position]:
        """See `StoreRows`."""
        query = "SELECT rowid, run_id, name FROM runs WHERE rowid > ? ORDER BY rowid"
        rows = self._db.execute(query, (after or 0,)).fetchall()
        return [(run_id, name) for _, run_id, name in rows], rows[-1][0] if rows else after

    def results(self, run_id: str) -> Iterable[tuple[str, int, str, str]]:
        """See `StoreRows`."""
        query = (
            "SELECT trace_id, result, name, outcome FROM results WHERE run_id = ? AND trace_id IS NOT NULL"
        )
        return self._db.execute(query, (run_id,)).fetchall()

    def nothing_gone(self) -> Position:
        """See `StoreRows`."""
        return 0

    def gone(self, after: Position, count: int, numbers: Callable[[], set[int]]) -> tuple[set[int], Position]:
        """See `StoreRows`. Position: how many more traces the store has, those without spans.

        What is new was taken over just before. So that differs, or something is gone; a number that is used
        again is a new trace's.
        """
        more = self.trace_count() - count
        if more == (after or 0):
            return set(), after
        gone = numbers() - self._set("SELECT id FROM traces")
        return gone, more + len(gone)

    def numbers(self, trace_ids: Sequence[str]) -> set[int]:
        """See `StoreRows`."""
        query = "SELECT id FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))"
        return self._set(query, to_json(trace_ids))

    def ids(self, numbers: Numbers) -> dict[int, str]:
        """See `StoreRows`."""
        where, values = _among("id", numbers)
        rows = self._db.execute(f"SELECT id, trace_id FROM traces WHERE {where}", values)
        return {number: trace_id for number, trace_id in rows if is_trace_id(trace_id)}

    def kinds(self) -> dict[int, Kind]:
        """See `StoreRows`."""
        query = "SELECT id, name, span_type, project FROM functions"
        return {
            number: (sound_text(name), sound_text(span_type), sound_text(project))
            for number, name, span_type, project in self._db.execute(query)
        }

    def outlines(self, numbers: Numbers) -> Iterator[Sequence[Any]]:
        """See `StoreRows`."""
        where, values = _among("s.trace", numbers)
        return self._db.execute(_OUTLINES.format(where), values)

    def values(self, numbers: Numbers) -> Iterator[tuple[int, bytes | None, bytes | None]]:
        """See `StoreRows`."""
        where, values = _among("s.trace", numbers)
        return self._db.execute(_VALUES.format(where), values)

    def whole(self, number: int, trace_id: str) -> Trace:
        """See `StoreRows`."""
        return queries.trace_of(trace_id, queries.span_rows(self._db, number), [])

    def scores(self, trace_ids: Sequence[str]) -> Iterable[Sequence[Any]]:
        """See `StoreRows`."""
        return self._db.execute(
            "SELECT trace_id, name, value, threshold, outcome FROM scores"
            " WHERE trace_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (to_json(trace_ids),),
        )

    def _number(self, query: str) -> int:
        return int(self._db.execute(query).fetchone()[0])

    def _set(self, query: str, *values: Any) -> set[Any]:
        return {value for (value,) in self._db.execute(query, values)}


def _among(column: str, numbers: Numbers) -> tuple[str, tuple[Any, ...]]:
    """A condition for the numbers of traces, with its values."""
    if isinstance(numbers, range):
        return f"{column} >= ? AND {column} < ?", (numbers.start, numbers.stop)
    return f"{column} IN (SELECT value FROM json_each(?))", (to_json(sorted(numbers)),)
