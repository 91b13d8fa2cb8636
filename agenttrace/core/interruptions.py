"""Tells what a signal handler raised from what the code that it interrupted raised."""

from __future__ import annotations

import sys
import threading
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any


def pass_on_signals(error: BaseException) -> None:
    """Raise an exception again if a signal handler raised it; to be called where it was caught.

    Where code of the user's is called on their own thread (their `redact`, a store, an exporter), nothing
    that this code raises may reach the agent. Control-C, a time limit, the SystemExit of a SIGTERM handler
    may come at the same moment, and those are meant for the agent.
    """
    if raised_by_a_signal(error):
        raise error


def raised_by_a_signal(error: BaseException) -> bool:
    """Whether a signal handler raised this, which happens on the main thread only."""
    if threading.get_ident() != threading.main_thread().ident:
        return False
    if issubclass(type(error), KeyboardInterrupt):  # Python's own handler leaves no frame
        return True
    codes = _handlers()
    trace = error.__traceback__
    while trace is not None:
        if any(trace.tb_frame.f_code is code for code in codes):
            return True
        trace = trace.tb_next
    return False


def _handlers() -> list[CodeType]:
    """The code of the process's signal handlers, as far as they are written in Python."""
    signals = sys.modules.get("signal")  # who has set a handler has loaded it
    if signals is None:
        return []
    handlers = [signals.getsignal(number) for number in signals.valid_signals()]
    codes = [_code_of(handler) for handler in handlers if callable(handler)]
    return [code for code in codes if code is not None]


def _code_of(handler: Any) -> CodeType | None:
    while type(handler) is partial:
        handler = handler.func
    if type(handler) is MethodType:
        handler = handler.__func__
    if type(handler) is not FunctionType:
        handler = getattr(type(handler), "__call__", None)  # noqa: B004 - its code is wanted
    return handler.__code__ if type(handler) is FunctionType else None
