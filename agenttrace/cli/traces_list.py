"""``agenttrace traces list``: the traces that match a query, one a line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

import click

from agenttrace.cli.fitted_table import Column, show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.main import own_command
from agenttrace.cli.store_option import store_option
from agenttrace.cli.where_option import narrowed, reading, say_that_none_match, where_option
from agenttrace.core.query import Query
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_reads import SORT_KEYS, Sort
from agenttrace.reports.clock import clock_text
from agenttrace.reports.terminal import number
from agenttrace.reports.text import see_line, show
from agenttrace.reports.tree import duration_text
from agenttrace.store.viewer_note import see_in

OPTIONAL = ("CALLS", "SESSION", "EXAMPLE", "PROJECT", "SPANS", "COST", "TOOLS", "CUSTOMER", "DURATION")
"""The columns that a narrow terminal does without, the first one first: what ran and its score stay."""

_MARKS = {"passed": "✓", "failed": "✗", "skipped": "·", "errored": "!"}


@click.command("list")
@store_option
@where_option
@click.option("--project", help="Only this project.")
@click.option("--name", help="Only traces whose root has this name.")
@click.option(
    "--sort",
    default="-time",
    show_default=True,
    metavar="KEY",
    callback=lambda _context, _parameter, text: Sort.of(text),
    help=f"By {', '.join(SORT_KEYS)}; with a minus the largest first.",
)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def traces_list(
    store: str | None,
    query: Query,
    project: str | None,
    name: str | None,
    sort: Sort,
    limit: int,
    as_json: bool,
) -> None:
    """List recorded traces, the newest first."""
    wanted = narrowed(query, project=project, name=name)
    with reading(store) as (source, reads):
        page = reads.search(wanted, sort=sort, limit=limit)
        if not page.traces and not as_json:
            say_that_none_match(source, reads, wanted)
            return
    if as_json:
        for facts in page.traces:
            echo_json(facts.to_dict())
        return
    see = see_in(source, own_command())
    links = [(facts.trace_id[:12], see(facts.trace_id).url or "") for facts in page.traces] if see else []
    shown_links = links if any(url for _, url in links) else ()
    show_table(_columns(page.traces), OPTIONAL, shown_links, cut=("NAME", "SCORE"), last=("STARTED",))
    failed = next((f for f in page.traces if f.status == "error" or f.verdict in ("failed", "errored")), None)
    if see is not None and failed is not None and sys.stdout.isatty():
        show([see_line(see(failed.trace_id), "")])


def _columns(traces: Sequence[TraceFacts]) -> list[Column]:
    return [
        ("TRACE", [facts.trace_id[:12] for facts in traces]),
        ("STARTED", [clock_text(facts.start_ns) for facts in traces]),
        ("NAME", [facts.name for facts in traces]),
        ("PROJECT", [facts.project for facts in traces]),
        ("EXAMPLE", [facts.label("example") or "" for facts in traces]),
        ("CUSTOMER", [facts.label("customer") or "" for facts in traces]),
        ("SESSION", [facts.label("session") or "" for facts in traces]),
        ("SPANS", [str(facts.spans) for facts in traces]),
        ("TOOLS", [str(len(facts.calls)) for facts in traces]),
        ("DURATION", [duration_text(facts.duration_ns) for facts in traces]),
        ("COST", [cost_text(facts.cost) for facts in traces]),
        ("STATUS", [facts.status for facts in traces]),
        ("SCORE", [_score_text(facts) for facts in traces]),
        ("CALLS", [calls_text(facts) for facts in traces]),
    ]


def cost_text(cost: float | None) -> str:
    """An amount of US dollars, empty where none is known."""
    return "" if cost is None else f"${cost:.4f}"


def calls_text(facts: TraceFacts) -> str:
    """The tools in the order of their calls: ``lookup search×3 refund✗``."""
    parts = []
    for (name, failed), calls in groupby((call.name, call.failed) for call in facts.calls):
        count = len(list(calls))
        parts.append(f"{name}{'✗' if failed else ''}{f'×{count}' if count > 1 else ''}")
    return " ".join(parts)


def _score_text(facts: TraceFacts) -> str:
    """The worst score, and how many others there are."""
    worst = facts.worst
    if worst is None:
        return "" if facts.verdict is None else _MARKS[facts.verdict]
    value = worst.outcome if worst.value is None else number(worst.value)
    others = f" +{len(facts.scores) - 1}" if len(facts.scores) > 1 else ""
    return f"{_MARKS[worst.outcome]} {worst.name} {value}{others}"
