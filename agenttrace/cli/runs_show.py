"""``agenttrace runs show``: one evaluation run with its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from agenttrace.cli.json_output import echo_json
from agenttrace.cli.main import own_command
from agenttrace.cli.run_option import HELP, stored_run
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.core.report import EvaluationReport
from agenttrace.reports.clock import clock_text
from agenttrace.reports.terminal import report_lines
from agenttrace.reports.text import Line, safe_line, show, value_text
from agenttrace.store.viewer_note import see_in


@click.command("show", epilog=HELP)
@click.argument("run", default="last")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The whole run as JSON.")
def runs_show(run: str, store: str | None, as_json: bool) -> None:
    """Show RUN (the newest without it): what was run, its means, and what failed."""
    source = store_to_read(store)
    try:
        stored = stored_run(source, run)
        report = None if as_json else EvaluationReport.from_dict(stored, trace_of=source.trace)
    finally:
        source.close()
    if report is None:
        echo_json(stored)
        return
    show(_head(stored, report))
    show(report_lines(report, see=see_in(source, own_command())))


def _head(run: Mapping[str, Any], report: EvaluationReport) -> Iterator[Line]:
    yield Line(f"run {run['run_id']}", "bold")
    facts = {
        "name": run["name"],
        "project": run["project"],
        "started": f"{clock_text(run['started_ns'])}, took {run['duration']:.1f} s",
        "model": run["model"],
        **{name: value for name, value in run["metadata"].items() if name != "examples"},
    }
    if "trials" in facts:  # of recorded runs there are as many as have one name
        facts["trials"] = max((result.trials for result in report), default=facts["trials"])
    width = max(map(len, facts))
    for name, value in facts.items():
        if value is not None:
            text = safe_line(value) if isinstance(value, str) else value_text(value)
            yield Line(f"  {name:<{width}}  {text}")
    if len(report) > 1:
        yield from (Line(f"  {safe_line(line)}") for line in str(report.summary()).splitlines())
