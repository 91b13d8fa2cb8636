"""`RewrittenCall`: an expected call, in plain data, with the values of an actual one where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.marks import cause_within
from agenttrace.core.tagged import untagged
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import EXPECTED_WORDS, ArgumentMode, ToolCall
from agenttrace.expectations.expectation import CHECKS, expectation_of, known_value
from agenttrace.expectations.matcher import read_value
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.reading import in_favour
from agenttrace.expectations.values import prepare
from agenttrace.matching.binding import bound_arguments
from agenttrace.matching.compared import Compared
from agenttrace.matching.comparison import Comparison

GROUPS = frozenset({"seq", "par", "any_of", "opt", "many"})
_GUARDS = frozenset({"$ref", "$semantic", "$absent", "$not"})
"""Operators of a value's origin, its meaning, of what it must not be: no literal takes their place."""


class CannotRewrite(Exception):
    """An expectation cannot be made to say what ran; the text says why."""


def is_call(item: Any) -> bool:
    """Whether an item of a path is one expected call, a name or a mapping."""
    if not isinstance(item, Mapping):
        return isinstance(item, str)
    return bool({"call", "tool_name", "name"} & item.keys()) or not (GROUPS & item.keys())


def is_short(item: Mapping[str, Any]) -> bool:
    """Whether a call is written ``{tool: {parameter: value}}``."""
    return not ({"call", "tool_name", "name"} & item.keys())


def written_call(call: ToolCall, path: Any, notes: list[str]) -> Any:
    """A call that ran as an item of a path, written as the calls that stand there are.

    Where none of them states parameters, neither does it.
    """
    siblings = [item for item in _calls_in(path) if isinstance(item, Mapping)]
    (item,) = expectation_of([call])
    if not isinstance(item, Mapping) or (not siblings and list(_calls_in(path))):
        return call.name
    if cause_within(dict(call.arguments)) is not None:
        notes.append(f"of {call.name} not all arguments were recorded whole: there anything is expected")
    is_word = call.name in GROUPS or call.name in CHECKS or call.name in _WORDS
    if is_word or (siblings and not any(map(is_short, siblings))):
        return item
    return {call.name: item["parameters"]}


_WORDS = frozenset(
    {"path", "call", "tool_name", "name", "mode", "match", "agent", "turn", "attempts", "severity"}
)


def _calls_in(path: Any) -> Iterator[Any]:
    if isinstance(path, list | tuple):
        for item in path:
            yield from _calls_in(item)
    elif is_call(path):
        yield path
    else:
        for word in GROUPS & path.keys():
            yield from _calls_in(path[word])


