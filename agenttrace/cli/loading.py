"""Parse an option's text into what it names: ``package.module:function``, ``ToolOrder:exact_match=true``."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from agenttrace.core.errors import ScorerError, did_you_mean, with_article
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.datasets.validation import misspelt_tools
from agenttrace.reports.text import safe
from agenttrace.scoring.written_scorers import written_scorer
from agenttrace.tracing.observed_function import known_tools


def load_function(text: str) -> Callable[..., Any]:
    """Import the function that ``pkg.mod:name`` or ``pkg.mod:object.method`` names.

    The working directory is searched for the module, too.

    Raises:
        click.BadParameter: there is no such module or name, or it is not callable without an instance.
    """
    module_name, colon, path = text.partition(":")
    if not colon or not module_name or not path:
        raise click.BadParameter(f"got {text!r}, wanted package.module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise click.BadParameter(f"there is no module {error.name!r} in {here} or on the path") from None
    owner = None
    for name in path.split("."):
        owner = target
        try:
            target = getattr(target, name)
        except AttributeError:
            hint = did_you_mean(name, [n for n in dir(target) if not n.startswith("_")])
            raise click.BadParameter(f"{module_name} has no {path!r}{hint}") from None
    if inspect.isclass(owner) and "self" in _first_parameter(target):
        raise click.BadParameter(
            f"{path!r} is a method of a class; name one of an instance, such as agent.{path.split('.')[-1]} "
            f"with agent = {path.split('.')[0]}() in {module_name}"
        )
    if not callable(target):
        raise click.BadParameter(f"{path!r} is {with_article(type(target).__name__)}, which cannot be called")
    function: Callable[..., Any] = target
    return function


def _first_parameter(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)[:1]
    except (TypeError, ValueError):
        return []


def load_scorer(text: str) -> Scorer:
    """Make the scorer that ``Name`` or ``Name:option=value,option=value`` names; see `written_scorer`.

    Raises:
        click.BadParameter: there is no such scorer or option, or the scorer refuses a value.
    """
    try:
        return written_scorer(text)
    except ScorerError as error:
        raise click.BadParameter(str(error)) from None


def warn_of_misspelt_tools(examples: Sequence[Example]) -> None:
    """Say on stderr which expected tools have nearly the name of one that is decorated by now.

    A warning only: the agent may make tools later. Those that stay unknown are errors of their examples.
    """
    for error in misspelt_tools(examples, known_tools()):
        click.echo(safe(f"warning: {error}"), err=True)
