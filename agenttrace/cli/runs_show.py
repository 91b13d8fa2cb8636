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
from agenttrace.reports.text import Line, broken_line, safe_line, show, terminal_width, value_text
from agenttrace.reports.tree import count_text
from agenttrace.store.viewer_note import see_in

_LONGEST = 1_000
"""Characters of one fact."""

_SAID_BELOW = ("examples", "expected_failures", "quarantines_over")


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
    width = terminal_width()
    show(_head(stored, report, width))
    show(report_lines(report, width, see=see_in(source, own_command())))


def _head(run: Mapping[str, Any], report: EvaluationReport, width: int | None) -> Iterator[Line]:
    """What was run, in lines of at most `width` characters where there is a terminal."""
    yield Line(f"run {run['run_id']}", "bold")
    facts = {
        "name": run["name"],
        "project": run["project"],
        "started": f"{clock_text(run['started_ns'])}, took {run['duration']:.1f} s",
        "model": run["model"],
        **{name: value for name, value in run["metadata"].items() if name not in _SAID_BELOW},
    }
    if "trials" in facts:  # of recorded runs there are as many as have one name
        facts["trials"] = max((result.trials for result in report), default=facts["trials"])
    longest = max(map(len, facts))
    for name, value in facts.items():
        if value is not None:
            yield from _fitted(f"  {name:<{longest}}  {_fact_text(name, value)}", width, longest + 4)
    if len(report) > 1:
        for line in str(report.summary()).splitlines():
            yield from _fitted(f"  {safe_line(line)}", width, 4)


def _fitted(text: str, width: int | None, hang: int) -> list[Line]:
    return [Line(part) for part in ([text] if width is None else broken_line(text, width, hang=hang))]


def _fact_text(name: str, value: Any) -> str:
    """A fact of a run in words; --json has all of it."""
    if isinstance(value, str):
        return safe_line(value)
    if name == "dataset" and isinstance(value, Mapping) and isinstance(value.get("examples"), int):
        shown = (value.get("file"), count_text(value["examples"], "example"))
        return safe_line(", ".join(str(part) for part in shown if part))
    if name == "scorers" and isinstance(value, list) and all(map(_is_scorer, value)):
        return safe_line(", ".join(map(_scorer_text, value)), _LONGEST)
    if (
        isinstance(value, Mapping)
        and value
        and not any(isinstance(one, Mapping | list) for one in value.values())
    ):
        parts = (f"{key} {one if isinstance(one, str) else value_text(one)}" for key, one in value.items())
        return safe_line(", ".join(parts), _LONGEST)
    return value_text(value, _LONGEST)


def _is_scorer(entry: object) -> bool:
    return isinstance(entry, Mapping) and "name" in entry and isinstance(entry.get("options", {}), Mapping)


def _scorer_text(entry: Mapping[str, Any]) -> str:
    """``Budget (calls 3, threshold 1.0)``."""
    options = [f"{name} {value_text(value, 60)}" for name, value in entry.get("options", {}).items()]
    return f"{entry['name']} ({', '.join(options)})" if options else str(entry["name"])
