"""`ByClass`: values by class, of which none is kept alive."""

from __future__ import annotations

from typing import Generic, TypeVar
from weakref import ref

T = TypeVar("T")


class ByClass(Generic[T]):
    """What was found out of classes. Programs make classes as they run, a model for each request.

    No code of a metaclass runs, only this module's and C's. `weakref.WeakKeyDictionary` takes longer, and
    what another thread throws into it cannot be told from what it raises.
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ref[type], T]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, kind: type) -> tuple[T] | None:
        """A tuple of the class's value; None if there is none."""
        entry = self._entries.get(id(kind))
        return (entry[1],) if entry is not None and entry[0]() is kind else None

    def put(self, kind: type, value: T) -> None:
        """Keep the value of a class for as long as the class lives."""
        entries, number = self._entries, id(kind)
        entries[number] = ref(kind, lambda _: entries.pop(number, None)), value
