"""Evaluation runs: each with its results and their scores, in one transaction."""

from __future__ import annotations

from typing import NamedTuple

from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.evaluation_writes import next_score_number
from agenttrace.store.rows import RESULT_COLUMNS, SCORE_COLUMNS
from agenttrace.store.table_rows import Row, TableRows, Transaction, places

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_AT_ONCE = 200
_RUN = "run_id, name, project, model, started_ns, duration, passed, failed, errored, metadata"
_RESULT = f"run_id, result, {RESULT_COLUMNS}"
_SCORE = f"trace_id, span_id, run_id, result, {SCORE_COLUMNS}, created_ns"


class _Run(NamedTuple):
    """The rows of one run."""

    run: list[Row]
    results: list[Row]
    scores: list[Row]


def copy_runs(source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    """Copy all runs; one that is there with other results is replaced."""
    part = source.select(f"SELECT run_id FROM runs ORDER BY run_id LIMIT {_AT_ONCE}")
    while part:
        for (run_id,) in part:
            _copy_run(run_id, source, target, counts)
        part = source.select(
            f"SELECT run_id FROM runs WHERE run_id > ? ORDER BY run_id LIMIT {_AT_ONCE}", part[-1]
        )


def _copy_run(run_id: str, source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    wanted = _Run(*map(target.storable, _read(run_id, source)))
    written = 0
    if _read(run_id, target) != wanted:
        target.write(lambda transaction: _replace(run_id, wanted, transaction))
        written = 1
    stored = _read(run_id, target)
    there = stored == wanted
    counts.add("runs", looked_at=1, written=written, there=int(there))
    results = len(wanted.results)
    counts.add(
        "results",
        looked_at=results,
        written=results * written,
        there=results if there else min(results, len(stored.results)),
    )


def _read(run_id: str, where: TableRows) -> _Run:
    return _Run(
        where.select(f"SELECT {_RUN} FROM runs WHERE run_id = ?", (run_id,)),
        where.select(f"SELECT {_RESULT} FROM results WHERE run_id = ? ORDER BY result", (run_id,)),
        where.select(f"SELECT {_SCORE} FROM scores WHERE run_id = ? ORDER BY id", (run_id,)),
    )


def _replace(run_id: str, rows: _Run, transaction: Transaction) -> None:
    for table in ("scores", "results", "runs"):
        transaction.change(f"DELETE FROM {table} WHERE run_id = ?", [(run_id,)])
    transaction.change(f"INSERT INTO runs ({_RUN}) VALUES {places(10)}", rows.run)
    transaction.change(f"INSERT INTO results ({_RESULT}) VALUES {places(12)}", rows.results)
    if transaction.kind == "server":
        transaction.change(f"INSERT INTO scores ({_SCORE}) VALUES {places(15)}", rows.scores)
        return
    first = transaction.select(next_score_number())[0][0]
    numbered = [(number, *row) for number, row in enumerate(rows.scores, first)]
    transaction.change(f"INSERT INTO scores (id, {_SCORE}) VALUES {places(16)}", numbered)
