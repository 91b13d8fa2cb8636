"""Writes and reads scores, reports, datasets and pending evaluations, in an open transaction."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.failure import failures_of
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score, mean_data, mean_values
from agenttrace.core.summary import RunSummary
from agenttrace.store.failures import Case
from agenttrace.store.human_scores import newest_words
from agenttrace.store.postgres import failures
from agenttrace.store.postgres.spans import caused_by_value, quarantine, stored_text
from agenttrace.store.queries import only_match
from agenttrace.store.rows import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    SCORE_COLUMNS,
    loaded,
    result_of,
    result_row,
    run_summary,
    score_of,
    score_row,
)

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

ScoreOf = tuple[str | None, str | None, Score, str | None, int | None]
"""The ids of a score's trace and span, the score, the id of its run and the place of its result there."""

_COUNTED = ("passed", "failed", "errored")


def _marks(count: int) -> str:
    return ", ".join(["%s"] * count)


def _row(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(stored_text(value) if isinstance(value, str) else value for value in values)


_INSERT_SCORE = (
    f"INSERT INTO scores (trace_id, span_id, run_id, result, {SCORE_COLUMNS}, created_ns)"
    f" VALUES ({_marks(15)}) RETURNING id"
)


def insert_scores(db: Any, scores: Sequence[ScoreOf]) -> list[int]:
    """Store scores; returns the numbers of their rows."""
    now = time.time_ns()
    rows = [
        (trace_id, span_id, run_id, result, *_row(score_row(score)), now)
        for trace_id, span_id, score, run_id, result in scores
    ]
    numbers: list[int] = []
    if not rows:
        return numbers
    with db.cursor() as cursor:
        cursor.executemany(_INSERT_SCORE, rows, returning=True)
        while True:
            numbers += [number for (number,) in cursor.fetchall()]
            if not cursor.nextset():
                return numbers


def keep_scores(db: Any, scores: Sequence[ScoreRow]) -> list[int]:
    """Store scores; one that cannot be stored goes into the table ``quarantine``, with the reason.

    A person's word replaces the same person's older ones about the same thing. Returns the numbers of rows.
    """
    if not scores:
        return []
    scores = newest_words(scores)
    failures.forget_replaced(db, scores)
    rows: list[ScoreOf] = [(row.trace_id, row.span_id, row.score, None, None) for row in scores]
    try:
        with db.transaction():
            numbers = insert_scores(db, rows)
    except Exception as error:  # choke-point: what a value caused costs that value alone
        if not caused_by_value(error):
            raise
        numbers = [number for row in rows for number in _one_score(db, row)]
    for row in scores:
        failures.note_failures(db, None, Case(row.trace_id), failures.failures_of_row(db, row))
    return numbers


def _one_score(db: Any, row: ScoreOf) -> list[int]:
    try:
        with db.transaction():
            return insert_scores(db, [row])
    except Exception as error:  # choke-point: what a value caused costs that value alone
        if not caused_by_value(error):
            raise
        quarantine(db, row[0], row[1], row[2].name, reason=error)
        return []


def insert_report(db: Any, run_id: str, report: EvaluationReport) -> None:
    """Store a run with its results and their scores; a run with the same id is replaced."""
    add_results(db, run_id, report, range(len(report)), anew=True)
    git = report.metadata.get("git")
    commit = git.get("commit") if isinstance(git, Mapping) else None
    revision = commit if isinstance(commit, str) else None
    for place, result in enumerate(report):
        case = Case(result.trace_id, run_id, place)
        failures.note_failures(db, report.project, case, failures_of(result), revision)


def add_results(db: Any, run_id: str, report: EvaluationReport, places: Sequence[int], *, anew: bool) -> None:
    """Store results of a run, each at its place, and their scores; `anew`: in place of what is there."""
    counts = [report.counts[outcome] for outcome in _COUNTED]
    metadata = to_json(jsonable(dict(report.metadata)))
    if anew:
        for table in ("scores", "results", "runs"):
            db.execute(f"DELETE FROM {table} WHERE run_id = %s", (run_id,))
        names = (stored_text(report.name), stored_text(report.project), report.model)
        values = (run_id, *names, report.started_ns, report.duration, *counts, metadata)
        db.execute(f"INSERT INTO runs ({RUN_COLUMNS}) VALUES ({_marks(10)})", values)
    else:
        db.execute(
            "UPDATE runs SET duration = %s, passed = passed + %s, failed = failed + %s,"
            " errored = errored + %s, metadata = %s, written = pg_current_xact_id() WHERE run_id = %s",
            (report.duration, *counts, metadata, run_id),
        )
    with db.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO results (run_id, result, {RESULT_COLUMNS}) VALUES ({_marks(12)})",
            [(run_id, place, *_row(result_row(one))) for place, one in zip(places, report, strict=True)],
        )
    insert_scores(
        db,
        [
            (result.trace_id, None, score, run_id, place)
            for place, result in zip(places, report, strict=True)
            for score in result.scores
        ],
    )


