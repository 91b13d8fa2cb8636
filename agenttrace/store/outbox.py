"""What exporters have yet to send, in the store's file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from agenttrace.core.jsonable import clean_text
from agenttrace.core.parcel import Parcel

T = TypeVar("T")

MAX_BYTES = 64 * 1024 * 1024
"""Bytes that may wait for one destination, with what it refused; beyond it the oldest go."""


class _Write(Protocol):
    def __call__(self, write: Callable[[sqlite3.Connection, Any], T]) -> T: ...


class _Read(Protocol):
    def __call__(self, query: Callable[[sqlite3.Connection], T], nothing: T) -> T: ...


class SQLiteOutbox:
    """The parcels for one destination, oldest first, for any number of processes.

    Every method raises StoreError where the file cannot be used.
    """

    def __init__(self, write: _Write, read: _Read, destination: str, max_bytes: int = MAX_BYTES) -> None:
        self._write = write
        self._read = read
        self._destination = destination
        self._max_bytes = max_bytes

    def put(self, parcels: Sequence[Parcel], refused: str | None = None) -> int:
        """Keep parcels, as *refused* ones with the reason; returns how many items had to go for them."""

        def put(db: sqlite3.Connection, _: Any) -> int:
            for parcel in parcels:
                db.execute(
                    "INSERT INTO outbox (destination, kind, content_type, items, bytes, body, refused,"
                    " created_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        self._destination,
                        parcel.kind,
                        parcel.content_type,
                        parcel.items,
                        len(parcel.body),
                        parcel.body,
                        None if refused is None else clean_text(refused),
                        time.time_ns(),
                    ),
                )
            return self._make_room(db)

        return self._write(put)

    def _make_room(self, db: sqlite3.Connection) -> int:
        rows = db.execute(
            "SELECT id, bytes, items FROM outbox WHERE destination = ? ORDER BY id", (self._destination,)
        ).fetchall()
        excess = sum(size for _, size, _ in rows) - self._max_bytes
        gone = 0
        for key, size, items in rows:
            if excess <= 0:
                break
            db.execute("DELETE FROM outbox WHERE id = ?", (key,))
            excess -= size
            gone += items
        return gone

    def oldest(self, limit: int) -> list[Parcel]:
        """The parcels that have waited longest, without the refused ones."""

        def query(db: sqlite3.Connection) -> list[Parcel]:
            rows = db.execute(
                "SELECT kind, content_type, items, body, id FROM outbox"
                " WHERE destination = ? AND refused IS NULL ORDER BY id LIMIT ?",
                (self._destination, limit),
            )
            return [Parcel(*row) for row in rows]

        return self._read(query, [])

    def drop(self, keys: Sequence[int]) -> None:
        """Forget what was sent."""
        self._write(lambda db, _: db.executemany("DELETE FROM outbox WHERE id = ?", [(key,) for key in keys]))

    def readmit(self) -> int:
        """Let the refused ones wait again; returns how many items they hold."""

        def readmit(db: sqlite3.Connection, _: Any) -> int:
            found = db.execute(
                "SELECT coalesce(sum(items), 0) FROM outbox WHERE destination = ? AND refused IS NOT NULL",
                (self._destination,),
            ).fetchone()
            db.execute("UPDATE outbox SET refused = NULL WHERE destination = ?", (self._destination,))
            return int(found[0])

        return self._write(readmit)

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
