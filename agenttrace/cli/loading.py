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
        raise click.BadParameter(str(error)) from None


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
        raise click.BadParameter(str(error)) from None


def warn_of_misspelt_tools(examples: Sequence[Example]) -> None:
    """Say on stderr which expected tools have nearly the name of one that is decorated by now.

    A warning only: the agent may make tools later. Those that stay unknown are errors of their examples.
    """
    for error in misspelt_tools(examples, known_tools()):
        click.echo(safe(f"warning: {error}"), err=True)