def scores(db: Any, trace_id: str) -> list[tuple[str | None, Score]]:
    """The scores of a trace, each with its span id, oldest first."""
    rows = db.execute(
        f"SELECT span_id, {SCORE_COLUMNS} FROM scores WHERE trace_id = %s ORDER BY id", (trace_id,)
    )
    return [(span_id, score_of(row)) for span_id, *row in rows]


def replace_scores(db: Any, rows: Sequence[ScoreRow], same: Callable[[ScoreRow], Any]) -> None:
    """Store scores of traces; those of no run for which `same` is equal go."""
    new = set(map(same, rows))
    ids = [row.trace_id for row in rows]
    stored = db.execute(
        f"SELECT id, trace_id, span_id, {SCORE_COLUMNS} FROM scores"
        " WHERE run_id IS NULL AND trace_id = ANY(%s)",
        (ids,),
    )
    gone = [
        number
        for number, trace_id, span_id, *row in stored
        if same(ScoreRow(trace_id, span_id, score_of(row))) in new
    ]
    db.execute("DELETE FROM scores WHERE id = ANY(%s)", (gone,))
    keep_scores(db, rows)


def runs(db: Any, project: str | None, limit: int) -> list[RunSummary]:
    """The newest runs first."""
    rows = db.execute(
        f"SELECT {RUN_COLUMNS} FROM runs WHERE %s::text IS NULL OR project = %s"
        " ORDER BY started_ns DESC, id DESC LIMIT %s",
        (project, project, max(limit, 0)),
    )
    return [run_summary(row) for row in rows]


def run(db: Any, prefix: str) -> dict[str, Any] | None:
    """A run as `EvaluationReport.to_dict` gave it, with its ``run_id``, by the beginning of its id.

    Raises:
        StoreError: several runs begin so.
    """
    ids = db.execute("SELECT run_id FROM runs WHERE run_id ^@ %s LIMIT 4", (prefix,)).fetchall()
    run_id = only_match(prefix, [one for (one,) in ids])
    if run_id is None:
        return None
    summary = run_summary(
        db.execute(f"SELECT {RUN_COLUMNS} FROM runs WHERE run_id = %s", (run_id,)).fetchone()
    )
    by_result: dict[int, list[Score]] = {}
    for result, *score in db.execute(
        f"SELECT result, {SCORE_COLUMNS} FROM scores WHERE run_id = %s ORDER BY id", (run_id,)
    ):
        by_result.setdefault(result, []).append(score_of(score))
    rows = db.execute(
        f"SELECT result, {RESULT_COLUMNS} FROM results WHERE run_id = %s ORDER BY result", (run_id,)
    )
    results = [result_of(row, by_result.get(result, ())) for result, *row in rows]
    counts = Counter(passed=summary.passed, failed=summary.failed, errored=summary.errored)
    counts.update(result["outcome"] for result in results if result["outcome"] == "not_run")
    return {
        "run_id": summary.run_id,
        "name": summary.name,
        "project": summary.project,
        "model": summary.model,
        "started_ns": summary.started_ns,
        "duration": summary.duration,
        "counts": dict(counts),
        **mean_data(mean_values(by_result.get(place, ()) for place in range(len(results)))),
        "metadata": summary.metadata,
        "results": results,
    }


