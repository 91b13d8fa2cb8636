"""``agenttrace traces export``: the traces that match a query as a file for other programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, BinaryIO

import click

from agenttrace.cli.store_option import store_option
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core.errors import ConfigError, MissingDependency
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.protocols import Store
from agenttrace.core.query import Query
from agenttrace.core.trace import Trace
from agenttrace.datasets.files import open_private
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_request import resource_from_environment, trace_request
from agenttrace.reports.tree import count_text
from agenttrace.store.trace_stream import iter_traces

_ROWS_AT_ONCE = 20_000
_COLUMNS = {
    **dict.fromkeys(("trace_id", "span_id", "parent_id", "project", "name", "span_type", "status"), "string"),
    **dict.fromkeys(("start_ns", "end_ns"), "int64"),
    **dict.fromkeys(("error_type", "error_message", "input", "output", "attributes", "usage"), "string"),
}


@click.command("export")
@store_option
@where_option
@click.option(
    "--to",
    "form",
    default="jsonl",
    show_default=True,
    type=click.Choice(["jsonl", "otlp", "parquet"]),
    help="jsonl: a trace with its scores a line. otlp: a request of its spans as JSON a line. "
    "parquet: a span a row (needs pyarrow).",
)
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="The file. [default: stdout]")
def traces_export(store: str | None, query: Query, form: str, path: str | None) -> None:
    """Write the traces that match --where to a file or to stdout, the newest first."""
    if form == "parquet" and path is None:
        raise click.UsageError("parquet is no text; give --output FILE")
    if form == "parquet":
        _pyarrow()  # before a file is made
    with reading(store) as (source, reads):
        if not reads.count_matches(query, most=1).number:
            say_that_none_match(source, reads, query)
            return
        count = Counted(iter_traces(source, query))
        if path is None:
            _WRITERS[form](count, source, sys.stdout.buffer)
        else:
            try:
                with open(path, "wb", opener=open_private) as file:
                    _WRITERS[form](count, source, file)
            except OSError as error:
                raise ConfigError(f"cannot write {path}: {error.strerror or error}") from None
            click.echo(f"wrote {count_text(count.number, 'trace')} to {path}", err=True)


class Counted:
    """Goes through traces once and counts them."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._traces = traces
        self.number = 0

    def __iter__(self) -> Iterator[Trace]:
        for trace in self._traces:
            self.number += 1
            yield trace


def _write_jsonl(traces: Iterable[Trace], store: Store, file: BinaryIO) -> None:
    for trace in traces:
        scores = [{"span_id": span_id, **score.to_dict()} for span_id, score in store.scores(trace.trace_id)]
        file.write(to_json(jsonable({**trace.to_dict(), "scores": scores}, limit=None)).encode() + b"\n")


def _write_otlp(traces: Iterable[Trace], _: Store, file: BinaryIO) -> None:
    resource = resource_from_environment()
    for trace in traces:
        tools = dict.fromkeys((span.project for span in trace.spans), tuple(trace.tools.values()))
        request = trace_request(trace.spans, resource=resource, content=True, tools=tools)
        file.write(encode("traces", request, "http/json") + b"\n")


def _pyarrow() -> Any:
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise MissingDependency("parquet needs pyarrow; install it with: pip install pyarrow") from error


def _write_parquet(traces: Iterable[Trace], _: Store, file: BinaryIO) -> None:
    pyarrow = _pyarrow()
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in _COLUMNS.items()])
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        rows: list[dict[str, Any]] = []
        for trace in traces:
            rows += map(_row, trace.to_dict()["spans"])
            if len(rows) >= _ROWS_AT_ONCE:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))


def _row(span: dict[str, Any]) -> dict[str, Any]:
    error = span["error"] or {}
    texts = {
        name: None if span[name] is None else to_json(jsonable(span[name], limit=None))
        for name in ("input", "output", "attributes", "usage")
    }
    row = {**span, **texts, "error_type": error.get("type"), "error_message": error.get("message")}
    return {name: row[name] for name in _COLUMNS}


_WRITERS: dict[str, Callable[[Iterable[Trace], Store, BinaryIO], None]] = {
    "jsonl": _write_jsonl,
    "otlp": _write_otlp,
    "parquet": _write_parquet,
}
