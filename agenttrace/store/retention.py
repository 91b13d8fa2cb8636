"""Deletes a trace or a run on demand, the oldest traces when the file is too large or they are too old."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agenttrace.core.durations import bytes_of_size, seconds_of
from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import to_json
from agenttrace.core.numbers import is_whole
from agenttrace.store.failures import forget_cases
from agenttrace.store.queries import find_trace
from agenttrace.store.span_table import tables_of_spans
from agenttrace.store.to_send import give_up_oldest

DEFAULT_BYTES = 2 * 1024**3
"""How large the database may grow by default."""

_ID_DIGITS = 32
_ROOM = 0.95
_STILL_OPEN_NS = 24 * 3600 * 10**9
_AT_ONCE = 1_000
_OLD_AT_ONCE = 200
_LOOK_SECONDS = 60.0
_LATEST = (1 << 63) - 1

# Whether a row waits is asked of the last range that begins before it: there may be thousands of ranges.
_OLDEST = """SELECT id, trace_id FROM traces t
    WHERE started_ns < ?4 AND (name IS NOT NULL OR started_ns < ?1)
    AND (?5 OR id <> (SELECT id FROM traces ORDER BY started_ns DESC LIMIT 1))
    AND NOT EXISTS (SELECT 1 FROM span_rows s CROSS JOIN json_each(?2) d WHERE s.trace = t.id
        AND s.id <= (SELECT last FROM to_send WHERE destination = d.value AND kind = 'spans'
            AND refused IS NULL AND first <= s.id ORDER BY first DESC LIMIT 1))
    AND NOT EXISTS (SELECT 1 FROM scores c CROSS JOIN json_each(?2) d WHERE c.trace_id = t.trace_id
        AND c.id <= (SELECT last FROM to_send WHERE destination = d.value AND kind = 'scores'
            AND refused IS NULL AND first <= c.id ORDER BY first DESC LIMIT 1))
    ORDER BY started_ns LIMIT ?3"""


class Keep(NamedTuple):
    """How long traces are kept, in seconds, and how large the file may grow; None: no limit of one's own."""

    seconds: float | None = None
    max_bytes: int | None = None

    @classmethod
    def of(cls, text: Any) -> Keep:
        """Read ``"30d"``, ``"5GB"``, or both: ``"30d 5GB"``.

        Raises:
            ConfigError: it is something else.
        """
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(
                f"keep is an age, a size or both, such as '30d', '5GB', '30d 5GB'; got {text!r}"
            )
        seconds, max_bytes = None, None
        for part in text.replace(",", " ").split():
            size = bytes_of_size(part)
            if size is None and seconds is None:
                seconds = seconds_of(part, "keep")
            elif size is not None and size > 0 and max_bytes is None:
                max_bytes = size
            else:
                raise ConfigError(f"keep has one age and one size, such as '30d 5GB'; got {text!r}")
        return cls(seconds, max_bytes)


