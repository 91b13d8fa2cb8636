"""Recognise exceptions from outside our code (Control-C, time limits) that must reach the user.

A signal handler (a soft time limit, an alarm) and `PyThreadState_SetAsyncExc` (a time limit for threads)
raise wherever the program happens to be, inside recording too. A choke-point swallows what our own code
raises, or what user code raises that we call on the user's thread (a ``redact``, a store, an exporter). It
must let these exceptions through: they are meant for the agent.
"""

from __future__ import annotations

import sys
import threading
from inspect import CO_OPTIMIZED
from types import FrameType, TracebackType
from typing import Any

_traceback = BaseException.__dict__["__traceback__"].__get__
_module_of = type.__dict__["__module__"].__get__
_arguments = BaseException.__dict__["args"].__get__
_BARE = (MemoryError, StopIteration, StopAsyncIteration, GeneratorExit)
"""What Python itself raises without a message."""


def pass_on_interruption(error: BaseException) -> None:
    """Raise an exception again if a signal handler raised it. Call it in the ``except`` block."""
    if raised_by_signal(error):
        raise error


def thrown_in(error: BaseException) -> bool:
    """Whether a caught exception was raised by a signal handler or thrown in by another thread.

    Valid only for code that calls nothing but itself and the standard library: there, an exception of a
    foreign class whose traceback ends in our own frame must have been thrown in, and so must one of Python's
    own that says nothing, as `PyThreadState_SetAsyncExc` makes it from a class: what goes wrong by itself
    says what.
    """
    return raised_by_signal(error) or _starts_in_ours(error)


def raised_by_signal(error: BaseException) -> bool:
    """Whether a caught exception was raised by a signal handler. Runs no user code.

    A handler is recognised by its argument: Python passes it the frame that it interrupts. One written in C
    is not recognised, except for KeyboardInterrupt on the main thread.
    """
    if issubclass(type(error), KeyboardInterrupt) and threading.get_ident() == threading.main_thread().ident:
        return True
    try:
        trace: TracebackType | None = _traceback(error)
        if trace is None:
            return False
        while trace.tb_next is not None:
            interrupted_frame, trace = trace.tb_frame, trace.tb_next
            if _received_frame(trace.tb_frame, interrupted_frame):
                return True
    except RecursionError:  # no stack left: then the exception is about the stack, not from a handler
        pass
    return False


def _starts_in_ours(error: BaseException) -> bool:
    trace: TracebackType | None = _traceback(error)
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    kind = type(error)
    return _is_ours(trace.tb_frame) and (_is_foreign(kind) or (_says_nothing(error) and kind not in _BARE))


def _says_nothing(error: BaseException) -> bool:
    return not _arguments(error)


def _received_frame(frame: FrameType, interrupted_frame: FrameType) -> bool:
    if not frame.f_code.co_flags & CO_OPTIMIZED:  # the body of a class or module: no function, no handler
        return False
    return any(
        value is interrupted_frame
        or (type(value) is tuple and any(item is interrupted_frame for item in value))
        for value in frame.f_locals.values()
    )


def _is_ours(frame: FrameType) -> bool:
    name: Any = frame.f_globals.get("__name__")
    return type(name) is str and (name == "agenttrace" or name.startswith("agenttrace."))


def _is_foreign(kind: type) -> bool:
    module = _module_of(kind)
    if type(module) is not str:
        return True
    root = module.partition(".")[0]
    return root != "agenttrace" and root not in sys.stdlib_module_names
