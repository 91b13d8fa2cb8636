"""``agenttrace failures``: what goes wrong, each failure once."""

from __future__ import annotations

import click

from agenttrace.cli.fitted_table import show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import place, store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.core.failure import STATES, Failure, State, state_text
from agenttrace.reports.clock import clock_text

HEAD = ("FAILURE", "STATE", "SEEN", "FIRST", "LAST", "CUSTOMERS", "COST", "PROJECT", "SCORER", "WHAT")


@click.command("list")
@store_option
@click.option("--state", type=click.Choice(STATES), help="Only those in this state; back: seen after a fix.")
@click.option("--project", help="Only this project.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def failures_list(
    store: str | None, state: State | None, project: str | None, limit: int, as_json: bool
) -> None:
    """List failures: those that are back first, then the open ones, then the fixed."""
    source, watch = watched_store(store)
    try:
        failures = watch.failures(project=project, state=state, limit=limit)
    finally:
        source.close()
    if as_json:
        for failure in failures:
            echo_json(failure.to_dict())
        return
    if not failures:
        click.echo(f"no failures found in {place(source)}", err=True)
        return
    columns = [(head, cells) for head, *cells in zip(HEAD, *map(_row, failures), strict=True)]
    optional = ("PROJECT", "COST", "FIRST", "CUSTOMERS")
    show_table(columns, optional, cut=("STATE", "SCORER", "WHAT"), last=("LAST", "SEEN"))


def _row(failure: Failure) -> tuple[str, ...]:
    return (
        failure.fingerprint,
        state_text(failure),
        str(failure.count),
        clock_text(failure.first_ns),
        clock_text(failure.last_ns),
        str(len(failure.customers)),
        "" if failure.cost is None else f"${failure.cost:.4g}",
        failure.project,
        failure.scorer,
        failure.title,
    )
