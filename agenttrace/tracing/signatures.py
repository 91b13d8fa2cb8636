"""The parameters of a callable: those of its own code, and those that its signature shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

Parameters = list[inspect.Parameter]


def any_parameters() -> Parameters:
    """``*args, **kwargs``."""
    return [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]


def code_parameters(function: Callable[..., Any]) -> Parameters:
    """The parameters of a plain function's own code, whatever ``__wrapped__`` and ``__signature__`` say;
    ``*args, **kwargs`` for any other callable."""
    if not isinstance(function, FunctionType):
        return any_parameters()
    bare = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return list(inspect.signature(bare).parameters.values())


def shown_parameters(function: Callable[..., Any]) -> Parameters | None:
    """The parameters that `inspect.signature` shows, or None if it fails."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None


def are_alike(first: Parameters, second: Parameters) -> bool:
    """Returns True if every call binds to the same parameters in both."""
    return [(p.name, p.kind, p.default is p.empty) for p in first] == [
        (p.name, p.kind, p.default is p.empty) for p in second
    ]


def takes_anything(parameters: Parameters) -> bool:
    """Returns True if there is a ``*args`` or ``**kwargs``, with which a decorator passes arguments on."""
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def begins_with_instance(function: Callable[..., Any], parameters: Parameters) -> bool:
    """Returns True if the first parameter is a method's self or cls, which is not recorded."""
    if not parameters or parameters[0].name not in ("self", "cls"):
        return False
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")
