"""About how much an expected value holds, for the bound on what may wait."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import Any

from agenttrace.core.small_records import fields_reader
from agenttrace.core.tool_call import ANY

_LIGHT = 1_024
"""A value that holds less is light: it is not weighed."""

_ITEM_SIZE = 8
"""What each item of a container counts for, beside its text."""

_MOST_PARTS = 10_000
"""Parts of a value that are looked at; of one with more, the others count as much as these on average."""

_SCALARS = frozenset({bool, float, int, type(None), type(ANY)})


def weight_of(value: Any) -> int:
    """Return about how many bytes, or characters, the texts and containers of a value hold.

    Of matchers and expected calls, of dataclasses and models those in their fields count. Runs no code of the
    user's.
    """
    if type(value) in _SCALARS:
        return 0
    parts, visited = [value], set[int]()
    weight = looked_at = 0
    while parts:
        if looked_at == _MOST_PARTS:
            weight += weight * len(parts) // looked_at
            break
        looked_at += 1
        part = parts.pop()
        kind = type(part)
        if kind is str:
            weight += len(part)
        elif kind in _SCALARS:
            continue
        elif id(part) not in visited:
            visited.add(id(part))
            weight += _taken_apart(part, kind, parts)
    return weight if weight >= _LIGHT else 0


def _taken_apart(value: Any, kind: type, parts: list[Any]) -> int:
    """Add what a value holds to the parts, and return the size of what it is itself."""
    if kind is list or kind is tuple:
        parts += [item for item in value if type(item) not in _SCALARS]
        return _ITEM_SIZE * len(value)
    if kind is dict:
        entries = value.copy()  # at once, should another thread change it meanwhile
        parts += entries
        parts += [item for item in entries.values() if type(item) not in _SCALARS]
        return 2 * _ITEM_SIZE * len(entries)
    if kind.__module__.startswith("agenttrace."):  # a matcher, an expected call, a pattern of these
        with suppress(AttributeError):  # it is half made
            parts += [item for item in _slots_of(kind)(value) if type(item) not in _SCALARS]
        parts += getattr(value, "__dict__", {}).values()
        return 0
    return _unusual_taken_apart(value, kind, parts)


def _unusual_taken_apart(value: Any, kind: type, parts: list[Any]) -> int:
    """The same for subclasses of builtins, sets, bytes, patterns and objects with fields."""
    if issubclass(kind, str):
        return str.__len__(value)
    if issubclass(kind, dict):
        parts += dict.copy(value).values()
        return 2 * _ITEM_SIZE * dict.__len__(value)
    for builtin in (list, tuple, set, frozenset):
        if issubclass(kind, builtin):
            parts += builtin.__iter__(value)
            return _ITEM_SIZE * builtin.__len__(value)
    if kind is bytes or kind is bytearray:
        return len(value)
    if kind is re.Pattern:
        return len(value.pattern)
    fields_of = fields_reader(kind)
    if fields_of is not None:
        with suppress(LookupError, AttributeError):  # it is not as most of its class are
            content = fields_of(value, kind)
            parts += content.values() if type(content) is dict else [content]
    return 0


@functools.cache
def _slots_of(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the slots of a class of ours, with those of its bases."""
    names = dict.fromkeys(name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ()))
    read = [name for name in names if not name.startswith("__")]
    return (
        attrgetter(*read) if len(read) > 1 else lambda value: tuple([getattr(value, name) for name in read])
    )
