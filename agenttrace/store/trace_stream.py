"""The traces of a store one after the other, read in parts: what goes through many of them uses it."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from agenttrace.core.errors import StoreError
from agenttrace.core.jsonable import to_json
from agenttrace.core.numbers import is_whole
from agenttrace.core.protocols import Store, StreamsTraces, optional
from agenttrace.core.query import Labelled, Query
from agenttrace.core.query_parsing import parse
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.core.trace_reading import ReadSpans, read_with
from agenttrace.store.rows import SPAN_COLUMNS, span_of, tool_of
from agenttrace.store.searched import reads_of
from agenttrace.store.sound_rows import is_trace_id, sound_text

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_ALL = (1 << 62) - 1
_TRACES_AT_ONCE = 500
_SPANS_AT_ONCE = 10_000
_TEXT_AT_ONCE = 8 * 1024 * 1024
"""A part ends with the trace that brings it to so many traces, spans, or characters of their values."""

_FUNCTIONS = "SELECT id, name, span_type, project, definition FROM functions ORDER BY id"
_SPANS = f"SELECT {', '.join(SPAN_COLUMNS)} FROM all_span_rows WHERE trace = ?"
_FUNCTION = SPAN_COLUMNS.index("function")
_texts_of = itemgetter(slice(SPAN_COLUMNS.index("input"), None))

_Place = tuple[int, int]
"""When a trace began, and its number: the newest first."""

Rows = Sequence[tuple[Any, ...]]
Functions = Mapping[int, Sequence[str]]


def iter_traces(
    store: Store, query: Query | str = "", *, project: str | None = None, limit: int | None = None
) -> Iterator[Trace]:
    """The traces of a store by its own `iter_traces`, or one by one; see `StreamsTraces`."""
    own = optional(store, StreamsTraces)
    if own is not None:
        return own.iter_traces(query, project=project, limit=limit)
    return one_by_one(store, query, project=project, limit=limit)


def one_by_one(
    store: Store, query: Query | str = "", *, project: str | None = None, limit: int | None = None
) -> Iterator[Trace]:
    """The same by the store's `traces`, or what answers queries, and its `trace`."""
    most, wanted = _checked(limit), _narrowed(query, project)
    if wanted is not None:
        ids: Iterable[str] = (facts.trace_id for facts in reads_of(store).each_match(wanted))
    else:
        ids = (line.trace_id for line in store.traces(project=project, limit=_ALL))
    return islice((trace for trace_id in ids if (trace := store.trace(trace_id)) is not None), most)


class _InFile(Store, Protocol):
    """A store in a file."""

    reading: ReadSpans | None


def in_parts(
    store: _InFile,
    read: ReadPart,
    waiting: Sequence[str],
    query: Query | str = "",
    *,
    project: str | None = None,
    limit: int | None = None,
) -> Iterator[Trace]:
    """The same from a file, which `read` reads; `waiting` are traces that wait in memory for the file.

    Each part is one transaction, and no connection is open between them. So whoever takes the traces may
    take their time: they keep nobody from writing, and the log from growing.
    """
    most, wanted = _checked(limit), _narrowed(query, project)
    if wanted is None:
        traces = _every_trace(store, read, waiting, project, most)
    else:
        ids = (facts.trace_id for facts in reads_of(store).each_match(wanted))
        traces = traces_of(store, read, ids, most)
    return islice(traces, most)


def _checked(limit: int | None) -> int | None:
    if limit is not None and not is_whole(limit):
        raise StoreError(f"limit is how many traces there are at most, or None, got {limit!r}")
    return limit if limit is None else min(limit, sys.maxsize)


def _narrowed(query: Query | str, project: str | None) -> Query | None:
    """The query, of one project where that is given; None where no term is left to look up."""
    terms = parse(query) if isinstance(query, str) else query
    if not terms:
        return None
    return terms if project is None else terms.and_(Labelled("project", (project,)))


def _every_trace(
    store: _InFile, read: ReadPart, waiting: Sequence[str], project: str | None, most: int | None
) -> Iterator[Trace]:
    for trace_id in waiting:
        trace = store.trace(trace_id)
        if trace is not None:
            yield trace
    at_once, shown, place = _at_once(most), set(waiting), None
    while True:
        part = read(partial(_next_part, project=project, after=place, at_once=at_once), _NOTHING)
        for trace in _made(store, part):
            if trace.trace_id not in shown:
                yield trace
        if part.end is None:
            return
        place = part.end


