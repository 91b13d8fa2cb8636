"""``agenttrace failures reopen``: say that a failure is not fixed."""

from __future__ import annotations

import click

from agenttrace.cli.store_option import store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.core.failure import state_text
from agenttrace.reports.text import safe_line


@click.command("reopen")
@click.argument("failure")
@click.option("--project", help="The project, where several have the failure.")
@store_option
def failures_reopen(failure: str, project: str | None, store: str | None) -> None:
    """Say that FAILURE (its first digits) is open."""
    source, watch = watched_store(store)
    try:
        changed = watch.set_failure_state(failure, "open", project=project)
    finally:
        source.close()
    click.echo(safe_line(f"{changed.fingerprint} {changed.scorer}: {changed.title}: {state_text(changed)}"))
