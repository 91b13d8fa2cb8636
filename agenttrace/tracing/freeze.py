"""Copy a recorded argument or result on the caller's thread, by the cheapest safe way for its type and size.

Small scalars travel by reference, and so do texts and bytes up to `LONGEST_WHOLE`. A small flat dict or list
is copied. Anything larger is packed by the C pickler into bytes, with a writer that stops it at twice what a
value may keep and a hook that keeps it away from every object that is not a plain builtin, so that neither
size nor user code can hold up the call; the worker unpacks and bounds it (`thaw`). What cannot be packed so
(cycles, deep nesting, too large) is walked by `snapshot`. This is the caller's side; `thaw` runs on the
worker. How much is kept, `core.limits` says.
"""

from __future__ import annotations

import io
import pickle
import sys
from gc import is_tracked
from itertools import chain, islice
from typing import Any, Literal

from agenttrace.core.interruptions import thrown_in
from agenttrace.core.limits import LONGEST_WHOLE, RECORDED, Limits
from agenttrace.core.marks import cause_of, cut, not_read
from agenttrace.core.reading_types import type_name
from agenttrace.core.snapshot import Digest, StandIn, first_snapshot, snapshot
from agenttrace.core.tagged import escaped

LIGHT_TEXT = 256
"""Characters up to which a string is light: it is passed on by reference and not weighed."""

_FLAT_ITEMS = 16
_ITEM_SIZE = 6
"""What one item of a value that is packed counts for at least: of more than the limit, not all are kept."""

_GUARDED_LEVELS = 1_500
"""Levels of a value that 256 KB of stack are enough to pack."""

_PROBED_CONTAINERS = 64
_PROBED_ITEMS = 256

_HUGE_INT = 1 << 100_000
_MAX_PACKED_DEPTH = 64
"""Levels of containers that are packed, which needs stack for each; what is deeper is walked, and cut."""

_VAST_SHARE = 4
"""Of a value that is too large to be packed, a quarter of what could be kept: the walk is short."""


Form = Literal["plain", "whole", "packed", "items"]


class Frozen:
    """A heavy value on its way to the worker, with its size in bytes or characters.

    `form` says what `content` is: *plain* a finished snapshot, *whole* a text or bytes that are still to be
    cut, *packed* pickled builtins, *items* a list of frozen values.
    """

    __slots__ = ("content", "form", "size")

    def __init__(self, content: Any, size: int, form: Form = "plain") -> None:
        self.content = content
        self.size = size
        self.form = form


class _TooLarge(Exception):
    pass


class _BoundedWriter:
    __slots__ = ("chunks", "most", "size")

    def __init__(self, most: int) -> None:
        self.chunks: list[bytes] = []
        self.size = 0
        self.most = most

    def write(self, chunk: Any) -> int:
        self.size += len(chunk)
        if self.size > self.most:
            raise _TooLarge
        self.chunks.append(bytes(chunk))
        return len(chunk)


class _Packer(pickle.Pickler):
    limits = RECORDED

    def reducer_override(self, value: Any) -> Any:
        if value is StandIn:  # asked for, too, as part of what is answered below: it is packed by its name
            return NotImplemented
        return StandIn, (type_name(type(value)), first_snapshot(value, limits=self.limits)[0])


