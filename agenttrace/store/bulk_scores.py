"""Scores of many stored traces: read together, and put in the place of earlier ones of the same scorers."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.annotation import is_word
from agenttrace.core.batch import ScoreRow
from agenttrace.core.jsonable import clean, jsonable, to_json
from agenttrace.core.protocols import ReplacesScores, Store, optional
from agenttrace.core.trace import Trace
from agenttrace.store.evaluation_writes import keep_scores
from agenttrace.store.rows import SCORE_COLUMNS, score_of
from agenttrace.store.sqlite import SQLiteStore
from agenttrace.store.trace_stream import traces_of

BY = "scored_by"
"""The key of a score's metadata that says what made it, where it is neither a run's nor an online one."""

RULE = "rule"
"""The key of a score's metadata that names the rule that asked for it."""


def traces_by_id(store: Store, ids: Sequence[str]) -> Iterator[Trace]:
    """The traces of these ids that are there, in parts where the store can."""
    if isinstance(store, SQLiteStore):
        return traces_of(store, store._read, iter(ids), None)
    return (trace for trace_id in ids if (trace := store.trace(trace_id)) is not None)


@dataclass(frozen=True, slots=True)
class SameScore:
    """Tells which scores say the same of a trace: those of one scorer with the same options and version.

    A judge's model is an option. A score is of a trace where bulk scoring or a rule made it, and where it is
    on the trace's root span, whose id `roots` has by the trace's id: online evaluation puts it there. A
    person's word is equal to nothing else.
    """

    roots: Mapping[str, str]

    def __call__(self, row: ScoreRow) -> tuple[Any, ...]:
        """A key that is equal for scores that say the same."""
        trace_id, span_id, score = row
        if is_word(score):
            return trace_id, span_id, "annotation", str(score.metadata["annotation"])
        is_on_root = span_id is not None and span_id == self.roots.get(trace_id or "")
        place = "trace" if is_on_root or _is_marked(row) else span_id
        options = to_json(clean(jsonable(dict(score.options))))
        return trace_id, place, score.name, options, score.metadata.get("scorer_version")


def _is_marked(row: ScoreRow) -> bool:
    return row.span_id is None and (BY in row.score.metadata or RULE in row.score.metadata)


def scores_by_id(store: Store, ids: Sequence[str]) -> Mapping[str, Sequence[ScoreRow]]:
    """The scores of each of these traces that were made of stored traces or online, not in a run."""
    scores: dict[str, list[ScoreRow]] = defaultdict(list)
    if isinstance(store, SQLiteStore):
        nothing: list[ScoreRow] = []
        rows = store._read(lambda db: [row for _, row in _numbered_scores(db, ids)], nothing)
    else:
        rows = [ScoreRow(trace_id, *one) for trace_id in ids for one in store.scores(trace_id)]
    for row in rows:
        if row.trace_id is not None and (row.span_id is not None or _is_marked(row)):
            scores[row.trace_id].append(row)
    return scores


def replace_scores(store: Store, rows: Sequence[ScoreRow], roots: Mapping[str, str]) -> None:
    """Store scores of whole traces; of each scorer as it is (`SameScore`) only the newest stays.

    `roots` are the ids of the traces' root spans, by the ids of the traces.

    Raises:
        StoreError: the store cannot be written.
    """
    same = SameScore(roots)
    if not isinstance(store, SQLiteStore):
        own = optional(store, ReplacesScores)
        if own is None:
            store.write_scores(rows)
        else:
            own.replace_scores(rows, same)
        return

    def replace(db: sqlite3.Connection, _: object) -> None:
        new = set(map(same, rows))
        ids = [row.trace_id for row in rows if row.trace_id is not None]
        gone = [(number,) for number, row in _numbered_scores(db, ids) if same(row) in new]
        db.executemany("DELETE FROM scores WHERE id = ?", gone)
        keep_scores(db, rows)

    store._must_write(replace)


def _numbered_scores(db: sqlite3.Connection, ids: Sequence[str]) -> list[tuple[int, ScoreRow]]:
    """The scores of traces that are of no run, with their numbers."""
    rows = db.execute(
        f"SELECT id, trace_id, span_id, {SCORE_COLUMNS} FROM scores WHERE run_id IS NULL"  # noqa: S608 - names of ours
        " AND trace_id IN (SELECT value FROM json_each(?))",
        (to_json(list(ids)),),
    )
    return [(number, ScoreRow(trace_id, span_id, score_of(row))) for number, trace_id, span_id, *row in rows]
