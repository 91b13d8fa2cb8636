"""Writes scores, reports, datasets and pending evaluations in an open transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.batch import Destination, ScoreRow
from agenttrace.core.failure import failures_of
from agenttrace.core.jsonable import clean_text, jsonable, to_json
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.store.failures import Case, note_failures
from agenttrace.store.human_scores import failures_of_row, forget_replaced, newest_words
from agenttrace.store.rows import RESULT_COLUMNS, SCORE_COLUMNS, result_row, score_row
from agenttrace.store.span_writes import error_of_value, marks, quarantine
from agenttrace.store.to_send import add_to_send

ScoreOf = tuple[str | None, str | None, Score, str | None, int | None]
"""The ids of a score's trace and span, the score, the id of its run and the place of its result there."""


def next_score_number() -> str:
    """The query for the next score's number: none is used twice while it waits to be sent."""
    return (
        "SELECT 1 + max((SELECT coalesce(max(id), 0) FROM scores),"
        " (SELECT coalesce(max(last), 0) FROM to_send WHERE kind = 'scores'))"
    )


def insert_scores(
    db: sqlite3.Connection, scores: Sequence[ScoreOf], send_to: Sequence[Destination] = ()
) -> None:
    """Store scores in one statement, and that they are to be sent."""
    if not scores:
        return
    (first,) = db.execute(next_score_number()).fetchone()
    now = time.time_ns()
    db.executemany(
        f"INSERT INTO scores (id, trace_id, span_id, run_id, result, {SCORE_COLUMNS}, created_ns)"  # noqa: S608
        f" VALUES ({marks(16)})",
        (
            (number, trace_id, span_id, run_id, result, *score_row(score), now)
            for number, (trace_id, span_id, score, run_id, result) in enumerate(scores, first)
        ),
    )
    for destination in send_to:
        if destination.kind == "scores":
            add_to_send(db, destination, first, first + len(scores) - 1)


def keep_scores(
    db: sqlite3.Connection, scores: Sequence[ScoreRow], send_to: Sequence[Destination] = ()
) -> None:
    """Store scores; one that cannot be stored goes into the table ``quarantine``, with the reason.

    A person's word replaces the same person's older ones about the same thing.
    """
    scores = newest_words(scores)
    forget_replaced(db, scores)
    rows: list[ScoreOf] = [(row.trace_id, row.span_id, row.score, None, None) for row in scores]
    if error_of_value(db, lambda: insert_scores(db, rows, send_to)) is not None:
        for row, entry in zip(scores, rows, strict=True):
            error = error_of_value(db, lambda entry=entry: insert_scores(db, [entry], send_to))  # type: ignore[misc]
            if error is not None:
                quarantine(db, row.trace_id, row.span_id, row.score.name, reason=error)
    for row in scores:
        note_failures(db, None, Case(row.trace_id), failures_of_row(db, row))


def insert_report(db: sqlite3.Connection, run_id: str, report: EvaluationReport) -> None:
    """Store a run with its results and their scores; a run with the same id is replaced."""
    add_results(db, run_id, report, range(len(report)), anew=True)
    revision = _revision(report)
    for place, result in enumerate(report):
        note_failures(db, report.project, Case(result.trace_id, run_id, place), failures_of(result), revision)


def add_results(
    db: sqlite3.Connection, run_id: str, report: EvaluationReport, places: Sequence[int], *, anew: bool
) -> None:
    """Store results of a run, each at its place, and their scores; `anew`: in place of what is there."""
    if anew:
        for table in ("scores", "results", "runs"):
            db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 - names of ours
        _insert_run(db, run_id, report)
    else:
        _count_results(db, run_id, report)
    db.executemany(
        f"INSERT INTO results (run_id, result, {RESULT_COLUMNS}) VALUES ({marks(12)})",  # noqa: S608
        ((run_id, place, *result_row(result)) for place, result in zip(places, report, strict=True)),
    )
    scores = [
        (result.trace_id, None, score, run_id, place)
        for place, result in zip(places, report, strict=True)
        for score in result.scores
    ]
    insert_scores(db, scores)


_COUNTED = ("passed", "failed", "errored")


def _insert_run(db: sqlite3.Connection, run_id: str, report: EvaluationReport) -> None:
    counts = report.counts
    db.execute(
        f"INSERT INTO runs VALUES ({marks(10)})",  # noqa: S608 - places only
        (
            run_id,
            clean_text(report.name),
            clean_text(report.project),
            report.model,
            report.started_ns,
            report.duration,
            *(counts[outcome] for outcome in _COUNTED),
            _metadata(report),
        ),
    )


def _metadata(report: EvaluationReport) -> str:
    return to_json(jsonable(dict(report.metadata)))


def _count_results(db: sqlite3.Connection, run_id: str, report: EvaluationReport) -> None:
    counts = report.counts
    db.execute(
        "UPDATE runs SET duration = ?, passed = passed + ?, failed = failed + ?, errored = errored + ?,"
        " metadata = ? WHERE run_id = ?",
        (report.duration, *(counts[outcome] for outcome in _COUNTED), _metadata(report), run_id),
    )


def _revision(report: EvaluationReport) -> str | None:
    git = report.metadata.get("git")
    commit = git.get("commit") if isinstance(git, Mapping) else None
    return commit if isinstance(commit, str) else None


def insert_dataset(db: sqlite3.Connection, project: str, alias: str, content: str) -> int:
    """Store a new version of a dataset unless the newest is equal; returns the newest number."""
    newest = db.execute(
        "SELECT version, content FROM datasets WHERE project = ? AND alias = ? ORDER BY version DESC LIMIT 1",
        (project, alias),
    ).fetchone()
    if newest is not None and newest[1] == content:
        number: int = newest[0]
        return number
    version: int = 1 if newest is None else newest[0] + 1
    db.execute(
        "INSERT INTO datasets VALUES (?, ?, ?, ?, ?)", (project, alias, version, time.time_ns(), content)
    )
    return version


def insert_pending(db: sqlite3.Connection, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
    """Store evaluations to be done; one with the same key is replaced."""
    now = time.time_ns()
    for request in requests:
        db.execute(
            "INSERT OR REPLACE INTO pending_evaluations (key, project, request, created_ns)"
            " VALUES (?, ?, ?, ?)",
            (request["key"], project, to_json(jsonable(dict(request))), now),
        )


def claim_pending(
    db: sqlite3.Connection, keys: Sequence[str], owner: str | None, held_by: str | None
) -> list[str]:
    """Make `owner` the owner of those evaluations that belong to `held_by`; returns their keys."""
    now = time.time()
    return [
        key
        for key in keys
        if db.execute(
            "UPDATE pending_evaluations SET request = json_set(request, '$.owner', ?, '$.owned_at', ?)"
            " WHERE key = ? AND json_extract(request, '$.owner') IS ?",
            (owner, now, key, held_by),
        ).rowcount
    ]


def delete_pending(db: sqlite3.Connection, keys: Sequence[str]) -> None:
    """Delete evaluations that are done."""
    for key in keys:
        db.execute("DELETE FROM pending_evaluations WHERE key = ?", (key,))
