"""People's word in a store's tables: written with what else is stored, read back by trace or by time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agenttrace.core.annotation import Annotation
from agenttrace.core.jsonable import clean_text, jsonable, to_json
from agenttrace.store.rows import ANNOTATION_COLUMNS, annotation_of


def insert_annotations(db: sqlite3.Connection, annotations: Sequence[Annotation]) -> None:
    """Store what people said; one that is stored again replaces itself."""
    for one in annotations:
        db.execute(
            f"INSERT OR REPLACE INTO annotations ({ANNOTATION_COLUMNS})"  # noqa: S608 - columns of ours
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                one.annotation_id,
                clean_text(one.project),
                one.trace_id,
                one.span_id,
                one.run_id,
                one.result,
                _text(one.label),
                one.thumbs,
                one.score,
                _text(one.note),
                None if one.expected is None else to_json(jsonable(dict(one.expected))),
                _text(one.by),
                one.created_ns,
            ),
        )


def _text(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def read_annotations(
    db: sqlite3.Connection, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
) -> list[Annotation]:
    """What people said, the newest first."""
    rows = db.execute(
        f"SELECT {ANNOTATION_COLUMNS} FROM annotations WHERE trace_id IS coalesce(?, trace_id)"  # noqa: S608
        " AND project = coalesce(?, project) ORDER BY created_ns DESC, id LIMIT ?",
        (trace_id and clean_text(trace_id), project and clean_text(project), limit),
    )
    return [annotation_of(row) for row in rows]
