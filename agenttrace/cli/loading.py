"""Parse an option's text into what it names: ``package.module:function``, ``ToolOrder:exact_match=true``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from agenttrace.core.dotted_name import imported_function
from agenttrace.core.errors import ConfigError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.datasets.validation import misspelt_tools
from agenttrace.reports.text import safe
from agenttrace.scoring.written_scorers import scorer_of, type_and_options
from agenttrace.tasks import Task, is_task_file, load_task
from agenttrace.tracing.observed_function import known_tools


def load_function(text: str) -> Callable[..., Any]:
    """Import the function that ``pkg.mod:name`` or ``pkg.mod:object.method`` names.

    The working directory is searched for the module, too.

    Raises:
        click.BadParameter: there is no such module or name, or it is not callable without an instance.
    """
    try:
        return imported_function(text)
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--function") from None


def load_scorer(text: str) -> Scorer:
    """Make the scorer that ``Name`` or ``Name:option=value,option=value`` names; see `written_scorer`.

    ``pkg.mod:name`` is one of one's own, with options behind another colon: a scorer, such as a function with
    `@scorer`, a class of scorers, or a function that returns one.

    Raises:
        click.BadParameter: there is no such scorer, module, name or option, or the scorer refuses a value.
    """
    try:
        return scorer_of(*type_and_options(text))
    except (ConfigError, ScorerError) as error:
        raise click.BadParameter(str(error), param_hint="--scorer") from None


def load_task_option(
    file: str, function_name: str | None, store: str | None, *, for_update: bool = False
) -> Task | None:
    """The task that a file is, with another function where one is named; None for a file of examples.

    Raises:
        DatasetError: it is a task, and something in it cannot be used.
        click.BadParameter: there is no such function.
        click.UsageError: its expectations are to be updated, and stand in no file of their own.
    """
    if not is_task_file(file):
        return None
    function = None if function_name is None else load_function(function_name)
    task = load_task(file, function=function, store=store)
    if for_update and task.dataset is None:
        raise click.UsageError(
            "--update rewrites a file of examples; this task has them in itself: use dataset:"
        )
    return task


def warn_of_misspelt_tools(examples: Sequence[Example]) -> None:
    """Say on stderr which expected tools have nearly the name of one that is decorated by now.

    A warning only: the agent may make tools later. Those that stay unknown are errors of their examples.
    """
    for error in misspelt_tools(examples, known_tools()):
        click.echo(safe(f"warning: {error}"), err=True)
