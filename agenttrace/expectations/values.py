# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""Agreement of two values, from 0 to 1, with their differences.

Both sides are compared as data: numbers by their exact value (``1`` equals ``1.0``, ``True`` is not ``1``,
``"1"`` is not ``1``), NaN equals NaN, None is not a missing key, tuples equal lists, the order of keys is
free, sets compare unordered, two ISO texts of one moment are equal, and dates, enums, UUIDs, dataclasses,
pydantic models, arrays and tables compare in the form in which calls are recorded. docs/values.md has the
table.

Agreement is a number from 0 to 1, and 1 only where nothing differs. Scalars agree or not; a mapping's
agreement is the mean over the keys of either side, a list's the mean over the positions of the longer side.
In *listed* mode the keys that the expectation does not name are left out, at any depth.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import AsyncGeneratorType, BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any, Literal

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.jsonable import clean_text, jsonable
from agenttrace.core.limits import DEEPEST
from agenttrace.core.marks import (
    TRUNCATED,
    Redacted,
    cause_of,
    cause_within,
    hidden_keys,
    known_part,
    may_be_key,
    without_digests,
)
from agenttrace.core.snapshot import LEAVES, in_stable_order
from agenttrace.core.stand_ins import unused_key
from agenttrace.core.tagged import int_data, opened, opened_throughout, untagged
from agenttrace.core.text import short_repr
from agenttrace.core.tool_call import ANY, ArgumentMode
from agenttrace.expectations.assign import best_pairs
from agenttrace.expectations.matcher import All, Context, Matcher, Unordered, write_value
from agenttrace.expectations.partly_recorded import AS_RECORDED, agree_in_part, with_doubts, with_unopened
from agenttrace.expectations.reading import cannot_tell, inside
from agenttrace.expectations.scalars import same_scalar, same_text

DifferenceKind = Literal["differs", "missing", "unexpected"]
_EXACT = frozenset({str, int, bool, type(None)})
_MAX_REORDERED = 100
PREDICATE_RAISED = "the predicate raised"


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
            "got": without_digests(jsonable(self.got)),
            "note": self.note,
        }


_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_SAY_NOTHING = (type(NotImplemented), tuple, type, GeneratorType, AsyncGeneratorType, *_FUNCTIONS)


@dataclass(frozen=True, slots=True, repr=False)
class Predicate(Matcher):
    """Any callable: agrees where it returns a true value; the diff shows what it raises.

    A tuple, NaN, a generator, a function that nobody called are true whatever they say: they are refused.
    """

    is_opaque = True
    function: Any

    def agree(self, actual: Any, context: Context) -> float:
        try:
            answer = self.function(actual)
            if answer is True or answer is False:
                return float(answer)
            says_nothing = isinstance(answer, _SAY_NOTHING)
            if not says_nothing and answer == answer and not inspect.isawaitable(answer):
                return 1.0 if answer else 0.0
        except Exception:  # choke-point: the agent's value does not fit the user's test
            return 0.0
        if says_nothing or not inspect.isawaitable(answer):
            raise ScorerError(f"the predicate {self!r} returns true or false, got {short_repr(answer)}")
        if inspect.iscoroutine(answer):
            answer.close()
        raise ScorerError(f"the predicate {self!r} is async, and nobody awaits it; make it a plain function")

    def why(self, actual: Any, context: Context) -> str:
        try:
            self.function(actual)
        except Exception as error:  # choke-point: shown to the reader
            return f"{PREDICATE_RAISED} {type(error).__name__}: {error}"
        return ""

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


def prepare(expected: Any, depth: int = 0) -> Any:
    """Bring an expected value into the form that `agree` takes: plain data, with matchers left in place.

    Raises:
        ExpectationError: a class in place of a value (`type_` tests types).
    """
    kind = type(expected)
    if kind is str:
        return expected if expected.isascii() else clean_text(expected)
    if expected is None or kind is bool or kind is int or kind is float:
        return expected
    if kind is not dict and (expected is ANY or isinstance(expected, Matcher | Unordered)):
        return expected
    if kind is Redacted:
        return with_doubts(expected)
    if depth >= DEEPEST:
        return jsonable(expected)
    if kind is dict or isinstance(expected, Mapping):
        return _prepare_mapping(expected, depth)
    if kind is list or kind is tuple:
        return [prepare(item, depth + 1) for item in expected]
    if kind is set or kind is frozenset:
        return Unordered(tuple(prepare(item, depth + 1) for item in in_stable_order(expected)))
    if isinstance(expected, type):
        raise ExpectationError(f"the class {expected.__name__} stands in place of a value; use type_(…)")
    if callable(expected):
        return Predicate(expected)
    return opened_throughout(with_unopened(jsonable(expected)))


