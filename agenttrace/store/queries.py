"""Reads of an open database: traces and runs by the first digits of their ids, lists, scores, datasets."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from agenttrace.core.errors import AmbiguousId, StoreError
from agenttrace.core.score import Score, mean_data, mean_values
from agenttrace.core.summary import RunSummary, TraceSummary
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.store.rows import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    SCORE_COLUMNS,
    SPAN_FIELDS,
    loaded,
    result_of,
    run_summary,
    score_of,
    span_of,
    tool_of,
)
from agenttrace.store.sound_rows import sound_number, sound_rest, sound_text

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

SHORTEST_PREFIX = 4
_HEX = frozenset("0123456789abcdef")
_LAST_DIGIT = "g"  # sorts after every hex digit


def id_prefix(text: str) -> str | None:
    """The hex digits of an id or of its beginning, or None for what no id begins with.

    Raises:
        StoreError: fewer than four digits.
    """
    digits = text.strip().lower()
    if len(digits) > 32 or not set(digits) <= _HEX:
        return None
    if len(digits) < SHORTEST_PREFIX:
        raise StoreError(f"give at least {SHORTEST_PREFIX} digits of an id, got {text!r}")
    return digits


def only_match(prefix: str, matches: list[str]) -> str | None:
    """The one id of those that begin with a prefix, or None where there is none.

    Raises:
        StoreError: several do.
    """
    if len(matches) > 1 and prefix not in matches:
        candidates = ", ".join(match[: len(prefix) + 4] + "…" for match in matches[:3])
        raise AmbiguousId(f"{prefix!r} begins several ids ({candidates}); give more digits")
    return (prefix if prefix in matches else matches[0]) if matches else None


def find_trace(db: sqlite3.Connection, prefix: str) -> tuple[int, str] | None:
    """The number and the id of the one trace whose id begins with `prefix`.

    Raises:
        StoreError: several do.
    """
    rows = db.execute(
        "SELECT trace_id, id FROM traces WHERE trace_id >= ? AND trace_id < ? LIMIT 4",
        (prefix, prefix + _LAST_DIGIT),
    ).fetchall()
    match = only_match(prefix, [trace_id for trace_id, _ in rows])
    return None if match is None else (dict(rows)[match], match)


SpanRows = list[tuple[Any, ...]]


def span_rows(db: sqlite3.Connection, trace: int) -> SpanRows:
    """The rows of a trace's spans, in start order."""
    return db.execute(
        f"SELECT {SPAN_FIELDS} FROM all_span_rows s JOIN functions f ON f.id = s.function"
        " WHERE s.trace = ? ORDER BY s.start_ns, s.seq",
        (trace,),
    ).fetchall()


def known_tools(db: sqlite3.Connection, trace: int) -> list[tuple[str, str]]:
    """Name and definition of the tools that a trace's projects have, the newest definition of a name last."""
    return db.execute(
        "SELECT name, definition FROM functions WHERE span_type = 'tool' AND definition <> '' AND project IN"
        " (SELECT f.project FROM all_span_rows s JOIN functions f ON f.id = s.function WHERE s.trace = ?)"
        " ORDER BY id",
        (trace,),
    ).fetchall()


def known_tools_of(db: sqlite3.Connection, project: str) -> list[tuple[str, str]]:
    """The same for one project."""
    return db.execute(
        "SELECT name, definition FROM functions WHERE span_type = 'tool' AND definition <> '' AND project = ?"
        " ORDER BY id",
        (project,),
    ).fetchall()


def tools_of(
    rows: Sequence[tuple[str, str]], definitions: dict[tuple[str, str], ToolDefinition | None]
) -> dict[str, ToolDefinition]:
    """The tools of such rows by name; `definitions` remembers those read so far."""
    tools: dict[str, ToolDefinition] = {}
    for name, definition in rows:
        tool = tool_of(sound_text(name), definition, definitions)
        if tool is not None:
            tools[tool.name] = tool
    return tools


def trace_of(trace_id: str, rows: SpanRows, tools: list[tuple[str, str]]) -> Trace:
    """The trace that `span_rows` and `known_tools` describe."""
    key = int(trace_id, 16)
    definitions: dict[tuple[str, str], ToolDefinition | None] = {}
    spans = [span_of(key, row, definitions) for row in rows]
    return Trace(spans, trace_key=key, tools=tools_of(tools, definitions))


def summaries(
    db: sqlite3.Connection, project: str | None, limit: int, name: str | None
) -> list[TraceSummary]:
    """The newest traces first."""
    lines: list[TraceSummary] = []
    for number, trace_id, of_project in _newest(db, project, name):
        if len(lines) >= limit:
            break
        summary = _summary(db, number, trace_id, of_project)
        if summary is not None and name in (None, summary.name):
            lines.append(summary)
    return lines


