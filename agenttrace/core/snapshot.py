"""`snapshot`: a bounded copy of any value, walked part by part without running any of its own code.

A recorded value must not change when the caller mutates a list later, must not cost more than a bound, and
must never call a user's `__repr__`, property, `model_dump` or iterator. So a snapshot looks at exact types
only: builtin containers are walked, builtin scalars kept, a short list of immutable library types is written
as text, dataclasses and pydantic models are read from their instance dictionary, and everything else becomes
``{"$type": "module.Name"}``.

`core.marks` has the marks for what is left out, `core.tagged` the form of values that JSON has no word for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from agenttrace.core.handlers import handler_of, note_trouble
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.library_values import BoundedHandler
from agenttrace.core.limits import RECORDED, Limits
from agenttrace.core.marks import TRUNCATED, bytes_data, cause_of, cut, inside_itself, left_out, not_opened
from agenttrace.core.reading_types import (
    bases_of,
    inherits,
    record_fields,
    type_name,
)
from agenttrace.core.stand_ins import Fields, kind_name, unused_key
from agenttrace.core.tagged import escaped, int_data, int_text, may_be_ours, untagged

Digest = Callable[[str | bytes], str | None]
"""The digest of a text, or of bytes, that is going to be cut; None for none."""

EXACT_INT = 1 << 53
"""Integers up to here are counted as one item of a value; the digits of larger ones are counted."""

LEAVES = frozenset({str, int, float, bool, type(None)})
READ_AS_BUILTIN = frozenset(
    {str, int, float, list, tuple, set, frozenset, dict, bytes, bytearray, memoryview}
)
"""Builtin types whose subclasses are read by the builtin's own methods."""

_BRACKETS_SIZE = 8
_ITEM_SIZE = 8
_READ_SIZE = 32
_MOST_SORTED = 20_000
_MARK_SIZE = 16
MOST_REPEATED = 65_536
"""Containers that are walked again, in one value of the user's, because it holds what they stand in twice. A
list that holds one list twice, which does so too, and so on, is tiny, and has a million of them."""
_MOST_BEHIND, _SHARE_BEHIND, _EFFORT_BEHIND = 2_048, 8, 4
"""Characters that mappings keep behind what is cut, together, an eighth of a value's at most; and how many
times as many are walked for them."""


def snapshot(
    value: Any, limit: int | None = None, *, limits: Limits = RECORDED, digest: Digest | None = None
) -> tuple[Any, int]:
    """Return the bounded copy of a value and its approximate size in characters. Never raises.

    The copy of a copy is the same: marks and tagged values in it stay what they are. `limit` is the size, by
    default that of the limits. What is cut in it keeps the digest that `digest` returns.
    """
    return _walked(value, _Budget(limits.value if limit is None else limit, limits, digest))


def first_snapshot(
    value: Any, limit: int | None = None, *, limits: Limits = RECORDED, digest: Digest | None = None
) -> tuple[Any, int]:
    """A snapshot of what the user's program passed: a mapping in it that looks like a mark is escaped."""
    return _walked(value, _FirstBudget(limits.value if limit is None else limit, limits, digest))


def _walked(value: Any, budget: _Budget) -> tuple[Any, int]:
    limit = budget.remaining
    try:
        copy = budget.walk(value, 0)
    except Exception as error:  # choke-point: changed while read, no stack left
        if thrown_in(error):
            raise
        copy = not_opened(type_name(type(value)))
    return copy, limit - budget.remaining


