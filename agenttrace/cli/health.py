"""``agenttrace health``: is recording sound, in all processes?"""

from __future__ import annotations

import click

from agenttrace.cli.health_troubles import file_troubles, memory_troubles, sending_troubles
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.core.errors import StoreError
from agenttrace.core.losses import Trouble
from agenttrace.core.protocols import HasPath, optional
from agenttrace.reports.health import health_data, health_lines, unreadable_data
from agenttrace.reports.openmetrics import openmetrics
from agenttrace.reports.text import show
from agenttrace.store import open_store

_TIMEOUT = 5.0


@click.command("health")
@store_option
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
@click.option("--openmetrics", "as_metrics", is_flag=True, help="As OpenMetrics text, as /metrics gives it.")
def health(store: str | None, as_json: bool, as_metrics: bool) -> int:
    """Say whether recording is sound, over all processes that write to the store; exit code 1 if not.

    Each trouble is said with what to do about it.
    """
    has_path = optional(open_store(store), HasPath)
    path = None if has_path is None else has_path.path
    troubles = [] if path is None else list(memory_troubles(path))
    try:
        source, watch = watched_store(store)
        try:
            if as_metrics:
                click.echo(openmetrics(watch), nl=False)
            if path is not None:
                troubles += file_troubles(path, _TIMEOUT)
                troubles += sending_troubles(path, _TIMEOUT)
            data = health_data(watch, path, troubles=troubles)
        finally:
            source.close()
    except StoreError as error:
        if not troubles or as_metrics:
            raise
        data = unreadable_data(
            [*troubles, Trouble("store", str(error), "see above, and `agenttrace doctor`")]
        )
    if as_json:
        echo_json(data)
    elif not as_metrics:
        show(health_lines(data))
    return 0 if data["ok"] else 1
