"""Carry out what a call is answered with, in each way in which functions are called."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from agenttrace.core import semconv
from agenttrace.stubs.stub import Given
from agenttrace.tracing.context import running
from agenttrace.tracing.live import LiveSpan

Choose = Callable[[], Given]
"""What the call is answered with; a function of the user's in it takes no arguments any more."""


def perform(style: str, choose: Choose, real: Callable[[], Any]) -> Any:
    """What a call gives that is answered so: of a coroutine function a coroutine, and so on.

    It is chosen when the call begins: for coroutines and generators at their first step.
    """
    return _STYLES[style](choose, real)


def _function(choose: Choose, real: Callable[[], Any]) -> Any:
    given = _marked(choose())
    if given.delay:
        time.sleep(given.delay)
    return _outcome(given, real)


async def _coroutine(choose: Choose, real: Callable[[], Any]) -> Any:
    given = _marked(choose())
    if given.delay:
        await asyncio.sleep(given.delay)
    value = _outcome(given, real)
    if given.kind in ("function", "real") and inspect.isawaitable(value):
        value = await value
    return value


def _generator(choose: Choose, real: Callable[[], Any]) -> Generator[Any, Any, Any]:
    given = _marked(choose())
    if given.delay:
        time.sleep(given.delay)
    return (yield from _outcome(given, real))


async def _async_generator(choose: Choose, real: Callable[[], Any]) -> AsyncIterator[Any]:
    given = _marked(choose())
    if given.delay:
        await asyncio.sleep(given.delay)
    items = _outcome(given, real)
    if inspect.isawaitable(items):
        items = await items
    if not hasattr(type(items), "__aiter__"):
        for item in items:
            yield item
        return
    try:
        async for item in items:
            yield item
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            await close()


_STYLES: dict[str, Callable[[Choose, Callable[[], Any]], Any]] = {
    "function": _function,
    "coroutine": _coroutine,
    "generator": _generator,
    "async generator": _async_generator,
}


def _outcome(given: Given, real: Callable[[], Any]) -> Any:
    __tracebackhide__ = True
    if given.kind == "error":
        raise given.value
    if given.kind == "function":
        return given.value()
    return real() if given.kind == "real" else given.value


def _marked(given: Given) -> Given:
    """Say on the call's span that it was simulated, and how."""
    if given.kind != "real" or given.delay:
        LiveSpan(running()).set_attribute(semconv.SIMULATED, given.note + (", slow" if given.delay else ""))
    return given
