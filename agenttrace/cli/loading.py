"""Parse an option's text into what it names: ``package.module:function``, ``ToolOrder:exact_match=true``."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

import agenttrace.judges as judges
from agenttrace.core.errors import AgentTraceError, did_you_mean, with_article
from agenttrace.core.json_reader import InvalidJSON, decode_at
from agenttrace.core.protocols import Scorer
from agenttrace.scorers import register_scorer, scorer_named


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
    """Make the scorer that ``Name`` or ``Name:option=value,option=value`` names.

    Names are those of the classes in `agenttrace.scorers` and `agenttrace.judges`, and of what was registered
    with `register_scorer`, with or without ``Scorer``, in any case. Values are JSON where they read as JSON
    up to the next comma, else text up to there.

    Raises:
        click.BadParameter: there is no such scorer or option, or the scorer refuses a value.
    """
    name, _, rest = text.partition(":")
    _register_judges()
    try:
        return scorer_named(name, dict(_options(rest, text)))
    except (AgentTraceError, TypeError, ValueError) as error:
        raise click.BadParameter(str(error)) from None


def _register_judges() -> None:
    """Register the judges by name, too. Doing it again changes nothing."""
    for name in judges.__all__:
        kind = getattr(judges, name)
        if inspect.isclass(kind) and issubclass(kind, judges.JudgeScorer) and not inspect.isabstract(kind):
            register_scorer(kind)


def _options(rest: str, text: str) -> Iterator[tuple[str, Any]]:
    while rest.strip():
        name, equals, rest = rest.partition("=")
        if not equals or "," in name:
            raise click.BadParameter(f"got {name!r} in {text!r}, wanted option=value")
        value, rest = _value(rest.lstrip())
        yield name.strip(), value


def _value(rest: str) -> tuple[Any, str]:
    """Return the value that a text begins with, and the text after its comma."""
    try:
        value, end = decode_at(rest, 0)
    except InvalidJSON:
        pass
    else:
        after = rest[end:].lstrip()
        if not after or after.startswith(","):
            return value, after[1:]
    word, _, after = rest.partition(",")
    return word.strip(), after