def _prepare_mapping(expected: Mapping[Any, Any], depth: int) -> Any:
    if len(expected) <= 2 and (value := untagged(expected)) is not expected:
        return value
    return {key: prepare(item, depth + 1) for key, item in _with_text_keys(expected).items()}


def _with_text_keys(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """A mapping under its keys as they are recorded."""
    items: dict[str, Any] = {}
    for key, item in mapping.items():
        text = key if type(key) is str else next(iter(jsonable({key: None})))
        text = text if text.isascii() else clean_text(text)
        items[unused_key(text, key, items) if text in items else text] = item
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
    recorded = actual if type(actual) in AS_RECORDED else _readable(actual)
    cause = cause_of(recorded) or (cause_of(expected) if kind is str and expected != recorded else None)
    if cause is not None:
        part = agree_in_part(expected, recorded, cause, context, path)
        if part is not None:
            if part < 1 and into is not None:
                into.append(Difference(path, expected, actual, note=f"{cause} when it was recorded"))
            return part
    if isinstance(expected, Matcher):
        inside(path)
        return _agree_matcher(expected, actual, context, path, into)
    value = actual if type(actual) in LEAVES else _readable(actual)
    if kind is dict:
        if isinstance(value, Mapping):
            left_out = _count_left_out(value) if value is actual else 0
            return _agree_mapping(expected, value, context, path, into, left_out)
    elif kind is list and isinstance(value, list | tuple | set | frozenset):
        return _agree_list(expected, value, context, path, into)
    elif kind is Unordered:
        return _agree_unordered(expected, value, context, path, into)
    elif same_scalar(expected, value):
        return 1.0
    if into is not None:
        into.append(Difference(path, _printable(expected), _printable(actual)))
    return 0.0


def _agree_matcher(
    expected: Matcher, actual: Any, context: Context, path: str, into: list[Difference] | None
) -> float:
    if isinstance(expected, All):
        return min(agree(part, actual, context, path, into) for part in expected.parts)
    if expected.is_opaque and (cause := cause_within(actual)) is not None:
        return cannot_tell(cause, path)
    value = expected.agree(_for_matcher(expected, actual), context)
    if value < 1 and into is not None:
        why = expected.why(_for_matcher(expected, actual), context)
        into.append(Difference(path, expected, actual, note=why))
    return value


def _printable(value: Any) -> Any:
    """A value that can be written out: Python refuses to print the longest integers."""
    return int_data(value) if type(value) is int else value


def _readable(actual: Any) -> Any:
    """An actual value with its tag read: containers as they are, what is no JSON data as recorded."""
    kind = type(actual)
    if kind is dict:
        return opened(actual)
    if kind is list or kind is Redacted or isinstance(actual, list | tuple | set | frozenset | Mapping):
        return actual
    data = jsonable(actual)
    return opened(data) if type(data) is dict else data


def _for_matcher(matcher: Matcher, actual: Any) -> Any:
    """An actual value with all tags read; a predicate gets what is no JSON data as it is."""
    kind = type(actual)
    if kind in LEAVES or (matcher.takes_recorded and kind in AS_RECORDED):
        return actual
    if kind is dict or kind is list:
        return opened_throughout(actual)
    return actual if isinstance(matcher, Predicate) else _readable(actual)


def _agree_mapping(
    expected: dict[str, Any],
    actual: Mapping[Any, Any],
    context: Context,
    path: str,
    into: list[Difference] | None,
    left_out: int,
) -> float:
    if actual.keys() != expected.keys() and not all(type(key) is str for key in actual):
        actual = _with_text_keys(actual)
    hidden = hidden_keys(actual) if actual.keys() != expected.keys() else []
    total, present = 0.0, 0
    for key, item in expected.items():
        if key in actual:
            value = actual[key]
            kind = type(item)
            if kind is type(value) and kind in _EXACT and (item == value or into is None):
                # The loop of large comparisons: scalars of one type need no more than this.
                if kind is str and (cause_of(value) or (item != value and cause_of(item))):
                    total += agree(item, value, context, f"{path}.{key}" if path else key, into)
                elif item == value or (kind is str and same_text(item, value)):
                    total += 1.0
            else:
                total += agree(item, value, context, f"{path}.{key}" if path else key, into)
        elif left_out:
            value = cannot_tell("cut", f"{path}.{key}" if path else key)
            total += value
            present += value > 0 and bool(_values_that_may_be(key, hidden, actual))
        elif hidden and (may_be := _values_that_may_be(key, hidden, actual)):
            value = _agree_hidden(item, may_be, context, f"{path}.{key}" if path else key, into)
            total += value
            present += value > 0 and not _accepts_absence(item)
        elif _accepts_absence(item):
            total += 1.0
        elif into is not None:
            into.append(Difference(f"{path}.{key}" if path else key, item, None, "missing"))
    count = len(expected)
    if context.mode == "exact" and actual.keys() != expected.keys():
        count += _count_unexpected(expected, actual, left_out, path, into) - min(present, len(hidden))
    return total / count if count else 1.0


def _accepts_absence(expected: Any) -> bool:
    return isinstance(expected, Matcher) and expected.accepts_absence


def _values_that_may_be(key: str, hidden: Sequence[str], actual: Mapping[Any, Any]) -> list[Any]:
    """The values of the keys not known whole that may be this key."""
    return [actual[name] for name in hidden if may_be_key(name, key)]


def _agree_hidden(
    expected: Any, may_be: Sequence[Any], context: Context, path: str, into: list[Difference] | None
) -> float:
    """Agreement of the value of a key that may be among those not known whole, with these values, or not."""
    absent = float(_accepts_absence(expected))
    there = max(agree(expected, value, context) for value in may_be)
    in_favour = there == absent or cannot_tell("redacted", path) == 1.0
    value = max(there, absent) if in_favour else min(there, absent)
    if value < 1 and into is not None:
        into.append(Difference(path, expected, None, "missing", "a key was not recorded whole"))
    return value


def _count_unexpected(
    expected: Mapping[str, Any],
    actual: Mapping[Any, Any],
    left_out: int,
    path: str,
    into: list[Difference] | None,
) -> int:
    unexpected = [key for key in actual if key not in expected and not (left_out and key == TRUNCATED)]
    if into is not None:
        for key in unexpected:
            into.append(Difference(f"{path}.{key}" if path else str(key), None, actual[key], "unexpected"))
    # Of what was left out, at least so many entries are none of those expected.
    return len(unexpected) + max(left_out - sum(key not in actual for key in expected), 0)


def _count_left_out(actual: Mapping[Any, Any]) -> int:
    """How many entries a recorded mapping lacks because it was cut."""
    count = actual.get(TRUNCATED) if len(actual) > 1 else None
    return count if type(count) is int and count > 0 else 0


def _agree_list(
    expected: list[Any],
    actual: Sequence[Any] | set[Any] | frozenset[Any],
    context: Context,
    path: str,
    into: list[Difference] | None,
) -> float:
    if isinstance(actual, set | frozenset):
        return _agree_unordered(Unordered(tuple(expected)), actual, context, path, into)
    known = known_part(actual) if type(actual) is list else None
    items: Sequence[Any] = actual if known is None else known.part
    size = len(items) if known is None or known.total is None else known.total
    total = 0.0
    count_before = 0 if into is None else len(into)
    for index, (item, value) in enumerate(zip(expected, items, strict=False)):
        total += agree(item, value, context, f"{path}[{index}]", into)
    for index in range(len(items), min(size, len(expected))):
        total += cannot_tell("cut", f"{path}[{index}]")
    longer = max(len(expected), size)
    if into is None or total == longer:
        pass
    elif known is not None:
        into.append(Difference(path, expected, actual, note="cut when it was recorded"))
    elif _is_reordered(expected, items, context):
        into[count_before:] = [Difference(path, expected, actual, note="the same items in another order")]
    else:
        for index in range(len(items), len(expected)):
            into.append(Difference(f"{path}[{index}]", expected[index], None, "missing"))
        for index in range(len(expected), len(items)):
            into.append(Difference(f"{path}[{index}]", None, items[index], "unexpected"))
    return total / longer if longer else 1.0


def _is_reordered(expected: list[Any], actual: Sequence[Any], context: Context) -> bool:
    """Whether two lists differ in their order alone; False for long ones, because all pairs are compared."""
    if len(expected) != len(actual) or len(expected) > _MAX_REORDERED:
        return False
    return _agree_unordered(Unordered(tuple(expected)), actual, context, "", None) == 1.0


def _agree_unordered(
    expected: Unordered, actual: Any, context: Context, path: str, into: list[Difference] | None
) -> float:
    if isinstance(actual, set | frozenset):
        actual = in_stable_order(actual)
    known = known_part(actual) if type(actual) is list else None
    if known is not None and known.total is not None and len(expected.members) == known.total:
        return cannot_tell("cut", path)
    if isinstance(actual, list | tuple):
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
