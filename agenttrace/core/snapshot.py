"""A bounded copy of any value, made without running any of the value's own code.

What a traced call records must not change when the caller mutates a list later, must not cost more than a
bound, and must never call `__repr__`, a property, `model_dump` or an iterator of the user's. So a snapshot
looks at exact types only: builtin containers are walked, builtin scalars kept, a short list of immutable
library types is written as text, dataclasses and pydantic models are read from their instance dictionary,
and everything else becomes ``{"$type": "module.Name"}``.

Marks in a snapshot: ``{"$type": …}`` an object that was not opened, ``{"$cycle": …}`` a container inside
itself, ``{"$truncated": n}`` n items, or a level, left out, ``…[+n chars]`` at the end of a cut string,
``{"$bytes": base64, "size": n}``.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

MAX_DEPTH = 20
MAX_ITEMS = 1_000
MAX_VALUE_SIZE = 64 * 1024
"""Characters of text, plus a few for each other item, that one value may keep."""

LEAVES = frozenset({str, int, float, bool, type(None)})
_TEXT_KEYS = frozenset({str})
_HEAD_BYTES = 1024

Handler = Callable[[Any], Any]
_handlers: dict[type, Handler | None] = {}


def register_snapshot(kind: type, handler: Handler) -> None:
    """Record values of exactly this type through `handler`, which returns builtin values.

    The handler runs on the traced call's own thread: keep it short. What it raises is caught, and the value
    is recorded as its type.
    """
    _handlers[kind] = handler


def snapshot(value: Any, limit: int = MAX_VALUE_SIZE) -> tuple[Any, int]:
    """Return the bounded copy of a value and its approximate size in characters. Never raises."""
    budget = _Budget(limit)
    try:
        copy = budget.walk(value, 0)
    except Exception:  # choke-point: hostile metaclass, changed while read, no stack left
        copy = {"$type": type_name(type(value))}
    return copy, limit - budget.left


def type_name(kind: type) -> str:
    """``module.QualName`` of a type, read past any metaclass of the user's."""
    try:
        name: str = _TYPE_QUALNAME(kind)
        module = _TYPE_DICT(kind).get("__module__", "")
    except Exception:  # choke-point: a type that hides even these
        return "object"
    if not isinstance(module, str) or module in ("", "builtins"):
        return name
    return f"{module}.{name}"


_TYPE_QUALNAME: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_TYPE_DICT: Callable[[type], Any] = type.__dict__["__dict__"].__get__
_TYPE_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__


