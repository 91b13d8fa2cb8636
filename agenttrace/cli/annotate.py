"""``agenttrace annotate``: say something of a trace, or of a result of a run."""

from __future__ import annotations

import getpass
from typing import Any

import click

from agenttrace.cli.store_option import store_option, store_to_read, trace_named
from agenttrace.redaction import Redaction
from agenttrace.scoring.annotating import annotate as keep
from agenttrace.scoring.annotating import expectation_in, stored_trace
from agenttrace.store.kept import check_kept


@click.command("annotate")
@click.argument("trace", required=False)
@click.option("--result", metavar="RUN:PLACE", help="A result of a run, places from 0, instead of TRACE.")
@click.option("--span", "span_id", metavar="ID", help="A span of the trace, 16 hex digits.")
@click.option("--thumbs", type=click.Choice(["up", "down"]), help="Good or bad.")
@click.option("--score", type=float, help="From 0 to 1; 0.5 is good enough.")
@click.option("--label", help="A word of your own, or the name of the judge whose subject it is about.")
@click.option("--note", help="Free text.")
@click.option("--expected", metavar="JSON", help="The right answer as text, or the right calls as JSON.")
@click.option("--by", help="Who says it. [default: the user who is logged in]")
@store_option
def annotate(
    trace: str | None, result: str | None, span_id: str | None, store: str | None, **word: Any
) -> None:
    """Keep what you say of TRACE, its id or the first digits of it."""
    source = store_to_read(store)
    try:
        trace_id, project = (
            (None, None) if trace is None else stored_trace(source, trace_named(source, trace).trace_id)
        )
        word["by"] = word["by"] or user_name()
        word["expected"] = None if word["expected"] is None else expectation_in(word["expected"])
        number = keep(source, project, Redaction(), trace_id, span_id, result, word)
        check_kept(source)
    finally:
        source.close()
    click.echo(f"kept as {number[:12]}")


def user_name() -> str | None:
    """The user who is logged in, or None for one without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user without a name
        return None
