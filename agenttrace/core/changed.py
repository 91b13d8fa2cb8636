"""Changed copies of frozen values, made in a fraction of the time of `dataclasses.replace`."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def changed(value: T, /, **changes: Any) -> T:
    """Return a copy of a frozen dataclass, with other values in some fields.

    For classes without slots that check nothing when they are made: their ``__init__`` is not called, which
    would take five times as long.

    Raises:
        KeyError: there is no such field.
    """
    fields = value.__dict__ | changes
    if len(fields) > len(value.__dict__):
        raise KeyError(*changes.keys() - value.__dict__.keys())
    return made(type(value), fields)


def made(kind: type[T], fields: dict[str, Any], /) -> T:
    """Return a value of such a class that has just these fields, which are all that it has."""
    value: T = object.__new__(kind)
    object.__setattr__(value, "__dict__", fields)
    return value
