# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""Matchers that test one value: regex, approx, bounds, type, semantic, absence."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from agenttrace.core.errors import ExpectationError, ScorerError, did_you_mean
from agenttrace.expectations.matcher import Context, Matcher
from agenttrace.process.bounded_search import bounded_search, compiled

TypeName = Literal["string", "integer", "number", "boolean", "null", "array", "object"]
Relation = Literal["gt", "gte", "lt", "lte"]
_TYPE_NAMES: Mapping[Any, TypeName] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    type(None): "null",
    list: "array",
    tuple: "array",
    dict: "object",
}
JSON_TYPES: tuple[TypeName, ...] = ("string", "integer", "number", "boolean", "null", "array", "object")


def is_number(value: Any) -> bool:
    """Whether a value is a number: True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _Absent(Matcher):
    def agree(self, actual: Any, context: Context) -> float:
        return 0.0

    @property
    def accepts_absence(self) -> bool:
        return True

    def to_data(self) -> dict[str, Any]:
        return {"$absent": True}

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""The key must not be there."""


@dataclass(frozen=True)
class Regex(Matcher):
    """A text that the pattern matches anywhere; an error where the search takes too long."""

    pattern: str

    def __post_init__(self) -> None:
        try:
            compiled(self.pattern)
        except ValueError as error:
            raise ExpectationError(f"{self.pattern!r} is not a regular expression: {error}") from error

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return compiled(self.pattern)

    def agree(self, actual: Any, context: Context) -> float:
        if not isinstance(actual, str):
            return 0.0
        return 0.0 if bounded_search(self._compiled, actual) is None else 1.0

    def to_data(self) -> dict[str, Any]:
        return {"$re": self.pattern}

    def __repr__(self) -> str:
        return f"re_({self.pattern!r})"


@dataclass(frozen=True, slots=True)
class Approx(Matcher):
    """A number within the larger of `abs` and `rel` × |value| of a value."""

    value: float
    abs: float | None = None
    rel: float | None = None

    def __post_init__(self) -> None:
        if not is_number(self.value):
            raise ExpectationError(f"approx takes a number, got {self.value!r}")
        for name, bound in (("abs", self.abs), ("rel", self.rel)):
            if bound is not None and (not is_number(bound) or not bound >= 0):
                raise ExpectationError(f"approx: {name} is a number of 0 or more, got {bound!r}")

    @property
    def tolerance(self) -> float:
        """How far a number may lie from the value: 1e-6 of it where neither bound is given."""
        if self.abs is None and self.rel is None:
            return max(1e-6 * math.fabs(self.value), 1e-12)
        return max(self.abs or 0.0, (self.rel or 0.0) * math.fabs(self.value))

    def agree(self, actual: Any, context: Context) -> float:
        if not is_number(actual):
            return 0.0
        # Binary fractions: |0.3 - 0.2| is a little more than 0.1, and the reader means "at most 0.1".
        slack = 4 * math.ulp(max(math.fabs(self.value), self.tolerance))
        return (
            1.0 if actual == self.value or math.fabs(actual - self.value) <= self.tolerance + slack else 0.0
        )

    def to_data(self) -> dict[str, Any]:
        bounds = {"$abs": self.abs, "$rel": self.rel}
        return {"$approx": self.value, **{key: bound for key, bound in bounds.items() if bound is not None}}

    def __repr__(self) -> str:
        parts = [repr(self.value)]
        parts += [] if self.abs is None else [f"abs={self.abs!r}"]
        parts += [] if self.rel is None else [f"rel={self.rel!r}"]
        return f"approx({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Bound(Matcher):
    """A number beyond a number, or a text beyond a text in the order of its characters (ISO dates)."""

    relation: Relation
    limit: Any

    def __post_init__(self) -> None:
        if not (is_number(self.limit) or isinstance(self.limit, str)):
            raise ExpectationError(f"{self.relation} takes a number or a text, got {self.limit!r}")

    def agree(self, actual: Any, context: Context) -> float:
        alike = isinstance(actual, str) if isinstance(self.limit, str) else is_number(actual)
        if not alike:
            return 0.0
        holds = {
            "gt": lambda: actual > self.limit,
            "gte": lambda: actual >= self.limit,
            "lt": lambda: actual < self.limit,
            "lte": lambda: actual <= self.limit,
        }[self.relation]()
        return 1.0 if holds else 0.0

    def to_data(self) -> dict[str, Any]:
        return {f"${self.relation}": self.limit}

    def __repr__(self) -> str:
        return f"{self.relation}({self.limit!r})"


@dataclass(frozen=True, slots=True)
class OfType(Matcher):
    """A value of a JSON type; *integer* admits 1.0, no number admits True."""

    name: TypeName

    def agree(self, actual: Any, context: Context) -> float:
        number = is_number(actual)
        holds = {
            "string": isinstance(actual, str),
            "integer": number and (isinstance(actual, int) or actual.is_integer()),
            "number": number,
            "boolean": isinstance(actual, bool),
            "null": actual is None,
            "array": isinstance(actual, list | tuple | set | frozenset),
            "object": isinstance(actual, Mapping),
        }[self.name]
        return 1.0 if holds else 0.0

    def to_data(self) -> dict[str, Any]:
        return {"$type": self.name}

    def __repr__(self) -> str:
        return f"type_({self.name!r})"


@dataclass(frozen=True, slots=True)
class Semantic(Matcher):
    """A value that means what a text says, as a model judges."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise ExpectationError(f"semantic takes a text that says what is meant, got {self.text!r}")

    def agree(self, actual: Any, context: Context) -> float:
        if context.answers is None:
            raise ScorerError(
                f"semantic({self.text!r}) needs a judge, and none was given: pass ask= to the scorer, "
                "or write a deterministic matcher"
            )
        return 1.0 if context.answers.answer(self.text, actual) else 0.0

    def to_data(self) -> dict[str, Any]:
        return {"$semantic": self.text}

    def __repr__(self) -> str:
        return f"semantic({self.text!r})"


def type_name(kind: Any) -> TypeName:
    """The JSON type of a Python type or of a JSON type's name. Raises ExpectationError."""
    if isinstance(kind, str):
        for name in JSON_TYPES:
            if name == kind:
                return name
        raise ExpectationError(f"unknown type {kind!r}" + did_you_mean(kind, JSON_TYPES))
    try:
        return _TYPE_NAMES[kind]
    except (KeyError, TypeError):
        raise ExpectationError(f"{kind!r} is not a JSON type; use one of {', '.join(JSON_TYPES)}") from None
