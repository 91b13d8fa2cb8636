"""`value_key`: a text for each value, equal for two values where these agree."""

from __future__ import annotations

from typing import Any

from agenttrace.core.jsonable import clean, clean_text, jsonable, to_json
from agenttrace.core.marks import cause_of
from agenttrace.core.moments import moment_of
from agenttrace.core.numbers import is_decimal
from agenttrace.core.tagged import opened

_MOST_PLACES = 600
"""Decimal places before the point up to which a whole Decimal is compared as an integer."""


def value_key(value: Any) -> str:
    """A text that is equal for two values where they agree in *exact* mode (sets as sorted lists).

    An object that was not opened has a key that no other has: it agrees with nothing.
    """
    return to_json(_canonical(value))


def _canonical(value: Any, owner: int | None = None) -> Any:
    """JSON data in one spelling; `owner` is the id of the object that it was made of, if any."""
    kind = type(value)
    if kind is str:
        moment = moment_of(value)
        return clean_text(value) if moment is None else "".join(moment)
    if kind is bool or value is None:
        return value
    if kind is int or kind is float or is_decimal(value):
        return _canonical_number(value)
    if kind is list or kind is tuple:
        return [_canonical(item, owner) for item in value]
    if kind is not dict or not all(type(key) is str for key in value):
        return _canonical(jsonable(value), id(value)) if kind is not bytes else jsonable(value)
    data = opened(value)
    if type(data) is not dict:
        return _canonical(data, owner)
    if _is_mark(data, value):
        return {**data, "$id": id(value) if owner is None else owner}
    return {clean_text(key): _canonical(data[key], owner) for key in sorted(data)}


def _canonical_number(value: Any) -> Any:
    """A number in one form: an int where it is whole, else a float where it is exactly one."""
    if type(value) is float:
        return clean(int(value) if value.is_integer() else value)
    if type(value) is int:
        return clean(value)
    value = opened(jsonable(value))
    if type(value) is float:  # a Decimal that is no number
        return clean(value)
    if value.adjusted() <= _MOST_PLACES and value == value.to_integral_value():
        return clean(int(value))
    if float(value) == value:
        return float(value)
    sign, numerals, exponent = value.as_tuple()
    digits = "".join(map(str, numerals))
    short = digits.rstrip("0")
    return {"$decimal": f"{'-' * sign}{short}e{exponent + len(digits) - len(short)}"}


def _is_mark(value: Any, actual: Any) -> bool:
    """Whether a mapping is the mark of an object that was not opened, with which nothing agrees."""
    escaped = type(actual) is dict and value is not actual
    return not escaped and len(value) == 1 and cause_of(value) == "not opened"


def text_key(value: Any) -> str:
    """One text for all mappings with the same entries."""
    return to_json(_in_key_order(jsonable(value, limit=None)))


def _in_key_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_key_order(value[key]) for key in sorted(value)}
    return [_in_key_order(item) for item in value] if isinstance(value, list) else value
