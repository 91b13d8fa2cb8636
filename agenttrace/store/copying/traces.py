"""Traces with their spans, and the tools that are known without a call."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from agenttrace.core.batch import Batch
from agenttrace.core.errors import ExportError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.memory import span_bytes
from agenttrace.store.rows import SPAN_COLUMNS, definition_text, flat_rows, tool_of
from agenttrace.store.table_rows import Row, TableRows, places

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_MOST_TRACES, _MOST_SPANS, _MOST_BYTES = 200, 4_000, 8 * 1024 * 1024
_SECONDS = 60.0
"""How long a write waits for others that write to the same file, and for a server that is away."""

_SPAN_ROWS = {"file": "all_span_rows", "server": "span_rows"}
_TOOLS = "SELECT id, project, name, definition FROM functions WHERE span_type = 'tool' AND definition <> ''"


def parts(traces: Iterable[Trace]) -> Iterator[list[Trace]]:
    """Traces in parts of bounded size; a trace is never parted."""
    part: list[Trace] = []
    spans = size = 0
    for trace in traces:
        part.append(trace)
        spans += len(trace.spans)
        size += sum(map(span_bytes, trace.spans))
        if len(part) >= _MOST_TRACES or spans >= _MOST_SPANS or size >= _MOST_BYTES:
            yield part
            part, spans, size = [], 0, 0
    if part:
        yield part


def copy_part(part: Sequence[Trace], target: Store, rows: TableRows, counts: CopiedKinds) -> None:
    """Write those traces of a part that the target has otherwise, or not; then count what it has."""
    ids = [trace.trace_id for trace in part]
    query = f"SELECT trace_id FROM traces WHERE trace_id IN {places(len(ids))}"
    stored = {trace_id for (trace_id,) in rows.select(query, ids)}
    new = [
        trace
        for trace in part
        if trace.trace_id not in stored or not _is_same(trace, target.trace(trace.trace_id))
    ]
    write(target, Batch([span for trace in new for span in trace.spans]))
    numbers: dict[str, int] = dict(
        rows.select(
            f"SELECT t.trace_id, count(*) FROM traces t JOIN {_SPAN_ROWS[rows.kind]} s ON s.trace = t.id"
            f" WHERE t.trace_id IN {places(len(ids))} GROUP BY t.trace_id",
            ids,
        )
    )
    complete = [len(trace.spans) <= numbers.get(trace.trace_id, 0) for trace in part]
    counts.add("traces", looked_at=len(part), written=len(new), there=sum(complete))
    counts.add(
        "spans",
        looked_at=sum(len(trace.spans) for trace in part),
        written=sum(len(trace.spans) for trace in new),
        there=sum(min(len(trace.spans), numbers.get(trace.trace_id, 0)) for trace in part),
    )


def write(target: Store, batch: Batch) -> None:
    """Write a batch for good: not into the memory that stands in for a store that is away.

    Raises:
        StoreError: it cannot be written within a minute.
    """
    until = time.monotonic() + _SECONDS
    while batch.spans or batch.tools:
        try:
            target.write(batch)
            break
        except ExportError as error:  # others hold the file: come again
            if time.monotonic() > until:
                raise StoreError(f"the store to copy to cannot be written: {error}") from error
    while not target.flush(timeout=5.0):
        if time.monotonic() > until:
            raise StoreError("the store to copy to cannot be written; what it warned of says why")
        time.sleep(0.5)


def _is_same(trace: Trace, stored: Trace | None) -> bool:
    """Whether a store has exactly the spans of a trace, nothing in them changed since."""
    if stored is None or len(trace.spans) != len(stored.spans):
        return False
    numbers: dict[tuple[str, ...], int] = {}
    return _span_rows(trace, numbers) == _span_rows(stored, numbers)


def _span_rows(trace: Trace, numbers: dict[tuple[str, ...], int]) -> set[Row]:
    def number(span: Span) -> int:
        definition = "" if span.tool is None else definition_text(span.tool)
        return numbers.setdefault((span.project, span.name, span.span_type, definition), len(numbers))

    flat = flat_rows(trace.spans, {trace.trace_key: 0}, {}, number)
    width = len(SPAN_COLUMNS)
    return {tuple(flat[at : at + width]) for at in range(0, len(flat), width)}


def copy_tools(source: TableRows, target: Store, rows: TableRows, counts: CopiedKinds) -> None:
    """Copy the definitions of tools, called or not, the oldest first: the newest of a name is in use."""
    definitions: dict[tuple[str, str], ToolDefinition | None] = {}
    functions = source.select(f"{_TOOLS} ORDER BY id")
    readable = [
        (row, tool) for row in functions if (tool := tool_of(row[2], row[3], definitions)) is not None
    ]
    stored = {row[1:] for row in rows.select(_TOOLS)}
    new = [
        (project, tool)
        for (_, project, name, definition), tool in readable
        if (*rows.storable([(project, name, definition)]),)[0] not in stored
    ]
    for project, tool in new:
        write(target, Batch(tools={project: [tool]}))
    wanted = {(row[1], row[2]) for row, _ in readable}
    there = {row[1:3] for row in rows.select(_TOOLS)}
    counts.add(
        "tools",
        looked_at=len(wanted),
        written=len({(project, tool.name) for project, tool in new}),
        there=sum(row in there for row in rows.storable(wanted)),
    )
