"""Deletes what is too old on the server, a part at a time: traces, and notes that nobody asks for."""

from __future__ import annotations

import time
from typing import Any

from agenttrace.store.postgres.reads import delete_traces

_LOOK_SECONDS = 60.0
_AT_ONCE = 200
_COMMIT_LOOK_SECONDS = 3600.0
_FORGET_GONE = """WITH old AS (
        DELETE FROM gone_traces WHERE at < now() - interval '30 days' RETURNING written),
    newest AS (SELECT written FROM old ORDER BY written DESC LIMIT 1)
    INSERT INTO about SELECT 'forgotten', written::text FROM newest
    ON CONFLICT (key) DO UPDATE SET value = excluded.value"""


class AgeLimit:
    """Deletes traces that began longer ago than so many seconds; None: none. It looks once a minute."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._again_at = 0.0

    def retire(self, db: Any) -> int:
        """Delete what is too old, in an open transaction; returns how many traces that were.

        Of several processes that look at once, one deletes.
        """
        if self._seconds is None or time.monotonic() < self._again_at:
            return 0
        oldest = time.time_ns() - int(self._seconds * 1e9)
        ids = [
            trace_id
            for (trace_id,) in db.execute(
                "SELECT trace_id FROM traces WHERE started_ns < %s ORDER BY started_ns LIMIT %s"
                " FOR UPDATE SKIP LOCKED",
                (oldest, _AT_ONCE),
            )
        ]
        if len(ids) < _AT_ONCE:
            self._again_at = time.monotonic() + _LOOK_SECONDS
        return delete_traces(db, ids) if ids else 0


class OldNotes:
    """Forgets notes that nobody asks for any more.

    Those of transactions after a day; those of deleted traces after thirty: a reader's index that is older is
    made anew, which the note ``forgotten`` tells.
    """

    def __init__(self) -> None:
        self._again_at = time.monotonic() + _COMMIT_LOOK_SECONDS

    def forget(self, db: Any) -> None:
        """Delete them, in an open transaction, once an hour."""
        if time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _COMMIT_LOOK_SECONDS
            db.execute("DELETE FROM commits WHERE at < now() - interval '1 day'")
            db.execute(_FORGET_GONE)
