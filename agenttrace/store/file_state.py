"""What a store's file says of itself: sizes, counts, what waits, what could not be stored."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agenttrace.store import files, migrations
from agenttrace.store.connection import read


class Waiting(NamedTuple):
    """What is yet to be sent somewhere, or was refused there."""

    destination: str
    kind: str
    items: int
    refused: int


@dataclass(frozen=True, kw_only=True)
class FileState:
    """Counts are of rows. `bytes` has the size of each file that there is. Times are nanoseconds since 1970,
    None where there is no trace. `quarantined` has the newest reasons with the times."""

    bytes: dict[str, int]
    traces: int
    spans: int
    scores: int
    runs: int
    datasets: int
    oldest_ns: int | None
    newest_ns: int | None
    steps: tuple[str, ...]
    known_steps: int
    pending: dict[str, int]
    oldest_pending_ns: int | None
    waiting: Sequence[Waiting]
    quarantine: int
    quarantined: Sequence[tuple[int, str, str]]
    read_in_ns: int


def file_state(path: str, timeout: float) -> FileState | None:
    """What the file says; None where there is none.

    Raises:
        StoreError: it cannot be read.
    """
    start = time.perf_counter_ns()

    def ask(db: sqlite3.Connection) -> FileState:
        def one(statement: str) -> int:
            return int(db.execute(statement).fetchone()[0])

        oldest, newest = db.execute("SELECT min(started_ns), max(started_ns) FROM traces").fetchone()
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        steps = db.execute("SELECT name FROM migrations").fetchall()
        if "later_migrations" in tables:
            steps += db.execute("SELECT name FROM later_migrations").fetchall()
        pending = db.execute("SELECT project, count(*) FROM pending_evaluations GROUP BY project").fetchall()
        waiting: list[tuple[str, str, int, int]] = []
        if "to_send" in tables:
            waiting = db.execute(
                "SELECT destination, kind, sum(items * (refused IS NULL)), sum(items * (refused IS NOT NULL))"
                " FROM to_send GROUP BY destination, kind ORDER BY destination, kind"
            ).fetchall()
        return FileState(
            bytes=_sizes(path),
            traces=one("SELECT count(*) FROM traces"),
            spans=one("SELECT count(*) FROM all_span_rows"),
            scores=one("SELECT count(*) FROM scores"),
            runs=one("SELECT count(*) FROM runs"),
            datasets=one("SELECT count(*) FROM datasets"),
            oldest_ns=oldest,
            newest_ns=newest,
            steps=tuple(sorted(name for (name,) in steps)),
            known_steps=len(migrations.MIGRATIONS),
            pending=dict(pending),
            oldest_pending_ns=db.execute("SELECT min(created_ns) FROM pending_evaluations").fetchone()[0],
            waiting=[Waiting(*row) for row in waiting],
            quarantine=one("SELECT count(*) FROM quarantine"),
            quarantined=db.execute(
                "SELECT created_ns, coalesce(name, ''), reason FROM quarantine ORDER BY id DESC LIMIT 5"
            ).fetchall(),
            read_in_ns=time.perf_counter_ns() - start,
        )

    return read(path, timeout, ask, None)


def _sizes(path: str) -> dict[str, int]:
    sizes = {}
    for suffix in (*files.SUFFIXES, "-index"):
        try:
            sizes[os.path.basename(path) + suffix] = os.stat(path + suffix).st_size
        except OSError:
            continue
    return sizes
