"""`Later`: a field of a frozen value that is made when it is first read.

The value itself does not show it: what is compared, copied, pickled or written has the field as it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """What is made when it is first asked for. Copies of a value share it, so that it is made once."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make: Callable[[], T] | None = make
        self._made: T

    def get(self) -> T:
        """What `make` returned. Two threads that come at once may both make it, and have equal ones."""
        make = self._make
        if make is not None:
            self._made = make()
            self._make = None  # what it was made of is needed no more
        return self._made


class MadeWhenRead:
    """A field of a class with a ``__dict__``, in which a `Later` may stand in the value's place.

    Put on a class in place of the field itself, once that is a dataclass.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            value = instance.__dict__[self._name]
        except KeyError:
            raise AttributeError(f"{type(instance).__name__!r} object has no {self._name!r}") from None
        if type(value) is Later:
            value = instance.__dict__[self._name] = value.get()
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value


def make_when_read(kind: type, *names: str) -> None:
    """Let fields of a dataclass hold a `Later`."""
    for name in names:
        made = MadeWhenRead()
        made.__set_name__(kind, name)
        setattr(kind, name, made)


def is_to_come(value: object, name: str) -> bool:
    """Whether a field has not been made yet."""
    return type(value.__dict__.get(name)) is Later
