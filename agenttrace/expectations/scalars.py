"""Whether scalars are the same values: texts, moments, numbers, bytes."""

from __future__ import annotations

import re
from typing import Any

from agenttrace.core.jsonable import clean_text
from agenttrace.core.marks import cause_of
from agenttrace.core.moments import moment_of
from agenttrace.core.numbers import is_decimal

_CONTAINERS = frozenset({dict, list})
_PLAIN = frozenset({str, int, bool, type(None)})
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


def same_scalar(expected: Any, actual: Any) -> bool:
    """Whether two scalars are the same value: texts, numbers by their value, bytes."""
    if expected is None or isinstance(expected, bool) or actual is None or isinstance(actual, bool):
        return expected is actual
    if type(expected) is str:
        if type(actual) is str:
            return expected == actual or same_text(expected, actual)
        return is_decimal(actual) and _spells(expected, actual)
    if type(actual) is str:
        return is_decimal(expected) and _spells(actual, expected)
    if type(actual) in _CONTAINERS:
        return False
    return bool(expected == actual or (expected != expected and actual != actual))


def same_text(expected: str, actual: str) -> bool:
    """Whether two texts that are not equal say the same moment, or have the same lone surrogates."""
    if not actual.isascii() and clean_text(actual) == expected:
        return True
    moment = moment_of(expected)
    return moment is not None and moment == moment_of(actual)


def agree_scalars(expected: dict[str, Any], actual: dict[str, Any]) -> float | None:
    """What `values.agree` says of two mappings with the same keys; None where a value is to be looked at more
    closely: it is no scalar, not known whole, or of another type than the other one."""
    total = 0.0
    for key, item in expected.items():
        value = actual[key]
        kind = type(value)
        if kind is not type(item) or kind not in _PLAIN or key[:1] == "$":
            return None
        if item == value:
            if kind is str and cause_of(value):
                return None
            total += 1
        elif kind is str:
            if cause_of(value) or cause_of(item):
                return None
            total += same_text(item, value)
    return total / len(expected) if expected else 1.0


def _spells(text: str, number: Any) -> bool:
    """Whether a text is a Decimal's number, however many zeros it ends with."""
    return _NUMBER.fullmatch(text) is not None and type(number)(text) == number
