"""Failures, people's word and counts of scores in memory: the same tables and statements, without a file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from agenttrace.core.annotation import Annotation, is_word
from agenttrace.core.batch import ScoreRow
from agenttrace.core.failure import failures_of
from agenttrace.core.jsonable import to_json
from agenttrace.core.report import EvaluationReport
from agenttrace.store import migrations
from agenttrace.store.annotations import insert_annotations
from agenttrace.store.failures import Case, note_failures
from agenttrace.store.human_scores import failures_of_row, forget_replaced, newest_words

T = TypeVar("T")

_MOST_SCORES = 100_000


class WatchInMemory:
    """Keeps them in a database of its own, made at the first use. Not safe for two threads at once."""

    def __init__(self) -> None:
        self._db: sqlite3.Connection | None = None

    def ask(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query, or what changes failures, on the database."""
        if self._db is None:
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            migrations.migrate(self._db)
        return query(self._db)

    @property
    def begun(self) -> bool:
        """Whether anything was kept here."""
        return self._db is not None

    def note(self, scores: Sequence[ScoreRow], project_of: Callable[[str | None], str]) -> None:
        """Note scores that were stored: their counts, and their failures."""
        if scores:
            self.ask(lambda db: _note(db, scores, project_of))

    def note_report(self, run_id: str, report: EvaluationReport) -> None:
        """Note the failures of a run."""

        def note(db: sqlite3.Connection) -> None:
            for place, result in enumerate(report):
                note_failures(db, report.project, Case(result.trace_id, run_id, place), failures_of(result))

        self.ask(note)

    def annotate(self, annotations: Sequence[Annotation]) -> None:
        """Keep what people said."""
        if annotations:
            self.ask(lambda db: insert_annotations(db, annotations))


def _note(
    db: sqlite3.Connection, scores: Sequence[ScoreRow], project_of: Callable[[str | None], str]
) -> None:
    now = time.time_ns()
    scores = newest_words(scores)
    forget_replaced(db, scores)
    for row in scores:
        trace_id, span_id, score = row
        project = project_of(trace_id)
        db.execute(
            "INSERT OR IGNORE INTO traces (trace_id, project, started_ns) VALUES (?, ?, ?)",
            (trace_id or "", project, now),
        )
        db.execute(
            "INSERT INTO scores"
            " (trace_id, span_id, name, value, threshold, outcome, reason, cost, rest, created_ns)"
            " VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
            (
                *(trace_id or "", span_id, score.name, score.value, score.threshold, score.outcome),
                *(score.cost, to_json({"metadata": dict(score.metadata)}) if is_word(score) else None, now),
            ),
        )
        note_failures(db, project, Case(trace_id), failures_of_row(db, row))
    db.execute("DELETE FROM scores WHERE id <= (SELECT max(id) FROM scores) - ?", (_MOST_SCORES,))
