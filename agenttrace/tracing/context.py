"""The one context variable: which call is running here."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from agenttrace.tracing.record import PARENT, SCOPE, SITE, Record

P = ParamSpec("P")
T = TypeVar("T")

current: ContextVar[Record | None] = ContextVar("agenttrace_current", default=None)
"""The record of the running call, the head of a capture or of a remote trace, or None outside all."""


def running() -> Record | None:
    """The record of the call that runs here, or None outside every recorded call."""
    record = current.get()
    if record is None or record[SITE] is None or record[SCOPE] is None:
        return None
    return record


def runs_inside(record: Record) -> bool:
    """Whether the call that runs here is the given one, or was called by it, however far down."""
    here = current.get()
    while here is not None:
        if here is record:
            return True
        here = here[PARENT]
    return False


def propagate(function: Callable[P, T]) -> Callable[P, T]:
    """Carry the running call into a thread or callback that the library did not start.

    The returned function runs `function` as if it were called here, wherever it is called.
    """
    record = current.get()

    @wraps(function)
    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        token = current.set(record)
        try:
            return function(*args, **kwargs)
        finally:
            current.reset(token)

    return carried
