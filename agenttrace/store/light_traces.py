"""A trace as a page draws it: all spans without their values, and the values of those that are shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import Store
from agenttrace.core.span import Span, Status
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.store import queries
from agenttrace.store.connection import read
from agenttrace.store.rows import SPAN_FIELDS, loaded, signed, span_of, unsigned
from agenttrace.store.sound_rows import sound_number, sound_rest, sound_text
from agenttrace.store.sqlite import SQLiteStore

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

LONGEST_VALUE = 200_000
"""Characters of an input or output that is read for what a row says of it; a longer one is not read."""

_FUNCTIONS = """SELECT id, name, span_type, project FROM functions
    WHERE id IN (SELECT function FROM all_span_rows WHERE trace = ?)"""

_OUTLINES = """SELECT span, parent, seq, start_ns, end_ns, function,
        CASE WHEN instr(rest, '"status"') THEN rest END
    FROM all_span_rows WHERE trace = ?"""
"""Most spans ended well: only of the others is the column `rest` read as JSON."""

_INPUTS, _OUTPUTS = (
    f"""SELECT span, {column} FROM all_span_rows
    WHERE trace = ? AND span IN (SELECT value FROM json_each(?)) AND length({column}) <= ?"""
    for column in ("input", "output")
)

_RECEIVED = """SELECT 1 FROM all_span_rows WHERE trace = ? AND json_valid(?) AND instr(rest, ?) LIMIT 1"""

_WHOLE = f"""SELECT {SPAN_FIELDS} FROM all_span_rows s JOIN functions f ON f.id = s.function
    WHERE s.trace = ? AND s.span IN (SELECT value FROM json_each(?))"""


class LightTrace:
    """A trace that was read without values: inputs, outputs, errors, attributes and usage of its spans.

    `trace` has its spans with names, types, places, times and statuses alone. The values of some are read
    when they are asked for, and all of them for `whole` and `tool_calls`. What has been deleted meanwhile has
    none.
    """

    def __init__(self, trace: Trace, store: SQLiteStore | None = None, number: int = 0) -> None:
        """A trace that is whole without a `store`, else the one of this number in it."""
        self.trace = trace
        self._store = store
        self._number = number

    @classmethod
    def of(cls, store: Store, trace_id: str) -> LightTrace | None:
        """The trace of an id, or of a prefix of at least four digits that only one trace has.

        Raises:
            StoreError: fewer digits, several traces, or the store cannot be read.
        """
        if isinstance(store, SQLiteStore) and store.health().mode == "sqlite":
            prefix = queries.id_prefix(trace_id)
            light = None if prefix is None else _light(store, prefix)
            if light is None or store.reading is None or not light.came_from_others():
                return light
        trace = store.trace(trace_id)  # parts of it may be in memory, or its spans have to be read together
        return None if trace is None else cls(trace)

    @cached_property
    def whole(self) -> Trace:
        """The trace with all values."""
        if self._store is None:
            return self.trace
        return self._store.trace(self.trace.trace_id) or self.trace

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The tool calls of the whole trace."""
        return self.whole.tool_calls

    def with_values(self, spans: Collection[Span]) -> list[Span]:
        """Some of the spans with all their values."""
        if self._store is None or "whole" in self.__dict__:
            by_key = self.whole.by_key
            return [by_key.get(span.span_key, span) for span in spans]
        rows = self._rows(_WHOLE, spans)
        definitions: dict[Any, Any] = {}
        whole = {
            span.span_key: span for row in rows for span in [span_of(self.trace.trace_key, row, definitions)]
        }
        return [whole.get(span.span_key, span) for span in spans]

    def inputs(self, spans: Collection[Span]) -> Mapping[int, Mapping[str, Any]]:
        """The inputs of some of the spans by their keys, without those that are very long."""
        if self._store is None:
            return {span.span_key: span.input for span in spans if span.input is not None}
        rows = self._rows(_INPUTS, spans, LONGEST_VALUE)
        return {unsigned(key): value for key, text in rows if isinstance(value := loaded(text), Mapping)}

    def outputs(self, spans: Collection[Span]) -> Mapping[int, Any]:
        """The outputs of some of the spans by their keys, without those that are very long."""
        if self._store is None:
            return {span.span_key: span.output for span in spans}
        rows = self._rows(_OUTPUTS, spans, LONGEST_VALUE)
        return {unsigned(key): loaded(text) for key, text in rows}

    def came_from_others(self) -> bool:
        """Whether spans of it came by OpenTelemetry: only read together do those say what they are."""
        return bool(self._rows(_RECEIVED, self.trace.spans[:1], semconv.RECEIVED))

    def _rows(self, statement: str, spans: Collection[Span], *more: Any) -> list[tuple[Any, ...]]:
        store = self._store
        if store is None or not spans:
            return []
        keys = to_json([signed(span.span_key) for span in spans])
        nothing: list[tuple[Any, ...]] = []
        return read(
            store.path,
            store.busy_timeout,
            lambda db: db.execute(statement, (self._number, keys, *more)).fetchall(),
            nothing,
        )


def _light(store: SQLiteStore, prefix: str) -> LightTrace | None:
    def query(db: sqlite3.Connection) -> LightTrace | None:
        match = queries.find_trace(db, prefix)
        if match is None:
            return None
        number, trace_id = match
        return LightTrace(_outline(db, number, int(trace_id, 16)), store, number)

    return read(store.path, store.busy_timeout, query, None)


def _outline(db: sqlite3.Connection, number: int, trace_key: int) -> Trace:
    functions = {key: list(map(sound_text, kind)) for key, *kind in db.execute(_FUNCTIONS, (number,))}
    spans = []
    for key, parent, index, start, end, function, rest in db.execute(_OUTLINES, (number,)):
        name, span_type, project = functions[function]
        spans.append(
            Span(
                trace_key=trace_key,
                span_key=unsigned(sound_number(key)),
                parent_key=None if parent is None else unsigned(sound_number(parent)),
                index=sound_number(index),
                name=name,
                span_type=span_type,
                start_ns=sound_number(start),
                end_ns=sound_number(end, sound_number(start)),
                status="ok" if rest is None else _status(rest),
                project=project,
            )
        )
    return Trace(spans, trace_key=trace_key)


def _status(rest: str) -> Status:
    status: Status = sound_rest(loaded(rest)).get("status", "ok")
    return status
