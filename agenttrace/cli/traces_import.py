"""``agenttrace traces import``: OpenTelemetry's traces and transcripts, from files, into the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from agenttrace.cli.store_option import store_option
from agenttrace.core import semconv
from agenttrace.core.batch import Batch
from agenttrace.core.errors import AgentTraceError
from agenttrace.core.identity import trace_id_text
from agenttrace.core.protocols import Store
from agenttrace.core.span import Span
from agenttrace.core.text import shorten
from agenttrace.otlp_in.arrival import TelemetryError
from agenttrace.otlp_in.merging import merged
from agenttrace.otlp_in.payload import read_payload
from agenttrace.otlp_in.reading import to_store
from agenttrace.otlp_in.tables import EVENT
from agenttrace.otlp_in.traces import spans_of
from agenttrace.redaction import Redaction
from agenttrace.redaction.received import redact_received
from agenttrace.reports.text import safe_line
from agenttrace.store import open_store
from agenttrace.store.kept import check_kept
from agenttrace.transcripts.chat_messages import UNREAD_TIME
from agenttrace.transcripts.reading import format_of, traces_from_transcript

UNREAD = 2
"""The exit code where a file, or a record in one, could not be read; all others are in the store."""
_BATCH = 4_000
_SHOWN = 3


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--project", help="Put them into this project, instead of those that they name.")
@store_option
def traces_import(files: Sequence[str], project: str | None, store: str | None) -> int:
    """Put the OpenTelemetry traces, or the transcripts, of each FILE into the store.

    A file holds requests of OTLP, of traces or of logs: as JSON, JSON lines or protobuf, packed with gzip or
    not; or what Langfuse or LangSmith exported; or conversations, each an object with messages; or a session
    as ATIF, Claude Code or Codex write it: its content says which. What is in the store already is replaced
    by the same, so a file may be imported again, also when its session has gone on; spans of one trace may
    come in several files, in any order, and keep what only an earlier file said of them. Secrets are
    redacted.
    """
    target = open_store(store)
    redaction = Redaction()
    unread = False
    try:
        for file in files:
            try:
                spans, problems, unread_here, left_out = _read(file)
            except (AgentTraceError, OSError) as error:
                unread = True
                click.echo(f"Error: {safe_line(_named(file, error), 1_000)}", err=True)
                continue
            spans = [_ready(span, project, redaction) for span in spans]
            stored = _stored(spans, target)
            check_kept(target)
            click.echo(f"{safe_line(file)}: {stored}")
            for what, count in left_out.items():
                click.echo(f"Note: {safe_line(file)}: not imported are {count} {what}", err=True)
            for problem in problems[:_SHOWN]:
                click.echo(f"Error: {safe_line(problem)}", err=True)
            if unread_here > _SHOWN:
                click.echo(f"Error: {safe_line(file)}: {unread_here - _SHOWN} more not read", err=True)
            unread = unread or unread_here > 0
    finally:
        target.close()
    return UNREAD if unread else 0


def _read(file: str) -> tuple[list[Span], list[str], int, Mapping[str, int]]:
    """The spans in a file; what of it could not be read, the first of it in words, and how much that is; how
    much of what was read has no place in a store.

    Raises:
        AgentTraceError: it is neither OpenTelemetry's nor a transcript.
        OSError: there is no such file.
    """
    try:
        arrival = read_payload(file)
    except TelemetryError:
        if format_of(file) is None:
            raise
        return _read_transcript(file)
    if arrival.unread and not arrival.spans and not arrival.logs and format_of(file) is not None:
        return _read_transcript(file)
    return spans_of(arrival), arrival.problems, arrival.unread, arrival.left_out


def _read_transcript(file: str) -> tuple[list[Span], list[str], int, Mapping[str, int]]:
    traces = traces_from_transcript(file)
    lines = max((trace.metadata.get("unreadable_lines", 0) for trace in traces), default=0)
    problems = [f"{file}: {lines} lines are no JSON, as where a session was interrupted"] if lines else []
    times = [trace.metadata[UNREAD_TIME] for trace in traces if UNREAD_TIME in trace.metadata]
    left_out = {}
    if times:
        such = f"times that cannot be read, such as {shorten(repr(times[0]), 60)}"
        left_out = {f"{such}: the time of this import stands for them": len(times)}
    return [span for trace in traces for span in trace.spans], problems, len(problems), left_out


def _named(file: str, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"cannot read {file}: {error.strerror or error}"
    return str(error) if file in str(error) else f"{file}: {error}"


def _ready(span: Span, project: str | None, redaction: Redaction) -> Span:
    is_received = semconv.RECEIVED in span.attributes and span.span_type != EVENT
    ready = redact_received(span, redaction) if is_received else redaction.span(span)
    ready.project = project or span.project
    return ready


def _stored(spans: Sequence[Span], store: Store) -> str:
    """Store the spans; returns how many these are, and how many of them were not there yet."""
    by_trace: dict[int, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_key, []).append(span)
    rows: list[Span] = []
    new_spans = new_traces = 0
    for key, together in by_trace.items():
        stored = store.trace(trace_id_text(key))
        before = {} if stored is None else {span.span_key: span for span in stored.spans}
        new_traces += stored is None
        new_spans += sum(span.span_key not in before for span in together if span.span_type != EVENT)
        together = [merged(before[it.span_key], it) if it.span_key in before else it for it in together]
        for span in together:
            span.project = span.project or "default"
        rows += to_store(together)
    for at in range(0, len(rows), _BATCH):
        store.write(Batch(rows[at : at + _BATCH]))
    records = sum(span.span_type == EVENT for span in spans)
    logs = f", {records} log records of calls" if records else ""
    return (
        f"{len(spans) - records} spans of {len(by_trace)} traces{logs}; new: {new_spans} spans, "
        f"{new_traces} traces"
    )
