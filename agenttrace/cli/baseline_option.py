"""The options ``--baseline`` and ``--save-baseline`` of `eval run`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.evaluation.baseline import baseline_of, write_baseline
from agenttrace.evaluation.compare_runs import compare_runs
from agenttrace.evaluation.run_record import record_of_report
from agenttrace.reports.run_comparison import WIDTH, comparison_lines
from agenttrace.reports.text import Line
from agenttrace.tracer import Tracer

F = TypeVar("F", bound=Callable[..., Any])


def baseline_options(command: F) -> F:
    """Add the two options to a command."""
    command = click.option(
        "--save-baseline",
        metavar="FILE",
        help="Write names, outcomes and numbers of this run, to be committed.",
    )(command)
    return click.option(
        "--baseline",
        metavar="BRANCH|FILE|RUN",
        help="Fail where this run is worse than that one, not where it failed before.",
    )(command)


def baseline_before(baseline: str | None, examples: Iterable[Example], tracer: Tracer) -> RunRecord | None:
    """Return the run to compare with, read before any agent runs.

    Raises:
        ConfigError: there is no such baseline.
    """
    if baseline is None:
        return None
    return baseline_of(baseline, tracer.store, tuple(examples), project=tracer.project_name)


def comparison_with(before: RunRecord | None, report: EvaluationReport) -> list[Line]:
    """The lines of the comparison; none without a baseline."""
    if before is None:
        return []
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    return list(comparison_lines(compare_runs(before, record_of_report(report)), width=columns))


def save_as_baseline(report: EvaluationReport, path: str) -> None:
    """Write the new baseline, and say so on stderr, where no report goes.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_baseline(record_of_report(report), path)
    click.echo(f"the baseline is in {path}", err=True)