def traces_of(store: _InFile, read: ReadPart, ids: Iterator[str], most: int | None) -> Iterator[Trace]:
    """The traces of these ids, in their order; without those that are gone."""
    while wanted := list(islice(ids, _at_once(most))):
        while wanted:
            part = read(partial(_part_of, ids=wanted), _NOTHING)
            yield from _made(store, part)
            wanted = wanted[part.looked_at :] if part.looked_at else []


def _at_once(most: int | None) -> int:
    return _TRACES_AT_ONCE if most is None else max(min(most, _TRACES_AT_ONCE), 1)


class Part(NamedTuple):
    """Traces as they lie in the file: the id of each with the rows of its spans.

    `functions` are name, type, project and definition of those that were observed, by number. `looked_at` is
    how many traces were looked for, `end` the place of the last one, None where there are no more.
    """

    traces: Sequence[tuple[str, Rows]]
    functions: Functions
    looked_at: int
    end: _Place | None = None


_NOTHING = Part((), {}, 0)

ReadPart = Callable[[Callable[[sqlite3.Connection], Part], Part], Part]
"""Reads a part in one transaction; gives the second argument where there is no file."""


def _next_part(db: sqlite3.Connection, project: str | None, after: _Place | None, at_once: int) -> Part:
    conditions: list[str] = []
    values: list[Any] = []
    if project is not None:
        conditions.append("project = ?")
        values.append(project)
    if after is not None:
        conditions.append("(started_ns, id) < (?, ?)")
        values += after
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    lines = db.execute(
        f"SELECT started_ns, id, trace_id FROM traces {where} ORDER BY started_ns DESC, id DESC LIMIT ?",
        (*values, at_once),
    ).fetchall()
    part = _read(db, [(number, trace_id) for _, number, trace_id in lines])
    if part.looked_at == len(lines) < at_once:
        return part
    started_ns, number, _ = lines[part.looked_at - 1]
    return part._replace(end=(started_ns, number))


def _part_of(db: sqlite3.Connection, ids: Sequence[str]) -> Part:
    numbers = dict(
        db.execute(
            "SELECT trace_id, id FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))",
            (to_json(ids),),
        )
    )
    return _read(db, [(numbers.get(trace_id, 0), trace_id) for trace_id in ids])


def _read(db: sqlite3.Connection, traces: Sequence[tuple[int, str]]) -> Part:
    """The first ones of some traces, as many as are read at once; always one."""
    functions = {number: function for number, *function in db.execute(_FUNCTIONS)}
    made_text, db.text_factory = db.text_factory, bytes  # all are JSON, which is read as it lies there
    try:
        return _read_spans(db, traces, functions)
    finally:
        db.text_factory = made_text


def _read_spans(db: sqlite3.Connection, traces: Sequence[tuple[int, str]], functions: Functions) -> Part:
    with_rows: list[tuple[str, Rows]] = []
    looked_at, spans, characters = 0, 0, 0
    for number, trace_id in traces:
        looked_at += 1
        rows = db.execute(_SPANS, (number,)).fetchall()
        if rows:
            with_rows.append((trace_id, rows))
        spans += len(rows)
        characters += sum(map(len, filter(None, chain.from_iterable(map(_texts_of, rows)))))
        if spans >= _SPANS_AT_ONCE or characters >= _TEXT_AT_ONCE:
            break
    return Part(with_rows, functions, looked_at)


def _made(store: _InFile, part: Part) -> Iterator[Trace]:
    """The traces of a part, each made when it is taken."""
    functions = part.functions
    tools = _Tools(functions)
    for trace_id, rows in part.traces:
        if not is_trace_id(trace_id):
            continue
        key = int(trace_id, 16)
        spans = [
            span_of(key, (*functions[row[_FUNCTION]], *row), tools.definitions)
            for row in rows
            if row[_FUNCTION] in functions  # as `store.trace(…)` reads them
        ]
        trace = Trace(spans, trace_key=key, tools=tools.of({span.project for span in spans}))
        yield read_with(trace, store.reading)


class _Tools:
    """The known tools of projects, the newest definition of each name; made once for all traces of a part."""

    def __init__(self, functions: Functions) -> None:
        self.definitions: dict[tuple[str, str], ToolDefinition | None] = {}
        self._functions = functions
        self._of: dict[frozenset[str], dict[str, ToolDefinition]] = {}

    def of(self, projects: set[str]) -> dict[str, ToolDefinition]:
        """The tools by name."""
        key = frozenset(projects)
        tools = self._of.get(key)
        if tools is None:
            tools = self._of[key] = {
                sound_text(name): tool
                for name, kind, project, definition in self._functions.values()
                if kind == TOOL and definition and project in key
                if (tool := tool_of(sound_text(name), definition, self.definitions)) is not None
            }
        return tools
