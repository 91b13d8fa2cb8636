"""Reads traces on the server: by the first digits of an id, as lists, one by one; deletes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.summary import TraceSummary
from agenttrace.core.tool import TOOL
from agenttrace.core.trace import Trace
from agenttrace.store.postgres.failures import forget_cases
from agenttrace.store.queries import only_match, trace_of
from agenttrace.store.rows import SPAN_FIELDS, loaded
from agenttrace.store.sound_rows import sound_rest

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_SPANS = (
    f"SELECT {SPAN_FIELDS} FROM span_rows s JOIN functions f ON f.id = s.function"
    " WHERE s.trace = %s ORDER BY s.start_ns, s.seq"
)
_TOOLS = """SELECT name, definition FROM functions WHERE span_type = 'tool' AND definition <> ''
    AND project IN (SELECT f.project FROM span_rows s JOIN functions f ON f.id = s.function
        WHERE s.trace = %s) ORDER BY id"""


def store_id(db: Any) -> str:
    """The text that no other store has, wherever it is reached."""
    return str(db.execute("SELECT value FROM about WHERE key = 'store'").fetchone()[0])


class Place(NamedTuple):
    """The place of a trace among all, the newest first."""

    started_ns: int
    number: int


def find_trace(db: Any, prefix: str) -> tuple[int, str] | None:
    """The number and the id of the one trace whose id begins with `prefix`.

    Raises:
        StoreError: several do.
    """
    rows = db.execute(
        "SELECT trace_id, id FROM traces WHERE trace_id >= %s AND trace_id < %s LIMIT 4",
        (prefix, prefix + "g"),
    ).fetchall()
    match = only_match(prefix, [trace_id for trace_id, _ in rows])
    return None if match is None else (dict(rows)[match], match)


def trace(db: Any, prefix: str) -> Trace | None:
    """The trace whose id begins with `prefix`. Raises as `find_trace`."""
    match = find_trace(db, prefix)
    return None if match is None else numbered_trace(db, *match)


def numbered_trace(db: Any, number: int, trace_id: str) -> Trace:
    """The trace of a number."""
    rows = db.execute(_SPANS, (number,)).fetchall()
    return trace_of(trace_id, rows, db.execute(_TOOLS, (number,)).fetchall())


def next_places(db: Any, project: str | None, after: Place | None, at_once: int) -> list[tuple[Place, str]]:
    """The places and ids of traces behind a place, the newest first."""
    rows = db.execute(
        "SELECT started_ns, id, trace_id FROM traces"
        " WHERE (%(project)s::text IS NULL OR project = %(project)s)"
        " AND (%(start)s::bigint IS NULL OR (started_ns, id) < (%(start)s, %(number)s))"
        " ORDER BY started_ns DESC, id DESC LIMIT %(most)s",
        {
            "project": project,
            "start": None if after is None else after.started_ns,
            "number": None if after is None else after.number,
            "most": at_once,
        },
    )
    return [(Place(start, number), trace_id) for start, number, trace_id in rows]


_NEWEST = """SELECT id, trace_id, project FROM traces
    WHERE (%(project)s::text IS NULL OR project = %(project)s)
    AND (%(name)s::text IS NULL OR name = %(name)s OR name IS NULL)
    ORDER BY started_ns DESC, id DESC OFFSET %(skipped)s LIMIT %(most)s"""
_FIGURES = """SELECT s.trace, count(*), count(*) FILTER (WHERE f.span_type = %s), min(s.start_ns),
        max(s.end_ns)
    FROM span_rows s JOIN functions f ON f.id = s.function WHERE s.trace = ANY(%s) GROUP BY s.trace"""
_FIRSTS = """SELECT DISTINCT ON (s.trace) s.trace, f.name, s.rest, s.parent
    FROM span_rows s JOIN functions f ON f.id = s.function WHERE s.trace = ANY(%s)
    ORDER BY s.trace, s.parent IS NOT NULL, s.start_ns, s.seq"""


_ROOT_INPUTS = """SELECT t.trace_id, (
        SELECT CASE WHEN length(s.input) <= %s THEN s.input END FROM span_rows s
        WHERE s.trace = t.id ORDER BY s.parent IS NOT NULL, s.start_ns, s.seq LIMIT 1
    ) FROM traces t WHERE t.trace_id = ANY(%s)"""


def summaries(db: Any, project: str | None, limit: int, name: str | None) -> list[TraceSummary]:
    """The newest traces first."""
    lines: list[TraceSummary] = []
    skipped = 0
    while len(lines) < limit:
        most = min(max(limit - len(lines), 10), 1_000)
        values = {"project": project, "name": name, "skipped": skipped, "most": most}
        rows = db.execute(_NEWEST, values).fetchall()
        skipped += len(rows)
        read = _summaries(db, rows)
        lines += [line for line in read if name in (None, line.name)]
        if len(rows) < most:
            break
    return lines[: max(limit, 0)]


def _summaries(db: Any, rows: Sequence[tuple[int, str, str]]) -> list[TraceSummary]:
    numbers = [number for number, _, _ in rows]
    figures = {number: rest for number, *rest in db.execute(_FIGURES, (TOOL, numbers))}
    firsts = {number: rest for number, *rest in db.execute(_FIRSTS, (numbers,))}
    lines = []
    for number, trace_id, project in rows:
        if number not in figures:
            continue
        spans, tool_calls, start, end = figures[number]
        name, rest, parent = firsts[number]
        status = "ok" if rest is None else sound_rest(loaded(rest)).get("status", "ok")
        lines.append(
            TraceSummary(
                trace_id=trace_id,
                name=name,
                project=project,
                start_ns=start,
                duration_ns=end - start,
                spans=spans,
                tool_calls=tool_calls,
                status=status if parent is None else "open",
            )
        )
    return lines


def root_inputs(db: Any, trace_ids: Sequence[str], longest: int) -> dict[str, Mapping[str, Any]]:
    """The inputs of the first roots of traces by their ids, without those of more characters."""
    rows = db.execute(_ROOT_INPUTS, (longest, list(trace_ids)))
    inputs = {trace_id: loaded(text) for trace_id, text in rows if text is not None}
    return {trace_id: value for trace_id, value in inputs.items() if isinstance(value, dict)}


def delete_traces(db: Any, trace_ids: Sequence[str]) -> int:
    """Delete traces by their whole ids, with their scores; returns how many there were."""
    rows = db.execute(
        "WITH gone AS (DELETE FROM traces WHERE trace_id = ANY(%s) RETURNING id, trace_id),"
        " noted AS (INSERT INTO gone_traces (trace) SELECT id FROM gone)"
        " SELECT id, trace_id FROM gone",
        (list(trace_ids),),
    ).fetchall()
    if rows:
        gone = [trace_id for _, trace_id in rows]
        db.execute("DELETE FROM span_rows WHERE trace = ANY(%s)", ([number for number, _ in rows],))
        db.execute("DELETE FROM scores WHERE trace_id = ANY(%s) AND run_id IS NULL", (gone,))
        db.execute("DELETE FROM work WHERE trace_id = ANY(%s)", (gone,))
        forget_cases(db, trace_ids=gone)
    return len(rows)


def delete_run(db: Any, run_id: str) -> bool:
    """Delete a run by its whole id, its results and scores; returns True if there was one."""
    if not db.execute("DELETE FROM runs WHERE run_id = %s", (run_id,)).rowcount:
        return False
    for table in ("results", "scores"):
        db.execute(f"DELETE FROM {table} WHERE run_id = %s", (run_id,))
    forget_cases(db, run_id=run_id)
    return True