def insert_dataset(db: Any, project: str, alias: str, content: str) -> int:
    """Store a new version of a dataset unless the newest is equal; returns the newest number."""
    db.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"agenttrace dataset {project}/{alias}",))
    newest = db.execute(
        "SELECT version, content FROM datasets WHERE project = %s AND alias = %s"
        " ORDER BY version DESC LIMIT 1",
        (project, alias),
    ).fetchone()
    if newest is not None and newest[1] == content:
        return int(newest[0])
    version = 1 if newest is None else int(newest[0]) + 1
    db.execute(
        "INSERT INTO datasets VALUES (%s, %s, %s, %s, %s)", (project, alias, version, time.time_ns(), content)
    )
    return version


def dataset(db: Any, project: str, alias: str, version: int | None) -> str | None:
    """The JSON text of a dataset's version, the newest for None."""
    row = db.execute(
        "SELECT content FROM datasets WHERE project = %s AND alias = %s AND version = coalesce(%s, version)"
        " ORDER BY version DESC LIMIT 1",
        (project, alias, version),
    ).fetchone()
    return None if row is None else str(row[0])


def datasets(db: Any, project: str | None) -> list[tuple[str, str, int]]:
    """Project, alias and newest version of every dataset, by name."""
    rows = db.execute(
        "SELECT project, alias, max(version) FROM datasets WHERE project = coalesce(%s, project)"
        ' GROUP BY project, alias ORDER BY project COLLATE "C", alias COLLATE "C"',
        (project,),
    )
    return [(str(of_project), str(alias), int(version)) for of_project, alias, version in rows]


def insert_pending(db: Any, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
    """Store evaluations to be done; one with the same key is replaced."""
    now = time.time_ns()
    for request in requests:
        db.execute(
            "INSERT INTO pending_evaluations (key, project, owner, request, created_ns)"
            " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (key) DO UPDATE SET project = excluded.project,"
            " owner = excluded.owner, request = excluded.request, created_ns = excluded.created_ns",
            (request["key"], project, request.get("owner"), to_json(jsonable(dict(request))), now),
        )


def claim_pending(db: Any, keys: Sequence[str], owner: str | None, held_by: str | None) -> list[str]:
    """Make `owner` the owner of those evaluations that belong to `held_by`; returns their keys."""
    claimed = []
    for key in sorted(keys):
        row = db.execute(
            "SELECT request FROM pending_evaluations WHERE key = %s AND owner IS NOT DISTINCT FROM %s"
            " FOR UPDATE",
            (key, held_by),
        ).fetchone()
        if row is not None:
            request = {**loaded(row[0]), "owner": owner, "owned_at": time.time()}
            db.execute(
                "UPDATE pending_evaluations SET owner = %s, request = %s WHERE key = %s",
                (owner, to_json(request), key),
            )
            claimed.append(key)
    return [key for key in keys if key in claimed]


def pending(db: Any, project: str) -> list[dict[str, Any]]:
    """The evaluations of a project that are to be done, oldest first."""
    rows = db.execute("SELECT request FROM pending_evaluations WHERE project = %s ORDER BY id", (project,))
    return [loaded(request) for (request,) in rows]


def delete_pending(db: Any, keys: Sequence[str]) -> None:
    """Delete evaluations that are done."""
    db.execute("DELETE FROM pending_evaluations WHERE key = ANY(%s)", (list(keys),))
