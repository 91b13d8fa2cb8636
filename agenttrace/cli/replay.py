"""``agenttrace replay``: stored runs on another version of the agent, answered by their recordings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.loading import load_function
from agenttrace.cli.store_option import store_option
from agenttrace.cli.where_option import reading, say_that_none_match, where_option
from agenttrace.core.query import Query
from agenttrace.core.trace import Trace
from agenttrace.evaluation.replaying import ReplayedTrace, ReplayReport, replay_runs
from agenttrace.evaluation.simulated import REPLAY
from agenttrace.reports.text import Line, safe_line, show
from agenttrace.reports.tree import count_text
from agenttrace.simulation.recording import Models

_WIDTH = 200
_SHOWN = 20
_MARKS = {"same": "✓", "differs": "~", "failed": "✗", "left": "?", "not_replayable": "?"}
_WORDS = {
    "same": "the same",
    "differs": "differ",
    "failed": "failed",
    "left": "left the recording",
    "not_replayable": "cannot be replayed",
}


@click.command("replay")
@store_option
@where_option
@click.option("--function", "name", metavar="PKG.MOD:NAME", required=True, help="The version to run.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), default=100, help="The newest N. [default: 100]"
)
@click.option(
    "--models",
    type=click.Choice(["recorded", "live"]),
    default="recorded",
    help="Whether models answer as recorded, or are asked. [default: recorded]",
)
@click.option("--ignore", metavar="ARGUMENT", multiple=True, help="Not compared; repeat for more.")
@click.option("--timeout", metavar="SECONDS", type=float, default=300.0, help="For each run. [default: 300]")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def replay(
    store: str | None,
    query: Query,
    name: str,
    limit: int,
    models: Models,
    ignore: tuple[str, ...],
    timeout: float,
    as_json: bool,
) -> int:
    """Run an agent on stored inputs, answered by the stored calls; compare with what it did then.

    Exits with 0 where all runs are the same, 1 where one differs or fails, 2 where it cannot be told.
    """
    function = load_function(name)
    with reading(store) as (source, reads):

        def recorded() -> Iterator[Trace]:
            for facts in reads.each_match(query):
                trace = source.trace(facts.trace_id)
                if trace is not None and REPLAY not in trace.tags:
                    yield trace

        traces = list(islice(recorded(), limit))
        if not traces:
            say_that_none_match(source, reads, query)
            return 2
    report = replay_runs(traces, function, models=models, ignore=ignore, timeout=timeout)
    if as_json:
        echo_json(report.to_dict())
    else:
        show(_lines(report))
    return report.exit_code


def _lines(report: ReplayReport) -> Iterator[Line]:
    counts = report.counts
    parts = [f"{_MARKS[word]} {counts[word]} {_WORDS[word]}" for word in _MARKS if counts[word]]
    yield Line(f"{count_text(len(report.runs), 'run')} replayed: {'  '.join(parts)}", "bold")
    if report.comparable:
        low, high = report.same
        share = counts["same"] / report.comparable
        yield Line(
            f"the same: {counts['same']} of {report.comparable} told, {share:.0%} ({low:.0%} to {high:.0%}); "
            f"{len(report.runs) - report.comparable} cannot be told"
        )
    others = [run for run in report.runs if run.outcome != "same"]
    for run in others[:_SHOWN]:
        yield from _run_lines(run)
    if len(others) > _SHOWN:
        yield Line(f"… {len(others) - _SHOWN} more; --json has all of them", "dim")


def _run_lines(run: ReplayedTrace) -> Iterator[Line]:
    style = "red" if run.outcome in ("differs", "failed") else "yellow"
    yield Line(f"{_MARKS[run.outcome]} {run.trace_id[:8]}  {safe_line(run.why, _WIDTH)}", style)
    for line in run.diff.splitlines():
        yield Line(f"    {safe_line(line, _WIDTH)}")
