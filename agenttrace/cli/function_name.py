"""From ``package.module:name`` to the function."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from agenttrace.core.errors import did_you_mean, with_article


def load_function(text: str) -> Callable[..., Any]:
    """Import what ``pkg.mod:name`` or ``pkg.mod:object.method`` names; the working directory is on the path.

    Raises:
        click.BadParameter: no such module or name, an unbound method, or not callable.
    """
    module_name, colon, path = text.partition(":")
    if not colon or not module_name or not path:
        raise click.BadParameter(f"got {text!r}, wanted package.module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise click.BadParameter(f"there is no module {error.name!r} in {here} or on the path") from None
    owner = None
    for name in path.split("."):
        owner = found
        try:
            found = getattr(found, name)
        except AttributeError:
            hint = did_you_mean(name, [n for n in dir(found) if not n.startswith("_")])
            raise click.BadParameter(f"{module_name} has no {path!r}{hint}") from None
    if inspect.isclass(owner) and "self" in _parameters(found):
        raise click.BadParameter(
            f"{path!r} is a method of a class; name one of an instance, such as agent.{path.split('.')[-1]} "
            f"with agent = {path.split('.')[0]}() in {module_name}"
        )
    if not callable(found):
        raise click.BadParameter(f"{path!r} is {with_article(type(found).__name__)}, which cannot be called")
    function: Callable[..., Any] = found
    return function


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)[:1]
    except (TypeError, ValueError):
        return []
