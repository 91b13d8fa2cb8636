"""``agenttrace chaos``: one stored run again, each time with another fault of one of its tools."""

from __future__ import annotations

from collections.abc import Iterator

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.loading import load_function
from agenttrace.cli.store_option import store_option, store_to_read, trace_named
from agenttrace.evaluation.chaos import ChaosReport, FaultResult
from agenttrace.evaluation.chaos import chaos as run_chaos
from agenttrace.reports.text import Line, safe_line, show
from agenttrace.reports.tree import count_text
from agenttrace.simulation.faults import KINDS, Kind
from agenttrace.simulation.recording import Models

_WIDTH = 200
_MARKS = {"recovered": "✓", "failed_softly": "~", "did_harm": "✗", "cannot_be_told": "?"}
_STYLES = {"did_harm": "red", "failed_softly": "yellow", "cannot_be_told": "yellow", "recovered": "green"}


@click.command("chaos")
@click.argument("trace_id")
@store_option
@click.option("--function", "name", metavar="PKG.MOD:NAME", required=True, help="The agent.")
@click.option(
    "--fault", "faults", type=click.Choice(KINDS), multiple=True, help="Only these; repeat for more."
)
@click.option(
    "--write", "writes", metavar="TOOL", multiple=True, help="It has side effects; repeat for more."
)
@click.option("--slow", "seconds", metavar="SECONDS", type=float, default=1.0, help="How late. [default: 1]")
@click.option("--timeout", metavar="SECONDS", type=float, default=300.0, help="For each run. [default: 300]")
@click.option(
    "--models",
    type=click.Choice(["recorded", "live"]),
    default="recorded",
    help="Whether models answer as recorded, or are asked. [default: recorded]",
)
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def chaos(
    trace_id: str,
    store: str | None,
    name: str,
    faults: tuple[Kind, ...],
    writes: tuple[str, ...],
    seconds: float,
    timeout: float,
    models: Models,
    as_json: bool,
) -> int:
    """Run an agent on a stored run's input with one fault at a time; say what it makes of each.

    TRACE_ID is an id or its first digits. Exits with 1 where a fault did harm, else with 0.
    """
    function = load_function(name)
    source = store_to_read(store)
    try:
        trace = trace_named(source, trace_id)
    finally:
        source.close()
    report = run_chaos(
        trace,
        function,
        kinds=faults or KINDS,
        writes=writes,
        seconds=seconds,
        models=models,
        timeout=timeout,
    )
    if as_json:
        echo_json(report.to_dict())
    else:
        show(_lines(report))
    return 1 if report.counts["did_harm"] else 0


def _lines(report: ChaosReport) -> Iterator[Line]:
    counts = report.counts
    parts = [f"{_MARKS[word]} {counts[word]} {word.replace('_', ' ')}" for word in _MARKS if counts[word]]
    yield Line(f"{count_text(len(report.results), 'fault')}: {'  '.join(parts)}", "bold")
    for result in report.results:
        yield _result_line(result)
    if report.breaks is None:
        yield Line("no set of faults that was tried breaks the agent", "green")
    else:
        faults = " and ".join(map(str, report.breaks.faults))
        yield Line(f"the smallest set that breaks the agent: {faults}")


def _result_line(result: FaultResult) -> Line:
    text = f"{_MARKS[result.outcome]} {result.faults[0]}  {result.outcome.replace('_', ' ')}"
    if result.why:
        text += f": {result.why}"
    return Line(safe_line(text, _WIDTH), _STYLES[result.outcome])
