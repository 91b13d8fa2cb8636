"""Read values that are no builtins (dataclasses, models, dates, enums) without running code of the user's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from operator import is_
from typing import Any

from agenttrace.core.interruptions import thrown_in
from agenttrace.core.library_values import BoundedHandler, library_handler, library_member
from agenttrace.core.marks import left_out, not_opened
from agenttrace.core.tagged import decimal_data

Handler = Callable[[Any], Any]
Reader = Callable[[Any, type], Any]


def type_name(kind: type) -> str:
    """``module.QualName`` of a type, read past any metaclass of the user's."""
    try:
        name: str = _qualname(kind)
        module = _module(kind)
    except Exception as error:  # choke-point: a type that hides even these
        if thrown_in(error):
            raise
        return "object"
    if not isinstance(module, str) or module in ("", "builtins"):
        return name
    return f"{module}.{name}"


_qualname: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_module: Callable[[type], Any] = type.__dict__["__module__"].__get__
dict_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__
bases_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__


def is_hashable(kind: type) -> bool:
    """Whether a class can be looked up in a dictionary without running code of its metaclass."""
    if type(kind) is type:
        return True
    for base in bases_of(type(kind)):
        if base is type:
            return True
        names = dict_of(base)
        if "__hash__" in names or "__eq__" in names:
            return False
    return False


def inherits(bases: tuple[type, ...], kind: Any) -> bool:
    """Whether `kind` is among the bases. Compares by identity: ``in`` would call a user's metaclass."""
    return any(base is kind for base in bases)


_DATACLASS_FIELDS = ("__dataclass_fields__",)
_MODEL_FIELDS = ("__pydantic_fields__", "model_fields", "__fields__")
"""Where a model keeps its fields: the newest pydantic first."""

_EXTRA = "__pydantic_extra__"


def record_fields(value: Any, bases: tuple[type, ...]) -> dict[str, Any] | None:
    """The fields of a dataclass or pydantic model, read from its dictionary and slots without its own code;
    those of a named tuple.

    What else its dictionary holds (a cached property, say) is no part of it. All of it but what stands under
    the name of a method or property is read where a property keeps a field under another name, in a subclass
    that is no dataclass itself, and where pydantic keeps extra fields there.
    """
    if inherits(bases, tuple):
        return _items_by_name(value, bases)
    is_model = inherits(bases, library_member("pydantic.main", "BaseModel"))
    names = _declared(bases, _MODEL_FIELDS if is_model else _DATACLASS_FIELDS)
    if names is None or not _dict_is_own(bases):
        return None
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    if type(attributes) is not dict:
        return None
    stored = attributes.copy()
    fields = {name: item for name, item in stored.items() if type(name) is str and name in names}
    keeps_more = not is_model and _keeps_more(bases)
    for name in (*names, _EXTRA) if is_model else names:
        if name not in fields:
            attribute = _class_attribute(name, bases)
            if type(attribute) is _MEMBER:
                _add_slot(fields, name, attribute, value)
            elif name == _EXTRA or _has(attribute, "__set__"):
                keeps_more = True
    if is_model and _EXTRA in fields:
        extra = fields.pop(_EXTRA)
        return fields | extra if type(extra) is dict else fields
    if keeps_more:
        fields |= {
            name: item
            for name, item in (*_slots(value, bases).items(), *stored.items())
            if type(name) is str and name[:2] != "__" and not _has(_class_attribute(name, bases), "__get__")
        }
    return fields


