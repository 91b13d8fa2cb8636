"""`small_content`: the quick way to read a dataclass, a model or an enum that holds a few small scalars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agenttrace.core.by_class import ByClass
from agenttrace.core.handlers import handler_of, has_own_handler
from agenttrace.core.limits import Limits
from agenttrace.core.reading_types import Reader, bases_of, is_hashable, quick_reader
from agenttrace.core.snapshot import EXACT_INT, READ_AS_BUILTIN

_LONGEST_TEXT = 256
_MOST_FIELDS = 32
_ITEM_SIZE = 8

_VAST = 1 << 62

NOT_SMALL = object()
"""What has to be read by `snapshot`."""

_readers: ByClass[Reader | None] = ByClass()


def small_content(value: Any, kind: type, limits: Limits) -> tuple[Any, int]:
    """What a snapshot holds for an object of this type, and about its size; `NOT_SMALL` where anything of it
    is long, nested or unusual. Runs no code of the user's."""
    reader = small_reader(kind)
    return (NOT_SMALL, 0) if reader is None else content_by(reader, value, kind, limits)


def small_reader(kind: type) -> Reader | None:
    """What reads small objects of this type, for `content_by`; None where `snapshot` has to."""
    known = _readers.get(kind)
    reader = known[0] if known is not None else _first_reader(kind)
    return None if reader is None or has_own_handler(kind) else reader


def content_by(reader: Reader, value: Any, kind: type, limits: Limits) -> tuple[Any, int]:
    """What `small_content` gives, with the reader of the object's type."""
    try:
        content = reader(value, kind)
    except (LookupError, AttributeError):
        return NOT_SMALL, 0
    if type(content) is str and len(content) <= _LONGEST_TEXT:  # as of most enums
        size = len(content) + _ITEM_SIZE
    elif type(content) is not dict:
        size = _size((content,))
    elif 0 < len(content) <= limits.items and len(content) <= _MOST_FIELDS:
        size = _size(content.values()) + sum(map(len, content))
    else:
        return NOT_SMALL, 0
    return (content, size) if size <= limits.value else (NOT_SMALL, 0)


def fields_reader(kind: type) -> Reader | None:
    """What gives the declared fields of a dataclass's object or a model, as they are, in a new mapping.

    None where only `snapshot` can tell them. It runs no code of the user's, and raises LookupError or
    AttributeError for an object that is not as most are.
    """
    known = _readers.get(kind)
    reader = known[0] if known is not None else _first_reader(kind)
    return reader if handler_of(kind) is None else None


def _size(items: Iterable[Any]) -> int:
    """The size of small scalars; vast if one is anything else."""
    size = 0
    for item in items:
        kind = type(item)
        if kind is str:
            size += len(item) if len(item) <= _LONGEST_TEXT else _VAST
        elif kind is int:
            size += 0 if -EXACT_INT < item < EXACT_INT else _VAST
        elif not (item is None or kind is float or kind is bool):
            return _VAST
        size += _ITEM_SIZE
    return size


def _first_reader(kind: type) -> Reader | None:
    reader = None
    if is_hashable(kind):
        is_builtin = any(type(base) is type and base in READ_AS_BUILTIN for base in bases_of(kind))
        handler = handler_of(kind)
        reader = quick_reader(kind) if not is_builtin or handler is not None else None
    _readers.put(kind, reader)
    return reader
