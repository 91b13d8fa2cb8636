"""``--baseline``, ``--save-baseline``: the run to compare with, and where this one becomes such a run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from agenttrace.cli.report_options import SOURCE
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.reports.run_comparison import WIDTH, comparison_lines
from agenttrace.reports.text import Line
from agenttrace.runs.baseline import baseline_of
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_report, without_diffs
from agenttrace.runs.saved_baseline import LeftOut, narrowed, save_baseline
from agenttrace.tracer import Tracer


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """Which run to compare with, and the file that this one is saved to."""

    reference: str | None = None
    save_to: str | None = None

    def run_before(
        self, examples: Iterable[Example], tracer: Tracer, is_left_out: LeftOut | None = None
    ) -> RunRecord | None:
        """The run to compare with, read before any agent runs; without examples that are not to be run.

        Raises:
            ConfigError: there is no such baseline.
        """
        if self.reference is None:
            return None
        before = baseline_of(self.reference, tracer.store, tuple(examples), project=tracer.project_name)
        return before if is_left_out is None else narrowed(before, is_left_out)

    def save(self, report: EvaluationReport, is_left_out: LeftOut | None = None) -> None:
        """Write the new baseline, and say so on stderr, where no report goes. Redact the report first.

        Raises:
            ConfigError: the file cannot be written.
        """
        if self.save_to is None:
            return
        if report.metadata.get("interrupted"):
            click.echo(f"no baseline was written to {self.save_to}: the run was interrupted", err=True)
            return
        for line in save_baseline(record_of_report(report), self.save_to, is_left_out):
            click.echo(line, err=True)


def baseline_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as `baseline`."""

    @click.option(
        "--baseline",
        metavar="BRANCH|FILE|RUN",
        help="Fail where this run is worse than that one, not where it failed before.",
    )
    @click.option(
        "--save-baseline",
        metavar="FILE",
        help="Write names, outcomes and numbers of this run, to be committed.",
    )
    @wraps(command)
    def with_baseline(*args: Any, baseline: str | None, save_baseline: str | None, **kwargs: Any) -> Any:
        source = kwargs.get("file")
        if save_baseline and source and os.path.realpath(save_baseline) == os.path.realpath(source):
            raise click.BadParameter(f"{save_baseline}: {SOURCE}", param_hint="--save-baseline")
        return command(*args, baseline=BaselineOptions(baseline, save_baseline), **kwargs)

    return with_baseline


def comparison_with(before: RunRecord | None, report: EvaluationReport) -> list[Line]:
    """The lines of the comparison; none without a baseline. They go to files: redact the report first.

    They stand beside the report, which has the diffs.
    """
    if before is None:
        return []
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    return list(
        comparison_lines(compare_runs(before, without_diffs(record_of_report(report))), width=columns)
    )
