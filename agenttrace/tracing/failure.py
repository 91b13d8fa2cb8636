"""Describe the exception that left a call, without running any of its own code.

The thread of the call notes what cannot be found out later, the worker makes the description of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, TracebackType
from typing import Any

from agenttrace.core.by_class import ByClass
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.marks import cut
from agenttrace.core.reading_types import bases_of, dict_of, type_name
from agenttrace.core.snapshot import snapshot
from agenttrace.core.span import Frame, Status

GENERATED = "<agenttrace "
"""How the file name of every generated wrapper begins."""

MAX_FRAMES = 50
MAX_MESSAGE = 4_096
MAX_CAUSES = 3
"""How deep exceptions may be nested in an exception's arguments for their message to be described."""

_MOST_CLASSES = 1_000
"""Classes of exceptions that are remembered."""

_C_FUNCTION = type(BaseException.__str__)
_TELLS_ARGUMENTS = BaseException.__str__


class Failure:
    """An exception as it was noted: its type, its message, and the places of its traceback.

    It holds neither the exception nor a frame, only the code that ran and the numbers of lines.
    """

    __slots__ = ("_places", "message", "type")

    def __init__(self, type: str, message: str, places: Sequence[tuple[CodeType, int]]) -> None:  # noqa: A002 - named as in `SpanError`
        self.type = type
        self.message = message
        self._places = places

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The traceback, from the call inwards."""
        return tuple(Frame(code.co_filename, line, code.co_qualname) for code, line in self._places)


def failure_of(error: BaseException) -> tuple[Status, Failure | None]:
    """How a call ended that an exception leaves: its status, and the exception if it is an error."""
    kind = type(error)
    known = _classes.get(kind)
    status, name, tells_argument = _look_at(kind) if known is None else known[0]
    return status, describe(error, name, tells_argument) if status == "error" else None


def describe(error: BaseException, name: str | None = None, tells_argument: bool = False) -> Failure:
    """Type, message and traceback of an exception. Never raises; holds no frame alive.

    `name` is that of its type, where it is known; `tells_argument` is True if its text is that of its only
    argument. The traceback stops at a nested recorded call: that call's span already carries the rest.
    """
    if name is None:
        name = type_name(type(error))
    try:
        text: Any = None
        if tells_argument:
            arguments = _arguments(error)
            text = arguments[0] if len(arguments) == 1 else None
        message = text if type(text) is str and len(text) <= MAX_MESSAGE else _message(error)
        return Failure(name, message, _places(_traceback(error)))
    except Exception as failure:  # choke-point: an exception class that hides its own parts, or no stack left
        if thrown_in(failure):
            raise
        return Failure(name, "", ())


def status_of(error: BaseException) -> Status:
    """*cancelled* for the ways a call is asked to stop, *error* otherwise."""
    return _look_at(type(error))[0]


_Class = tuple[Status, str, bool]
"""Of a class of exceptions: the status of the calls that they leave; its name; True if its text is that of
its only argument."""

_classes: ByClass[_Class] = ByClass()


def _look_at(kind: type[BaseException]) -> _Class:
    status: Status = "cancelled" if _asks_to_stop(kind) else "error"
    if type(kind) is not type:
        return status, type_name(kind), False
    looked_at = status, type_name(kind), kind.__str__ is _TELLS_ARGUMENTS
    if len(_classes) < _MOST_CLASSES:
        _classes.put(kind, looked_at)
    return looked_at


def _asks_to_stop(kind: type[BaseException]) -> bool:
    if issubclass(kind, GeneratorExit):
        return True
    for base in bases_of(kind):
        module, _, name = type_name(base).rpartition(".")
        if module.partition(".")[0] in _CANCELLATIONS.get(name, ()):
            return True
    return False


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
    except Exception as failure:  # choke-point: an exception in a state that its own class did not foresee
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


def _places(trace: TracebackType | None) -> list[tuple[CodeType, int]]:
    places: list[tuple[CodeType, int]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(GENERATED):
            places.append((code, trace.tb_lineno))
        elif places:  # a nested recorded call: its own span has the rest
            break
        trace = trace.tb_next
    return places if len(places) <= MAX_FRAMES else places[-MAX_FRAMES:]