class RewrittenCall:
    """Writes the values of actual calls into expected ones; what it leaves as it is goes to `notes`."""

    def __init__(self, comparison: Comparison, how: Mapping[str, Any], notes: list[str]) -> None:
        self.comparison = comparison
        self.match: ArgumentMode = comparison.expectation.match or how.get("match") or "exact"
        self.comparators: Mapping[str, Any] = how.get("comparators") or {}
        self.notes = notes

    def with_values(self, item: Any, expected: Call, position: int) -> Any:
        """The item with the arguments, and the output where one is expected, of the call at a position.

        Raises:
            CannotRewrite: the call's arguments could not be read.
        """
        call = self.comparison.calls[position]
        if isinstance(item, str) or not isinstance(item, Mapping):
            return item
        if call.arguments_error is not None:
            raise CannotRewrite(f"the arguments of {call.name} could not be read")
        mode: ArgumentMode = expected.mode or self.match
        key = next(iter(item)) if is_short(item) else _word_in(item, "arguments")
        new = dict(item)
        if key is not None and isinstance(item[key], Mapping) and mode != "ignore":
            new[key] = self._arguments(item[key], expected, position, mode)
        if "output" in item:
            where = f"the output of {call.name}"
            new["output"] = self._value(item["output"], call.output, position, mode, where)
        return new

    def _arguments(
        self, arguments: Mapping[str, Any], expected: Call, position: int, mode: ArgumentMode
    ) -> dict[str, Any]:
        call = self.comparison.calls[position]
        actual = _spread(call.arguments, call.tool)
        compare = self.comparators.get(call.name)
        new: dict[str, Any] = {}
        for name, value in arguments.items():
            if name in expected.ignore:
                new[name] = value
                continue
            where = f"{name} of {call.name}"
            own = compare.get(name) if isinstance(compare, Mapping) else None
            if name in actual:
                new[name] = self._value(value, actual[name], position, mode, where, own)
            elif self._may_be_missing(value):
                new[name] = value
        if mode == "exact":
            defaults = _defaults(call, expected)
            for name, value in actual.items():
                if name in arguments or name in expected.ignore:
                    continue
                if name in defaults and self._agrees(defaults[name], value, position, mode):
                    continue
                new[name] = self._literal(value, f"{name} of {call.name}")
        return new

    def _value(
        self, value: Any, actual: Any, position: int, mode: ArgumentMode, where: str, compare: Any = None
    ) -> Any:
        """The expected value where it agrees, or may; else the actual one, in as few places as possible."""
        prepared = prepare(read_value(value))
        prepared = prepared if compare is None else Compared(prepared, compare)
        try:
            if self._agrees(prepared, actual, position, mode):
                return value
            if in_favour(lambda: self._agrees(prepared, actual, position, mode)):
                self.notes.append(f"{where} was {cause_within(actual)} when it was recorded: left as it is")
                return value
        except AgentTraceError as error:  # a judge is needed, a pattern took too long
            self.notes.append(f"{where}: {error}")
            return value
        operators = _operators(value)
        if operators & _GUARDS:
            self.notes.append(f"{where}: {value} does not hold; not updated")
            return value
        if not operators and isinstance(value, Mapping) and _is_plain(actual) and _is_plain(value):
            return self._mapping(value, actual, position, mode, where)
        if isinstance(value, list) and isinstance(actual, list) and cause_within(actual) is None:
            common = [
                self._value(one, other, position, mode, f"{where}[{at}]")
                for at, (one, other) in enumerate(zip(value, actual, strict=False))
            ]
            return [*common, *(self._literal(other, where) for other in actual[len(value) :])]
        return self._literal(actual, where)

    def _mapping(
        self,
        value: Mapping[str, Any],
        actual: Mapping[str, Any],
        position: int,
        mode: ArgumentMode,
        where: str,
    ) -> dict[str, Any]:
        new = {
            key: self._value(one, actual[_unescaped(key)], position, mode, f"{key} in {where}")
            if _unescaped(key) in actual
            else one
            for key, one in value.items()
            if _unescaped(key) in actual or self._may_be_missing(one)
        }
        if mode == "exact":
            known = {_unescaped(key) for key in value}
            for key, other in actual.items():
                if key not in known:
                    new[f"${key}" if key.startswith("$") else key] = self._literal(other, f"{key} in {where}")
        return new

    def _literal(self, actual: Any, where: str) -> Any:
        cause = cause_within(actual)
        if cause is not None:
            self.notes.append(f"{where} was {cause} when it was recorded: there anything is expected")
        return known_value(actual)

    def _agrees(self, prepared: Any, actual: Any, position: int, mode: ArgumentMode) -> bool:
        return self.comparison.call_agreement.value_agrees(prepared, actual, position, mode)

    def _may_be_missing(self, value: Any) -> bool:
        prepared = prepare(read_value(value))
        return bool(getattr(prepared, "accepts_absence", False))


def _word_in(item: Mapping[str, Any], name: str) -> str | None:
    return next((word for word in EXPECTED_WORDS[name] if word in item), None)


def _operators(value: Any) -> set[str]:
    """The operators of a matcher's data; empty for any other value."""
    if not isinstance(value, Mapping) or untagged(value) is not value:
        return set()
    return {key for key in value if key.startswith("$") and not key.startswith("$$")}


def _is_plain(value: Any) -> bool:
    """Whether a value is a mapping, known whole at its top, that stands for nothing else."""
    return (
        isinstance(value, Mapping) and untagged(value) is value and all(isinstance(key, str) for key in value)
    )


def _unescaped(key: str) -> str:
    return key[1:] if key.startswith("$$") else key


def _spread(arguments: Mapping[str, Any], tool: ToolDefinition | None) -> dict[str, Any]:
    """Recorded arguments as they are expected: those taken through ``**options`` beside the others."""
    rest = tool.rest if tool is not None else None
    spread = {key: value for key, value in arguments.items() if key != rest}
    inner = arguments.get(rest) if rest is not None else None
    return {**spread, **inner} if isinstance(inner, Mapping) else spread


def _defaults(call: ToolCall, expected: Call) -> Mapping[str, Any]:
    """The values that the tool gives to parameters that are not expected."""
    if call.tool is None:
        return {}
    try:
        return bound_arguments(call.tool, (call.tool,), expected, "exact")
    except AgentTraceError:
        return {}
