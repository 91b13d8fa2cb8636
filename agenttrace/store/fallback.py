"""Memory in place of a file that cannot be written."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Sequence

from agenttrace.core.span import Span
from agenttrace.store.evaluation_writes import insert_pending, insert_report, insert_scores
from agenttrace.store.health import StoreHealth
from agenttrace.store.memory import MemoryStore
from agenttrace.store.span_writes import insert_tools

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0

_log = logging.getLogger("agenttrace")


class MemoryFallback:
    """Holds what a file could not take, and says when the file may be tried again.

    `occupied` means that something waits here for the file.
    """

    def __init__(self, health: StoreHealth) -> None:
        self._health = health
        self.memory = MemoryStore()
        self.occupied = False
        self._pause = _FIRST_PAUSE
        self._again_at = 0.0
        self._counted = 0

    def must_wait(self) -> bool:
        """Whether it is too early to try the file again."""
        return self.occupied and time.monotonic() < self._again_at

    def open(self, cause: Exception) -> None:
        """Take over from the file, or stay: the pause before the next attempt doubles, up to 30 seconds."""
        if self.occupied:
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        self.occupied = True
        self._again_at = time.monotonic() + self._pause
        self._health.mode = "memory"
        self._health.trouble = str(cause)
        self._health.warn_once(
            str(cause),
            "the trace store %s cannot be written (%s); traces are kept in memory until it can",
            self._health.path,
            cause,
        )

    def keep_spans(self, spans: Sequence[Span]) -> None:
        """Hold spans, within the memory store's bound."""
        self.memory.export(spans)
        state = self.memory.health()
        self._health.waiting = state.written - state.dropped
        self._health.dropped += state.dropped - self._counted
        self._counted = state.dropped

    def put_back(self, db: sqlite3.Connection) -> None:
        """Write what is kept besides spans."""
        memory = self.memory
        insert_scores(db, memory.kept_scores())
        for run_id, report in memory.kept_reports().items():
            insert_report(db, run_id, report)
        for project, tools in memory.kept_tools().items():
            insert_tools(db, project, tools)
        for project, request in memory.kept_evaluations():
            insert_pending(db, project, [request])

    def leave(self) -> None:
        """Everything is in the file again."""
        _log.info("the trace store %s can be written again", self._health.path)
        self.memory = MemoryStore()
        self.occupied = False
        self._pause = _FIRST_PAUSE
        self._counted = 0
        self._health.mode = "sqlite"
        self._health.trouble = None
        self._health.waiting = 0
