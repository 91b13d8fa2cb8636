"""`CalledTool`: what a stub must know of the tool whose calls it answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from agenttrace.core.errors import ConfigError, did_you_mean

STATE = "state"
"""The parameter in which a simulating function gets the state that a run's functions share."""


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool's name, its parameters, and how it is called.

    `parameters` are the names of all that it takes, None where it takes any; `yields` says that it is a
    generator, `is_async` that it is awaited, or iterated asynchronously.
    """

    name: str
    parameters: tuple[str, ...] | None
    is_async: bool = False
    yields: bool = False

    def check_parameter(self, name: str) -> None:
        """Raise ConfigError for a parameter that it does not take."""
        if self.parameters is not None and name not in self.parameters:
            hint = did_you_mean(name, self.parameters) if self.parameters else "; it takes none"
            raise ConfigError(f"{self.name} takes no argument {name!r}{hint}")

    def check_value(self, value: Any) -> None:
        """Raise ConfigError for a value that it cannot give: a generator gives the items of one, and what is
        awaited comes from a coroutine."""
        kind = type(value)
        if not self.is_async and inspect.iscoroutine(value):
            value.close()
            raise ConfigError(_NO_COROUTINE.format(self.name))
        if not self.yields or (
            (hasattr(kind, "__iter__") and not issubclass(kind, str | bytes | Mapping))
            or (self.is_async and hasattr(kind, "__aiter__"))
        ):
            return
        raise ConfigError(
            f"{self.name} is a generator: it is answered with a list of what it yields, "
            f"got {kind.__name__} {value!r:.60}"
        )

    def check_function(self, function: Callable[..., Any]) -> None:
        """Raise ConfigError for a function that cannot answer it."""
        if not self.is_async and type(function) in _FUNCTIONS and inspect.iscoroutinefunction(function):
            raise ConfigError(_NO_COROUTINE.format(self.name))
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError):  # some builtins have none
            return
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise ConfigError(f"what answers {self.name} gets its arguments by name; {name!r} has none")
            if parameter.default is parameter.empty and name != STATE and parameter.kind in _NAMED:
                self.check_parameter(name)


_NO_COROUTINE = "{} is no coroutine, so no coroutine can answer it: write def, not async def"

_FUNCTIONS = (FunctionType, MethodType, partial)
"""Of other callables, such as mocks, `inspect` may say anything."""

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