def quick_reader(kind: type) -> Reader | None:
    """What reads objects of a class as `record_fields` does, or its enum's members, in a tenth of the time.

    It raises LookupError or AttributeError for an object that is not as most are: `record_fields` is to read
    it. None where it is to read every object of the class. It keeps no class alive.
    """
    bases = bases_of(kind)
    if not _dict_is_own(bases):
        return None
    if inherits(bases, library_member("enum", "Enum")):
        return lambda value, _: _own_dict(value)["_value_"]
    base_model = library_member("pydantic.main", "BaseModel")
    is_model = inherits(bases, base_model)
    for place in _MODEL_FIELDS if is_model else _DATACLASS_FIELDS:
        names = dict_of(kind).get(place)
        if type(names) is dict and all(type(name) is str and name.isidentifier() for name in names):
            break
    else:
        return None
    if is_model:
        extra = dict_of(base_model).get(_EXTRA)
        if type(extra) is _MEMBER and _class_attribute(_EXTRA, bases) is extra:
            return lambda value, kind: _declared_fields(value, kind, place, extra)
        return None
    if _keeps_more(bases):
        return None
    if any("__dict__" in dict_of(base) for base in bases):
        return lambda value, kind: _declared_fields(value, kind, place)
    return _declared_slots


def _declared_fields(value: Any, kind: type, place: str, extra: Any = None) -> dict[str, Any]:
    """The declared fields of an object, all of which are in its dictionary, and `extra` has no more."""
    names, stored = dict_of(kind)[place], _own_dict(value).copy()
    fields = stored
    if len(stored) != len(names) or not all(map(is_, stored, names)):  # as nearly always: the very same texts
        fields = {name: item for name, item in stored.items() if type(name) is str and name in names}
    if len(fields) < len(names) or (extra is not None and not _is_empty(extra.__get__(value))):
        raise LookupError("other fields than declared")
    return fields


def _declared_slots(value: Any, kind: type) -> dict[str, Any]:
    of_class = dict_of(kind)
    slots = {name: of_class[name] for name in of_class["__dataclass_fields__"]}
    if not all(type(slot) is _MEMBER for slot in slots.values()):
        raise LookupError("other fields than declared")
    return {name: slot.__get__(value) for name, slot in slots.items()}


def _is_empty(extra: Any) -> bool:
    return extra is None or (type(extra) is dict and not extra)


def _own_dict(value: Any) -> dict[str, Any]:
    attributes = object.__getattribute__(value, "__dict__")
    if type(attributes) is not dict:
        raise LookupError("other fields than declared")
    return attributes


def _items_by_name(value: tuple[Any, ...], bases: tuple[type, ...]) -> dict[str, Any] | None:
    """The items of a named tuple by the names of its fields; None for any other tuple."""
    names = next((names for base in bases if (names := dict_of(base).get("_fields")) is not None), None)
    if type(names) is not tuple or not names or len(names) != tuple.__len__(value):
        return None
    if any(type(name) is not str for name in names):
        return None
    return dict(zip(names, tuple.__iter__(value), strict=True))


def _keeps_more(bases: tuple[type, ...]) -> bool:
    """Whether objects of a dataclass keep data beside its declared fields."""
    return "__dataclass_fields__" not in dict_of(bases[0]) or any(
        "__pydantic_fields__" in dict_of(base) for base in bases
    )


def _declared(bases: tuple[type, ...], places: tuple[str, ...]) -> dict[str, Any] | None:
    """The fields that the class declares, its bases' included; None where it declares none."""
    for base in bases:
        for place in places:
            declared = dict_of(base).get(place)
            if type(declared) is dict:
                return declared
    return None


def _class_attribute(name: str, bases: tuple[type, ...]) -> Any:
    for base in bases:
        if name in dict_of(base):
            return dict_of(base)[name]
    return None


def _has(attribute: Any, method: str) -> bool:
    """Whether a class's attribute, no slot, has the method through which it is read or set."""
    kind = type(attribute)
    return kind is not _MEMBER and any(method in dict_of(base) for base in bases_of(kind))


def _add_slot(fields: dict[str, Any], name: str, member: Any, value: Any) -> None:
    try:
        fields[name] = member.__get__(value)
    except AttributeError:  # a slot that was never set
        pass


def _dict_is_own(bases: tuple[type, ...]) -> bool:
    """Whether the interpreter reads the instance dictionary: any other descriptor is user code."""
    return all(type(dict_of(base).get("__dict__", _OWN)) is _GETSET for base in bases)


def _slots(value: Any, bases: tuple[type, ...]) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for base in reversed(bases):
        for name, member in dict_of(base).items():
            if type(member) is _MEMBER:
                _add_slot(slots, name, member, value)
    return slots


