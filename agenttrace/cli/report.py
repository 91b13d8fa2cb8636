"""``agenttrace report``: a trace or a run as one HTML file to send."""

from __future__ import annotations

import click

from agenttrace.cli.run_option import stored_run
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.protocols import KeepsWatch, Store, optional
from agenttrace.core.report import EvaluationReport
from agenttrace.core.trace import Trace
from agenttrace.datasets.files import open_private
from agenttrace.viewer.people import SHOWN_WORDS
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.report import run_report, trace_report


@click.command("report")
@click.argument("what", metavar="ID|RUN")
@store_option
@click.option("--against", metavar="RUN", help="Compare the run with this one.")
@click.option("--output", "-o", required=True, metavar="FILE", help="The file to write.")
@click.option("--no-values", is_flag=True, help="Names and numbers alone: no inputs, outputs, reasons.")
def report(what: str, store: str | None, against: str | None, output: str, no_values: bool) -> None:
    """Write a trace or an evaluation run into one HTML file, which loads nothing from anywhere.

    ID is the beginning of a trace's id; RUN is an id or its beginning, last, last~1, a run's name, or a
    git branch.
    """
    source = store_to_read(store)
    try:
        html = _html(source, what, against, values=not no_values)
    finally:
        source.close()
    try:
        with open(output, "w", encoding="utf-8", opener=open_private) as file:
            file.write(html)
    except OSError as error:
        raise ConfigError(f"cannot write {output}: {error.strerror}") from None
    click.echo(f"{output}: {len(html.encode()) / 1000:.0f} KB")


def _html(source: Store, what: str, against: str | None, *, values: bool) -> str:
    trace = None if against is not None else _trace(source, what)
    if trace is not None:
        watch = optional(source, KeepsWatch)
        words = () if watch is None else watch.annotations(trace_id=trace.trace_id, limit=SHOWN_WORDS)
        return trace_report(trace, source.scores(trace.trace_id), words=words, values=values)
    run = EvaluationReport.from_dict(stored_run(source, what))
    before = None if against is None else stored_run(source, against)
    return run_report(run, against=before, reads=Reads.of(source), values=values)


def _trace(source: Store, what: str) -> Trace | None:
    try:
        return source.trace(what)
    except StoreError:  # too short for an id, or several begin so: then it is a run's name, or no run either
        return None
