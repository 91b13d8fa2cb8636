"""``agenttrace dataset validate``: all that is wrong in files of examples, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from agenttrace.cli.column_option import column_option
from agenttrace.cli.loading import load_function, load_scorer
from agenttrace.core.errors import AgentTraceError, ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.quarantine import quarantine_of
from agenttrace.datasets.document import FileContents
from agenttrace.datasets.validation import errors_in, misspelt_tools
from agenttrace.evaluation.agent_run import Target
from agenttrace.reports.text import safe
from agenttrace.reports.tree import count_text
from agenttrace.scoring.example_scorers import scorer_errors, unknown_scorers
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
@click.option(
    "--scorer",
    "scorer_names",
    metavar="NAME[:OPT=VAL,…]",
    multiple=True,
    help="A scorer that eval run is given, too: then a name that no scorer has is an error; repeat for more.",
)
@column_option
def dataset_validate(
    files: tuple[str, ...],
    function_name: str | None,
    scorer_names: tuple[str, ...],
    columns: Mapping[str, str | None],
) -> int:
    """Read files of examples, print all their errors; exit with 2 if there are any."""
    suite = [load_scorer(name) for name in scorer_names] or None
    target = None if function_name is None else Target.of(load_function(function_name))
    count = 0
    for file in files:
        contents, of_file = errors_in(Path(file), columns)
        examples = contents.examples
        errors: list[AgentTraceError] = [*of_file, *_scorer_errors(contents, suite)]
        errors += _errors_of(examples, quarantine_of)
        if target is not None:
            errors += misspelt_tools(examples, known_tools())
            errors += _errors_of(examples, partial(_check_input, target))
            errors += _errors_of(examples, _check_simulation)
        for error in errors:
            click.echo(safe(str(error)), err=True)
        if not errors:
            click.echo(safe(f"{file}: {count_text(len(examples), 'example')}"))
        count += len(errors)
    if count:
        click.echo(count_text(count, "error"), err=True)
    return INVALID if count else 0


def _scorer_errors(contents: FileContents, suite: Sequence[Scorer] | None) -> Iterator[AgentTraceError]:
    """The errors; without the suite, a note for each name that may be one of its scorers."""
    for example in contents.own_scorers():
        yield from scorer_errors(example, suite)
        for error in unknown_scorers(example) if suite is None else ():
            text = f"note: {error}; eval run needs it as --scorer, and so does validate to check it"
            click.echo(safe(text), err=True)


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
