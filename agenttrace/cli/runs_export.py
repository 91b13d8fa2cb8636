"""``agenttrace runs export``: one run as a file, whole or as a baseline without values."""

from __future__ import annotations

import click

from agenttrace.cli.run_option import HELP, stored_run
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.evaluation.baseline import write_baseline
from agenttrace.evaluation.run_file import write_run
from agenttrace.evaluation.run_record import record_of_run


@click.command("export", epilog=HELP)
@click.argument("run", default="last")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to; a file there is replaced.")
@click.option("--baseline", is_flag=True, help="Names, outcomes and numbers alone, to be committed.")
@store_option
def runs_export(run: str, output: str, baseline: bool, store: str | None) -> None:
    """Write RUN (the newest without it) to a JSON file that `runs import` reads.

    The file has inputs, outputs and scores, without the secrets that the store does not have either, and
    not the traces.
    """
    source = store_to_read(store)
    try:
        stored = stored_run(source, run)
    finally:
        source.close()
    if baseline:
        write_baseline(record_of_run(stored), output)
    else:
        write_run(stored, output)
    click.echo(f"run {stored['run_id'][:12]} is in {output}")
