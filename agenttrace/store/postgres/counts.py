"""Counts over a window on the server: outcomes of scorers, traces and what they cost; people's word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.core.annotation import Annotation
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.people import StoredScore
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.core.watch import ScoreCounts, TraceCounts
from agenttrace.store.postgres.spans import stored_text
from agenttrace.store.rows import ANNOTATION_COLUMNS, annotation_of, loaded, numbers_of, unsigned
from agenttrace.store.sound_rows import sound_rest

# Every statement here is put together from constants of this module; values are always bound.
# ruff: noqa: S608


def score_counts(db: Any, *, since_ns: int = 0, project: str | None = None) -> list[ScoreCounts]:
    """How often each outcome of each scorer of stored traces was stored since a moment; runs do not count."""
    of_outcome = ", ".join(
        f"count(*) FILTER (WHERE c.outcome = '{one}')" for one in ("passed", "failed", "errored", "skipped")
    )
    rows = db.execute(
        f"SELECT t.project, c.name, {of_outcome}, coalesce(sum(c.cost), 0), coalesce(sum(c.value), 0)"
        " FROM scores c JOIN traces t ON t.trace_id = c.trace_id"
        " WHERE c.created_ns >= %s AND c.run_id IS NULL AND t.project = coalesce(%s, t.project)"
        ' GROUP BY t.project, c.name ORDER BY t.project COLLATE "C", c.name COLLATE "C"',
        (since_ns, project),
    )
    names = ("project", "name", "passed", "failed", "errored", "skipped", "cost", "total")
    return [ScoreCounts(**dict(zip(names, row, strict=True))) for row in rows]


def stored_scores(
    db: Any,
    *,
    name: str | None = None,
    project: str | None = None,
    annotated: bool = False,
    limit: int = 5_000,
) -> list[StoredScore]:
    """Scores without their texts, the newest first; `annotated`: only of what people said something about."""
    people = (
        " AND (c.trace_id IN (SELECT trace_id FROM annotations)"
        " OR (c.run_id, c.result) IN (SELECT run_id, result FROM annotations))"
    )
    rows = db.execute(
        "SELECT c.trace_id, c.span_id, c.run_id, c.result, r.position, c.name, c.value, c.threshold,"
        " c.outcome, c.created_ns,"
        " CASE WHEN c.rest LIKE '%%\"votes\"%%' THEN c.rest::json #>> '{details,votes,values}' END"
        " FROM scores c LEFT JOIN results r ON r.run_id = c.run_id AND r.result = c.result"
        " LEFT JOIN traces t ON t.trace_id = c.trace_id LEFT JOIN runs u ON u.run_id = c.run_id"
        " WHERE c.name = coalesce(%(name)s, c.name)"
        " AND (%(project)s::text IS NULL OR coalesce(u.project, t.project) = %(project)s)"
        f"{people if annotated else ''} ORDER BY c.id DESC LIMIT %(limit)s",
        {
            "name": name and stored_text(name),
            "project": project and stored_text(project),
            "limit": max(limit, 0),
        },
    )
    return [StoredScore._make([*row, numbers_of(votes)]) for *row, votes in rows]


def trace_counts(db: Any, *, since_ns: int = 0, project: str | None = None) -> list[TraceCounts]:
    """How many traces began since a moment, by project."""
    counts = db.execute(
        "SELECT project, count(*) FROM traces WHERE started_ns >= %s AND project = coalesce(%s, project)"
        ' GROUP BY project ORDER BY project COLLATE "C"',
        (since_ns, project),
    )
    return [TraceCounts(project=name, traces=number) for name, number in counts]


def cost_since(db: Any, *, since_ns: int, project: str | None = None) -> float:
    """What the traces that began since a moment cost."""
    numbers = db.execute(
        "SELECT id FROM traces WHERE started_ns >= %s AND project = coalesce(%s, project)",
        (since_ns, project),
    ).fetchall()
    return sum(trace_costs(db, [number for (number,) in numbers]).values())


_TRACES_AT_ONCE = 500
_COSTLY = """SELECT DISTINCT trace FROM span_rows WHERE trace = ANY(%s) AND rest LIKE '%%"usage"%%'"""
_USAGE = """SELECT trace, span, parent, CASE WHEN rest LIKE '%%"usage"%%' THEN rest END FROM span_rows
    WHERE trace = ANY(%s)"""


def trace_costs(db: Any, numbers: Sequence[int]) -> dict[int, float]:
    """What stored traces cost, read without their values; those of which nothing says it are left out."""
    from agenttrace.matching.spending import spent_cost  # on use: recording needs nothing of that room

    costs: dict[int, float] = {}
    for at in range(0, len(numbers), _TRACES_AT_ONCE):
        some = list(numbers[at : at + _TRACES_AT_ONCE])
        costly = [number for (number,) in db.execute(_COSTLY, (some,))]
        spans: dict[int, list[Span]] = {number: [] for number in costly}
        for number, *row in db.execute(_USAGE, (costly,)) if costly else ():
            spans[number].append(_span(row))
        for number, of_trace in spans.items():
            cost = spent_cost(Trace(of_trace))
            if cost is not None:
                costs[number] = cost
    return costs


def _span(row: Sequence[Any]) -> Span:
    span, parent, rest = row
    return Span(
        trace_key=1,
        span_key=unsigned(span),
        parent_key=None if parent is None else unsigned(parent),
        name="",
        span_type="",
        start_ns=0,
        usage=None if rest is None else sound_rest(loaded(rest)).get("usage"),
    )


_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in ANNOTATION_COLUMNS.split(", ")[1:])


def insert_annotations(db: Any, annotations: Sequence[Annotation]) -> None:
    """Store what people said; one that is stored again replaces itself."""
    for one in annotations:
        texts = [None if text is None else stored_text(text) for text in (one.label, one.note, one.by)]
        label, note, by = texts
        expected = None if one.expected is None else to_json(jsonable(dict(one.expected)))
        about = (stored_text(one.project), one.trace_id, one.span_id, one.run_id, one.result)
        db.execute(
            f"INSERT INTO annotations ({ANNOTATION_COLUMNS}) VALUES ({', '.join(['%s'] * 13)})"
            f" ON CONFLICT (id) DO UPDATE SET {_REPLACED}",
            (one.annotation_id, *about, label, one.thumbs, one.score, note, expected, by, one.created_ns),
        )


def read_annotations(
    db: Any, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
) -> list[Annotation]:
    """What people said, the newest first."""
    rows = db.execute(
        f"SELECT {ANNOTATION_COLUMNS} FROM annotations"
        " WHERE (%(trace)s::text IS NULL OR trace_id = %(trace)s)"
        " AND project = coalesce(%(project)s, project)"
        ' ORDER BY created_ns DESC, id COLLATE "C" LIMIT %(limit)s',
        {
            "trace": trace_id and stored_text(trace_id),
            "project": project and stored_text(project),
            "limit": max(limit, 0),
        },
    )
    return [annotation_of(row) for row in rows]
