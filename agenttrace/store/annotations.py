"""People's word in a store's tables: written with what else is stored, read back by trace or by time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agenttrace.core.annotation import Annotation
from agenttrace.core.jsonable import clean_text, jsonable, to_json
from agenttrace.store.rows import loaded

_COLUMNS = (
    "id, project, trace_id, span_id, run_id, result, label, thumbs, score, note, expected, author, created_ns"
)


def insert_annotations(db: sqlite3.Connection, annotations: Sequence[Annotation]) -> None:
    """Store what people said; one that is stored again replaces itself."""
    for one in annotations:
        db.execute(
            f"INSERT OR REPLACE INTO annotations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - columns of ours
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
        f"SELECT {_COLUMNS} FROM annotations WHERE trace_id IS coalesce(?, trace_id)"  # noqa: S608
        " AND project = coalesce(?, project) ORDER BY created_ns DESC, id LIMIT ?",
        (trace_id and clean_text(trace_id), project and clean_text(project), limit),
    )
    return [_annotation(row) for row in rows]


def _annotation(row: Sequence[Any]) -> Annotation:
    fields = dict(zip(_COLUMNS.split(", "), row, strict=True))
    fields["annotation_id"], fields["by"] = fields.pop("id"), fields.pop("author")
    if fields["expected"] is not None:
        fields["expected"] = loaded(fields["expected"])
    return Annotation(**fields)
