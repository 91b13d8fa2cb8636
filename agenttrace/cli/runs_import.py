"""``agenttrace runs import``: a run that another store exported."""

from __future__ import annotations

import click

from agenttrace.cli.store_option import store_option
from agenttrace.redaction import Redaction
from agenttrace.reports.text import safe_line
from agenttrace.runs.file import read_run
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import open_store
from agenttrace.store.kept import check_kept


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@store_option
def runs_import(file: str, store: str | None) -> None:
    """Put the run of FILE (made by `runs export`) into the store; one with the same id is replaced.

    Secrets are redacted.
    """
    report = redacted_report(read_run(file), Redaction())
    target = open_store(store)
    try:
        target.write_report(report)
        check_kept(target)
    finally:
        target.close()
    click.echo(f"run {report.run_id[:12]}: {safe_line(report.name)}, {len(report)} results")
