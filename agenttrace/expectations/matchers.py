"""The matchers as users write them, in place of a value at any depth.

In Python they are the functions below; beside these, `ANY` (the key is there), any predicate (a callable of
the value), and ``a & b`` (both hold). In plain data they are ``$`` operators:

``{"$re": "^a"}``, ``{"$in": […]}``, ``{"$approx": 12, "$abs": 1, "$rel": 0.1}``, ``{"$gt": 1, "$lte": 5}``
(all must hold), ``{"$type": "integer"}``, ``{"$len": 3}``, ``{"$has": x}`` or ``{"$has": [x, y]}``,
``{"$any": true}``, ``{"$absent": true}``, ``{"$not": x}``, ``{"$semantic": "…"}``,
``{"$ref": "find.output.id"}``, ``{"$default": x}``. A literal key that begins with ``$`` is written with
``$$``. `read_value` reads them, `write_value` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.core.errors import ExpectationError, did_you_mean
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.matcher import All, Matcher
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
    """A text that the regular expression matches anywhere (anchor it with ``^`` and ``$``).

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
    """A value that means what the text says; an error without a judge (`ask=` of a scorer)."""
    return Semantic(text)


def ref(path: str) -> Matcher:
    """A value that came from an earlier call: ``ref("find.output.items[*].id")``."""
    return Ref(path)


def read_value(raw: Any) -> Any:
    """An expected value with its ``$`` operators turned into matchers; other values are left as they are.

    Raises:
        ExpectationError: an unknown operator (with a suggestion), one with a value that it cannot take, or
            operators and ordinary keys in one mapping.
    """
    if isinstance(raw, Mapping):
        operators = [key for key in raw if isinstance(key, str) and _is_operator(key)]
        if not operators:
            return {_unescaped(key): read_value(item) for key, item in raw.items()}
        return _read_operators(raw, operators)
    if type(raw) in (list, tuple):
        return [read_value(item) for item in raw]
    return raw


def _is_operator(key: str) -> bool:
    return key.startswith("$") and not key.startswith("$$")


def _unescaped(key: Any) -> Any:
    return key[1:] if isinstance(key, str) and key.startswith("$$") else key


def _read_operators(raw: Mapping[str, Any], operators: list[str]) -> Any:
    for key in operators:
        if key not in _OPERATORS and key not in ("$abs", "$rel"):
            raise ExpectationError(
                f"unknown operator {key!r}{did_you_mean(key, _OPERATOR_NAMES)}; "
                f"a literal key is written '${key}'"
            )
    if len(operators) < len(raw):
        other = next(key for key in raw if key not in operators)
        raise ExpectationError(
            f"operators and the ordinary key {other!r} stand in one mapping: {dict(raw)!r}"
        )
    if "$approx" not in raw and ("$abs" in raw or "$rel" in raw):
        raise ExpectationError(f"'$abs' and '$rel' belong to '$approx', which is missing in {dict(raw)!r}")
    values = [_OPERATORS[key](raw[key], raw) for key in operators if key in _OPERATORS]
    if len(values) == 1:
        return values[0]
    if not all(isinstance(value, Matcher) for value in values):
        raise ExpectationError(f"these operators cannot stand together: {', '.join(operators)}")
    return All(tuple(values))


def _read_flag(name: str, meaning: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
    def read(value: Any, _: Mapping[str, Any]) -> Any:
        if value is not True:
            raise ExpectationError(f"'${name}' is written {{'${name}': true}}, got {value!r}")
        return meaning

    return read


def _read_in(value: Any, _: Mapping[str, Any]) -> Matcher:
    if not isinstance(value, list | tuple | set | frozenset):
        raise ExpectationError(f"'$in' takes a list of values, got {value!r}")
    return OneOf(tuple(read_value(item) for item in value))


def _read_has(value: Any, _: Mapping[str, Any]) -> Matcher:
    items = value if isinstance(value, list | tuple) else [value]
    return Has(tuple(read_value(item) for item in items))


def _read_float(value: Any, _: Mapping[str, Any]) -> float:
    if value not in ("NaN", "Infinity", "-Infinity"):
        raise ExpectationError(f"'$float' is one of 'NaN', 'Infinity', '-Infinity', got {value!r}")
    return float(value)


_OPERATORS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "$re": lambda value, _: Regex(value),
    "$in": _read_in,
    "$approx": lambda value, raw: Approx(value, raw.get("$abs"), raw.get("$rel")),
    "$gt": lambda value, _: Bound("gt", value),
    "$gte": lambda value, _: Bound("gte", value),
    "$lt": lambda value, _: Bound("lt", value),
    "$lte": lambda value, _: Bound("lte", value),
    "$type": lambda value, _: OfType(type_name(value)),
    "$len": lambda value, _: Length(read_value(value)),
    "$has": _read_has,
    "$any": _read_flag("any", ANY),
    "$absent": _read_flag("absent", ABSENT),
    "$not": lambda value, _: Not(read_value(value)),
    "$semantic": lambda value, _: Semantic(value),
    "$ref": lambda value, _: Ref(value),
    "$default": lambda value, _: Default(read_value(value)),
    "$float": _read_float,
}

_OPERATOR_NAMES = _OPERATORS.keys() - {"$float"} | {"$abs", "$rel"}
"""The operators that users write; ``$float`` is only how files spell NaN and the infinities."""
