"""People's scores: of one person's words about the same thing the newest is the score, and the failure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from agenttrace.core.annotation import is_word
from agenttrace.core.batch import ScoreRow
from agenttrace.core.failure import Fingerprint, fingerprints_of
from agenttrace.core.jsonable import clean_text
from agenttrace.store.failures import forget_case

About = tuple[str | None, str | None, str, str | None]
"""A trace, a span, the name of a human scorer, and who says it."""

_OWN = "run_id IS NULL AND json_extract(rest, '$.metadata.annotation') IS NOT NULL"
"""The scores that are made of annotations, of which each has the id in its metadata."""


def about_of(row: ScoreRow) -> About | None:
    """What a person's score is about and whose it is; None for another score."""
    if not is_word(row.score):
        return None
    return row.trace_id, row.span_id, row.score.name, row.score.metadata.get("by")


def newest_words(rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """The scores without those of words that a later one replaces, in their order."""
    rows = list(rows)
    last = {about_of(row): place for place, row in enumerate(rows)}
    return [row for place, row in enumerate(rows) if not is_word(row.score) or last[about_of(row)] == place]


def forget_replaced(db: sqlite3.Connection, rows: Sequence[ScoreRow]) -> None:
    """Delete the stored scores that these words replace, and their cases of failures; annotations stay."""
    for row in rows:
        about = about_of(row)
        if about is None:
            continue
        trace_id, span_id, name, by = about
        name = clean_text(name)
        replaced = db.execute(
            "DELETE FROM scores WHERE trace_id = ? AND span_id IS ? AND name = ?"  # noqa: S608 - text of ours
            f" AND json_extract(rest, '$.metadata.by') IS ? AND {_OWN}",
            (trace_id, span_id, name, by and clean_text(by)),
        )
        if replaced.rowcount and row.score.outcome == "passed":
            _take_back(db, trace_id, name)


def _take_back(db: sqlite3.Connection, trace_id: str | None, name: str) -> None:
    """Count a trace no more under the failure of a human scorer that nobody says of it any more."""
    if db.execute(
        f"SELECT 1 FROM scores WHERE trace_id = ? AND name = ? AND outcome = 'failed' AND {_OWN}",  # noqa: S608
        (trace_id, name),
    ).fetchone():
        return
    forget_case(db, trace_id, name)


def failures_of_row(db: sqlite3.Connection, row: ScoreRow) -> tuple[Fingerprint, ...]:
    """The failures of a score. A person's "bad" is one where the trace has no other failure.

    None where the word's label names a scorer of the trace: it is about that scorer's verdict.
    """
    fingerprints = fingerprints_of(row.score)
    if not fingerprints or not is_word(row.score):
        return fingerprints
    label = row.score.name.partition(": ")[2]
    about_scorer = db.execute(
        "SELECT 1 FROM scores WHERE trace_id = ? AND name = ?", (row.trace_id, clean_text(label))
    ).fetchone()
    other = db.execute(
        "SELECT 1 FROM failure_cases c JOIN failures f ON f.id = c.failure"
        " WHERE c.trace_id = ? AND f.scorer != ?",
        (row.trace_id, clean_text(row.score.name)),
    ).fetchone()
    return () if about_scorer or other else fingerprints
