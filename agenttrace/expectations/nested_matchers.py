"""Matchers that contain other expected values: one_of, has, length, not_, default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.core.marks import KnownPart, cause_of, hidden_keys, may_be_key
from agenttrace.core.numbers import is_number
from agenttrace.core.tagged import opened
from agenttrace.expectations.matcher import Context, Matcher, read_value, write_value
from agenttrace.expectations.reading import cannot_tell, reversed_reading
from agenttrace.expectations.values import PREDICATE_RAISED, Difference, agree, prepare


class _Nested(Matcher):
    __slots__ = ()

    @classmethod
    def read(cls, value: Any, **_: Any) -> Matcher:
        return super().read(read_value(value))

    def to_data(self) -> dict[str, Any]:
        return {self.operator: write_value(self.values[0])}

    def why(self, actual: Any, context: Context) -> str:
        """What a predicate within raised, which says neither yes nor no."""
        differences: list[Difference] = []
        for expected, part in self._compared(actual):
            agree(expected, part, context, "", differences)
        return _what_was_raised(differences)

    def _compared(self, actual: Any) -> Iterable[tuple[Any, Any]]:
        """The values within, each with what it is compared to."""
        return ()


@dataclass(frozen=True, slots=True, repr=False)
class _Several(_Nested):
    items: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ExpectationError(f"{self.word} needs at least one value: without any it could never hold")
        object.__setattr__(self, "items", tuple(map(prepare, self.items)))

    def __repr__(self) -> str:
        return f"{self.word}({', '.join(map(repr, self.items))})"


@dataclass(frozen=True, slots=True, repr=False)
class _OneOf(_Several):
    looks_inside = True
    takes_recorded = True
    word = "one_of"
    operator = "$in"

    def agree(self, actual: Any, context: Context) -> float:
        return max(agree(item, actual, context) for item in self.items)

    def _compared(self, actual: Any) -> Iterable[tuple[Any, Any]]:
        return ((item, actual) for item in self.items)

    @property
    def accepts_absence(self) -> bool:
        return any(isinstance(item, Matcher) and item.accepts_absence for item in self.items)

    @classmethod
    def read(cls, value: Any, **_: Any) -> Matcher:
        if not isinstance(value, list | tuple | set | frozenset):
            raise ExpectationError(f"'$in' takes a list of values, got {value!r}")
        return cls(tuple(map(read_value, value)))


def one_of(*options: Any) -> Matcher:
    """Any of several values, matchers included."""
    return _OneOf(options)


@dataclass(frozen=True, slots=True, repr=False)
class _Has(_Several):
    takes_recorded = True
    word = "has"
    operator = "$has"

    def agree(self, actual: Any, context: Context) -> float:
        return 1.0 if all(self._contains(actual, item, context) for item in self.items) else 0.0

    def agree_with_part(self, known: KnownPart | None, actual: Any, context: Context) -> float | None:
        pieces = () if known is None else known.part if isinstance(known.part, tuple) else (known.part,)
        missing = [
            item for item in self.items if not any(self._contains(part, item, context) for part in pieces)
        ]
        return None if missing else 1.0

    def _compared(self, actual: Any) -> Iterable[tuple[Any, Any]]:
        members = actual if isinstance(actual, list | tuple | set | frozenset) else (actual,)
        return product(self.items, members)

    def _contains(self, actual: Any, item: Any, context: Context) -> bool:
        if isinstance(actual, str):
            return isinstance(item, str) and item in actual
        value = opened(actual) if type(actual) is dict else actual
        if isinstance(value, Mapping):
            if isinstance(item, str):
                return item in value or any(
                    may_be_key(key, item) and cannot_tell(cause_of(key) or "redacted") == 1.0
                    for key in hidden_keys(value)
                )
            return isinstance(item, Mapping) and agree(item, actual, replace(context, mode="listed")) == 1.0
        if isinstance(actual, list | tuple | set | frozenset):
            return any(agree(item, member, context) == 1.0 for member in actual)
        return False

    @classmethod
    def read(cls, value: Any, **_: Any) -> Matcher:
        return cls(tuple(map(read_value, value if isinstance(value, list | tuple) else [value])))


def has(*items: Any) -> Matcher:
    """A list that contains each item, a text that contains each text, a mapping with the listed keys."""
    return _Has(items)


@dataclass(frozen=True, slots=True, repr=False)
class _Length(_Nested):
    word = "length"
    operator = "$len"
    size: Any

    def __post_init__(self) -> None:
        if not (isinstance(self.size, Matcher) or (is_number(self.size) and self.size >= 0)):
            raise ExpectationError(f"length takes a number of 0 or more, or a matcher, got {self.size!r}")

    def agree(self, actual: Any, context: Context) -> float:
        has_size = isinstance(actual, str | bytes | list | tuple | Mapping | set | frozenset)
        return agree(self.size, len(actual), context) if has_size else 0.0

    def _compared(self, actual: Any) -> Iterable[tuple[Any, Any]]:
        return ((self.size, len(actual)),) if isinstance(actual, Sized) else ()

    def agree_with_part(self, known: KnownPart | None, actual: Any, context: Context) -> float | None:
        if known is None or known.total is None:
            return None
        return agree(self.size, known.total, context)


def length(size: int | Matcher) -> Matcher:
    """Text, bytes, a list or a mapping with so many characters, bytes, items or keys: ``length(gte(1))``."""
    return _Length(size)


@dataclass(frozen=True, slots=True, repr=False)
class _Prepared(_Nested):
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", prepare(self.value))

    def _compared(self, actual: Any) -> Iterable[tuple[Any, Any]]:
        return ((self.value, actual),)


class _Not(_Prepared):
    __slots__ = ()
    looks_inside = True
    takes_recorded = True
    word = "not_"
    operator = "$not"

    def agree(self, actual: Any, context: Context) -> float:
        differences: list[Difference] = []
        with reversed_reading():
            agrees = agree(self.value, actual, context, "", differences) == 1.0
        return 0.0 if agrees or _what_was_raised(differences) else 1.0


def _what_was_raised(differences: list[Difference]) -> str:
    """The note on a predicate that raised, and so says neither yes nor no; ``""`` where none did."""
    return next((one.note for one in differences if one.note.startswith(PREDICATE_RAISED)), "")


def not_(value: Any) -> Matcher:
    """A value that is there and does not agree. One that a predicate in it cannot take does not pass."""
    return _Not(value)


class _Default(_Prepared):
    __slots__ = ()
    looks_inside = True
    takes_recorded = True
    word = "default"
    operator = "$default"

    def agree(self, actual: Any, context: Context) -> float:
        return agree(self.value, actual, context)

    @property
    def accepts_absence(self) -> bool:
        return True


def default(value: Any) -> Matcher:
    """The value, spelled out or left out."""
    return _Default(value)
