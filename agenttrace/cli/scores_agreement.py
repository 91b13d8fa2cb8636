"""``agenttrace scores agreement``: can this judge be trusted?"""

from __future__ import annotations

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.reports.agreement import agreement_lines, agreement_of
from agenttrace.reports.text import show


@click.command("agreement")
@click.argument("name")
@store_option
@click.option("--project", help="Only this project.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def scores_agreement(name: str, store: str | None, project: str | None, as_json: bool) -> None:
    """Say how far the scorer NAME agrees with people, on what both have judged."""
    source, watch = watched_store(store)
    try:
        data = agreement_of(watch, name, project)
    finally:
        source.close()
    if as_json:
        echo_json(data)
    else:
        show(agreement_lines(data))
