"""Traces without the values of their spans, from the tables of a file or of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core import semconv
from agenttrace.core.jsonable import to_json
from agenttrace.core.span import Span, Status
from agenttrace.core.trace import Trace
from agenttrace.store.rows import SPAN_FIELDS, loaded, signed, span_of, unsigned
from agenttrace.store.sound_rows import sound_number, sound_rest, sound_text

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608


class Dialect(NamedTuple):
    """How a database has it: the table of spans, the mark of a value, what stands for "one of these" and the
    value for it, the function that tells the position of a text in another."""

    table: str
    mark: str
    one_of: str
    many: Callable[[Sequence[int]], Any]
    position: str


IN_FILE = Dialect("all_span_rows", "?", "IN (SELECT value FROM json_each(?))", to_json, "instr")
ON_SERVER = Dialect("span_rows", "%s", "= ANY(%s)", list, "strpos")

Execute = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
"""Runs a statement with its values, in one transaction with those before it."""
Ask = Callable[[Callable[[Execute], list[tuple[Any, ...]]]], list[tuple[Any, ...]]]
"""Reads in a transaction of its own."""


def outline(
    execute: Execute, dialect: Dialect, match: tuple[int, str], *, as_stored: bool
) -> tuple[int, Trace] | None:
    """The number of a trace with its spans without values; `match` is the number and the id.

    None where spans came by OpenTelemetry, unless they are wanted `as_stored`.
    """
    number, trace_id = match
    table, mark = dialect.table, dialect.mark
    has = f"{dialect.position}(rest, {mark}) > 0"
    if not as_stored:
        received = f"SELECT 1 FROM {table} WHERE trace = {mark} AND {has} LIMIT 1"
        if list(execute(received, (number, semconv.RECEIVED))):
            return None
    functions = {
        key: list(map(sound_text, kind))
        for key, *kind in execute(
            "SELECT id, name, span_type, project FROM functions"
            f" WHERE id IN (SELECT function FROM {table} WHERE trace = {mark})",
            (number,),
        )
    }
    # Most spans ended well: only of the others is the column `rest` read as JSON.
    rows = execute(
        "SELECT span, parent, seq, start_ns, end_ns, function,"
        f" CASE WHEN {has} THEN rest END FROM {table} WHERE trace = {mark}",
        ('"status"', number),
    )
    trace_key = int(trace_id, 16)
    spans = []
    for key, parent, index, start, end, function, rest in rows:
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
    return number, Trace(spans, trace_key=trace_key)


def _status(rest: str) -> Status:
    status: Status = sound_rest(loaded(rest)).get("status", "ok")
    return status


class StoredOutline:
    """See `TraceOutline`. `ask` reads the tables."""

    def __init__(self, number: int, trace: Trace, dialect: Dialect, ask: Ask) -> None:
        self.trace = trace
        self._number = number
        self._dialect = dialect
        self._ask = ask

    def whole(self, keys: Sequence[int]) -> Mapping[int, Span]:
        """See `TraceOutline.whole`."""
        rows = self._rows(
            f"SELECT {SPAN_FIELDS} FROM {self._dialect.table} s JOIN functions f ON f.id = s.function"
            f" WHERE s.trace = {self._dialect.mark} AND s.span {self._dialect.one_of}",
            keys,
        )
        definitions: dict[Any, Any] = {}
        spans = (span_of(self.trace.trace_key, row, definitions) for row in rows)
        return {span.span_key: span for span in spans}

    def inputs(self, keys: Sequence[int], longest: int) -> Mapping[int, Any]:
        """See `TraceOutline.inputs`."""
        return self._values("input", keys, longest)

    def outputs(self, keys: Sequence[int], longest: int) -> Mapping[int, Any]:
        """See `TraceOutline.outputs`."""
        return self._values("output", keys, longest)

    def _values(self, column: str, keys: Sequence[int], longest: int) -> Mapping[int, Any]:
        rows = self._rows(
            f"SELECT span, {column} FROM {self._dialect.table} WHERE trace = {self._dialect.mark}"
            f" AND span {self._dialect.one_of} AND length({column}) <= {self._dialect.mark}",
            keys,
            longest,
        )
        return {unsigned(key): loaded(text) for key, text in rows}

    def _rows(self, statement: str, keys: Sequence[int], *more: Any) -> list[tuple[Any, ...]]:
        if not keys:
            return []
        many = self._dialect.many([signed(key) for key in keys])
        return self._ask(lambda execute: list(execute(statement, (self._number, many, *more))))
