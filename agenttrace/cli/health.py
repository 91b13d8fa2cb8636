"""``agenttrace health``: is recording sound, in all processes?"""

from __future__ import annotations

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.core.protocols import HasPath, optional
from agenttrace.reports.health import health_data, health_lines
from agenttrace.reports.openmetrics import openmetrics
from agenttrace.reports.text import show


@click.command("health")
@store_option
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
@click.option("--openmetrics", "as_metrics", is_flag=True, help="As OpenMetrics text, as /metrics gives it.")
def health(store: str | None, as_json: bool, as_metrics: bool) -> int:
    """Say whether recording is sound, over all processes that write to the store; exit code 1 if not."""
    source, watch = watched_store(store)
    try:
        if as_metrics:
            click.echo(openmetrics(watch), nl=False)
            return 0
        path = optional(source, HasPath)
        data = health_data(watch, None if path is None else path.path)
    finally:
        source.close()
    if as_json:
        echo_json(data)
    else:
        show(health_lines(data))
    return 0 if data["ok"] else 1
