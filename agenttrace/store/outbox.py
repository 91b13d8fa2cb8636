"""The outbox of an exporter in the store's file: what it has yet to send, kept across processes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from agenttrace.core.jsonable import clean_text
from agenttrace.core.protocols import Batch

T = TypeVar("T")

MAX_BYTES = 64 * 1024 * 1024
"""Bytes that may wait for one destination. Beyond it, refused entries are deleted first, then the oldest."""

MAX_AGE_NS = 14 * 24 * 3600 * 10**9
"""Older entries are deleted: nobody sends to their destination any more."""


class _Write(Protocol):
    def __call__(self, write: Callable[[sqlite3.Connection, Any], T]) -> T: ...


class _Read(Protocol):
    def __call__(self, query: Callable[[sqlite3.Connection], T], nothing: T) -> T: ...


class SQLiteOutbox:
    """The entries for one destination, oldest first, shared by any number of processes.

    Every method raises StoreError where the file cannot be used.
    """

    def __init__(self, write: _Write, read: _Read, destination: str, max_bytes: int = MAX_BYTES) -> None:
        self._write = write
        self._read = read
        self._destination = destination
        self._max_bytes = max_bytes
        self._uncounted: int | None = None  # bytes put since they were last counted: counting reads an index

    def put(self, batches: Sequence[Batch]) -> int:
        """Keep entries; returns how many items were deleted to make room for them."""

        def put(db: sqlite3.Connection, _: Any) -> int:
            self._insert(db, [(batch, None) for batch in batches])
            return self._make_room(db, sum(len(batch.body) for batch in batches))

        return self._write(put)

    def _insert(self, db: sqlite3.Connection, entries: Sequence[tuple[Batch, str | None]]) -> None:
        now = time.time_ns()
        db.executemany(
            "INSERT INTO outbox (destination, kind, content_type, items, bytes, body, refused, created_ns)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self._destination,
                    entry.kind,
                    entry.content_type,
                    entry.items,
                    len(entry.body),
                    entry.body,
                    None if refused is None else clean_text(refused),
                    now,
                )
                for entry, refused in entries
            ],
        )

    def _make_room(self, db: sqlite3.Connection, new_bytes: int) -> int:
        first_time = self._uncounted is None
        if first_time:
            db.execute("DELETE FROM outbox WHERE created_ns < ?", (time.time_ns() - MAX_AGE_NS,))
        uncounted = (self._uncounted or 0) + new_bytes
        if not first_time and uncounted < self._max_bytes // 16:
            self._uncounted = uncounted
            return 0
        self._uncounted = 0
        (total,) = db.execute(
            "SELECT total(bytes) FROM outbox WHERE destination = ?", (self._destination,)
        ).fetchone()
        deleted_items = 0
        excess = total - self._max_bytes
        rows = db.execute(
            "SELECT id, bytes, items FROM outbox WHERE destination = ? ORDER BY refused IS NULL, id",
            (self._destination,),
        )
        for key, size, items in rows.fetchall() if excess > 0 else ():
            if excess <= 0:
                break
            db.execute("DELETE FROM outbox WHERE id = ?", (key,))
            excess -= size
            deleted_items += items
        return deleted_items

    def oldest(self, max_bytes: int) -> list[Batch]:
        """The entries that have waited longest, without the refused ones: as many as fit, at least one."""

        def query(db: sqlite3.Connection) -> list[Batch]:
            rows = db.execute(
                "SELECT kind, content_type, items, body, id FROM outbox"
                " WHERE destination = ? AND refused IS NULL ORDER BY id",
                (self._destination,),
            )
            entries: list[Batch] = []
            room = max_bytes
            for row in rows:
                entry = Batch(*row)
                room -= len(entry.body)
                if entries and room < 0:
                    break
                entries.append(entry)
            return entries

        return self._read(query, [])

    def settle(self, keys: Sequence[int], refused: Sequence[tuple[Batch, str]] = ()) -> int:
        """Delete what was delivered, keep what was refused of it; returns how many items were deleted."""

        def settle(db: sqlite3.Connection, _: Any) -> int:
            deleted_items = 0
            for key in keys:
                (items,) = db.execute("SELECT total(items) FROM outbox WHERE id = ?", (key,)).fetchone()
                db.execute("DELETE FROM outbox WHERE id = ?", (key,))
                deleted_items += int(items)
            self._insert(db, refused if deleted_items else ())
            return deleted_items

        return self._write(settle)

    def retry_refused(self) -> int:
        """Let the refused entries wait again; returns how many items they hold."""

        def retry_refused(db: sqlite3.Connection, _: Any) -> int:
            row = db.execute(
                "SELECT coalesce(sum(items), 0) FROM outbox WHERE destination = ? AND refused IS NOT NULL",
                (self._destination,),
            ).fetchone()
            db.execute(
                "UPDATE outbox SET refused = NULL WHERE destination = ? AND refused IS NOT NULL",
                (self._destination,),
            )
            return int(row[0])

        return self._write(retry_refused)

    def counts(self) -> tuple[int, int]:
        """How many items wait, and how many were refused."""

        def query(db: sqlite3.Connection) -> tuple[int, int]:
            waiting, refused = db.execute(
                "SELECT total(items * (refused IS NULL)), total(items * (refused IS NOT NULL)) FROM outbox"
                " WHERE destination = ?",
                (self._destination,),
            ).fetchone()
            return int(waiting), int(refused)

        return self._read(query, (0, 0))

    def lease(self, holder: str, seconds: float) -> bool:
        """Become, or stay, the only sender; returns False if somebody else is."""

        def lease(db: sqlite3.Connection, _: Any) -> bool:
            now = time.time_ns()
            cursor = db.execute(
                "INSERT INTO outbox_senders VALUES (?, ?, ?) ON CONFLICT (destination) DO UPDATE"
                " SET holder = excluded.holder, until_ns = excluded.until_ns"
                " WHERE holder = excluded.holder OR until_ns < ? OR until_ns > ?",
                # A lease that begins in the future was made before the clock was set back: it is void, too.
                (self._destination, holder, now + int(seconds * 1e9), now, now + int(10 * seconds * 1e9)),
            )
            return cursor.rowcount > 0

        return self._write(lease)

    def release(self, holder: str) -> None:
        """Give up the lease, so that others may send."""
        self._write(
            lambda db, _: db.execute(
                "DELETE FROM outbox_senders WHERE destination = ? AND holder = ?",
                (self._destination, holder),
            )
        )
