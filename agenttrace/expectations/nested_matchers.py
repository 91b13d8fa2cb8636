# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""Matchers that contain other expected values: one_of, has, length, not_, default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.expectations.matcher import All, Context, Matcher, Unordered, write_value
from agenttrace.expectations.scalar_matchers import is_number
from agenttrace.expectations.values import agree, prepare


@dataclass(frozen=True, slots=True)
class OneOf(Matcher):
    """The best of several expected values."""

    options: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise ExpectationError("one_of needs at least one value: without any it could never hold")
        object.__setattr__(self, "options", tuple(prepare(option) for option in self.options))

    def agree(self, actual: Any, context: Context) -> float:
        return max(agree(option, actual, context) for option in self.options)

    @property
    def accepts_absence(self) -> bool:
        return any(isinstance(option, Matcher) and option.accepts_absence for option in self.options)

    def to_data(self) -> dict[str, Any]:
        return {"$in": [write_value(option) for option in self.options]}

    def __repr__(self) -> str:
        return f"one_of({', '.join(map(repr, self.options))})"


@dataclass(frozen=True, slots=True)
class Has(Matcher):
    """A list that contains each item, a text that contains each text, a mapping with the listed keys."""

    items: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ExpectationError("has needs at least one item")
        object.__setattr__(self, "items", tuple(prepare(item) for item in self.items))

    def agree(self, actual: Any, context: Context) -> float:
        return 1.0 if all(self._contains(actual, item, context) for item in self.items) else 0.0

    def _contains(self, actual: Any, item: Any, context: Context) -> bool:
        if isinstance(actual, str):
            return isinstance(item, str) and item in actual
        if isinstance(actual, Mapping):
            if isinstance(item, str):
                return item in actual
            return isinstance(item, Mapping) and agree(item, actual, replace(context, mode="listed")) == 1.0
        if isinstance(actual, list | tuple | set | frozenset):
            return any(agree(item, member, context) == 1.0 for member in actual)
        return False

    def to_data(self) -> dict[str, Any]:
        return {"$has": [write_value(item) for item in self.items]}

    def __repr__(self) -> str:
        return f"has({', '.join(map(repr, self.items))})"


@dataclass(frozen=True, slots=True)
class Length(Matcher):
    """A text, list or mapping of so many characters, items or keys."""

    size: Any

    def __post_init__(self) -> None:
        if not (isinstance(self.size, Matcher) or (is_number(self.size) and self.size >= 0)):
            raise ExpectationError(f"length takes a number of 0 or more, or a matcher, got {self.size!r}")

    def agree(self, actual: Any, context: Context) -> float:
        has_size = isinstance(actual, str | list | tuple | Mapping | set | frozenset)
        return agree(self.size, len(actual), context) if has_size else 0.0

    def to_data(self) -> dict[str, Any]:
        return {"$len": write_value(self.size)}

    def __repr__(self) -> str:
        return f"length({self.size!r})"


@dataclass(frozen=True, slots=True)
class Not(Matcher):
    """A value that is there and does not agree."""

    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", prepare(self.value))

    def agree(self, actual: Any, context: Context) -> float:
        return 0.0 if agree(self.value, actual, context) == 1.0 else 1.0

    def to_data(self) -> dict[str, Any]:
        return {"$not": write_value(self.value)}

    def __repr__(self) -> str:
        return f"not_({self.value!r})"


@dataclass(frozen=True, slots=True)
class Default(Matcher):
    """The value, or the key left out."""

    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", prepare(self.value))

    def agree(self, actual: Any, context: Context) -> float:
        return agree(self.value, actual, context)

    @property
    def accepts_absence(self) -> bool:
        return True

    def to_data(self) -> dict[str, Any]:
        return {"$default": write_value(self.value)}

    def __repr__(self) -> str:
        return f"default({self.value!r})"


def parts_of(value: Any) -> tuple[Any, ...]:
    """The expected values directly inside a value or a matcher."""
    if isinstance(value, Mapping):
        return tuple(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(value)
    if isinstance(value, OneOf):
        return value.options
    if isinstance(value, Has):
        return value.items
    if isinstance(value, Not | Default):
        return (value.value,)
    if isinstance(value, Length):
        return (value.size,)
    if isinstance(value, All):
        return value.parts
    return value.members if isinstance(value, Unordered) else ()
