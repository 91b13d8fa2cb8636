"""Import what a text such as ``package.module:name`` names."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenttrace.core.errors import ConfigError, did_you_mean, error_text, with_article
from agenttrace.core.text import error_line


def imported_function(text: str, *directories: Path) -> Callable[..., Any]:
    """The function that ``pkg.mod:name`` or ``pkg.mod:object.method`` names. See `imported`.

    Raises:
        ConfigError: there is no such module or name, or it is not callable without an instance.
    """
    module_name, _, path = text.partition(":")
    owner, target = imported(text, *directories)
    if inspect.isclass(owner) and "self" in _first_parameter(target):
        raise ConfigError(
            f"{path!r} is a method of a class; name one of an instance, such as agent.{path.split('.')[-1]} "
            f"with agent = {path.split('.')[0]}() in {module_name}"
        )
    if not callable(target):
        raise ConfigError(f"{path!r} is {with_article(type(target).__name__)}, which cannot be called")
    function: Callable[..., Any] = target
    return function


def imported(text: str, *directories: Path) -> tuple[Any, Any]:
    """What ``pkg.mod:object.name`` names, behind what it is an attribute of.

    The working directory is searched for the module too, and then the `directories`.

    Raises:
        ConfigError: the text is no such name, there is no such module or name, or importing it raises.
    """
    if not all(text.partition(":")):
        module_name, dot, name = text.rpartition(".")
        hint = f"; did you mean '{module_name}:{name}'?" if all((module_name, dot, name)) else ""
        raise ConfigError(f"got {text!r}, wanted package.module:function, with a colon between{hint}")
    module_name, _, path = text.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    sys.path += [str(one.resolve()) for one in directories if str(one.resolve()) not in sys.path]
    try:
        target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise ConfigError(_cannot_be_imported(module_name, error)) from error
        raise ConfigError(f"there is no module {error.name!r} in {here} or on the path") from None
    except SystemExit as ending:  # its 0 would say that a run passed which never began
        raise ConfigError(
            f"the module {module_name!r} ends the process when it is imported "
            f"(exit code {ending.code or 0}); put what it runs below `if __name__ == '__main__':`"
        ) from None
    except Exception as error:  # choke-point: a module of the user's own may raise anything
        raise ConfigError(_cannot_be_imported(module_name, error)) from error
    owner = None
    for name in path.split("."):
        owner = target
        try:
            target = getattr(target, name)
        except AttributeError:
            hint = did_you_mean(name, [n for n in dir(target) if not n.startswith("_")])
            raise ConfigError(f"{module_name} has no {path!r}{hint}") from None
    return owner, target


def _cannot_be_imported(module_name: str, error: Exception) -> str:
    """What a module raised, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    file, line = frames[-1].filename, frames[-1].lineno
    if isinstance(error, SyntaxError):
        file, line = error.filename or file, error.lineno
    return f"the module {module_name!r} cannot be imported: {error_line(error_text(error))} ({file}:{line})"


def _first_parameter(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)[:1]
    except (TypeError, ValueError):
        return []
