"""Traces with their spans, and the tools that are known without a call."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from agenttrace.core.batch import Batch
from agenttrace.core.errors import ExportError, StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.memory import span_bytes
from agenttrace.store.rows import SPAN_COLUMNS, tool_of
from agenttrace.store.table_rows import Row, TableRows, places

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_MOST_TRACES, _MOST_SPANS, _MOST_BYTES = 200, 4_000, 8 * 1024 * 1024
_SECONDS = 60.0
"""How long a write waits for others that write to the same file, and for a server that is away."""

_SPAN_ROWS = {"file": "all_span_rows", "server": "span_rows"}
_COLUMNS = ", ".join(f"s.{name}" for name in SPAN_COLUMNS if name not in ("trace", "function"))
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


def copy_part(
    part: Sequence[Trace], source: TableRows, target: Store, rows: TableRows, counts: CopiedKinds
) -> None:
    """Write those traces of a part that the target has otherwise, or not; then count what it has.

    `rows` are those of the target.
    """
    ids = [trace.trace_id for trace in part]
    query = f"SELECT trace_id FROM traces WHERE trace_id IN {places(len(ids))}"
    stored = [trace_id for (trace_id,) in rows.select(query, ids)]
    same = _same(stored, source, rows) if stored else set()
    new = [trace for trace in part if trace.trace_id not in same]
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


def _same(trace_ids: Sequence[str], source: TableRows, target: TableRows) -> set[str]:
    """Those of some traces whose spans lie in both stores with the same texts, nothing changed since."""
    ours = _by_trace(target.storable(_span_rows(trace_ids, source)))
    theirs = _by_trace(_span_rows(trace_ids, target))
    return {trace_id for trace_id, spans in ours.items() if theirs.get(trace_id) == spans}


def _span_rows(trace_ids: Sequence[str], where: TableRows) -> list[Row]:
    return where.select(
        f"SELECT t.trace_id, f.project, f.name, f.span_type, f.definition, {_COLUMNS} FROM traces t"
        f" JOIN {_SPAN_ROWS[where.kind]} s ON s.trace = t.id JOIN functions f ON f.id = s.function"
        f" WHERE t.trace_id IN {places(len(trace_ids))}",
        trace_ids,
    )


def _by_trace(rows: Iterable[Row]) -> dict[str, set[Row]]:
    spans: dict[str, set[Row]] = {}
    for trace_id, *row in rows:
        spans.setdefault(trace_id, set()).add(tuple(row))
    return spans


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
