"""Which processes write to the server's tables, and what became of their spans: a row of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.jsonable import to_json
from agenttrace.core.watch import WriterState
from agenttrace.store.health import StoreHealth
from agenttrace.store.writer_notes import KEPT_NS, NO_LOSSES, WriterNotes, writer_state

_NAMES = ("id", "machine", "pid", "program", "started_ns", "seen_ns", "ended_ns", "counts")
_CHANGED = ", ".join(f"{name} = excluded.{name}" for name in _NAMES[5:])


class WriterRow(WriterNotes):
    """The row of one process, through one store on a server."""

    def note(
        self, db: Any, health: StoreHealth, *, ended: bool = False, losses: Mapping[str, int] = NO_LOSSES
    ) -> None:
        """Note the counts, in an open transaction."""
        is_new = not self.begun
        row = self.row(health, ended=ended, losses=losses)
        if is_new:
            db.execute("DELETE FROM writers WHERE seen_ns < %s", (row[5] - KEPT_NS,))
        db.execute(
            f"INSERT INTO writers ({', '.join(_NAMES)}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"  # noqa: S608
            f" ON CONFLICT (id) DO UPDATE SET {_CHANGED}",
            (*row[:7], to_json(row[7])),
        )


def writers(db: Any) -> list[WriterState]:
    """The processes that write, or wrote lately; those seen last come first."""
    rows = db.execute(
        f"SELECT {', '.join(_NAMES)} FROM writers"  # noqa: S608 - names of ours
        ' ORDER BY seen_ns DESC, id COLLATE "C"'
    )
    return [writer_state(*row) for row in rows]
