"""``agenttrace runs compare``: what became of each example from one run to another."""

from __future__ import annotations

import shutil

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.run_option import HELP, run_record
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.reports.run_comparison import WIDTH, comparison_lines
from agenttrace.reports.text import show
from agenttrace.runs.compare import compare_runs

WORSE = 1


@click.command("compare", epilog=HELP + " Each may also be the path of a baseline file.")
@click.argument("before")
@click.argument("after", default="last")
@store_option
@click.option("--project", help="Look for last, names and branches in this project alone.")
@click.option("--json", "as_json", is_flag=True, help="The comparison as JSON, without reasons.")
def runs_compare(before: str, after: str, store: str | None, project: str | None, as_json: bool) -> int:
    """Compare BEFORE with AFTER (the newest run without it).

    Exits with 1 where an example got worse, is errored or was not run, or the pass rate or the mean of a
    scorer that decides fell significantly over all examples; else with 0.
    """
    source = store_to_read(store)
    try:
        comparison = compare_runs(*(run_record(source, one, project) for one in (before, after)))
    finally:
        source.close()
    if as_json:
        echo_json(comparison.to_dict())
    else:
        show(comparison_lines(comparison, width=shutil.get_terminal_size((WIDTH, 24)).columns))
    return WORSE if comparison.is_worse else 0
