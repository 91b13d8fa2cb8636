"""Matchers that test one value: regex, approx, bounds, type, semantic, absence."""

from __future__ import annotations

import math
import operator as operators
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from agenttrace.core.cached import cached_property
from agenttrace.core.errors import ExpectationError, ScorerError, did_you_mean
from agenttrace.core.marks import KnownPart, cause_of
from agenttrace.core.moments import moment_of
from agenttrace.core.numbers import is_decimal, is_number
from agenttrace.expectations.matcher import Context, Matcher, when_true
from agenttrace.process.bounded_search import bounded_search, compiled

TypeName = Literal["string", "integer", "number", "boolean", "null", "array", "object"]
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
LOOKS_AHEAD = re.compile(r"\$|\\[ZbB]|\(\?")
"""Parts of a pattern by which what follows a match decides whether it is one."""
_JSON_TYPES: tuple[TypeName, ...] = get_args(TypeName)


def _is_number(actual: Any) -> bool:
    return is_number(actual) or is_decimal(actual)


def _is_whole(number: Any) -> bool:
    if is_decimal(number):
        return bool(number == number.to_integral_value())
    return isinstance(number, int) or bool(number.is_integer())


@dataclass(frozen=True, slots=True, repr=False)
class _Absent(Matcher):
    word = "ABSENT"
    operator = "$absent"

    def agree(self, actual: Any, context: Context) -> float:
        return 0.0

    def agree_with_part(self, known: KnownPart | None, actual: Any, context: Context) -> float | None:
        # Whatever a value was that was cut or hidden, it was there.
        return None if cause_of(actual) == "not recorded" else 0.0

    @property
    def accepts_absence(self) -> bool:
        return True

    @classmethod
    def read(cls, value: Any, **_: Any) -> Matcher:
        matcher: Matcher = when_true(cls.operator, value, ABSENT)
        return matcher

    def to_data(self) -> dict[str, Any]:
        return {self.operator: True}

    def __repr__(self) -> str:
        return self.word


ABSENT: Final = _Absent()
"""The key must not be there."""


@dataclass(frozen=True, repr=False)
class _Regex(Matcher):
    word = "re_"
    operator = "$re"
    gives_up = True
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

    def agree_with_part(self, known: KnownPart | None, actual: Any, context: Context) -> float | None:
        if known is None or not isinstance(known.part, str):
            return 0.0 if known is not None and not isinstance(known.part, tuple) else None
        # What lies ahead may decide: an anchor, a look-ahead, the end of a word.
        if LOOKS_AHEAD.search(self.pattern) or bounded_search(self._compiled, known.part) is None:
            return None
        return 1.0


def re_(pattern: str) -> Matcher:
    """A text that the regular expression matches anywhere (anchor it with ``^`` and ``$``).

    A search that takes more than 0.5 s of processor time is an error, and so is the score.
    """
    return _Regex(pattern)


_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True, repr=False)
class _Approx(Matcher):
    word = "approx"
    operator = "$approx"
    options = ("abs", "rel")
    value: float
    abs: float | None = None
    rel: float | None = None

    def __post_init__(self) -> None:
        if not is_number(self.value):
            raise ExpectationError(f"approx takes a number, got {self.value!r}")
        if self.value != self.value:  # no number is near NaN, not even itself
            raise ExpectationError("approx takes a number that others can be near, got nan")
        numbers: tuple[Any, ...] = (self.value, self.abs, self.rel)
        for number in numbers:
            if type(number) is int and abs(number) > _LARGEST:
                raise ExpectationError("approx takes what a float can hold; this integer is too large")
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
        if actual == self.value and not isinstance(actual, bool):
            return 1.0
        if not _is_number(actual) or math.isinf(self.value):
            return 0.0
        try:
            distance = math.fabs(float(actual) - self.value)
        except OverflowError:  # an integer beyond every float
            return 0.0
        # Binary fractions: |0.3 - 0.2| is a little more than 0.1, and the reader means "at most 0.1".
        slack = 4 * math.ulp(max(math.fabs(self.value), self.tolerance)) if self.tolerance else 0.0
        return 1.0 if distance <= self.tolerance + slack else 0.0


def approx(value: float, *, abs: float | None = None, rel: float | None = None) -> Matcher:  # noqa: A002 - pytest's word
    """A number within the larger of `abs` and `rel` × |value|; within 1e-6 of it where neither is given."""
    return _Approx(value, abs, rel)


