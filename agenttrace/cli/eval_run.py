"""``agenttrace eval run``: evaluate the examples of a file, print the report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from agenttrace.cli.loading import load_function, load_scorer
from agenttrace.cli.store_option import store_option
from agenttrace.core.report import EvaluationFailed, ScoringResult
from agenttrace.evaluation.assertion import checked_requirements, examples_in, require_passed
from agenttrace.evaluation.engine import Progress
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.evaluation.run import TIMEOUT
from agenttrace.reports.terminal import report_lines
from agenttrace.reports.text import show
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
    required=True,
    help="Such as ToolOrder:exact_match=true; repeat for more.",
)
@click.option("--model", help="The model that judges ask.")
@click.option(
    "--project", help="The project that traces and results are filed under. [default: the file's name]"
)
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
@click.option(
    "--trials", default=1, show_default=True, type=click.IntRange(1), help="Run each example so often."
)
@click.option(
    "--require",
    metavar="'pass_rate >= 0.8'",
    multiple=True,
    help="Pass when this holds instead of when all pass; repeat for more.",
)
@store_option
def eval_run(
    file: str,
    function_name: str | None,
    scorer_names: tuple[str, ...],
    model: str | None,
    project: str | None,
    concurrency: int,
    timeout: float,
    trials: int,
    require: tuple[str, ...],
    store: str | None,
) -> int:
    """Evaluate the examples of FILE (YAML, JSON, JSONL, CSV); exit with 0 passed, 1 failed, 2 errored."""
    examples, scorers, requirements = checked_requirements(
        examples_in(file), [load_scorer(name) for name in scorer_names], require or None, trials
    )
    function = None if function_name is None else load_function(function_name)
    tracer = Tracer(project_name=project or Path(file).stem, store=store)
    with _progress() as progress:
        report = run_evaluation(
            examples,
            scorers,
            function=function,
            tracer=tracer,
            model=model,
            concurrency=concurrency,
            timeout=timeout,
            trials=trials,
            progress=progress,
        )
    tracer.flush(timeout=5.0)
    try:
        report = require_passed(report, requirements)
        code = 0
    except EvaluationFailed as failed:
        report = failed.report
        code = ERRORED if failed.errored else FAILED
    show(report_lines(report))
    return code


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Yield a callback that moves a progress bar; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("evaluating", total=None)

        def advance(count: int, total: int, _: ScoringResult) -> None:
            bar.update(task, completed=count, total=total)

        yield advance
