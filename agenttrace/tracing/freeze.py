"""Copy a recorded argument or result on the caller's thread, by the cheapest safe way for its type and size.

Small scalars travel by reference, and so do texts and bytes up to `LONGEST_WHOLE`. A small flat dict or list
is copied. Anything larger is packed by the C pickler into bytes, with a writer that stops it at twice what a
value may keep and a hook that keeps it away from every object that is not a plain builtin, so that neither
size nor user code can hold up the call; the worker unpacks and bounds it (`thaw`). What cannot be packed so
(deep nesting, too large) is walked by `snapshot`. This is the caller's side; `thaw` runs on the
worker. How much is kept, `core.limits` says.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Collection, Iterable
from gc import is_tracked
from itertools import chain, islice
from typing import Any, Literal

from agenttrace.core.handlers import never_changes
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.limits import LONGEST_WHOLE, RECORDED, Limits
from agenttrace.core.marks import cause_of, cut, not_read
from agenttrace.core.reading_types import type_name
from agenttrace.core.small_records import NOT_SMALL, content_by, fields_reader, small_content, small_reader
from agenttrace.core.snapshot import Digest, first_snapshot, snapshot
from agenttrace.core.stand_ins import StandIn
from agenttrace.core.tagged import escaped
from agenttrace.tracing.packing import TooLarge, pack, unpack

LIGHT_TEXT = 256
"""Characters up to which a string is light: it is passed on by reference and not weighed."""

_FLAT_ITEMS = 16
_ITEM_SIZE = 6
"""What one item of a value that is packed counts for at least: of more than the limit, not all are kept."""

_GUARDED_LEVELS = 1_500
"""Levels of a value that 256 KB of stack are enough to pack."""

_LOOKS_AT_THE_STACK = sys.version_info >= (3, 14)
_COUNTS_LEVELS = sys.version_info < (3, 12)

_LOOKED_INTO = 12
"""Containers of a value that are looked into before it is packed."""

_SEARCHED_ITEMS = 4_096
_SEARCHED_OF_ONE = 256
"""Items that are looked at, and of one container, where a value was too large to be packed: if a huge text
made it so, the walk is not long."""

_CONTAINERS = frozenset((dict, list, tuple, set, frozenset))

_HUGE_INT = 1 << 100_000
_LEAST_INT = -_HUGE_INT
_MAX_PACKED_DEPTH = 64
"""Levels of containers that are packed, which needs stack for each; what is deeper is walked, and cut."""

_VAST_SHARE = 4
"""Of a value that is too large to be packed, a quarter of what could be kept: the walk is short."""


_FEW_RECORDS = 2

_OBJECT_SIZE = 32
"""What each item counts for in a short list with objects."""

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


def freeze(value: Any, limits: Limits = RECORDED) -> Any:  # noqa: C901 - the flat dict and list are inlined: a call would cost too much here
    """A value that later changes cannot reach: the value, a small copy, or a `Frozen`. Never raises."""
    kind = type(value)
    if kind is str:
        size = len(value)
        if size <= LIGHT_TEXT:
            return value
        if size <= limits.value or size <= LONGEST_WHOLE:
            return Frozen(value, size, "plain" if size <= limits.value else "whole")
        value = cut(value, limits.value)
        return Frozen(value, len(value))
    try:
        if kind is dict:
            if len(value) <= _FLAT_ITEMS:
                long = 0
                for key, item in value.items():
                    if (item_kind := type(item)) is str:
                        size = len(item)
                        if size > LIGHT_TEXT:
                            long += size
                    elif not (item_kind is int or item is None or item_kind is bool or item_kind is float):
                        if item_kind is dict or item_kind is list:
                            break
                        return _mapping_with_objects(value, limits) or _packed_or_walked(value, limits)
                    if type(key) is not str:
                        break
                else:
                    if not long or long <= limits.value:
                        return Frozen(value.copy(), long, "whole") if long else value.copy()
            return _packed_or_walked(value, limits)
        if kind is list or kind is tuple:
            if len(value) <= _FLAT_ITEMS:
                heavy = False
                for item in value:
                    if (item_kind := type(item)) is str:
                        heavy = heavy or len(item) > LIGHT_TEXT
                    elif not (item_kind is int or item is None or item_kind is bool or item_kind is float):
                        records = None if item_kind is dict else _with_objects(value, limits)
                        return records or _packed_or_walked(value, limits)
                else:
                    return _scalars(value, limits) if heavy else [*value]
            elif type(value[-1]) is list and _are_vast(value, limits.value):
                return _walk(value, limits, max(limits.value // _VAST_SHARE, 1))
            return _packed_or_walked(value, limits)
        if value is None or kind is int or kind is float or kind is bool:
            return value
        return _object(value, kind, limits)
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
            content = unpack(content)
        except Exception:  # choke-point: our own bytes, so this would be a bug of ours
            return not_read()
    return first_snapshot(content, limits=limits, digest=digest)[0]


def shortened(value: Frozen, limits: Limits) -> Frozen:
    """What is still to be cut, cut now, where there is no room for the whole of it."""
    return _walk(value.content, limits, limits.value) if value.form == "whole" else value


def _escaped(value: dict[str, Any]) -> dict[str, Any]:
    """A small flat mapping, which comes as it was passed; where there was no room for a value, its mark."""
    return value if cause_of(value) == "not recorded" else escaped(value)


def _scalars(value: Iterable[Any], limits: Limits) -> Frozen:
    """A short list with long texts, which travel by reference, as each would alone."""
    items = [freeze(item, limits) for item in value]
    return Frozen(items, sum(item.size for item in items if type(item) is Frozen), "items")


def _with_objects(value: list[Any] | tuple[Any, ...], limits: Limits) -> Frozen | None:
    """A short list with immutable objects, which travel by reference, or with small records and enums; None
    if it holds anything else, or several objects with fields: these are packed in half the time."""
    kind = type(value[0])
    if len(value) > _FEW_RECORDS and kind is type(value[-1]) and fields_reader(kind) is not None:
        return None
    items, size, has_long_text = _objects(value, limits)
    if items is None:
        return None
    return _scalars(items, limits) if has_long_text else Frozen(items, size, "whole")


def _mapping_with_objects(value: dict[Any, Any], limits: Limits) -> Frozen | None:
    """A short mapping with such values; None if it holds anything else, or a long text."""
    copy = value.copy()
    items, size, has_long_text = _objects(copy.values(), limits)
    if items is None or has_long_text or not all(type(key) is str for key in copy):
        return None
    return Frozen(dict(zip(copy, items, strict=True)), size, "whole")


def _objects(values: Collection[Any], limits: Limits) -> tuple[list[Any] | None, int, bool]:
    """Scalars, immutable objects and what stands for small records, their size, and whether a text is long;
    None where there is anything else, or too much."""
    items: list[Any] = []
    has_long_text = False
    size, most = _OBJECT_SIZE * len(values), limits.value // _VAST_SHARE
    last: type | None = None
    stays, reader, name = True, None, ""
    for item in values:
        kind = type(item)
        if kind is str:
            has_long_text = has_long_text or len(item) > LIGHT_TEXT
        elif kind is dict or kind is list:
            return None, size, has_long_text
        elif not (kind is int or item is None or kind is bool or kind is float):
            if kind is not last:  # of most lists all objects are of one type
                last, stays = kind, never_changes(kind)
                reader = None if stays else small_reader(kind)
                name = "" if stays else type_name(kind)
            if not stays:
                content, more = (NOT_SMALL, 0) if reader is None else content_by(reader, item, kind, limits)
                size += more
                if content is NOT_SMALL or size > most:
                    return None, size, has_long_text
                item = StandIn(name, content)
        items.append(item)
    return items, size, has_long_text


def _object(value: Any, kind: type, limits: Limits) -> Frozen:
    """What is no container: bytes or a small record as it is, one with fields packed, else a walked copy."""
    if kind is bytes and limits.bytes < len(value) <= LONGEST_WHOLE:
        return Frozen(value, len(value), "whole")
    small = small_content(value, kind, limits)
    if small[0] is not NOT_SMALL:
        return Frozen(*small)
    fields_of = fields_reader(kind)
    if fields_of is not None and _stack_is_guarded():
        return _record(value, fields_of(value, kind), limits)
    return _walk(value, limits, limits.value)


def _record(value: Any, fields: dict[str, Any], limits: Limits) -> Frozen:
    """An object with these fields, packed where Python guards the stack."""
    if len(fields) > limits.value // _ITEM_SIZE or _holds_huge(fields, limits.value):
        return _walk(value, limits, limits.value)
    try:
        content = pack(value, limits, True)
    except _NOT_PACKED as error:
        return _not_packed(value, fields, limits, error)
    return Frozen(content, len(content), "packed")


def _are_vast(rows: list[Any] | tuple[Any, ...], most: int) -> bool:
    """Whether rows hold so many items that packing them would be stopped: at a byte for each, at least.

    One row again and again is packed once.
    """
    room = 2 * most
    if len(rows) * len(rows[-1]) <= room or rows[0] is rows[-1]:
        return False
    return sum(len(row) for row in rows if type(row) is list) > room


def _packed_or_walked(value: Any, limits: Limits) -> Frozen:
    """A copy that is packed; one that is made by walking the value where that is safer.

    It is walked if it holds very many items, or a huge text or number, which the packer would encode as a
    whole before its writer could stop it; or, where Python does not guard the stack itself, too many levels.
    """
    most = limits.value
    if len(value) > most // _ITEM_SIZE:
        return _walk(value, limits, max(most // _VAST_SHARE, 1))
    if _holds_huge(value, most):
        return _walk(value, limits, most)
    try:
        if _LOOKS_AT_THE_STACK or (_COUNTS_LEVELS and sys.getrecursionlimit() <= _GUARDED_LEVELS):
            content = pack(value, limits, True)
        elif limit := _deep_limit(value, limits):
            return _walk(value, limits, limit)
        else:
            content = pack(value, limits, False)
    except _NOT_PACKED as error:
        return _not_packed(value, value, limits, error)
    return Frozen(content, len(content), "packed")


_NOT_PACKED = (TooLarge, ValueError, RecursionError, pickle.PicklingError)


def _not_packed(value: Any, items: Any, limits: Limits, error: Exception) -> Frozen:
    """A copy of a value that cannot be packed; `items` is the container that it is, or holds."""
    if type(error) is not TooLarge and thrown_in(error):
        raise error
    limit = limits.value
    if type(error) is TooLarge and not _is_made_so_by_one(items, limit):
        limit = max(limit // _VAST_SHARE, 1)
    return _walk(value, limits, limit)


def _stack_is_guarded() -> bool:
    """Whether Python stops a deep value before 256 KB of the stack are used.

    3.11 counts levels against the recursion limit, 3.14 looks at the stack. In between, C code may go 10,000
    levels deep, for which threads have too little.
    """
    return _LOOKS_AT_THE_STACK or (_COUNTS_LEVELS and sys.getrecursionlimit() <= _GUARDED_LEVELS)


def _holds_huge(  # noqa: C901 - all in one loop: it is asked at every call with a container
    value: Any, most: int
) -> bool:
    """Whether a huge text or number is seen in a container by a short look into it.

    Of a list the last item is looked at, and a short one's first, of a mapping some values and the last key,
    level by level, until `_LOOKED_INTO` containers were looked into: to look at every item costs more than to
    pack it. The packer encodes at most one huge text that is not seen, half a millisecond for each million
    characters that are not ASCII, and is stopped by it.
    """
    containers: list[Any] = [value]
    items: Any
    for one in containers:  # which grow meanwhile
        kind = type(one)
        if kind is dict:
            items = one.values() if len(one) <= _FLAT_ITEMS else islice(one.values(), _FLAT_ITEMS)
            for key in reversed(one):
                if type(key) is not str:
                    items = (*items, key)
                elif len(key) > most:
                    return True
                break
        elif kind is list:
            items = one if len(one) <= 2 else one[-1:]
        else:
            items = islice(one, _FLAT_ITEMS)
        for item in items:
            kind = type(item)
            if kind is str:
                if len(item) > most:
                    return True
            elif kind is float:
                pass
            elif kind is dict or kind is list or kind is tuple or kind is set or kind is frozenset:
                if len(containers) < _LOOKED_INTO:
                    containers.append(item)
            elif kind is int and not _LEAST_INT < item < _HUGE_INT:
                return True
    return False


def _is_made_so_by_one(value: Any, most: int) -> bool:
    """Whether a huge text or number is seen in a longer look into a container that was too large to pack."""
    containers: list[Any] = [value]
    room = _SEARCHED_ITEMS
    for one in containers:  # which grow meanwhile
        items = [*islice(one.values() if type(one) is dict else one, _SEARCHED_OF_ONE)]
        if type(one) is not set and type(one) is not frozenset:
            items += islice(reversed(one), 1)  # the last item, or key
        kinds = {*map(type, items)}
        if str in kinds and any(type(item) is str and len(item) > most for item in items):
            return True
        if int in kinds and any(type(item) is int and not _LEAST_INT < item < _HUGE_INT for item in items):
            return True
        room -= len(items)
        if room < 0:
            return False
        if not kinds.isdisjoint(_CONTAINERS):
            containers += [item for item in items if type(item) in _CONTAINERS]
    return False


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