class _Budget:
    """One walk: the characters left and the containers that are open on the path."""

    __slots__ = ("left", "open")

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.open: set[int] = set()

    def walk(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value)
        if kind is int or kind is bool or value is None or kind is float:
            self.left -= 8
            return value
        if kind is dict or kind is list or kind is tuple:
            return self._container(value, kind, depth)
        handler = _handlers.get(kind, _UNSEEN)
        if handler is _UNSEEN:
            handler = _handlers[kind] = _find_handler(kind)
        if handler is not None:
            return self.walk(handler(value), depth + 1) if depth < MAX_DEPTH else {"$truncated": "depth"}
        return self._other(value, kind, depth)

    def _text(self, text: str) -> str:
        size = len(text)
        if size <= self.left:
            self.left -= size + 2
            return text
        kept = max(self.left, 0)
        self.left -= kept + 16
        return f"{text[:kept]}…[+{size - kept} chars]"

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        if kind is dict:
            return self._leaf_dict(value) or self._nested(value, depth, self._pairs)
        return self._leaf_list(value) or self._nested(value, depth, self._items)

    def _leaf_dict(self, value: dict[Any, Any]) -> dict[str, Any] | None:
        """Copy a small dict of scalars at C speed, or return None: not one, or too large for what is left."""
        if not 0 < len(value) <= MAX_ITEMS:
            return None
        copy = value.copy()
        kinds = set(map(type, copy.values()))
        if not (kinds <= LEAVES and set(map(type, copy)) == _TEXT_KEYS):
            return None
        size = 8 * len(copy) + sum(map(len, copy))
        if str in kinds:
            size += sum([len(item) for item in copy.values() if type(item) is str])
        return self._spend(copy, size)

    def _leaf_list(self, value: list[Any] | tuple[Any, ...]) -> list[Any] | None:
        if not 0 < len(value) <= MAX_ITEMS:
            return None
        copy = list(value)
        kinds = set(map(type, copy))
        if not kinds <= LEAVES:
            return None
        size = 8 * len(copy)
        if str in kinds:
            size += sum([len(item) for item in copy if type(item) is str])
        return self._spend(copy, size)

    def _spend(self, copy: Any, size: int) -> Any:
        if size > self.left:
            return None
        self.left -= size
        return copy

    def _nested(self, value: Any, depth: int, copy: Callable[[Any, int], Any]) -> Any:
        if depth >= MAX_DEPTH:
            return {"$truncated": "depth"}
        if id(value) in self.open:
            return {"$cycle": type_name(type(value))}
        self.open.add(id(value))
        try:
            return copy(value, depth + 1)
        finally:
            self.open.discard(id(value))

    def _pairs(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        size = dict.__len__(value)
        if size <= MAX_ITEMS and type(value) is dict:
            pairs = list(value.copy().items())
        else:
            pairs = list(islice(dict.items(value), MAX_ITEMS))
        copy: dict[str, Any] = {}
        for key, item in pairs:
            if self.left <= 0:
                break
            copy[self._key(key, copy, depth)] = self.walk(item, depth)
        if len(copy) < size:
            copy["$truncated"] = size - len(copy)
        return copy

    def _key(self, key: Any, taken: dict[str, Any], depth: int) -> str:
        if type(key) is str:
            text = self._text(key)
        elif key is None or type(key) in (bool, int, float):
            text = self._text(_SCALAR_KEYS.get(key, str(key)) if type(key) is not int else _int_text(key))
        else:
            text = self._text(f"{type_name(type(key))} {self.walk(key, depth)!r}")
        while text in taken:
            text += f" ({type_name(type(key))})"
        return text

    def _items(self, value: Any, depth: int) -> list[Any]:
        return self._take(iter(value), len(value), depth)

    def _take(self, items: Iterator[Any], size: int, depth: int) -> list[Any]:
        copy: list[Any] = []
        for item in islice(items, MAX_ITEMS):
            if self.left <= 0:
                break
            copy.append(self.walk(item, depth))
        if len(copy) < size:
            copy.append({"$truncated": size - len(copy)})
        return copy

    def _other(self, value: Any, kind: type, depth: int) -> Any:
        """Subclasses of builtins by the builtin's own methods; records by their dictionary; else the type."""
        bases = _TYPE_MRO(kind)
        if str in bases:
            return self._text(str.__str__(value))
        if int in bases:
            return self.walk(int.__int__(value), depth)
        if float in bases:
            return self.walk(float.__float__(value), depth)
        for base, items in _ITERATIONS:
            if base in bases:
                return self._nested(
                    value, depth, lambda v, d, b=base, i=items: self._take(i(v), b.__len__(v), d)
                )
        if dict in bases:
            return self._nested(value, depth, self._pairs)
        if bytes in bases or bytearray in bases or memoryview in bases:
            return self._bytes(value)
        fields = _record_fields(value, kind, bases)
        if fields is not None:
            return self._nested(value, depth, lambda _, d: self._pairs(fields, d))
        self.left -= 32
        return {"$type": type_name(kind)}

    def _bytes(self, value: Any) -> dict[str, Any]:
        view = memoryview(value)
        head = bytes(view.cast("B")[:_HEAD_BYTES]) if view.contiguous else b""
        self.left -= len(head) * 4 // 3 + 32
        return {"$bytes": base64.b64encode(head).decode(), "size": view.nbytes}


def _unseen(value: Any) -> Any:
    raise TypeError(f"no handler was looked up for {type(value)}")


_UNSEEN: Handler = _unseen
_SCALAR_KEYS: dict[Any, str] = {None: "null", True: "true", False: "false"}
_ITERATIONS: tuple[tuple[Any, Callable[[Any], Iterator[Any]]], ...] = (
    (list, list.__iter__),
    (tuple, tuple.__iter__),
    (set, lambda value: iter(_ordered(set.__iter__(value)))),
    (frozenset, lambda value: iter(_ordered(frozenset.__iter__(value)))),
)


def _ordered(items: Iterator[Any]) -> list[Any]:
    """Set members in an order that does not depend on the hash seed; unlike kinds are grouped by type."""
    taken = list(islice(items, MAX_ITEMS))
    scalar = [item for item in taken if type(item) in LEAVES and item == item]  # noqa: PLR0124 - leaves NaN out
    rest = [item for item in taken if not (type(item) in LEAVES and item == item)]  # noqa: PLR0124
    return sorted(scalar, key=lambda item: (type_name(type(item)), item if item is not None else 0)) + rest


def _int_text(value: int) -> str:
    # str() refuses beyond 4,300 digits, which is a setting of the interpreter's and not an error of the user's.
    return str(value) if value.bit_length() < 10_000 else hex(value)


def _record_fields(value: Any, kind: type, bases: tuple[type, ...]) -> dict[str, Any] | None:
    """The fields of a dataclass or pydantic model, read from its instance dictionary without its own code."""
    pydantic = sys.modules.get("pydantic.main")
    is_model = pydantic is not None and getattr(pydantic, "BaseModel", None) in bases
    if not is_model and not any("__dataclass_fields__" in _TYPE_DICT(base) for base in bases):
        return None
    if any(
        "__dict__" in _TYPE_DICT(base) for base in bases if type(_TYPE_DICT(base).get("__dict__")) is property
    ):
        return None
    try:
        fields = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return _slot_fields(value, bases)
    return fields if type(fields) is dict else None


def _slot_fields(value: Any, bases: tuple[type, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for base in reversed(bases):
        for name, member in _TYPE_DICT(base).items():
            if type(member) is _MEMBER:
                try:
                    fields[name] = member.__get__(value)
                except AttributeError:  # a slot that was never set
                    continue
    return fields


class _Slotted:
    __slots__ = ("slot",)


_MEMBER = type(_Slotted.__dict__["slot"])


def _find_handler(kind: type) -> Handler | None:
    """How a well-known immutable type of the standard library is written, or None."""
    for module, name, handler in _WELL_KNOWN:
        loaded = sys.modules.get(module)
        if loaded is not None and getattr(loaded, name, None) is kind:
            return handler
    enum = sys.modules.get("enum")
    if enum is not None and enum.Enum in _TYPE_MRO(kind):
        return _enum_value
    return None


def _enum_value(value: Any) -> Any:
    return object.__getattribute__(value, "__dict__").get("_value_")


def _moment(value: Any) -> str:
    zone = value.tzinfo
    if zone is not None and type_name(type(zone)) not in ("datetime.timezone", "zoneinfo.ZoneInfo"):
        value = value.replace(tzinfo=None)  # a zone of the user's would run code
    text: str = value.isoformat()
    return text


_WELL_KNOWN: tuple[tuple[str, str, Handler], ...] = (
    ("datetime", "datetime", _moment),
    ("datetime", "date", lambda value: value.isoformat()),
    ("datetime", "time", _moment),
    ("datetime", "timedelta", str),
    ("uuid", "UUID", str),
    ("decimal", "Decimal", str),
    ("fractions", "Fraction", str),
    ("pathlib", "PosixPath", str),
    ("pathlib", "WindowsPath", str),
    ("pathlib", "PurePosixPath", str),
    ("pathlib", "PureWindowsPath", str),
    ("builtins", "complex", str),
    ("builtins", "range", str),
    ("builtins", "slice", lambda value: {"$type": "slice"}),
    ("re", "Pattern", lambda value: value.pattern),
    ("collections", "deque", lambda value: list(islice(value, MAX_ITEMS + 1))),
)
