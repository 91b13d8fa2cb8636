"""Deletes what is too old on the server, a part at a time: traces, and notes of transactions."""

from __future__ import annotations

import time
from typing import Any

from agenttrace.store.postgres.reads import delete_traces

_LOOK_SECONDS = 60.0
_AT_ONCE = 200
_COMMIT_LOOK_SECONDS = 3600.0


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


class OldCommits:
    """Forgets the notes of transactions that are a day old: nobody asks for them any more."""

    def __init__(self) -> None:
        self._again_at = time.monotonic() + _COMMIT_LOOK_SECONDS

    def forget(self, db: Any) -> None:
        """Delete them, in an open transaction, once an hour."""
        if time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _COMMIT_LOOK_SECONDS
            db.execute("DELETE FROM commits WHERE at < now() - interval '1 day'")
