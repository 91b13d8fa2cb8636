"""``agenttrace runs delete``: one run with its results and scores."""

from __future__ import annotations

import click

from agenttrace.cli.asking import agreed
from agenttrace.cli.run_option import HELP, stored_run
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.reports.text import safe_line


@click.command("delete", epilog=HELP)
@click.argument("run")
@click.option("--traces", is_flag=True, help="Its traces, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
def runs_delete(run: str, traces: bool, yes: bool, store: str | None) -> None:
    """Delete RUN with its results and scores; its traces stay unless --traces is given."""
    source = store_to_read(store)
    try:
        stored = stored_run(source, run)
        ids = {result["trace_id"] for result in stored["results"]} - {None} if traces else set()
        what = f"run {stored['run_id'][:12]} ({safe_line(stored['name'])}, {len(stored['results'])} results)"
        if not yes and not agreed(f"delete {what}?"):
            click.echo("nothing was deleted", err=True)
            return
        source.delete_run(stored["run_id"])
        deleted = sum(source.delete_trace(trace_id) for trace_id in ids)
    finally:
        source.close()
    click.echo(f"deleted {what}" + (f" and {deleted} traces" if traces else ""))
