"""``agenttrace runs list``: the newest evaluation runs, one a line."""

from __future__ import annotations

from dataclasses import asdict

import click

from agenttrace.cli.fitted_table import show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import place, store_option, store_to_read
from agenttrace.core.protocols import RunSummary
from agenttrace.reports.clock import clock_text
from agenttrace.reports.tree import duration_text
from agenttrace.runs.reference import branch_of

HEAD = (
    "RUN",
    "STARTED",
    "NAME",
    "PROJECT",
    "BRANCH",
    "PASSED",
    "FAILED",
    "XFAILED",
    "ERRORED",
    "NOT RUN",
    "DURATION",
    "ENDED",
)


@click.command("list")
@store_option
@click.option("--project", help="Only this project.")
@click.option("--branch", help="Only runs made on this git branch.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def runs_list(store: str | None, project: str | None, branch: str | None, limit: int, as_json: bool) -> None:
    """List evaluation runs, the newest first."""
    source = store_to_read(store)
    try:
        runs = source.runs(project=project, limit=limit if branch is None else 100_000)
    finally:
        source.close()
    runs = [run for run in runs if branch is None or branch_of(run) == branch][:limit]
    if as_json:
        for run in runs:
            echo_json(asdict(run))
        return
    if not runs:
        click.echo(f"no runs found in {place(source)}; evaluate something first", err=True)
        return
    columns = [(head, cells) for head, *cells in zip(HEAD, *map(_row, runs), strict=True)]
    optional = ("BRANCH", "PROJECT", "DURATION")
    show_table(columns, optional, cut=("NAME", "ENDED"), last=("STARTED", "NOT RUN", "XFAILED"))


def _row(run: RunSummary) -> tuple[str, ...]:
    return (
        run.run_id[:12],
        clock_text(run.started_ns),
        run.name,
        run.project,
        branch_of(run) or "",
        str(run.passed),
        str(run.failed - run.xfailed),
        str(run.xfailed or ""),
        str(run.errored),
        str(run.not_run),
        duration_text(int(run.duration * 1e9)),
        _ended(run),
    )


def _ended(run: RunSummary) -> str:
    """Why a run is not whole; empty for one that is."""
    if run.metadata.get("interrupted"):
        return "interrupted"
    return "before all were run" if run.not_run else ""
