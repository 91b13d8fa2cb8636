"""Parse an option's text into what it names: ``package.module:function``, ``ToolOrder:exact_match=true``."""

from __future__ import annotations

import importlib
import inspect
import re
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
from agenttrace.scorers.registry import maker_of, option_names, scorer_made
from agenttrace.scoring.written_scorers import is_known, written_options, written_scorer
from agenttrace.tracing.observed_function import known_tools


def load_function(text: str) -> Callable[..., Any]:
    """Import the function that ``pkg.mod:name`` or ``pkg.mod:object.method`` names.

    The working directory is searched for the module, too.

    Raises:
        click.BadParameter: there is no such module or name, or it is not callable without an instance.
    """
    if not all(text.partition(":")):
        raise click.BadParameter(f"got {text!r}, wanted package.module:function")
    module_name, _, path = text.partition(":")
    owner, target = _imported(text)
    if inspect.isclass(owner) and "self" in _first_parameter(target):
        raise click.BadParameter(
            f"{path!r} is a method of a class; name one of an instance, such as agent.{path.split('.')[-1]} "
            f"with agent = {path.split('.')[0]}() in {module_name}"
        )
    if not callable(target):
        raise click.BadParameter(f"{path!r} is {with_article(type(target).__name__)}, which cannot be called")
    function: Callable[..., Any] = target
    return function


def _imported(text: str) -> tuple[Any, Any]:
    """What ``pkg.mod:object.name`` names, behind what it is an attribute of.

    Raises:
        click.BadParameter: there is no such module or name.
    """
    module_name, _, path = text.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise click.BadParameter(f"there is no module {error.name!r} in {here} or on the path") from None
    except SystemExit as ending:  # its 0 would say that a run passed which never began
        raise click.BadParameter(
            f"the module {module_name!r} ends the process when it is imported "
            f"(exit code {ending.code or 0}); put what it runs below `if __name__ == '__main__':`"
        ) from None
    owner = None
    for name in path.split("."):
        owner = target
        try:
            target = getattr(target, name)
        except AttributeError:
            hint = did_you_mean(name, [n for n in dir(target) if not n.startswith("_")])
            raise click.BadParameter(f"{module_name} has no {path!r}{hint}") from None
    return owner, target


def _first_parameter(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)[:1]
    except (TypeError, ValueError):
        return []


_OF_ONES_OWN = re.compile(r"(?P<target>[\w.]+:[A-Za-z_][\w.]*)(?::(?P<options>.*))?", re.S)


def load_scorer(text: str) -> Scorer:
    """Make the scorer that ``Name`` or ``Name:option=value,option=value`` names; see `written_scorer`.

    ``pkg.mod:name`` is one of one's own, with options behind another colon: a scorer, such as a function with
    `@scorer`, a class of scorers, or a function that returns one.

    Raises:
        click.BadParameter: there is no such scorer, module, name or option, or the scorer refuses a value.
    """
    match = _OF_ONES_OWN.fullmatch(text)
    try:
        if match is None or is_known(text.partition(":")[0]):
            return written_scorer(text)
        _, target = _imported(match["target"])
        if inspect.isfunction(target) and any(option_names(target).values()):
            raise ScorerError(f"{match['target']} is a plain function; put @scorer before it")
        return scorer_made(match["target"], maker_of(target), written_options(match["options"] or ""))
    except ScorerError as error:
        raise click.BadParameter(str(error)) from None


def warn_of_misspelt_tools(examples: Sequence[Example]) -> None:
    """Say on stderr which expected tools have nearly the name of one that is decorated by now.

    A warning only: the agent may make tools later. Those that stay unknown are errors of their examples.
    """
    for error in misspelt_tools(examples, known_tools()):
        click.echo(safe(f"warning: {error}"), err=True)