class AgeLimit:
    """Deletes traces that are older than an age, a part with each write, looking once a minute."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._again_at = 0.0

    def retire(self, db: sqlite3.Connection) -> int:
        """Delete what is too old, in an open transaction. Returns how many traces were deleted."""
        if self.seconds is None or time.monotonic() < self._again_at:
            return 0
        before = time.time_ns() - int(self.seconds * 1e9)
        number = _delete_oldest(db, lambda: False, began_before=before, most=_OLD_AT_ONCE)
        if number < _OLD_AT_ONCE:
            self._again_at = time.monotonic() + _LOOK_SECONDS
        return number


class SizeLimit:
    """Deletes the oldest traces with each write, once there is no room; looks once a second while there is
    much."""

    def __init__(self) -> None:
        self._again_at = 0.0

    @staticmethod
    def checked(max_bytes: int) -> int:
        """Return how large a file may grow.

        Raises:
            ConfigError: it is no number of bytes.
        """
        if not is_whole(max_bytes, least=1):
            raise ConfigError(f"max_bytes is a whole number of bytes, 1 or more, got {max_bytes!r}")
        return max_bytes

    def retire(self, db: sqlite3.Connection, largest: int, written: int = 0) -> int:
        """Delete what is beyond `largest` bytes, in an open transaction; see `retire`."""
        if time.monotonic() < self._again_at:
            return 0
        used = used_bytes(db)
        if largest - used > _MUCH_ROOM:
            self._again_at = time.monotonic() + _SECONDS_WITH_ROOM
        return retire(db, largest, written) if used > largest else 0


_MUCH_ROOM = 1024 * 1024 * 1024
"""Bytes that all processes together do not write within `_SECONDS_WITH_ROOM`."""

_SECONDS_WITH_ROOM = 1.0


def used_bytes(db: sqlite3.Connection) -> int:
    """The size of what is in the file, without pages that are free to be filled again."""
    (size,) = db.execute(
        "SELECT (page_count - freelist_count) * page_size"
        " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
    ).fetchone()
    return int(size)


def delete_trace(db: sqlite3.Connection, number: int, trace_id: str, tables: Sequence[str] = ()) -> None:
    """Delete a trace with its spans and scores; scores that belong to a run stay."""
    for table in tables or tables_of_spans(db):
        db.execute(f"DELETE FROM {table} WHERE trace = ?", (number,))  # noqa: S608 - names of ours
    db.execute("DELETE FROM scores WHERE trace_id = ? AND run_id IS NULL", (trace_id,))
    db.execute("DELETE FROM traces WHERE id = ?", (number,))
    forget_cases(db, trace_id=trace_id)


def delete_by_id(db: sqlite3.Connection, trace_id: str) -> bool:
    """Delete the trace that has this whole id; returns True if there was one."""
    match = find_trace(db, trace_id.lower()) if len(trace_id) == _ID_DIGITS else None
    if match is not None:
        delete_trace(db, *match)
    return match is not None


def delete_run(db: sqlite3.Connection, run_id: str) -> bool:
    """Delete a run with its results and their scores; returns True if there was one."""
    for table in ("scores", "results"):
        db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 - names of ours
    forget_cases(db, run_id=run_id)
    return db.execute("DELETE FROM runs WHERE run_id = ?", (run_id,)).rowcount > 0


def retire(db: sqlite3.Connection, largest: int, written: int = 0) -> int:
    """Delete the oldest traces, in an open transaction, once more than `largest` bytes are used.

    At most 1,000, or twice as many as spans were `written` in this transaction: a file does not grow by the
    many traces of one write, and one that is far too large shrinks bit by bit, without holding up others.
    Returns how many were deleted. Traces whose root has not been stored and that began within a day are
    never deleted: they may still run. Nor is the newest, however large. Nor are those that are still to be
    sent, as long as these are no more than half of all spans: beyond that the oldest are no longer sent.
    """
    if used_bytes(db) <= largest:
        return 0
    # What versions before 0.2 have encoded to be sent displaces no trace.
    largest += int(db.execute("SELECT total(bytes) FROM outbox").fetchone()[0])
    if used_bytes(db) <= largest:
        return 0
    (rows,) = db.execute("SELECT coalesce(max(id) - min(id) + 1, 0) FROM span_rows").fetchone()
    give_up_oldest(db, rows // 2)
    most = max(_AT_ONCE, 2 * written)
    return _delete_oldest(db, lambda: used_bytes(db) <= largest * _ROOM, most=most)


def _delete_oldest(
    db: sqlite3.Connection, enough: Callable[[], bool], *, most: int, began_before: int = _LATEST
) -> int:
    """Delete the oldest traces that may go, one by one, until that is enough."""
    tables = tables_of_spans(db)
    deleted = 0
    open_since = time.time_ns() - _STILL_OPEN_NS
    destinations = [name for (name,) in db.execute("SELECT DISTINCT destination FROM to_send")]
    is_by_age = began_before != _LATEST
    values = (open_since, to_json(destinations), most, began_before, is_by_age)
    for number, trace_id in db.execute(_OLDEST, values).fetchall():
        delete_trace(db, number, trace_id, tables)
        deleted += 1
        if enough():
            break
    return deleted
