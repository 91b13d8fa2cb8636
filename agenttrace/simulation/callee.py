"""`Callee`: an observed function as it is called: how, and with which arguments under which names."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.stubs.tool import CalledTool
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.signature import call_style

EITHER = "function or coroutine"
"""The style of a plain function round a coroutine function: only who calls it knows whether it bridges."""


@dataclass(frozen=True, slots=True)
class Callee:
    """How one observed function is called. `skipped` says how many arguments are not recorded: a method's
    self; without a `signature` nothing is known of its parameters."""

    observed: ObservedFunction
    style: str
    signature: inspect.Signature | None
    skipped: int

    @classmethod
    def of(cls, observed: ObservedFunction) -> Callee:
        """Look at an observed function."""
        function, skipped = observed.function, 0
        try:
            signature: inspect.Signature | None = inspect.signature(function)
        except (ValueError, TypeError):
            signature = None
        if signature is not None and observed.rebinding is not None:
            skipped = len(signature.parameters) - len(observed.rebinding.signature.parameters)
        elif signature is not None:
            skipped = len(signature.parameters) - len(observed.names)
        return cls(observed, _style(function), signature, max(skipped, 0))

    @property
    def tool(self) -> CalledTool:
        """What stubs must know of it."""
        names = None if self.signature is None else tuple(self.signature.parameters)[self.skipped :]
        is_async = self.style in ("coroutine", "async generator", EITHER)
        return CalledTool(self.observed.name, names, is_async, self.style.endswith("generator"))

    @property
    def style_now(self) -> str:
        """How it is called here: what may be either is a coroutine where an event loop runs."""
        if self.style != EITHER:
            return self.style
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return "function"
        return "coroutine"

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by their names, defaults applied, as they are recorded."""
        if self.signature is not None:
            try:
                bound = self.signature.bind(*args, **kwargs)
            except TypeError:  # a decorator that adds or removes arguments
                pass
            else:
                bound.apply_defaults()
                items = list(bound.arguments.items())[self.skipped :]
                return {name: list(value) if type(value) is tuple else value for name, value in items}
        return {"args": [*args[self.skipped :]], "kwargs": dict(kwargs)}


def _style(function: Callable[..., Any]) -> str:
    style = call_style(function)
    if style != "function":
        return style
    if not inspect.isroutine(function) and not isinstance(function, type):
        style = call_style(type(function).__call__)
        if style != "function":
            return style
    try:
        wrapped = inspect.unwrap(function)
    except ValueError:  # a cycle
        return style
    return EITHER if wrapped is not function and call_style(wrapped) == "coroutine" else style
