# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""Agreement of two values, from 0 to 1, with their differences.

Both sides are compared as JSON: ``1`` equals ``1.0``, ``True`` is not ``1``, ``"1"`` is not ``1``, None is
not a missing key, tuples equal lists, the order of keys is free, NaN equals NaN, sets compare unordered, and
dates, enums, UUIDs, dataclasses and pydantic models compare in the form in which calls are recorded.

Agreement is a number from 0 to 1, and 1 only where nothing differs. Scalars agree or not; a mapping's
agreement is the mean over the keys of either side, a list's the mean over the positions of the longer side.
In *listed* mode the keys that the expectation does not name are left out, at any depth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agenttrace.core.errors import ExpectationError
from agenttrace.core.jsonable import clean, jsonable, to_json
from agenttrace.core.snapshot import LEAVES, MAX_DEPTH, MAX_ITEMS
from agenttrace.core.tool_call import ANY, ArgumentMode
from agenttrace.expectations.assign import best_pairs
from agenttrace.expectations.matcher import PLAIN, Context, Matcher, Unordered, write_value

DifferenceKind = Literal["differs", "missing", "unexpected"]
_EXACT = frozenset({str, int, bool, type(None)})
_MAX_REORDERED = 100
PREDICATE_RAISED = "the predicate raised"
_CUT = re.compile(r"…\[\+(\d+) chars\]\Z")


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ: `path` is ``amount`` or ``rooms[0].beds``, empty for the whole.

    *missing*: expected, but not there (`got` is None). *unexpected*: there, but not expected (`expected` is
    None). `note` explains what the values alone do not show, for example what a predicate raised.
    """

    path: str
    expected: Any
    got: Any
    kind: DifferenceKind = "differs"
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data; what has no written form, such as a predicate, as its repr."""
        try:
            expected = write_value(self.expected)
        except ExpectationError:
            expected = repr(self.expected)
        return {
            "path": self.path,
            "kind": self.kind,
            "expected": expected,
            "got": jsonable(self.got),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Predicate(Matcher):
    """Any callable: agrees where it returns a true value; the diff shows what it raises."""

    function: Any

    def agree(self, actual: Any, context: Context) -> float:
        try:
            return 1.0 if self.function(actual) else 0.0
        except Exception:  # choke-point: the agent's value does not fit the user's test
            return 0.0

    def why(self, actual: Any, context: Context) -> str:
        try:
            self.function(actual)
        except Exception as error:  # choke-point: shown to the reader
            return f"{PREDICATE_RAISED} {type(error).__name__}: {error}"
        return ""

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


def prepare(expected: Any, depth: int = 0) -> Any:
    """Bring an expected value into the form that `agree` takes: plain JSON, with matchers left in place.

    Raises:
        ExpectationError: a class in place of a value (`type_` tests types).
    """
    kind = type(expected)
    if kind is str or expected is None or kind is bool:
        return expected
    if kind is int or kind is float:
        return clean(expected)
    if expected is ANY or isinstance(expected, Matcher | Unordered):
        return expected
    if depth >= MAX_DEPTH:
        return jsonable(expected)
    if isinstance(expected, Mapping):
        return _prepare_mapping(expected, depth)
    if kind is list or kind is tuple:
        items = [prepare(item, depth + 1) for item in expected[:MAX_ITEMS]]
        return items if len(items) == len(expected) else [*items, {"$truncated": len(expected) - len(items)}]
    if kind is set or kind is frozenset:
        return Unordered(tuple(prepare(item, depth + 1) for item in expected))
    if isinstance(expected, type):
        raise ExpectationError(f"the class {expected.__name__} stands in place of a value; use type_(…)")
    if callable(expected):
        return Predicate(expected)
    return jsonable(expected)


def _prepare_mapping(expected: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    items: dict[str, Any] = {}
    for key, item in expected.items():
        if len(items) == MAX_ITEMS:
            items["$truncated"] = len(expected) - MAX_ITEMS
            break
        text = key if type(key) is str else next(iter(jsonable({key: None})))
        items[text] = prepare(item, depth + 1)
    return items


def agreement(expected: Any, actual: Any, mode: ArgumentMode = "exact") -> float:
    """How far two values agree, 0 to 1."""
    return 1.0 if mode == "ignore" else agree(prepare(expected), actual, Context(mode=mode))


def differences(expected: Any, actual: Any, mode: ArgumentMode = "exact") -> list[Difference]:
    """Where two values differ; empty exactly where `agreement` is 1."""
    places: list[Difference] = []
    if mode != "ignore":
        agree(prepare(expected), actual, Context(mode=mode), "", places)
    return places


def agree(
    expected: Any, actual: Any, context: Context, path: str = "", into: list[Difference] | None = None
) -> float:
    """Agreement of a prepared value with an actual one; the differences go to `into`, if given."""
    if expected is ANY:
        return 1.0
    kind = type(expected)
    if kind is dict:
        if type(actual) is dict or isinstance(actual, Mapping):
            return _agree_mapping(expected, actual, context, path, into)
    elif kind is list:
        if isinstance(actual, set | frozenset):
            return agree(Unordered(tuple(expected)), actual, context, path, into)
        if isinstance(actual, list | tuple):
            return _agree_list(expected, actual, context, path, into)
    elif kind is Unordered:
        return _agree_unordered(expected, actual, context, path, into)
    elif isinstance(expected, Matcher):
        value = expected.agree(actual, context)
        if value < 1 and into is not None:
            into.append(Difference(path, expected, actual, note=expected.why(actual, context)))
        return value
    if _same_scalar(expected, actual):
        return 1.0
    if into is not None:
        into.append(Difference(path, expected, actual))
    return 0.0


def _same_scalar(expected: Any, actual: Any) -> bool:
    """Whether two values are the same scalar; `expected` may also be the recorded form of a container."""
    kind = type(actual)
    if kind is bool or type(expected) is bool:
        return expected is actual
    if kind is str:
        return bool(expected == actual) or (type(expected) is str and _same_truncated(expected, actual))
    if kind in LEAVES:
        return bool(expected == clean(actual))
    if kind is dict or kind is list:
        return False
    plain = jsonable(actual)
    return type(plain) is type(expected) and agree(expected, plain, PLAIN) == 1.0


def _same_truncated(expected: str, actual: str) -> bool:
    """Whether a text that was truncated when it was recorded has the expected beginning and length."""
    mark = _CUT.search(actual) if actual.endswith(" chars]") else None
    if mark is None:
        return False
    head = actual[: mark.start()]
    return len(expected) == len(head) + int(mark.group(1)) and expected.startswith(head)


def _agree_mapping(
    expected: dict[str, Any],
    actual: Mapping[Any, Any],
    context: Context,
    path: str,
    into: list[Difference] | None,
) -> float:
    total = 0.0
    for key, item in expected.items():
        if key in actual:
            value = actual[key]
            kind = type(item)
            if kind is type(value) and kind in _EXACT and (item == value or into is None):
                # The loop of large comparisons: scalars of one type need no more than this.
                if item == value or (kind is str and _same_truncated(item, value)):
                    total += 1.0
            else:
                total += agree(item, value, context, f"{path}.{key}" if path else key, into)
        elif isinstance(item, Matcher) and item.accepts_absence:
            total += 1.0
        elif into is not None:
            into.append(Difference(f"{path}.{key}" if path else key, item, None, "missing"))
    count = len(expected)
    if context.mode == "exact" and actual.keys() != expected.keys():
        for key, item in actual.items():
            if key not in expected:
                count += 1
                if into is not None:
                    into.append(Difference(f"{path}.{key}" if path else str(key), None, item, "unexpected"))
    return total / count if count else 1.0


def _agree_list(
    expected: list[Any],
    actual: Sequence[Any],
    context: Context,
    path: str,
    into: list[Difference] | None,
) -> float:
    total = 0.0
    count_before = 0 if into is None else len(into)
    for index, (item, value) in enumerate(zip(expected, actual, strict=False)):
        total += agree(item, value, context, f"{path}[{index}]", into)
    longer = max(len(expected), len(actual))
    if into is not None and total < longer and _is_reordered(expected, actual, context):
        into[count_before:] = [Difference(path, expected, actual, note="the same items in another order")]
    elif into is not None:
        for index in range(len(actual), len(expected)):
            into.append(Difference(f"{path}[{index}]", expected[index], None, "missing"))
        for index in range(len(expected), len(actual)):
            into.append(Difference(f"{path}[{index}]", None, actual[index], "unexpected"))
    return total / longer if longer else 1.0


def _is_reordered(expected: list[Any], actual: Sequence[Any], context: Context) -> bool:
    """Whether two lists differ in their order alone; False for long ones, because all pairs are compared."""
    if len(expected) != len(actual) or len(expected) > _MAX_REORDERED:
        return False
    return _agree_unordered(Unordered(tuple(expected)), actual, context, "", None) == 1.0


def _agree_unordered(
    expected: Unordered, actual: Any, context: Context, path: str, into: list[Difference] | None
) -> float:
    if isinstance(actual, set | frozenset | list | tuple):
        items = list(actual)
        matrix = [[agree(item, other, context) for other in items] for item in expected.members]
        total = math.fsum(matrix[e][a] for e, a in best_pairs(matrix))
        longer = max(len(items), len(expected.members))
        value = total / longer if longer else 1.0
    else:
        value = 0.0
    if value < 1 and into is not None:
        into.append(Difference(path, list(expected.members), actual, note="compared without order"))
    return value


def value_key(value: Any) -> str:
    """A text that is equal for two values exactly where they agree in *exact* mode (sets as sorted lists)."""
    return to_json(_canonical(jsonable(value)))


def _canonical(value: Any) -> Any:
    if type(value) is float and value.is_integer():
        return clean(int(value))
    if type(value) is list:
        return [_canonical(item) for item in value]
    if type(value) is dict:
        return {key: _canonical(value[key]) for key in sorted(value)}
    return value
