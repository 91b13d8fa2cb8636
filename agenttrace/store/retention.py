"""The oldest traces go when a file has reached its size."""

from __future__ import annotations

import sqlite3
import time

from agenttrace.store.span_writes import delete_trace

DEFAULT_BYTES = 2 * 1024**3
"""How large the database may grow by default."""

_ROOM = 0.95
_STILL_OPEN_NS = 24 * 3600 * 10**9
_AT_ONCE = 1_000


def used_bytes(db: sqlite3.Connection) -> int:
    """The size of what is in the file, without pages that are free to be filled again."""
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    used: int = (pages - free) * size
    return used


def retire(db: sqlite3.Connection, largest: int) -> int:
    """Delete the oldest traces, in an open transaction, once more than `largest` bytes are used.

    Returns how many went: as many as give some room, or all but those that are kept in any case: traces
    whose root has not been stored and that began within a day (they may still run).
    """
    if used_bytes(db) <= largest:
        return 0
    # What waits for a collector that is down has a bound of its own, and costs no trace its place.
    largest += int(db.execute("SELECT total(bytes) FROM outbox").fetchone()[0])
    if used_bytes(db) <= largest:
        return 0
    gone = 0
    for number, trace_id in db.execute(
        "SELECT id, trace_id FROM traces WHERE name IS NOT NULL OR started_ns < ?"
        " ORDER BY started_ns LIMIT ?",
        (time.time_ns() - _STILL_OPEN_NS, _AT_ONCE),
    ).fetchall():
        delete_trace(db, number, trace_id)
        gone += 1
        if used_bytes(db) <= largest * _ROOM:
            break
    return gone