def _newest(db: sqlite3.Connection, project: str | None, name: str | None) -> Iterator[tuple[int, str, str]]:
    conditions, values = [], []
    if project is not None:
        conditions.append("project = ?")
        values.append(project)
    if name is not None:
        conditions.append("(name = ? OR name IS NULL)")
        values.append(name)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"SELECT id, trace_id, project FROM traces {where} ORDER BY started_ns DESC, id DESC"
    yield from db.execute(query, values)


def _summary(db: sqlite3.Connection, number: int, trace_id: str, project: str) -> TraceSummary | None:
    spans, tool_calls, start, end = db.execute(
        "SELECT count(*), total(f.span_type = ?), min(s.start_ns), max(s.end_ns)"
        " FROM all_span_rows s JOIN functions f ON f.id = s.function WHERE s.trace = ?",
        (TOOL, number),
    ).fetchone()
    if not spans:
        return None
    name, rest, parent = db.execute(
        "SELECT f.name, s.rest, s.parent FROM all_span_rows s JOIN functions f ON f.id = s.function"
        " WHERE s.trace = ? ORDER BY s.parent IS NOT NULL, s.start_ns, s.seq LIMIT 1",
        (number,),
    ).fetchone()
    status = "ok" if rest is None else sound_rest(loaded(rest)).get("status", "ok")
    start = sound_number(start)
    end = sound_number(end, start)
    return TraceSummary(
        trace_id=trace_id,
        name=sound_text(name),
        project=project,
        start_ns=start,
        duration_ns=end - start,
        spans=spans,
        tool_calls=int(tool_calls),
        status=status if parent is None else "open",
    )


def scores(db: sqlite3.Connection, trace_id: str) -> list[tuple[str | None, Score]]:
    """The scores of a trace, each with its span id, oldest first."""
    rows = db.execute(
        f"SELECT span_id, {SCORE_COLUMNS} FROM scores WHERE trace_id = ? ORDER BY id", (trace_id,)
    )
    return [(span_id, score_of(row)) for span_id, *row in rows]


def runs(db: sqlite3.Connection, project: str | None, limit: int) -> list[RunSummary]:
    """The newest runs first."""
    where, values = ("", []) if project is None else ("WHERE project = ?", [project])
    rows = db.execute(
        f"SELECT {RUN_COLUMNS} FROM runs {where} ORDER BY started_ns DESC, rowid DESC LIMIT ?",
        (*values, limit),
    )
    return [run_summary(row) for row in rows]


def find_run(db: sqlite3.Connection, prefix: str) -> str | None:
    """The id of the one run whose id begins with `prefix`.

    Raises:
        StoreError: several do.
    """
    rows = db.execute(
        "SELECT run_id FROM runs WHERE run_id >= ? AND run_id < ? LIMIT 4", (prefix, prefix + _LAST_DIGIT)
    ).fetchall()
    return only_match(prefix, [run_id for (run_id,) in rows])


def run(db: sqlite3.Connection, run_id: str) -> dict[str, Any]:
    """A run as `EvaluationReport.to_dict` gave it, with its ``run_id``."""
    row = db.execute(f"SELECT {RUN_COLUMNS} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    summary = run_summary(row)
    by_result: dict[int, list[Score]] = {}
    for result, *score in db.execute(
        f"SELECT result, {SCORE_COLUMNS} FROM scores WHERE run_id = ? ORDER BY id", (run_id,)
    ):
        by_result.setdefault(result, []).append(score_of(score))
    rows = db.execute(
        f"SELECT result, {RESULT_COLUMNS} FROM results WHERE run_id = ? ORDER BY result", (run_id,)
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


def dataset(db: sqlite3.Connection, project: str, alias: str, version: int | None) -> str | None:
    """The JSON text of a dataset's version, the newest for None."""
    row = db.execute(
        "SELECT content FROM datasets WHERE project = ? AND alias = ? AND version = coalesce(?, version)"
        " ORDER BY version DESC LIMIT 1",
        (project, alias, version),
    ).fetchone()
    return None if row is None else row[0]


def datasets(db: sqlite3.Connection, project: str | None) -> list[tuple[str, str, int]]:
    """Project, alias and newest version of every dataset, by name."""
    return db.execute(
        "SELECT project, alias, max(version) FROM datasets WHERE project = coalesce(?, project)"
        " GROUP BY project, alias ORDER BY project, alias",
        (project,),
    ).fetchall()


def pending_evaluations(db: sqlite3.Connection, project: str) -> list[dict[str, Any]]:
    """The evaluations of a project that are to be done, oldest first."""
    rows = db.execute("SELECT request FROM pending_evaluations WHERE project = ? ORDER BY id", (project,))
    return [loaded(request) for (request,) in rows]
