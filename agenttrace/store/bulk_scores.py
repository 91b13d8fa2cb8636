"""Scores of many stored traces: read together, and put in the place of earlier ones of the same scorers."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.jsonable import clean, jsonable, to_json
from agenttrace.core.protocols import ReplacesScores, Store, optional
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.store.evaluation_writes import keep_scores
from agenttrace.store.rows import SCORE_COLUMNS, score_of
from agenttrace.store.sqlite import SQLiteStore
from agenttrace.store.trace_stream import traces_of

BY = "scored_by"
"""The key of a score's metadata that says what made it, where it is neither a run's nor an online one."""


def traces_by_id(store: Store, ids: Sequence[str]) -> Iterator[Trace]:
    """The traces of these ids that are there, in parts where the store can."""
    if isinstance(store, SQLiteStore):
        return traces_of(store, store._read, iter(ids), None)
    return (trace for trace_id in ids if (trace := store.trace(trace_id)) is not None)


def same_word(score: Score) -> tuple[Any, ...]:
    """Equal for two scores of one scorer with the same options (a judge's model is one) and version."""
    options = to_json(clean(jsonable(dict(score.options))))
    return score.name, score.metadata.get(BY), options, score.metadata.get("scorer_version")


def scores_by_id(store: Store, ids: Sequence[str], by: str) -> Mapping[str, Sequence[Score]]:
    """The scores that `by` made of each of these traces."""
    scores: dict[str, list[Score]] = defaultdict(list)
    if isinstance(store, SQLiteStore):
        nothing: list[tuple[str, Score]] = []
        pairs = store._read(lambda db: _scores(db, ids), nothing)
    else:
        pairs = [(trace_id, score) for trace_id in ids for _, score in store.scores(trace_id)]
    for trace_id, score in pairs:
        if score.metadata.get(BY) == by:
            scores[trace_id].append(score)
    return scores


def replace_scores(store: Store, rows: Sequence[ScoreRow]) -> None:
    """Store scores of whole traces; of each scorer as it is (`same_word`) only the newest stays.

    Raises:
        StoreError: the store cannot be written.
    """
    if not isinstance(store, SQLiteStore):
        own = optional(store, ReplacesScores)
        if own is None:
            store.write_scores(rows)
        else:
            own.replace_scores(rows, same_word)
        return

    def replace(db: sqlite3.Connection, _: object) -> None:
        new = {(row.trace_id, same_word(row.score)) for row in rows}
        ids = [row.trace_id for row in rows if row.trace_id is not None]
        old = _numbered_scores(db, ids)
        gone = [(number,) for number, trace_id, score in old if (trace_id, same_word(score)) in new]
        db.executemany("DELETE FROM scores WHERE id = ?", gone)
        keep_scores(db, rows)

    store._must_write(replace)


def _scores(db: sqlite3.Connection, ids: Sequence[str]) -> list[tuple[str, Score]]:
    return [(trace_id, score) for _, trace_id, score in _numbered_scores(db, ids)]


def _numbered_scores(db: sqlite3.Connection, ids: Sequence[str]) -> list[tuple[int, str, Score]]:
    """The scores of traces that are of no run, with their numbers."""
    rows = db.execute(
        f"SELECT id, trace_id, {SCORE_COLUMNS} FROM scores WHERE run_id IS NULL"  # noqa: S608 - names of ours
        " AND trace_id IN (SELECT value FROM json_each(?))",
        (to_json(list(ids)),),
    )
    return [(number, trace_id, score_of(row)) for number, trace_id, *row in rows]
