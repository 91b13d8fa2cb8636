"""``agenttrace eval run``: evaluate the examples of a file, print the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    chdir,  # agents may go elsewhere; files are written where the command was given
    contextmanager,
)
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from agenttrace.cli.baseline_options import BaselineOptions, baseline_options, comparison_with
from agenttrace.cli.early_end import told_early_end
from agenttrace.cli.expected_failures import (
    that_count,
    with_expected_failures,
    with_failures_of,
    without_skipped,
)
from agenttrace.cli.limit_options import LimitOptions, limit_options
from agenttrace.cli.loading import load_function, load_scorer, load_task_option, warn_of_misspelt_tools
from agenttrace.cli.main import INTERRUPTED, own_command
from agenttrace.cli.progress import shown_progress
from agenttrace.cli.report_options import ReportFiles, finish, report_options
from agenttrace.cli.selection_options import SelectionOptions, selection_options
from agenttrace.cli.store_option import store_option
from agenttrace.cli.suite_options import SuiteOptions, suite_options
from agenttrace.cli.update_options import UpdateOptions, update_options
from agenttrace.core.deep_link import See
from agenttrace.core.errors import StoreError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import EvaluationFailed, EvaluationInterrupted, EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.evaluation.assertion import checked_requirements, require_passed
from agenttrace.evaluation.engine import Progress
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.evaluation.requirement import Requirement
from agenttrace.evaluation.run import TIMEOUT, EvaluationOptions
from agenttrace.reports.metrics import has_errored_metric
from agenttrace.reports.requirements import requirements_of
from agenttrace.reports.text import safe_line
from agenttrace.runs.saved_baseline import left_out
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store.kept import check_kept
from agenttrace.store.viewer_note import see_in
from agenttrace.tasks import Task
from agenttrace.tracer import Tracer

FAILED = 1
ERRORED = 2


@click.command("run")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--function", "function_name", metavar="PKG.MOD:NAME", help="What is run on each example's input."
)
@click.option(
    "--scorer",
    "scorer_names",
    metavar="NAME[:OPT=VAL,…]",
    multiple=True,
    help="Such as ToolOrder:exact_match=true, or pkg.mod:name of your own; repeat for more.",
)
@click.option("--model", help="The model that judges ask.")
@click.option(
    "--project", help="The project that traces and results are filed under. [default: the file's name]"
)
@click.option("--name", metavar="NAME", help="What the run is called. [default: the date and time]")
@click.option(
    "--concurrency", default=1, show_default=True, type=click.IntRange(1), help="Agents run at a time."
)
@click.option(
    "--timeout",
    default=TIMEOUT,
    show_default=True,
    type=float,
    help="Seconds for an agent, and for a scorer.",
)
@limit_options
@click.option(
    "--require",
    metavar="'pass_rate >= 0.8'",
    multiple=True,
    help="Pass when this holds instead of when all pass; repeat for more.",
)
@selection_options
@baseline_options
@update_options
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@suite_options
@report_options
@store_option
def eval_run(
    file: str,
    function_name: str | None,
    scorer_names: tuple[str, ...],
    model: str | None,
    project: str | None,
    name: str | None,
    concurrency: int,
    timeout: float,
    limits: LimitOptions,
    require: tuple[str, ...],
    selection: SelectionOptions,
    baseline: BaselineOptions,
    update: UpdateOptions,
    quiet: bool,
    suite: SuiteOptions,
    files: ReportFiles,
    store: str | None,
) -> int:
    """Evaluate the examples of FILE (YAML, JSON, JSONL, CSV), or the task that FILE is; exit with 0 passed, 1
    failed, 2 errored."""
    task = load_task_option(file, function_name, store, for_update=update.update)
    everything, examples, scorers, function = _loaded(file, task, selection, scorer_names, function_name)
    is_left_out = left_out(everything, examples) if len(examples) < len(everything) else None
    requirements = _requirements(examples, scorers, require or (task.require if task else ()), model, limits)
    tracer = Tracer(project_name=project or (task.key if task else Path(file).stem), store=store)
    before = baseline.run_before(examples, tracer, is_left_out)
    limits.say_estimate(tracer.store, tracer.project_name, len(examples))
    options: EvaluationOptions = {
        "function": function,
        "tracer": tracer,
        "model": model,
        "eval_run_name": name,
        "concurrency": concurrency,
        "timeout": timeout,
        "measure": task.measure if task else None,
        **limits.options(requirements),
    }
    try:
        with _running(files, limits.at_most(len(examples)), quiet) as options["progress"]:
            report = run_evaluation(examples, scorers, **options)
        report, code = _verdict(report, requirements, before)
    except EvaluationInterrupted as interruption:
        report, code = interruption.report, INTERRUPTED
    tracer.flush(timeout=5.0)
    redacted = with_failures_of(before, redacted_report(report, tracer.redaction))
    code = finish(redacted, code, files, comparison_with(before, redacted), see=_see(tracer))
    baseline.save(redacted, is_left_out)
    if code != INTERRUPTED:
        update.apply(str(task.dataset) if task else file, report, scorers, to_stderr=files.use_stdout)
    return _also_kept(tracer, report, code if suite.show(report) else code or FAILED)


@contextmanager
def _running(files: ReportFiles, most: int, quiet: bool) -> Iterator[Progress | None]:
    """What holds while the examples run; how far they are is shown."""
    with told_early_end(), chdir("."), files.alone(), shown_progress(most, quiet=quiet) as progress:
        yield progress


def _also_kept(tracer: Tracer, report: EvaluationReport, code: int) -> int:
    """The exit code, which is that of an error where a run that passed is not kept: that is said."""
    try:
        check_kept(tracer.store)
    except StoreError as error:
        click.echo(f"Error: {safe_line(f'run {report.run_id[:8]}: {error}')}", err=True)
        return code or 2
    return code


def _requirements(
    examples: Sequence[Example],
    scorers: Sequence[Scorer],
    lines: Sequence[str],
    model: str | None,
    limits: LimitOptions,
) -> tuple[Requirement, ...]:
    """What must hold for the run to pass, checked as far as it can be."""
    trials, trials_by = limits.trials, limits.trials_by
    return checked_requirements(
        examples, scorers, lines or None, model=model, trials=trials, trials_by=trials_by
    )[2]


def _see(tracer: Tracer) -> See | None:
    return see_in(tracer.store, own_command())


def _loaded(
    file: str,
    task: Task | None,
    selection: SelectionOptions,
    scorer_names: Sequence[str],
    function_name: str | None,
) -> tuple[Sequence[Example], list[Example], list[Scorer], Callable[..., Any] | None]:
    """The examples of a file, those to run, the scorers and the agent by their names, checked as far as
    they can be."""
    if task is not None and selection.columns:
        raise click.UsageError("--column is of a file of examples; a task names them: dataset: {columns: …}")
    everything = selection.read(file) if task is None else task.examples
    examples = without_skipped(selection.of(everything))
    scorers = [*(task.scorers if task else ()), *map(load_scorer, scorer_names)]
    if not scorers and not any(example.scorers for example in examples):
        raise click.UsageError("there are no scorers; give --scorer NAME, or scorers: in FILE")
    function = task.function if task else load_function(function_name) if function_name else None
    warn_of_misspelt_tools(examples)
    return everything, examples, scorers, function


def _verdict(
    report: EvaluationReport, requirements: Sequence[Requirement], before: RunRecord | None
) -> tuple[EvaluationReport, int]:
    """The report with what was required and which failures were expected, and the exit code."""
    report = with_expected_failures(report)
    counted = that_count(report)
    code = FAILED if "quarantines_over" in report.metadata else 0
    if has_errored_metric(report):
        code = ERRORED
    if not counted.results:
        return report, code or (
            0 if all(row.get("holds") is True for row in requirements_of(report)) else FAILED
        )
    try:
        counted = require_passed(counted, requirements, before)
    except EvaluationFailed as failed:
        counted, code = failed.report, ERRORED if failed.errored or code == ERRORED else FAILED
    return replace(counted, results=report.results), code