class _Unpacker(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == StandIn.__module__ and name == StandIn.__name__:
            return StandIn
        raise pickle.UnpicklingError(f"{module}.{name} is not data")


def freeze(value: Any, limits: Limits = RECORDED) -> Any:  # noqa: C901 - the flat dict and list are inlined: a call would cost too much here
    """A value that later changes cannot reach: the value, a small copy, or a `Frozen`. Never raises."""
    kind = type(value)
    if kind is str:
        size = len(value)
        if size <= LIGHT_TEXT:
            return value
        if size <= limits.value:
            return Frozen(value, size)
        if size <= LONGEST_WHOLE:
            return Frozen(value, size, "whole")
        value = cut(value, limits.value)
        return Frozen(value, len(value))
    if value is None or kind is int or kind is float or kind is bool:
        return value
    try:
        if kind is dict:
            if len(value) <= _FLAT_ITEMS:
                for key, item in value.items():
                    item_kind = type(item)
                    if item_kind is str:
                        if len(item) > LIGHT_TEXT:
                            break
                    elif not (item_kind is int or item is None or item_kind is bool or item_kind is float):
                        break
                    if type(key) is not str:
                        break
                else:
                    return value.copy()
            limit = _walk_limit(value, limits)
            return _walk(value, limits, limit) if limit else _pack(value, limits)
        if kind is list or kind is tuple:
            if len(value) <= _FLAT_ITEMS:
                heavy = False
                for item in value:
                    item_kind = type(item)
                    if item_kind is str:
                        if len(item) > LIGHT_TEXT:
                            heavy = True
                    elif not (item_kind is int or item is None or item_kind is bool or item_kind is float):
                        break
                else:
                    return _texts(value, limits) if heavy else [*value]
            limit = _walk_limit(value, limits)
            return _walk(value, limits, limit) if limit else _pack(value, limits)
        if kind is bytes and limits.bytes < len(value) <= LONGEST_WHOLE:
            return Frozen(value, len(value), "whole")
    except Exception as error:  # choke-point: changed by another thread meanwhile, or no stack left
        if thrown_in(error):
            raise
    return _walk(value, limits, limits.value)


def thaw(value: Any, limits: Limits = RECORDED, digest: Digest | None = None) -> Any:
    """The snapshot of a frozen value; what is cut keeps the digest that `digest` gives. Never raises."""
    if type(value) is not Frozen:
        # "%" comes after "$": few mappings are looked at more closely.
        return _escaped(value) if type(value) is dict and value and min(value) < "%" else value
    if value.form == "plain":
        return value.content
    if value.form == "items":
        return snapshot([thaw(item, limits, digest) for item in value.content], limits=limits)[0]
    content = value.content
    if value.form == "packed":
        try:
            content = _Unpacker(io.BytesIO(content)).load()
        except Exception:  # choke-point: our own bytes, so this would be a bug of ours
            return not_read()
    return first_snapshot(content, limits=limits, digest=digest)[0]


def shortened(value: Frozen, limits: Limits) -> Frozen:
    """What is still to be cut, cut now, where there is no room for the whole of it."""
    return _walk(value.content, limits, limits.value) if value.form == "whole" else value


def _escaped(value: dict[str, Any]) -> dict[str, Any]:
    """A small flat mapping, which comes as it was passed; where there was no room for a value, its mark."""
    return value if cause_of(value) == "not recorded" else escaped(value)


def _texts(value: list[Any] | tuple[Any, ...], limits: Limits) -> Frozen:
    """A short list of scalars with long texts among them: they travel by reference, as each alone would."""
    items = [freeze(item, limits) for item in value]
    return Frozen(items, sum(item.size for item in items if type(item) is Frozen), "items")


def _walk_limit(value: Any, limits: Limits) -> int:
    """How large a copy to make by walking the value, or 0 if it is to be packed.

    It is walked if packing it would go far before it is stopped: if it holds a huge text or number, which
    would be encoded as a whole, or very many items. Only the first containers and the first items of each are
    looked at, since a look at all of them would cost more than it saves. The depth of a larger value is
    measured, unless Python guards the stack itself.
    """
    most = limits.value
    most_items = most // _ITEM_SIZE
    item_count = len(value)
    all_probed = item_count <= _PROBED_ITEMS
    levels: list[Any] = [value]
    for items in islice(levels, _PROBED_CONTAINERS):  # which grows meanwhile
        items_below = 0
        for item in islice(items, _PROBED_ITEMS):
            kind = type(item)
            if kind is str:
                if len(item) > most:
                    return most
            elif kind is int:
                if not -_HUGE_INT < item < _HUGE_INT:
                    return most
            elif kind is dict or kind is list or kind is tuple or kind is set or kind is frozenset:
                size = len(item)
                items_below += size
                all_probed = all_probed and size <= _PROBED_ITEMS
                levels.append(item)
        item_count += items_below * max(len(items) // _PROBED_ITEMS, 1)
        if item_count > most_items:
            return max(most // _VAST_SHARE, 1)
        if type(items) is dict:  # its keys are looked at with `items`
            levels.append(items.values())
    if (all_probed and len(levels) <= _PROBED_CONTAINERS) or _stack_is_guarded():
        return 0
    return _deep_limit(value, limits)


def _stack_is_guarded() -> bool:
    """Returns True if Python itself stops packing a deep value before 256 KB of stack are used.

    3.11 counts levels against the recursion limit; 3.14 looks at the stack. In between
    there is a limit of its own for C code, up to 10,000 levels, for which threads may have too little.
    """
    version = sys.version_info[:2]
    return version >= (3, 14) or (version < (3, 12) and sys.getrecursionlimit() <= _GUARDED_LEVELS)


def _deep_limit(value: Any, limits: Limits) -> int:
    """How large a copy to make by walking a value with too many levels or items, or 0: pack it."""
    level: list[Any] = [value]
    room = limits.value // _ITEM_SIZE
    for _ in range(_MAX_PACKED_DEPTH):
        room -= sum(map(len, level))
        if room < 0:
            return max(limits.value // _VAST_SHARE, 1)
        parts = [one.values() if type(one) is dict else one for one in level]
        parts += [one for one in level if type(one) is dict and any(map(is_tracked, one))]
        level = [
            item
            for item in filter(is_tracked, chain.from_iterable(parts))  # no scalars, nor dicts of scalars
            if (kind := type(item)) is dict
            or kind is list
            or kind is tuple
            or kind is set
            or kind is frozenset
        ]
        if not level:
            return 0
    return limits.value


def _walk(value: Any, limits: Limits, limit: int) -> Frozen:
    copy, size = first_snapshot(value, limit, limits=limits)
    return Frozen(copy, size)


def _pack(value: Any, limits: Limits) -> Frozen:
    writer = _BoundedWriter(2 * limits.value)
    packer = _Packer(writer, 5)
    if limits is not RECORDED:
        packer.limits = limits
    packer.fast = True  # no memo: half the time; a cycle ends in an error, and the walk below
    try:
        packer.dump(value)
    except _TooLarge:
        return _walk(value, limits, max(limits.value // _VAST_SHARE, 1))
    except (ValueError, RecursionError, pickle.PicklingError) as error:
        if thrown_in(error):
            raise
        return _walk(value, limits, limits.value)
    content = b"".join(writer.chunks)
    return Frozen(content, len(content), "packed")
