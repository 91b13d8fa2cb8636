"""``agenttrace traces show``: one trace as a tree."""

from __future__ import annotations

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import place, store_option, store_to_read, trace_named
from agenttrace.core.errors import StoreError
from agenttrace.reports.text import see_line, show, terminal_width
from agenttrace.reports.tree import trace_lines
from agenttrace.store.viewer_note import see_in

_IN_A_PIPE = 160


@click.command("show")
@click.argument("trace_id", required=False)
@store_option
@click.option(
    "--width",
    type=click.IntRange(20, 100_000),
    help="Cut values here. [default: the terminal's width, 160 in a pipe]",
)
@click.option("--json", "as_json", is_flag=True, help="The whole trace with its scores as JSON.")
def traces_show(trace_id: str | None, store: str | None, width: int | None, as_json: bool) -> None:
    """Show a trace: durations, parameters, outputs, errors and scores.

    TRACE_ID is an id or its first digits (four or more); without it, the newest trace is shown.
    """
    source = store_to_read(store)
    try:
        if trace_id is None:
            newest = source.traces(limit=1)
            if not newest:
                raise StoreError(f"there are no traces yet in {place(source)}; try: {own_command()} demo")
            trace_id = newest[0].trace_id
        trace = trace_named(source, trace_id)
        scores = source.scores(trace.trace_id)
    finally:
        source.close()
    if as_json:
        rows = [{"span_id": span_id, **score.to_dict()} for span_id, score in scores]
        echo_json({**trace.to_dict(), "scores": rows})
        return
    show(trace_lines(trace, scores, value_length=width or terminal_width() or _IN_A_PIPE))
    see = see_in(source, own_command())
    has_failed = trace.error is not None or any(score.outcome in ("failed", "errored") for _, score in scores)
    if see is not None and has_failed:
        show([see_line(see(trace.trace_id), "")])
