"""Deletes traces: one on demand, the oldest ones when the file has grown too large."""

from __future__ import annotations

import sqlite3
import time

DEFAULT_BYTES = 2 * 1024**3
"""How large the database may grow by default."""

_ROOM = 0.95
_STILL_OPEN_NS = 24 * 3600 * 10**9
_AT_ONCE = 1_000


def used_bytes(db: sqlite3.Connection) -> int:
    """The size of what is in the file, without pages that are free to be filled again."""
    pages, free_pages, page_size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    size: int = (pages - free_pages) * page_size
    return size


def delete_trace(db: sqlite3.Connection, number: int, trace_id: str) -> None:
    """Delete a trace with its spans and scores; scores that belong to a run stay."""
    db.execute("DELETE FROM span_rows WHERE trace = ?", (number,))
    db.execute("DELETE FROM scores WHERE trace_id = ? AND run_id IS NULL", (trace_id,))
    db.execute("DELETE FROM traces WHERE id = ?", (number,))


def retire(db: sqlite3.Connection, largest: int) -> int:
    """Delete the oldest traces, in an open transaction, once more than `largest` bytes are used.

    Returns how many were deleted. Traces whose root has not been stored and that began within a day are
    never deleted: they may still run.
    """
    if used_bytes(db) <= largest:
        return 0
    # The outbox has a bound of its own: what waits there for a collector that is down displaces no trace.
    largest += int(db.execute("SELECT total(bytes) FROM outbox").fetchone()[0])
    if used_bytes(db) <= largest:
        return 0
    deleted = 0
    for number, trace_id in db.execute(
        "SELECT id, trace_id FROM traces WHERE name IS NOT NULL OR started_ns < ?"
        " ORDER BY started_ns LIMIT ?",
        (time.time_ns() - _STILL_OPEN_NS, _AT_ONCE),
    ).fetchall():
        delete_trace(db, number, trace_id)
        deleted += 1
        if used_bytes(db) <= largest * _ROOM:
            break
    return deleted
