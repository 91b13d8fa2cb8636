"""Counts over a window: outcomes of scorers, traces and what they cost."""

from __future__ import annotations

import sqlite3

from agenttrace.core.jsonable import clean_text
from agenttrace.core.people import StoredScore
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.core.watch import ScoreCounts, TraceCounts
from agenttrace.store.rows import loaded, numbers_of, unsigned
from agenttrace.store.sound_rows import sound_number, sound_rest

# Every statement here is put together from constants of this module; values are always bound.
# ruff: noqa: S608


def score_counts(
    db: sqlite3.Connection, *, since_ns: int = 0, project: str | None = None
) -> list[ScoreCounts]:
    """How often each outcome of each scorer of stored traces was stored since a moment; runs do not count."""
    rows = db.execute(
        "SELECT t.project, c.name, sum(c.outcome = 'passed'), sum(c.outcome = 'failed'),"
        " sum(c.outcome = 'errored'), sum(c.outcome = 'skipped'), total(c.cost), total(c.value)"
        " FROM scores c JOIN traces t ON t.trace_id = c.trace_id"
        " WHERE c.created_ns >= ? AND c.run_id IS NULL AND t.project = coalesce(?, t.project)"
        " GROUP BY t.project, c.name ORDER BY t.project, c.name",
        (since_ns, project),
    )
    names = ("project", "name", "passed", "failed", "errored", "skipped", "cost", "total")
    return [ScoreCounts(**dict(zip(names, row, strict=True))) for row in rows]


_VOTES = "CASE WHEN c.rest LIKE '%\"votes\"%' THEN json_extract(c.rest, '$.details.votes.values') END"


def stored_scores(
    db: sqlite3.Connection,
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
        f" c.outcome, c.created_ns, {_VOTES} FROM scores c"
        " LEFT JOIN results r ON r.run_id = c.run_id AND r.result = c.result"
        " LEFT JOIN traces t ON t.trace_id = c.trace_id LEFT JOIN runs u ON u.run_id = c.run_id"
        " WHERE c.name = coalesce(?1, c.name) AND (?2 IS NULL OR coalesce(u.project, t.project) = ?2)"
        f"{people if annotated else ''} ORDER BY c.id DESC LIMIT ?3",
        (name and clean_text(name), project and clean_text(project), limit),
    )
    return [StoredScore._make([*row, numbers_of(votes)]) for *row, votes in rows]


def trace_counts(
    db: sqlite3.Connection, *, since_ns: int = 0, project: str | None = None
) -> list[TraceCounts]:
    """How many traces began since a moment, by project."""
    counts = db.execute(
        "SELECT project, count(*) FROM traces WHERE started_ns >= ? AND project = coalesce(?, project)"
        " GROUP BY project ORDER BY project",
        (since_ns, project),
    )
    return [TraceCounts(project=name, traces=number) for name, number in counts]


def cost_since(db: sqlite3.Connection, *, since_ns: int, project: str | None = None) -> float:
    """What the traces that began since a moment cost."""
    numbers = db.execute(
        "SELECT id FROM traces WHERE started_ns >= ? AND project = coalesce(?, project)", (since_ns, project)
    )
    return sum(cost for (number,) in numbers if (cost := trace_cost(db, number)) is not None)


_USAGE = """SELECT span, parent, CASE WHEN rest LIKE '%"usage"%' THEN rest END FROM all_span_rows
    WHERE trace = ?"""


def trace_cost(db: sqlite3.Connection, number: int) -> float | None:
    """What a stored trace cost, read without its values; None where nothing says."""
    from agenttrace.matching.spending import spent_cost  # on use: recording needs nothing of that room

    rows = db.execute(_USAGE, (number,)).fetchall()
    return spent_cost(Trace(map(_span, rows))) if any(rest is not None for _, _, rest in rows) else None


def _span(row: tuple[int, int | None, str | None]) -> Span:
    span, parent, rest = row
    return Span(
        trace_key=1,
        span_key=unsigned(sound_number(span)),
        parent_key=None if parent is None else unsigned(sound_number(parent)),
        name="",
        span_type="",
        start_ns=0,
        usage=None if rest is None else sound_rest(loaded(rest)).get("usage"),
    )
