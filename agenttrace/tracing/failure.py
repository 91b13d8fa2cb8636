"""Describe the exception that left a call, without running any of its own code."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from agenttrace.core.interruptions import thrown_in
from agenttrace.core.marks import cut
from agenttrace.core.reading_types import bases_of, dict_of, type_name
from agenttrace.core.snapshot import snapshot
from agenttrace.core.span import Frame, SpanError, Status

GENERATED = "<agenttrace "
"""How the file name of every generated wrapper begins."""

MAX_FRAMES = 50
MAX_MESSAGE = 4_096
MAX_CAUSES = 3
"""How deep exceptions may be nested in an exception's arguments for their message to be described."""

_C_FUNCTION = type(BaseException.__str__)


def describe(error: BaseException) -> SpanError:
    """Type, message and traceback of an exception. Never raises; holds no frame alive.

    The traceback stops at a nested recorded call: that call's span already carries the rest.
    """
    try:
        return SpanError(type_name(type(error)), _message(error), _frames(_traceback(error)))
    except Exception as failure:  # choke-point: an exception class that hides its own parts, or no stack left
        if thrown_in(failure):
            raise
        return SpanError(type_name(type(error)), "")


def status_of(error: BaseException) -> Status:
    """*cancelled* for the ways a call is asked to stop, *error* otherwise."""
    if issubclass(type(error), GeneratorExit):  # isinstance would ask the object itself for its class
        return "cancelled"
    for base in bases_of(type(error)):
        module, _, name = type_name(base).rpartition(".")
        if module.partition(".")[0] in _CANCELLATIONS.get(name, ()):
            return "cancelled"
    return "error"


_CANCELLATIONS = {
    "CancelledError": ("asyncio", "concurrent"),
    "Cancelled": ("trio",),
    "GreenletExit": ("greenlet", "gevent"),
}
"""The classes, by the libraries that have them, with which a call is asked to stop."""


def _message(error: BaseException, depth: int = 0) -> str:
    text = _own_text(error)
    if text is None:
        text = ", ".join(_part(item, depth) for item in _arguments(error))
    return cut(text, MAX_MESSAGE)


def _own_text(error: BaseException) -> str | None:
    """``str(error)``, if C code writes it from plain, short values, so that no code of the user's runs; else
    None."""
    write = _writer(type(error))
    if type(write) is not _C_FUNCTION:
        return None
    if write is not BaseExceptionGroup.__str__ and not all(map(_is_plain, _arguments(error))):
        return None
    if not all(_is_plain(read(error)) for read in _WRITTEN.get(write, ())):
        return None
    try:
        return write(error)
    except (Exception, SystemExit, GeneratorExit) as failure:  # choke-point: it may look at the user's values
        if thrown_in(failure):
            raise
        return ""


def _writer(kind: type) -> Any:
    """A class's ``__str__``, read past any metaclass of the user's."""
    return next(method for base in bases_of(kind) if (method := dict_of(base).get("__str__")) is not None)


def _is_plain(item: Any) -> bool:
    kind = type(item)
    if kind is str or kind is bytes:
        return len(item) <= MAX_MESSAGE
    return kind is int or kind is float or item is None


def _part(item: Any, depth: int) -> str:
    if issubclass(type(item), BaseException) and depth < MAX_CAUSES:
        return _message(item, depth + 1)
    copy = snapshot(item, MAX_MESSAGE)[0]
    return copy if type(copy) is str else repr(copy)


_WRITTEN: dict[Any, tuple[Callable[[Any], Any], ...]] = {
    kind.__str__: tuple(kind.__dict__[name].__get__ for name in names)
    for kind, names in (
        (OSError, ("errno", "strerror", "filename", "filename2")),
        (SyntaxError, ("msg", "filename", "lineno")),
        (UnicodeEncodeError, ("encoding", "object", "reason")),
        (UnicodeDecodeError, ("encoding", "object", "reason")),
        (UnicodeTranslateError, ("object", "reason")),
        (BaseExceptionGroup, ("message",)),
    )
}
"""The attributes, set by anybody to anything, that C code writes into a text beside the arguments."""

_arguments = BaseException.__dict__["args"].__get__
_traceback = BaseException.__dict__["__traceback__"].__get__


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
