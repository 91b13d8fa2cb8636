"""Keeps in memory what the file cannot take now, and decides when the file is tried again."""

from __future__ import annotations

import logging
import sqlite3
import time
import uuid
from collections.abc import Mapping
from typing import Literal

from agenttrace.core.batch import Batch
from agenttrace.core.losses import LOSSES
from agenttrace.store.evaluation_writes import insert_pending, insert_report
from agenttrace.store.health import StoreHealth
from agenttrace.store.memory import MemoryStore
from agenttrace.store.memory_note import remove_note, write_note

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
_NOTE_SECONDS = 5.0

_log = logging.getLogger("agenttrace")


class MemoryFallback:
    """Keeps what a file could not take, and decides when the file is tried again.

    `occupied` is True while something waits here for the file.
    """

    def __init__(self, health: StoreHealth, place: str | None = None) -> None:
        """Stand in for what is at `place`, by default the path of the health's file."""
        self._health = health
        self._place = health.path if place is None else place
        self.commit_id = uuid.uuid4()
        """Of the transaction that will write what is kept here."""
        self.memory = MemoryStore()
        self.occupied = False
        self._pause = _FIRST_PAUSE
        self._again_at = 0.0
        self._counted_drops = 0
        self._since_ns = 0
        self._note_again_at = 0.0

    def must_wait(self) -> bool:
        """Return True if it is too early to try the file again."""
        return self.occupied and time.monotonic() < self._again_at

    def open(self, cause: Exception) -> None:
        """Take over from the file; each time again, the pause before the next attempt doubles, up to 30 s."""
        if self.occupied:
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        else:
            self._since_ns, self._note_again_at = time.time_ns(), 0.0
        self.occupied = True
        self._again_at = time.monotonic() + self._pause
        self._health.mode = "memory"
        self._health.trouble = str(cause)
        self._health.warn_once(
            str(cause),
            "the trace store %s cannot be written (%s); traces are kept in memory until it can",
            self._place,
            cause,
        )

    def keep(self, batch: Batch) -> None:
        """Keep a batch, its spans within the memory store's bound."""
        self.memory.write(batch)
        state = self.memory.health()
        self._health.waiting = state.written - state.dropped
        self._health.dropped += state.dropped - self._counted_drops
        self._counted_drops = state.dropped
        if state.dropped:
            self._health.warn_once("memory_full", "%s; %s", *LOSSES["memory_full"])
        if time.monotonic() >= self._note_again_at:
            self.note()

    def note(self) -> None:
        """Say to `agenttrace health`, which cannot read it in the file, how many spans are here and why."""
        health = self._health
        if self.occupied and health.path is not None:
            self._note_again_at = time.monotonic() + _NOTE_SECONDS
            write_note(
                health.path,
                since_ns=self._since_ns,
                waiting=health.waiting,
                dropped=health.dropped,
                cause=health.trouble or "",
            )

    def note_losses(self, losses: Mapping[str, int], cause: Exception) -> None:
        """Say to `agenttrace health` what this process lost at its end, in a file that it could not write."""
        health = self._health
        if losses and health.path is not None and not self.occupied:
            left = losses.get("left_at_end", 0)
            dropped = sum(losses.values()) - left
            write_note(health.path, since_ns=time.time_ns(), waiting=left, dropped=dropped, cause=str(cause))

    def put_back(self, db: sqlite3.Connection) -> None:
        """Write to the file what is kept besides batches."""
        for run_id, report in self.memory.all_reports().items():
            insert_report(db, run_id, report)
        for project, request in self.memory.all_evaluations():
            insert_pending(db, project, [request])

    def hand_over(self) -> MemoryStore:
        """What is kept, which somebody else keeps from now on."""
        memory, self.memory = self.memory, MemoryStore()
        self._counted_drops = 0
        self._health.waiting = 0
        return memory

    def leave(self, mode: Literal["sqlite", "postgres", "remote"] = "sqlite") -> None:
        """Empty the memory, when all of it has been written; new spans go to a store of this mode."""
        _log.info("the trace store %s can be written again", self._place)
        if self._health.path is not None:
            remove_note(self._health.path)
        self.memory = MemoryStore()
        self.occupied = False
        self._pause = _FIRST_PAUSE
        self._counted_drops = 0
        self._health.mode = mode
        self.commit_id = uuid.uuid4()
        self._health.trouble = None
        self._health.waiting = 0
