"""Changed copies of frozen values, made in a fraction of the time of `dataclasses.replace`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from itertools import repeat
from operator import attrgetter, call
from typing import Any, TypeVar

T = TypeVar("T")


def changed(value: T, **changes: Any) -> T:
    """Return a copy of a frozen dataclass with slots, with other values in some fields.

    For classes that check nothing when they are made: their ``__init__`` is not called.
    """
    kind: Any = type(value)
    places, read, writers = _access(kind)
    values = list(read(value))
    for name, change in changes.items():
        values[places[name]] = change
    copy: T = object.__new__(kind)
    do: Any = call  # type checkers do not follow it through `map`
    any(map(do, writers, repeat(copy), values))  # each returns None, so that all are called
    return copy


@cache
def _access(kind: Any) -> tuple[dict[str, int], Callable[[Any], tuple[Any, ...]], list[Callable[..., None]]]:
    """The place of each field, what reads all of them, and what writes each."""
    names = [field.name for field in fields(kind)]
    places = {name: place for place, name in enumerate(names)}
    return places, attrgetter(*names), [getattr(kind, name).__set__ for name in names]
