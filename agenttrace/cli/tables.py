"""``agenttrace tools``, ``scores`` and ``sessions``: what the traces that match a query have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from agenttrace.cli.fitted_table import Column, show_table
from agenttrace.cli.json_output import echo_json
from agenttrace.cli.store_option import store_option
from agenttrace.cli.traces_list import cost_text
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core.query import Labelled, Present, Query
from agenttrace.core.session_figures import SessionFigures, session_figures
from agenttrace.core.trace_figures import ScoreFigures, ToolFigures, by_scorer, by_tool
from agenttrace.core.trace_reads import TraceReads
from agenttrace.reports.clock import clock_text
from agenttrace.reports.terminal import number
from agenttrace.reports.tree import duration_text

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


@click.command("tools")
@store_option
@where_option
@json_option
def tools(store: str | None, query: Query, as_json: bool) -> None:
    """List the tools that were called: how often, how many calls failed, how long they took."""
    wanted = query.and_(Present("tool"))
    with reading(store) as (source, reads):
        lines = by_tool(reads.each_match(wanted))
        if not lines and not as_json:
            say_that_none_match(source, reads, wanted)
            return
    _show(
        map(_tool, lines),
        [
            ("TOOL", [line.name for line in lines]),
            ("CALLS", [str(line.calls) for line in lines]),
            ("FAILED", [str(line.failed) for line in lines]),
            ("RATE", [f"{line.failed / line.calls:.1%}" for line in lines]),
            ("P50", [duration_text(int(line.middle)) for line in lines]),
            ("P95", [duration_text(int(line.slow)) for line in lines]),
            ("TRACES", [str(line.traces) for line in lines]),
        ],
        as_json,
    )


@click.command("list")
@store_option
@where_option
@json_option
def scores(store: str | None, query: Query, as_json: bool) -> None:
    """List the scorers whose scores are stored: outcomes, the mean and the lowest value."""
    wanted = query.and_(Present("scorer"))
    with reading(store) as (source, reads):
        lines = by_scorer(reads.each_match(wanted))
        if not lines and not as_json:
            say_that_none_match(source, reads, wanted)
            return
    _show(
        map(_score, lines),
        [
            ("SCORER", [line.key for line in lines]),
            ("PASSED", [str(line.of("passed")) for line in lines]),
            ("FAILED", [str(line.of("failed")) for line in lines]),
            ("ERRORED", [str(line.of("errored")) for line in lines]),
            ("SKIPPED", [str(line.of("skipped")) for line in lines]),
            ("MEAN", ["" if line.mean is None else number(line.mean) for line in lines]),
            ("LOWEST", ["" if line.lowest is None else number(line.lowest) for line in lines]),
        ],
        as_json,
    )


@click.command("sessions")
@store_option
@where_option
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="At most so many."
)
@json_option
def sessions(store: str | None, query: Query, limit: int, as_json: bool) -> None:
    """List the sessions with traces that match, the last active first; each with all its traces."""
    wanted = query.and_(Present("session"))
    with reading(store) as (source, reads):
        lines = _session_lines(reads, wanted, limit)
        if not lines and not as_json:
            say_that_none_match(source, reads, wanted)
            return
    _show(
        map(asdict, lines),
        [
            ("SESSION", [line.session for line in lines]),
            ("FIRST", [clock_text(line.start_ns) for line in lines]),
            ("LAST ENDED", [clock_text(line.end_ns) for line in lines]),
            ("TRACES", [str(line.traces) for line in lines]),
            ("CUSTOMER", [line.customer or "" for line in lines]),
            ("COST", [cost_text(line.cost) for line in lines]),
            ("VERDICT", [line.verdict or "" for line in lines]),
        ],
        as_json,
    )


def _session_lines(reads: TraceReads, query: Query, limit: int) -> list[SessionFigures]:
    names: dict[str, None] = {}
    for facts in reads.each_match(query):
        names.update(dict.fromkeys(facts.labels["session"]))
        if len(names) >= limit:
            break
    traces = {
        name: list(reads.each_match(Query((Labelled("session", (name,)),)))) for name in list(names)[:limit]
    }
    # SQLite ends a text at a NUL, so that a session with one in its name is not found by it.
    return [session_figures(name, own) for name, own in traces.items() if own]


def _tool(figures: ToolFigures) -> dict[str, Any]:
    counts = {"calls": figures.calls, "failed": figures.failed, "traces": figures.traces}
    return {"name": figures.name, **counts, "p50_ns": figures.middle, "p95_ns": figures.slow}


def _score(figures: ScoreFigures) -> dict[str, Any]:
    outcomes = {name: figures.of(name) for name in ("passed", "failed", "errored", "skipped")}
    counts = {**outcomes, "values": len(figures.values)}
    return {"name": figures.key, **counts, "mean": figures.mean, "lowest": figures.lowest}


def _show(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], as_json: bool) -> None:
    if as_json:
        for row in rows:
            echo_json(row)
    else:
        show_table(
            columns, optional=("COST", "FIRST", "TRACES"), cut=("SESSION", "TOOL", "SCORER", "CUSTOMER")
        )
