"""``agenttrace review``: the cases that people should look at."""

from __future__ import annotations

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import place, store_option
from agenttrace.cli.watch_option import watched_store
from agenttrace.core.people import ToReview, review_queue
from agenttrace.reports.text import show, table_lines, terminal_width

HEAD = ("TRACE", "RESULT", "WHY", "SCORER", "VALUE", "THRESHOLD")


@click.command("review")
@store_option
@click.option("--project", help="Only this project.")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def review(store: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """List the cases whose judging tells most.

    First those on which a scorer and people disagree, then those whose trials or votes differ, new failures,
    and values near the threshold.
    """
    source, watch = watched_store(store)
    try:
        queue = review_queue(
            watch.stored_scores(project=project),
            watch.annotations(project=project, limit=10_000),
            watch.failures(project=project),
            limit=limit,
        )
    finally:
        source.close()
    if as_json:
        for one in queue:
            echo_json(one.to_dict())
        return
    if not queue:
        click.echo(f"nothing to review in {place(source)}", err=True)
        return
    show(table_lines(HEAD, [_row(one) for one in queue], width=terminal_width()))


def _row(one: ToReview) -> tuple[str, ...]:
    return (
        (one.trace_id or "")[:12],
        "" if one.run_id is None else f"{one.run_id[:8]}:{one.result}",
        ", ".join(one.reasons),
        one.scorer,
        "" if one.value is None else f"{one.value:.4g}",
        "" if one.threshold is None else f"{one.threshold:g}",
    )