class _Budget:
    """One walk: the characters that remain, and the containers that are open on the path."""

    __slots__ = ("again", "behind", "digest", "limits", "open", "remaining", "repeats", "walked")
    most_repeated = 1 << 62

    def __init__(self, limit: int, limits: Limits, digest: Digest | None) -> None:
        self.remaining = limit
        self.limits = limits
        self.digest = digest
        self.open: set[int] = set()
        self.behind = min(_MOST_BEHIND, limit // _SHARE_BEHIND)
        self.walked: dict[int, Any] = {}
        self.again = False  # inside what was walked before
        self.repeats = self.most_repeated

    def walk(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            size = len(value)
            if size > self.remaining:
                return self._cut(value, self.digest)
            self.remaining -= size + 2
            return value
        if kind is int and not -EXACT_INT < value < EXACT_INT:
            return self._long_int(value)
        if kind is int or kind is bool or value is None or kind is float:
            self.remaining -= 8
            return value
        if kind is dict or kind is list or kind is tuple:
            return self._container(value, kind, depth)
        handler = handler_of(kind)
        if handler is not None:
            if depth >= self.limits.depth:
                return left_out("depth")
            try:
                if isinstance(handler, BoundedHandler):
                    content = handler.read(value, max(self.remaining // _ITEM_SIZE, 1), self.limits.items)
                else:
                    content = handler(value)
            except BaseException as error:  # choke-point: a handler of the user's, an unmade object
                if thrown_in(error):
                    raise
                return self._unread(kind, f"raised {type_name(type(error))}")
            if content is value:
                return self._unread(kind, "returned the value itself")
            self.remaining -= _READ_SIZE
            return self._content(content, depth + 1)
        return self._other(value, kind, depth)

    def _unread(self, kind: type, trouble: str) -> Any:
        """The mark of an object that its handler did not read."""
        name = type_name(kind)
        note_trouble(name, f"its handler {trouble}")
        self.remaining -= 32
        return not_opened(name)

    def _content(self, content: Any, depth: int) -> Any:
        """What a handler returned."""
        return self.walk(content, depth)

    def _long_int(self, value: int) -> Any:
        data = int_data(value, self.remaining)
        self.remaining -= value.bit_length() // 3 if data is value else len(data["$int"]) + _MARK_SIZE
        return data

    def _text(self, text: str) -> str:
        size = len(text)
        if size <= self.remaining:
            self.remaining -= size + 2
            return text
        return self._cut(text)

    def _cut(self, text: str, digest: Digest | None = None) -> str:
        room = max(self.remaining, 0)
        self.remaining -= room + 16
        return cut(text, room, None if digest is None else digest(text))

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        if kind is dict:
            if len(value) <= 2 and self._is_mark(value):
                self.remaining -= _MARK_SIZE + sum(len(part) for part in value.values() if type(part) is str)
                return value.copy()
            leaf: Any = self._leaf_dict(value)
            items: Any = self._pairs
        else:
            leaf = self._leaf_list(value)
            items = self._list_items if kind is list else self._tuple_items
        if leaf and self.again:
            self._count_again()
        return leaf or self._nested(value, depth, items)

    def _is_mark(self, value: dict[Any, Any]) -> bool:
        """Whether a mapping is a mark, or a tagged value, which is copied as a whole."""
        return may_be_ours(value) and (cause_of(value) is not None or untagged(value) is not value)

    def _leaf_dict(self, value: dict[Any, Any]) -> dict[str, Any] | None:
        """Copy a dict of scalars under text keys; None where it is not one, or too large for what is left."""
        if not 0 < len(value) <= self.limits.items:
            return None
        copy: dict[str, Any] = value.copy()
        size = 8 * len(copy)
        for key, item in copy.items():
            kind = type(item)
            if kind is str:
                size += len(item)
            elif kind is int:
                if not -EXACT_INT < item < EXACT_INT:
                    return None
            elif not (item is None or kind is float or kind is bool):
                return None
            if type(key) is not str:
                return None
            size += len(key)
        return self._own(copy) if self._spend(size) else None

    def _own(self, copy: dict[str, Any]) -> dict[str, Any]:
        """The copy of a mapping."""
        return copy

    def _leaf_list(self, value: list[Any] | tuple[Any, ...]) -> list[Any] | None:
        if not 0 < len(value) <= self.limits.items:
            return None
        copy = list(value)
        size = 8 * len(copy)
        for item in copy:
            kind = type(item)
            if kind is str:
                size += len(item)
            elif kind is int:
                if not -EXACT_INT < item < EXACT_INT:
                    return None
            elif not (item is None or kind is float or kind is bool):
                return None
        return copy if self._spend(size) else None

    def _spend(self, size: int) -> bool:
        if size > self.remaining:
            return False
        self.remaining -= size
        return True

    def _nested(self, value: Any, depth: int, copy: Callable[[Any, int], Any]) -> Any:
        if depth >= self.limits.depth:
            self.remaining -= _MARK_SIZE
            return left_out("depth")
        if id(value) in self.open:
            self.remaining -= _MARK_SIZE
            return inside_itself(kind_name(value))
        # Counted even where it holds nothing: a container that stands twice in each level is 2^20 of them.
        self.remaining -= _BRACKETS_SIZE
        self.open.add(id(value))
        before = self.again
        if id(value) in self.walked:
            self.again = True
            self._count_again()
        else:
            self.walked[id(value)] = value  # which keeps its id from becoming another's
        try:
            return copy(value, depth + 1)
        finally:
            self.open.discard(id(value))
            self.again = before

    def _count_again(self) -> None:
        """Count a container that is walked again; of too many, nothing more is kept."""
        self.repeats -= 1
        if self.repeats < 0:
            self.remaining = min(self.remaining, 0)

    def _pairs(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        most, size = self.limits.items, dict.__len__(value)
        left = self._left_out_of(dict.get(value, TRUNCATED)) if size > 1 else 0
        if size <= most and type(value) is dict:
            pairs = list(value.copy().items())
        else:
            pairs = list(islice(dict.items(value), most + 1))
        if left:
            pairs = [pair for pair in pairs if type(pair[0]) is not str or pair[0] != TRUNCATED]
        copy: dict[str, Any] = {}
        for key, item in pairs[:most]:
            text = self._key(key, copy, depth)
            if self.remaining <= 0 or len(text) > self.remaining:
                break  # a key that was cut would be another
            self.remaining -= len(text) + 2
            copy[text] = self.walk(item, depth)
        if self.remaining <= 0 and copy and self.behind:
            self._keep_small(pairs[len(copy) : most], copy, depth)
        missing = size - bool(left) - len(copy) + left
        if not missing:
            return self._own(copy)
        return self._own(copy) | left_out(missing) if copy else left_out("span")

    def _keep_small(self, pairs: list[tuple[Any, Any]], copy: dict[str, Any], depth: int) -> None:
        """Add the small ones of some entries to a copy that has no more room: what stands behind rows or a
        text says what they are, such as the names of columns, by which redaction finds secrets in them."""
        remaining, left, self.behind = self.remaining, self.behind, 0
        room = left // 2  # what the mapping itself stands in has small parts, too
        most, effort = room, _EFFORT_BEHIND * room
        for key, item in pairs:
            if effort <= 0:
                break
            if type(key) is not str or key in copy or len(key) >= room:
                effort -= _ITEM_SIZE
                continue
            self.remaining = room - len(key)
            content = self.walk(item, depth)
            effort -= room - self.remaining
            if self.remaining > 0:
                copy[key], room = content, self.remaining
        self.remaining, self.behind = remaining, left - (most - room)

    def _key(self, key: Any, entries: dict[str, Any], depth: int) -> str:
        """A key as text, which no other entry has yet."""
        if type(key) is str:
            text = key
        elif type(key) is int:
            text = int_text(key)
        elif type(key) is float:
            text = int_text(int(key)) if abs(key) < EXACT_INT and key.is_integer() else str(key)
        elif key is None or type(key) is bool:
            text = {None: "null", True: "true", False: "false"}[key]
        elif type(key) is bytes and key.isascii():
            text = key.decode("ascii")
        else:
            kind = kind_name(key)
            content = self.walk(key, depth)
            if kind.startswith("numpy.") and type(content) in (int, float, bool):
                return self._key(content, entries, depth)
            # A text of any class is known by its characters: a secret's name is one in an enum, too.
            text = content if type(content) is str else f"{kind} {content!r}"
        return unused_key(text, key, entries) if text in entries else text

    def _list_items(self, value: Any, depth: int) -> list[Any]:
        size = list.__len__(value)
        last = list.__getitem__(value, -1) if size else None
        left = self._left_out_of(last.get(TRUNCATED)) if type(last) is dict and len(last) == 1 else 0
        if not left:
            return self._take(list.__iter__(value), size, depth)
        return self._take(list.__iter__(value), size - 1, depth, left)

    def _left_out_of(self, count: Any) -> int:
        """How many items a mark at the end of a container that was cut before stands for."""
        return count if type(count) is int and count > 0 else 0

    def _tuple_items(self, value: Any, depth: int) -> list[Any]:
        return self._take(tuple.__iter__(value), tuple.__len__(value), depth)

    def _members(self, value: Any, depth: int) -> Any:
        base: Any = set if inherits(bases_of(type(value)), set) else frozenset
        size, most = base.__len__(value), self.limits.items
        if size > max(most, _MOST_SORTED):
            return left_out("span")  # which of them come first in order would take too long to find out
        scalars, others = _split_scalars(base.__iter__(value))
        copy = self._take(iter(scalars), len(scalars), depth) if scalars else []
        if len(scalars) < size and (size > most or (copy and len(copy) > len(scalars))):
            return left_out("span")
        # Sorted by their text: objects have no order that is the same in every process.
        before = self.remaining
        copy += sorted((self.walk(item, depth) for item in others), key=repr)
        return left_out("span") if others and self.remaining < 0 < before else copy

    def _take(self, items: Iterator[Any], size: int, depth: int, left: int = 0) -> list[Any]:
        """The first of `size` items, with a mark for the rest; `left` more were left out before."""
        copy: list[Any] = []
        for item in islice(items, min(size, self.limits.items)):
            if self.remaining <= 0:
                break
            copy.append(self.walk(item, depth))
        if len(copy) < size or left:
            copy.append(left_out(size - len(copy) + left))
        return copy

    def _other(self, value: Any, kind: type, depth: int) -> Any:
        """Read a subclass by the builtin's own methods, a record by its dictionary, else name the type."""
        if kind is Fields:
            return self._nested(value, depth, lambda record, d: self._pairs(record.content, d))
        bases = bases_of(kind)
        builtin = next((base for base in bases if type(base) is type and base in READ_AS_BUILTIN), None)
        fields = record_fields(value, bases) if builtin is None or builtin is tuple else None
        if fields is not None:
            return self._nested(value, depth, lambda _, d: self._pairs(fields, d))
        if builtin is str:
            return self._text(str.__str__(value))
        if builtin is int:
            return self.walk(int.__int__(value), depth)
        if builtin is float:
            return self.walk(float.__float__(value), depth)
        if builtin is list:
            return self._nested(value, depth, self._list_items)
        if builtin is tuple:
            return self._nested(value, depth, self._tuple_items)
        if builtin is set or builtin is frozenset:
            return self._nested(value, depth, self._members)
        if builtin is dict:
            return self._nested(value, depth, self._pairs)
        if builtin is not None:
            return self._bytes(value)
        self.remaining -= 32
        return not_opened(type_name(kind))

    def _bytes(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        most = min(self.limits.bytes, max(self.remaining, 0))
        if kind is bytes or kind is bytearray or kind is memoryview:
            view = memoryview(value)
            head = bytes(view.cast("B")[:most]) if view.contiguous else b""
            size = view.nbytes
        else:  # from Python 3.12 on a subclass may have a `__buffer__` of its own
            base: Any = bytes if inherits(bases_of(kind), bytes) else bytearray
            head, size = bytes(base.__getitem__(value, slice(most))), base.__len__(value)
        self.remaining -= len(head) * 4 // 3 + 32
        whole = kind is bytes and len(head) < size and self.digest is not None
        return bytes_data(head, size, self.digest(value) if whole and self.digest is not None else None)


class _FirstBudget(_Budget):
    """A walk through the user's own values, in which no mapping is a mark yet."""

    __slots__ = ()
    most_repeated = MOST_REPEATED

    def _own(self, copy: dict[str, Any]) -> dict[str, Any]:
        return escaped(copy) if copy and min(copy) < "%" else copy  # "$" comes before it

    def _left_out_of(self, count: Any) -> int:
        return 0

    def _is_mark(self, value: dict[Any, Any]) -> bool:
        return False

    def _content(self, content: Any, depth: int) -> Any:
        if type(content) in LEAVES:
            return self.walk(content, depth)
        rest = _Budget(self.remaining, self.limits, self.digest)
        rest.open, rest.behind, rest.again, rest.repeats = self.open, self.behind, self.again, self.repeats
        data = rest.walk(content, depth)
        self.remaining, self.repeats = rest.remaining, rest.repeats
        return data


def in_stable_order(members: Iterable[Any]) -> list[Any]:
    """The members of a set in an order that does not depend on the hash seed."""
    scalars, others = _split_scalars(iter(members))
    return [*scalars, *sorted(others, key=lambda item: repr(snapshot(item)[0]))]


def _split_scalars(items: Iterator[Any]) -> tuple[list[Any], list[Any]]:
    """The scalar members of a set in an order that does not depend on the hash seed, and the others."""
    scalars: list[Any] = []
    others: list[Any] = []
    for item in items:
        (scalars if type(item) in LEAVES and item == item else others).append(item)
    return sorted(scalars, key=lambda item: (type_name(type(item)), item if item is not None else 0)), others
