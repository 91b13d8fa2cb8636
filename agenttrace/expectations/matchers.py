"""The matchers as users write them in Python, in place of a value at any depth.

Beside these, `ANY` (the key is there), any predicate (a callable of the value), and ``a & b`` (both hold).
"""

from __future__ import annotations

from typing import Any

from agenttrace.core.tool_call import ANY
from agenttrace.expectations.matcher import Matcher
from agenttrace.expectations.nested_matchers import Default, Has, Length, Not, OneOf
from agenttrace.expectations.references import Ref
from agenttrace.expectations.scalar_matchers import ABSENT, Approx, Bound, OfType, Regex, Semantic, type_name

__all__ = [
    "ABSENT",
    "ANY",
    "Matcher",
    "approx",
    "default",
    "gt",
    "gte",
    "has",
    "length",
    "lt",
    "lte",
    "not_",
    "one_of",
    "re_",
    "ref",
    "semantic",
    "type_",
]


def re_(pattern: str) -> Matcher:
    """A text in which the regular expression is found (anchor it with ``^`` and ``$``).

    A search that takes more than 0.5 s of processor time is an error, and so is the score.
    """
    return Regex(pattern)


def approx(value: float, *, abs: float | None = None, rel: float | None = None) -> Matcher:  # noqa: A002 - pytest's word
    """A number within the larger of `abs` and `rel` × |value|; within 1e-6 of it where neither is given."""
    return Approx(value, abs, rel)


def one_of(*options: Any) -> Matcher:
    """Any of several values, matchers included."""
    return OneOf(options)


def has(*items: Any) -> Matcher:
    """A list that contains each item, a text that contains each text, a mapping with the listed keys."""
    return Has(items)


def gt(limit: float | str) -> Matcher:
    """A number greater than a number, or a text after a text."""
    return Bound("gt", limit)


def gte(limit: float | str) -> Matcher:
    """A number of at least a number, or a text not before a text."""
    return Bound("gte", limit)


def lt(limit: float | str) -> Matcher:
    """A number less than a number, or a text before a text."""
    return Bound("lt", limit)


def lte(limit: float | str) -> Matcher:
    """A number of at most a number, or a text not after a text."""
    return Bound("lte", limit)


def length(size: int | Matcher) -> Matcher:
    """A text, list or mapping of so many characters, items or keys: ``length(3)``, ``length(gte(1))``."""
    return Length(size)


def type_(kind: Any) -> Matcher:
    """A value of a type: ``str``, ``int``, ``float`` (any number), ``bool``, ``list``, ``dict``, None, or
    the JSON type's name."""
    return OfType(type_name(kind))


def not_(value: Any) -> Matcher:
    """A value that is there and does not agree."""
    return Not(value)


def default(value: Any) -> Matcher:
    """The value, spelled out or left out."""
    return Default(value)


def semantic(text: str) -> Matcher:
    """A value that means what the text says; needs a judge (`ask=` of a scorer), else it is an error."""
    return Semantic(text)


def ref(path: str) -> Matcher:
    """A value that came from an earlier call: ``ref("find.output.items[*].id")``."""
    return Ref(path)
