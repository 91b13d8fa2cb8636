"""What exporters have yet to send, in the store's file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from agenttrace.core.jsonable import clean_text
from agenttrace.core.protocols import Batch

T = TypeVar("T")

MAX_BYTES = 64 * 1024 * 1024
"""Bytes that may wait for one destination, the refused included, which go first; then the oldest go."""

MAX_AGE_NS = 14 * 24 * 3600 * 10**9
"""What nobody has sent by then is for a destination that is used no more."""


class _Write(Protocol):
    def __call__(self, write: Callable[[sqlite3.Connection, Any], T]) -> T: ...


class _Read(Protocol):
    def __call__(self, query: Callable[[sqlite3.Connection], T], nothing: T) -> T: ...


class SQLiteOutbox:
    """The batches for one destination, oldest first, for any number of processes.

    Every method raises StoreError where the file cannot be used.
    """

    def __init__(self, write: _Write, read: _Read, destination: str, max_bytes: int = MAX_BYTES) -> None:
        self._write = write
        self._read = read
        self._destination = destination
        self._max_bytes = max_bytes
        self._unmeasured: int | None = None  # bytes put since they were last counted: counting reads an index

    def put(self, batches: Sequence[Batch]) -> int:
        """Keep batches; returns how many items had to go for them."""

        def put(db: sqlite3.Connection, _: Any) -> int:
            self._insert(db, [(batch, None) for batch in batches])
            return self._make_room(db, sum(len(batch.body) for batch in batches))

        return self._write(put)

    def _insert(self, db: sqlite3.Connection, batches: Sequence[tuple[Batch, str | None]]) -> None:
        now = time.time_ns()
        db.executemany(
            "INSERT INTO outbox (destination, kind, content_type, items, bytes, body, refused, created_ns)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self._destination,
                    batch.kind,
                    batch.content_type,
                    batch.items,
                    len(batch.body),
                    batch.body,
                    None if refused is None else clean_text(refused),
                    now,
                )
                for batch, refused in batches
            ],
        )

    def _make_room(self, db: sqlite3.Connection, added: int) -> int:
        first_time = self._unmeasured is None
        if first_time:
            db.execute("DELETE FROM outbox WHERE created_ns < ?", (time.time_ns() - MAX_AGE_NS,))
        unmeasured = (self._unmeasured or 0) + added
        if not first_time and unmeasured < self._max_bytes // 16:
            self._unmeasured = unmeasured
            return 0
        self._unmeasured = 0
        (held,) = db.execute(
            "SELECT total(bytes) FROM outbox WHERE destination = ?", (self._destination,)
        ).fetchone()
        gone = 0
        excess = held - self._max_bytes
        rows = db.execute(
            "SELECT id, bytes, items FROM outbox WHERE destination = ? ORDER BY refused IS NULL, id",
            (self._destination,),
        )
        for key, size, items in rows.fetchall() if excess > 0 else ():
            if excess <= 0:
                break
            db.execute("DELETE FROM outbox WHERE id = ?", (key,))
            excess -= size
            gone += items
        return gone

    def oldest(self, max_bytes: int) -> list[Batch]:
        """The batches that have waited longest, without the refused ones: as many as fit, at least one."""

        def query(db: sqlite3.Connection) -> list[Batch]:
            rows = db.execute(
                "SELECT kind, content_type, items, body, id FROM outbox"
                " WHERE destination = ? AND refused IS NULL ORDER BY id",
                (self._destination,),
            )
            found: list[Batch] = []
            room = max_bytes
            for row in rows:
                batch = Batch(*row)
                room -= len(batch.body)
                if found and room < 0:
                    break
                found.append(batch)
            return found

        return self._read(query, [])

    def settle(self, keys: Sequence[int], refused: Sequence[tuple[Batch, str]] = ()) -> int:
        """Forget what was delivered, keep what was refused of it; returns how many items were forgotten."""

        def settle(db: sqlite3.Connection, _: Any) -> int:
            forgotten = 0
            for key in keys:
                (items,) = db.execute("SELECT total(items) FROM outbox WHERE id = ?", (key,)).fetchone()
                db.execute("DELETE FROM outbox WHERE id = ?", (key,))
                forgotten += int(items)
            self._insert(db, refused if forgotten else ())
            return forgotten

        return self._write(settle)

    def retry_refused(self) -> int:
        """Let the refused ones wait again; returns how many items they hold."""

        def retry_refused(db: sqlite3.Connection, _: Any) -> int:
            found = db.execute(
                "SELECT coalesce(sum(items), 0) FROM outbox WHERE destination = ? AND refused IS NOT NULL",
                (self._destination,),
            ).fetchone()
            db.execute(
                "UPDATE outbox SET refused = NULL WHERE destination = ? AND refused IS NOT NULL",
                (self._destination,),
            )
            return int(found[0])

        return self._write(retry_refused)

    def counts(self) -> tuple[int, int]:
        """How many items wait, how many were refused."""

        def query(db: sqlite3.Connection) -> tuple[int, int]:
            waiting, refused = db.execute(
                "SELECT total(items * (refused IS NULL)), total(items * (refused IS NOT NULL)) FROM outbox"
                " WHERE destination = ?",
                (self._destination,),
            ).fetchone()
            return int(waiting), int(refused)

        return self._read(query, (0, 0))

    def lease(self, holder: str, seconds: float) -> bool:
        """Become, or stay, the only one who sends; whether nobody else is."""

        def lease(db: sqlite3.Connection, _: Any) -> bool:
            now = time.time_ns()
            taken = db.execute(
                "INSERT INTO outbox_senders VALUES (?, ?, ?) ON CONFLICT (destination) DO UPDATE"
                " SET holder = excluded.holder, until_ns = excluded.until_ns"
                " WHERE holder = excluded.holder OR until_ns < ? OR until_ns > ?",
                # A lease from the future was given before the clock was set back: it is void, too.
                (self._destination, holder, now + int(seconds * 1e9), now, now + int(10 * seconds * 1e9)),
            )
            return taken.rowcount > 0

        return self._write(lease)

    def release(self, holder: str) -> None:
        """Let others send."""
        self._write(
            lambda db, _: db.execute(
                "DELETE FROM outbox_senders WHERE destination = ? AND holder = ?",
                (self._destination, holder),
            )
        )
