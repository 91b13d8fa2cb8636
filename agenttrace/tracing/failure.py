"""The exception that left a call, described without running any of its own code."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from agenttrace.core.foreign import type_name
from agenttrace.core.snapshot import snapshot
from agenttrace.core.span import Frame, SpanError, Status

GENERATED = "<agenttrace "
"""How the file name of every generated wrapper begins."""

MAX_FRAMES = 50
MAX_MESSAGE = 4_096
_C_FUNCTION = type(BaseException.__str__)


def describe(error: BaseException) -> SpanError:
    """Type, message and traceback of an exception. Never raises; holds no frame alive.

    The traceback stops at a nested recorded call: that call's span already carries the rest.
    """
    try:
        return SpanError(type_name(type(error)), _message(error), _frames(error.__traceback__))
    except Exception:  # choke-point: an exception class that hides its own parts, or no stack left
        return SpanError(type_name(type(error)), "")


def status_of(error: BaseException) -> Status:
    """*cancelled* for the ways a call is asked to stop, *error* otherwise."""
    if isinstance(error, GeneratorExit):
        return "cancelled"
    kind = type(error)
    if kind.__name__ == "CancelledError" and (kind.__module__ or "").startswith(("asyncio", "concurrent.")):
        return "cancelled"
    return "error"


def _message(error: BaseException) -> str:
    kind = type(error)
    arguments = BaseException.__dict__["args"].__get__(error)
    if type(kind.__str__) is _C_FUNCTION and all(
        type(item) in (str, int, float, type(None)) for item in arguments
    ):
        text = kind.__str__(error)  # written in C, over plain values: no code of the user's
    else:
        copies = [snapshot(item, MAX_MESSAGE)[0] for item in arguments]
        text = ", ".join(copy if type(copy) is str else repr(copy) for copy in copies)
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…[+{len(text) - MAX_MESSAGE} chars]"


def _frames(trace: TracebackType | None) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    while trace is not None:
        code: Any = trace.tb_frame.f_code
        if code.co_filename.startswith(GENERATED):
            if frames:  # a nested recorded call: its own span has the rest
                break
        else:
            frames.append(Frame(code.co_filename, trace.tb_lineno, code.co_qualname))
        trace = trace.tb_next
    return tuple(frames[-MAX_FRAMES:])
