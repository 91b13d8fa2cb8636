"""Which function reads the values of a type: one that the user registered, a library's, or none."""

from __future__ import annotations

import inspect
from typing import Any

from agenttrace.core.by_class import ByClass
from agenttrace.core.errors import ConfigError
from agenttrace.core.reading_types import (
    READS_UNCHANGING,
    Handler,
    enum_value,
    find_handler,
    is_hashable,
    is_unchanging,
    type_name,
)

MOST_TROUBLES = 1_000
"""Types whose handlers' failures are remembered."""

_READ_AS_THEY_ARE = (str, int, bool, float, type(None), dict, list, tuple)
"""The types that a snapshot knows without looking for a handler."""

_handlers: ByClass[Handler | None] = ByClass()

_unchanging: dict[type, Handler] = {}
"""The types of the standard library whose objects are known never to change, read by these functions."""

_troubles: dict[str, str] = {}


def register_snapshot(kind: type, handler: Handler) -> None:
    """Record values of exactly this type through `handler`, which returns builtin values.

    The handler runs on the traced call's own thread: keep it short. Where it raises, or returns the value
    itself, the value is recorded as its type, and a score that depends on it says so; so is a value whose
    class has a metaclass with a hash or an equality of its own.

    Raises:
        ConfigError: no class, or no function; an async function; a builtin type of JSON's values, which are
            always read as what they are.
    """
    if not isinstance(kind, type) or not callable(handler):
        raise ConfigError(f"register_snapshot takes a class and a function, got {kind!r} and {handler!r}")
    if any(kind is builtin for builtin in _READ_AS_THEY_ARE):
        raise ConfigError(
            f"register_snapshot: values of {kind.__name__} are always read as what they are; "
            "register a class of your own"
        )
    if _is_async(handler) or _is_async(type(handler).__call__):
        raise ConfigError(f"register_snapshot: the handler cannot be an async function, got {handler!r}")
    _handlers.put(kind, handler)
    _troubles.pop(type_name(kind), None)


def _is_async(handler: Any) -> bool:
    return inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)


def trouble_of(name: str) -> str:
    """Why objects of the type of this name were not read by the handler registered for it; else ``""``."""
    return _troubles.get(name, "")


def note_trouble(name: str, trouble: str) -> None:
    """Remember why objects of the type of this name are not read."""
    if len(_troubles) < MOST_TROUBLES:
        _troubles[name] = trouble


def handler_of(kind: type) -> Handler | None:
    """The function that reads values of this type; None where there is none."""
    if not is_hashable(kind):
        return find_handler(kind)
    known = _handlers.get(kind)
    if known is not None:
        return known[0]
    handler = find_handler(kind)
    _handlers.put(kind, handler)
    return handler


def has_own_handler(kind: type) -> bool:
    """Returns True if the values of a type, which `handler_of` was asked for before, are read by a function
    that the user registered, or by a library's."""
    known = _handlers.get(kind)
    return known is None or (known[0] is not None and known[0] is not enum_value)


def never_changes(kind: type) -> bool:
    """Whether the worker may read objects of this type: immutable ones, by our own function.

    A handler that the user registered for one runs on the caller's thread.
    """
    if type(kind) is not type:  # as those of the standard library are
        return False
    handler = handler_of(kind)
    if handler is None:
        return False
    if _unchanging.get(kind) is handler:
        return True
    # A class of the user's may be registered with a function that we use, too.
    if not any(handler is ours for ours in READS_UNCHANGING) or not is_unchanging(kind):
        return False
    _unchanging[kind] = handler
    return True