@dataclass(frozen=True, slots=True, repr=False)
class _Bound(Matcher):
    """A number beyond a number, or a text beyond a text: ISO moments in the order of time, others in that of
    their characters."""

    holds: ClassVar[Callable[[Any, Any], bool]]
    limit: Any

    def __post_init__(self) -> None:
        if not (is_number(self.limit) or isinstance(self.limit, str)):
            raise ExpectationError(f"{self.word} takes a number or a text, got {self.limit!r}")
        if self.limit != self.limit:  # nothing is less or greater than NaN
            raise ExpectationError(f"{self.word} takes a number that others can be compared with, got nan")

    def agree(self, actual: Any, context: Context) -> float:
        limit = self.limit
        alike = isinstance(actual, str) if isinstance(limit, str) else _is_number(actual)
        if alike and isinstance(limit, str):
            actual, limit = _in_time(actual, limit)
        return 1.0 if alike and type(self).holds(actual, limit) else 0.0


def _in_time(actual: str, limit: str) -> tuple[Any, Any]:
    """Two texts as they are compared: as moments, where both are such, with an offset or without."""
    one, other = moment_of(actual), moment_of(limit)
    if one is None or other is None or (one[1][-1:] == "Z") != (other[1][-1:] == "Z"):
        return actual, limit
    return (one[0], one[1].rstrip("Z")), (other[0], other[1].rstrip("Z"))


class _Gt(_Bound):
    __slots__ = ()
    word, operator, holds = "gt", "$gt", operators.gt


class _Gte(_Bound):
    __slots__ = ()
    word, operator, holds = "gte", "$gte", operators.ge


class _Lt(_Bound):
    __slots__ = ()
    word, operator, holds = "lt", "$lt", operators.lt


class _Lte(_Bound):
    __slots__ = ()
    word, operator, holds = "lte", "$lte", operators.le


def gt(limit: float | str) -> Matcher:
    """A number greater than a number, or a text after a text."""
    return _Gt(limit)


def gte(limit: float | str) -> Matcher:
    """A number of at least a number, or a text not before a text."""
    return _Gte(limit)


def lt(limit: float | str) -> Matcher:
    """A number less than a number, or a text before a text."""
    return _Lt(limit)


def lte(limit: float | str) -> Matcher:
    """A number of at most a number, or a text not after a text."""
    return _Lte(limit)


@dataclass(frozen=True, slots=True, repr=False)
class _OfType(Matcher):
    word = "type_"
    operator = "$type"
    name: TypeName

    @classmethod
    def read(cls, value: Any, **_: Any) -> Matcher:
        return type_(value)

    def agree(self, actual: Any, context: Context) -> float:
        number = _is_number(actual)
        holds = {
            "string": isinstance(actual, str),
            "integer": number and _is_whole(actual),
            "number": number,
            "boolean": isinstance(actual, bool),
            "null": actual is None,
            "array": isinstance(actual, list | tuple | set | frozenset),
            "object": isinstance(actual, Mapping),
        }[self.name]
        return 1.0 if holds else 0.0

    def agree_with_part(self, known: KnownPart | None, actual: Any, context: Context) -> float | None:
        if known is None or (isinstance(known.part, tuple) and known.part == ("", "")):
            return None
        return self.agree("" if isinstance(known.part, tuple) else known.part, context)


def type_(kind: Any) -> Matcher:
    """A value of a type: ``str``, ``int``, ``float`` (any number), ``bool``, ``list``, ``dict``, None, or
    the JSON type's name. An integer may be 1.0; True is no number."""
    return _OfType(_type_name(kind))


def _type_name(kind: Any) -> TypeName:
    """The JSON type of a Python type or of a JSON type's name. Raises ExpectationError."""
    if isinstance(kind, str):
        for name in _JSON_TYPES:
            if name == kind:
                return name
        raise ExpectationError(f"unknown type {kind!r}" + did_you_mean(kind, _JSON_TYPES))
    try:
        return _TYPE_NAMES[kind]
    except (KeyError, TypeError):
        raise ExpectationError(f"{kind!r} is not a JSON type; use one of {', '.join(_JSON_TYPES)}") from None


@dataclass(frozen=True, slots=True, repr=False)
class _Semantic(Matcher):
    is_opaque = True
    word = "semantic"
    operator = "$semantic"
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


def semantic(text: str) -> Matcher:
    """A value that means what the text says; an error without a judge (`ask=` of a scorer)."""
    return _Semantic(text)