class _Slotted:
    __slots__ = ("slot",)


_MEMBER = type(_Slotted.__dict__["slot"])
_OWN = type.__dict__["__dict__"]
_GETSET = type(_OWN)
"""The type of ``__dict__`` in a class that leaves it to the interpreter."""


def find_handler(kind: type) -> Handler | None:
    """The function that reads a well-known type of the standard library, numpy or pandas, or None."""
    for module, name, handler in _WELL_KNOWN:
        if library_member(module, name) is kind:
            return handler
    if inherits(bases_of(kind), library_member("enum", "Enum")):
        return enum_value
    return library_handler(kind, bases_of(kind))


def is_unchanging(kind: type) -> bool:
    """Whether this is one of the standard library's types whose objects never change."""
    return any(library_member(module, name) is kind for module, name in _UNCHANGING)


_UNCHANGING = (
    *(("datetime", name) for name in ("datetime", "date", "time", "timedelta")),
    *(("pathlib", name) for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")),
    ("uuid", "UUID"),
    ("decimal", "Decimal"),
)


def _iso_date(value: Any) -> Any:
    return value.isoformat()


def enum_value(value: Any) -> Any:
    """The value of a member of an enum."""
    if not _dict_is_own(bases_of(type(value))):
        return not_opened(type_name(type(value)))
    return object.__getattribute__(value, "__dict__").get("_value_")


def _moment(value: Any) -> Any:
    zone = value.tzinfo
    if zone is not None and not _is_library_zone(type(zone)):
        return not_opened(type_name(type(value)))  # a zone of the user's would run code; without it, a lie
    return value.isoformat()


_ZONES = (
    ("datetime", ("timezone",)),
    ("zoneinfo", ("ZoneInfo",)),
    ("dateutil.tz.tz", ("tzutc", "tzoffset", "tzlocal", "tzfile", "tzstr")),
    ("dateutil.tz.win", ("tzwin", "tzwinlocal")),
    ("pytz", ("_FixedOffset",)),
)


def _is_library_zone(kind: type) -> bool:
    # By identity: types made in C have no module in their dictionary.
    for module, names in _ZONES:
        if any(library_member(module, name) is kind for name in names):
            return True
    return _is_pytz_zone(kind)


def _is_pytz_zone(kind: type) -> bool:
    """Whether this is the type of pytz's UTC, or one of those that it makes, a class for each zone."""
    if type(library_member("pytz", "utc")) is kind:
        return True
    made_there = type(kind) is type and dict_of(kind).get("__module__") == "pytz.tzfile"
    return made_there and any(
        library_member("pytz.tzinfo", name) is bases_of(kind)[1] for name in ("DstTzInfo", "StaticTzInfo")
    )


def _items_of_deque(value: Any, most: int) -> list[Any]:
    """The first items, with a mark for the rest."""
    items = list(islice(value, min(most, sys.maxsize)))
    return [*items, left_out(len(value) - len(items))] if len(value) > len(items) else items


_WELL_KNOWN: tuple[tuple[str, str, Handler], ...] = (
    ("datetime", "datetime", _moment),
    ("datetime", "date", _iso_date),
    ("datetime", "time", _moment),
    ("datetime", "timedelta", str),
    ("uuid", "UUID", str),
    ("decimal", "Decimal", decimal_data),
    ("fractions", "Fraction", str),
    ("pathlib", "PosixPath", str),
    ("pathlib", "WindowsPath", str),
    ("pathlib", "PurePosixPath", str),
    ("pathlib", "PureWindowsPath", str),
    ("builtins", "complex", str),
    ("builtins", "range", str),
    ("builtins", "slice", lambda _: not_opened("slice")),
    ("re", "Pattern", lambda value: value.pattern),
    (
        "collections",
        "deque",
        BoundedHandler(lambda value, _, items: _items_of_deque(value, items)),
    ),
)

READS_UNCHANGING: tuple[Handler, ...] = (_iso_date, _moment, decimal_data, str)
"""The functions by which objects are read that never change; `is_unchanging` tells for which types."""
