"""``agenttrace dataset validate``: all that is wrong in files of examples, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from agenttrace.cli.column_option import column_option
from agenttrace.cli.loading import load_function
from agenttrace.core.errors import AgentTraceError, ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.quarantine import quarantine_of
from agenttrace.datasets.validation import errors_in, misspelt_tools
from agenttrace.evaluation.agent_run import Target
from agenttrace.reports.text import safe
from agenttrace.scoring.example_scorers import check_example_scorers
from agenttrace.simulation.simulation import Simulation
from agenttrace.tracing.observed_function import known_tools

INVALID = 2


@click.command("validate")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option(
    "--function",
    "function_name",
    metavar="PKG.MOD:NAME",
    help="Import the agent; look for inputs that it does not take and misspelt names of its tools.",
)
@column_option
def dataset_validate(
    files: tuple[str, ...], function_name: str | None, columns: Mapping[str, str | None]
) -> int:
    """Read files of examples, print all their errors; exit with 2 if there are any."""
    target = None if function_name is None else Target.of(load_function(function_name))
    count = 0
    for file in files:
        examples, found_errors = errors_in(Path(file), columns)
        errors: list[AgentTraceError] = [*found_errors, *_scorer_errors(examples)]
        errors += _errors_of(examples, quarantine_of)
        if target is not None:
            errors += misspelt_tools(examples, known_tools())
            errors += _errors_of(examples, partial(_check_input, target))
            errors += _errors_of(examples, _check_simulation)
        for error in errors:
            click.echo(safe(str(error)), err=True)
        if not errors:
            click.echo(safe(f"{file}: {len(examples)} example{'' if len(examples) == 1 else 's'}"))
        count += len(errors)
    if count:
        click.echo(f"{count} error{'s' if count > 1 else ''}", err=True)
    return INVALID if count else 0


def _scorer_errors(examples: list[Example]) -> list[AgentTraceError]:
    return _errors_of(examples, lambda example: check_example_scorers([example]))


def _check_input(target: Target, example: Example) -> None:
    """Raise DatasetError for an input that does not fit; without one the example may only hold a run."""
    misfit = None if example.input is None else target.misfit(example)
    if misfit is not None:
        raise _error_at(example, misfit, "input")


def _check_simulation(example: Example) -> None:
    """Raise DatasetError for answers of tools that there are not, or that take other arguments."""
    if example.simulate is None:
        return
    try:
        Simulation(example.simulate).check()
    except ConfigError as error:
        raise _error_at(example, str(error), "simulate") from None


def _error_at(example: Example, text: str, field: str) -> DatasetError:
    path, _, line = (example.source or "").rpartition(":")
    return DatasetError(text, path=path or None, line=int(line) if line.isdigit() else None, field=field)


def _errors_of(examples: list[Example], check: Callable[[Example], object]) -> list[AgentTraceError]:
    errors = []
    for example in examples:
        try:
            check(example)
        except AgentTraceError as error:
            errors.append(error)
    return errors
