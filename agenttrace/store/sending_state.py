"""What waits to be sent to each destination, since when, and what was refused there and why."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from agenttrace.store.connection import read


@dataclass(frozen=True, kw_only=True)
class Sending:
    """Spans or scores for one destination: how many wait and were refused.

    `oldest_ns` is when the oldest that waits ended, None where nothing waits; `reason` is that of the newest
    refusal, or empty.
    """

    destination: str
    kind: str
    waiting: int
    refused: int
    oldest_ns: int | None
    reason: str


def sending_state(path: str, timeout: float) -> list[Sending]:
    """What waits and was refused, by destination; nothing where there is no file.

    Raises:
        StoreError: it cannot be read.
    """
    nothing: list[Sending] = []
    return read(path, timeout, _sending, nothing)


_OLDEST = {
    "spans": "SELECT end_ns FROM span_rows WHERE id >= ? ORDER BY id LIMIT 1",
    "scores": "SELECT created_ns FROM scores WHERE id >= ? ORDER BY id LIMIT 1",
}


def _sending(db: sqlite3.Connection) -> list[Sending]:
    states = []
    for destination, kind, waiting, refused, first in db.execute(
        "SELECT destination, kind, sum(items * (refused IS NULL)), sum(items * (refused IS NOT NULL)),"
        " min(CASE WHEN refused IS NULL THEN first END)"
        " FROM to_send GROUP BY destination, kind ORDER BY destination, kind"
    ).fetchall():
        oldest = None if first is None else db.execute(_OLDEST[kind], (first,)).fetchone()
        reason = db.execute(
            "SELECT refused FROM to_send WHERE destination = ? AND kind = ? AND refused IS NOT NULL"
            " ORDER BY id DESC LIMIT 1",
            (destination, kind),
        ).fetchone()
        states.append(
            Sending(
                destination=destination,
                kind=kind,
                waiting=waiting,
                refused=refused,
                oldest_ns=None if oldest is None else oldest[0],
                reason="" if reason is None else str(reason[0]),
            )
        )
    return states
