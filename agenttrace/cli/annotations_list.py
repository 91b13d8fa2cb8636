"""``agenttrace annotations list``: what people said."""

from __future__ import annotations

import click

from agenttrace.cli.fitted_table import show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import place, store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.core.annotation import Annotation
from agenttrace.reports.clock import clock_text
from agenttrace.reports.text import value_text

HEAD = ("SAID", "BY", "TRACE", "RESULT", "THUMBS", "SCORE", "LABEL", "NOTE", "EXPECTED")


@click.command("list")
@store_option
@click.option("--trace", metavar="ID", help="Only of this trace, by its id or the first digits of it.")
@click.option("--project", help="Only this project.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def annotations_list(
    store: str | None, trace: str | None, project: str | None, limit: int, as_json: bool
) -> None:
    """List what people said, the newest first."""
    source, watch = watched_store(store)
    try:
        stored = None if trace is None else source.trace(trace)
        trace_id = trace if stored is None else stored.trace_id
        annotations = watch.annotations(trace_id=trace_id, project=project, limit=limit)
    finally:
        source.close()
    if as_json:
        for annotation in annotations:
            echo_json(annotation.to_dict())
        return
    if not annotations:
        click.echo(f"nobody said anything yet in {place(source)}; see agenttrace annotate --help", err=True)
        return
    columns = [(head, cells) for head, *cells in zip(HEAD, *map(_row, annotations), strict=True)]
    show_table(columns, optional=("RESULT",), cut=("BY", "LABEL", "NOTE", "EXPECTED"))


def _row(annotation: Annotation) -> tuple[str, ...]:
    result = "" if annotation.run_id is None else f"{annotation.run_id[:8]}:{annotation.result}"
    return (
        clock_text(annotation.created_ns),
        annotation.by or "",
        (annotation.trace_id or "")[:12],
        result,
        annotation.thumbs or "",
        "" if annotation.score is None else f"{annotation.score:g}",
        annotation.label or "",
        annotation.note or "",
        "" if annotation.expected is None else value_text(annotation.expected),
    )
