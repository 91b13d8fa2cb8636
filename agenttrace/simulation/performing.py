"""Carry out what a call is answered with, in each way in which functions are called."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from agenttrace.core import semconv
from agenttrace.stubs.stub import Reply
from agenttrace.tracing.context import running
from agenttrace.tracing.live import LiveSpan

Choose = Callable[[], Reply]
"""What the call is answered with; a function of the user's in it takes no arguments any more."""


def perform(style: str, choose: Choose, real: Callable[[], Any]) -> Any:
    """What a call gives that is answered so: of a coroutine function a coroutine, and so on.

    It is chosen when the call begins: for coroutines and generators at their first step.
    """
    return _STYLES[style](choose, real)


def _function(choose: Choose, real: Callable[[], Any]) -> Any:
    reply = _marked(choose())
    if reply.delay:
        time.sleep(reply.delay)
    return _outcome(reply, real)


async def _coroutine(choose: Choose, real: Callable[[], Any]) -> Any:
    reply = _marked(choose())
    if reply.delay:
        await asyncio.sleep(reply.delay)
    value = _outcome(reply, real)
    if reply.kind in ("function", "real") and inspect.isawaitable(value):
        value = await value
    return value


def _generator(choose: Choose, real: Callable[[], Any]) -> Generator[Any, Any, Any]:
    reply = _marked(choose())
    if reply.delay:
        time.sleep(reply.delay)
    return (yield from _outcome(reply, real))


async def _async_generator(choose: Choose, real: Callable[[], Any]) -> AsyncIterator[Any]:
    reply = _marked(choose())
    if reply.delay:
        await asyncio.sleep(reply.delay)
    items = _outcome(reply, real)
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


def _outcome(reply: Reply, real: Callable[[], Any]) -> Any:
    __tracebackhide__ = True
    if reply.kind == "error":
        raise reply.value
    if reply.kind == "function":
        return reply.value()
    return real() if reply.kind == "real" else reply.value


def _marked(reply: Reply) -> Reply:
    """Say on the call's span that it was simulated, and how."""
    if reply.kind != "real" or reply.delay:
        LiveSpan(running()).set_attribute(semconv.SIMULATED, reply.note + (", slow" if reply.delay else ""))
    return reply
