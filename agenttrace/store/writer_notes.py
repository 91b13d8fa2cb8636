"""Which processes write to a file, and what became of their spans: a row of each, noted every few seconds."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
import weakref
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.core.watch import CountsRecording, WriterState
from agenttrace.store.health import StoreHealth
from agenttrace.store.rows import loaded

EVERY_SECONDS = 5.0
"""How often a process notes its counts, at most: with a batch of spans that is stored anyway."""

KEPT_NS = 7 * 24 * 3600 * 10**9
"""For how long a process that is no longer seen stays on the list."""

_LONGEST_PROGRAM = 200
NO_LOSSES: Mapping[str, int] = MappingProxyType({})


class WriterNotes:
    """The row of one process in the table ``writers``, through one store."""

    def __init__(self) -> None:
        self._id = ""
        self._started_ns = time.time_ns()
        self._again_at = 0.0
        self._recorders: weakref.WeakSet[CountsRecording] = weakref.WeakSet()

    @property
    def begun(self) -> bool:
        """Whether there is a row of this process."""
        return bool(self._id)

    def due(self, recorder: CountsRecording | None) -> bool:
        """Whether the counts are to be noted with the next batch, which comes from `recorder`."""
        if recorder is None or time.monotonic() < self._again_at:
            return False
        self._recorders.add(recorder)
        return True

    def note(
        self,
        db: sqlite3.Connection,
        health: StoreHealth,
        *,
        ended: bool = False,
        losses: Mapping[str, int] = NO_LOSSES,
    ) -> None:
        """Note the counts, and the losses at the end, in an open transaction."""
        is_new = not self.begun
        row = self.row(health, ended=ended, losses=losses)
        if is_new:
            db.execute("DELETE FROM writers WHERE seen_ns < ?", (row[5] - KEPT_NS,))
        db.execute(
            "INSERT OR REPLACE INTO writers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row[:7], to_json(row[7]))
        )

    def note_end(self, db: sqlite3.Connection, health: StoreHealth, losses: Mapping[str, int]) -> None:
        """Note the counts at the end, and what was lost, in an open transaction."""
        self.note(db, health, ended=True, losses=losses)

    def row(
        self, health: StoreHealth, *, ended: bool, losses: Mapping[str, int] = NO_LOSSES
    ) -> tuple[Any, ...]:
        """The row as it is now: id, machine, process, program, began, seen, ended, counts by name."""
        now = time.time_ns()
        self._again_at = time.monotonic() + EVERY_SECONDS
        self._id = self._id or os.urandom(8).hex()
        process = (self._id, _machine(), os.getpid(), _program())
        return (*process, self._started_ns, now, now if ended else None, {**losses, **self._counts(health)})

    def _counts(self, health: StoreHealth) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for recorder in list(self._recorders):
            counts.update(recorder.counts())
        counts.update(
            written=health.written,
            waiting=health.waiting,
            quarantined=health.quarantined,
            memory_full=health.dropped,
            lost=health.lost,
            retired_traces=health.retired_traces,
            busy=health.busy,
            reopened=health.reopened,
            moved_aside=len(health.moved_aside),
        )
        return counts


def _machine() -> str:
    try:
        return clean_text(os.uname().nodename)
    except AttributeError:  # not on Windows
        return clean_text(os.environ.get("COMPUTERNAME", ""))


def _program() -> str:
    return clean_text(os.path.basename(sys.argv[0] if sys.argv else ""))[:_LONGEST_PROGRAM]


def writers(db: sqlite3.Connection) -> list[WriterState]:
    """The processes that write, or wrote lately; those seen last come first."""
    rows = db.execute(
        "SELECT id, machine, pid, program, started_ns, seen_ns, ended_ns, counts FROM writers"
        " ORDER BY seen_ns DESC, id"
    )
    return [writer_state(*row) for row in rows]


def writer_state(*row: Any) -> WriterState:
    """The state that a row says."""
    *fields, counts = row
    numbers = loaded(counts)
    names = ("writer_id", "machine", "pid", "program", "started_ns", "seen_ns", "ended_ns")
    whole = {name: n for name, n in numbers.items() if isinstance(n, int)}
    return WriterState(**dict(zip(names, fields, strict=True)), counts=whole)
