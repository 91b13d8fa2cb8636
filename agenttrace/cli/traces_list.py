"""``agenttrace traces list``: the newest traces, one a line."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import place, store_option, store_to_read
from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import TraceSummary
from agenttrace.reports.text import show, table_lines, terminal_width
from agenttrace.reports.tree import duration_text

HEAD = ("TRACE", "STARTED", "NAME", "PROJECT", "SPANS", "TOOLS", "DURATION", "STATUS")


@click.command("list")
@store_option
@click.option("--project", help="Only this project.")
@click.option("--name", help="Only traces whose root has this name.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def traces_list(store: str | None, project: str | None, name: str | None, limit: int, as_json: bool) -> None:
    """List recorded traces, the newest first."""
    source = store_to_read(store)
    try:
        summaries = source.traces(project=project, name=name, limit=limit)
    finally:
        source.close()
    if as_json:
        for summary in summaries:
            click.echo(to_json(asdict(summary)))
        return
    if not summaries and (name is not None or project is not None):
        wanted = {"name": name, "project": project}
        text = " and ".join(f"the {word} {value!r}" for word, value in wanted.items() if value is not None)
        click.echo(f"no traces found in {place(source)}; none has {text}", err=True)
        return
    if not summaries:
        click.echo(
            f"no traces found in {place(source)}; decorate an agent with @tracer.observe and run it, "
            f"or try: {own_command()} demo",
            err=True,
        )
        return
    show(table_lines(HEAD, [_row(summary) for summary in summaries], width=terminal_width()))


def _row(summary: TraceSummary) -> tuple[str, ...]:
    start = datetime.fromtimestamp(summary.start_ns / 1e9).astimezone()
    return (
        summary.trace_id[:12],
        f"{start:%Y-%m-%d %H:%M:%S}",
        summary.name,
        summary.project,
        str(summary.spans),
        str(summary.tool_calls),
        duration_text(summary.duration_ns),
        summary.status,
    )
