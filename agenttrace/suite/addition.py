"""`Addition`: constraints to add to an expectation, which then is at least as strict as before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agenttrace.core.tool_call import ExpectedToolCall
from agenttrace.expectations.expectation import Expectation
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Seq, as_call


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Constraints beside the path; `pins` are arguments of its calls, by tool and name, as data of files."""

    never: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    at_most: Mapping[str, int] = field(default_factory=dict)
    at_least: Mapping[str, int] = field(default_factory=dict)
    before: tuple[tuple[str, str], ...] = ()
    tool_errors: int | None = None
    pins: Mapping[tuple[str, str], Any] = field(default_factory=dict)

    def added_to(self, expected: Any) -> Expectation:
        """The expectation, in any of its forms or None, with these constraints as well.

        Where it has one of the same kind, the stricter of the two holds. An argument that it states already
        stays as it is.

        Raises:
            ExpectationError: it cannot be read, or contradicts these constraints.
        """
        old = Expectation() if expected is None else parse_expectation(expected)
        errors = [limit for limit in (self.tool_errors, old.tool_errors) if limit is not None]
        at_most = {
            name: min(limits[name] for limits in (self.at_most, old.at_most) if name in limits)
            for name in {**old.at_most, **self.at_most}
        }
        at_least = {
            name: max(limits.get(name, 0) for limits in (self.at_least, old.at_least))
            for name in {**old.at_least, **self.at_least}
        }
        return replace(
            old,
            path=self._pinned(old.path) if old.path is not None and self.pins else old.path,
            never=tuple(dict.fromkeys((*old.never, *self.never))),
            only=self.only if old.only is None else old.only,
            at_most=at_most,
            at_least=at_least,
            before=tuple(dict.fromkeys((*old.before, *self.before))),
            tool_errors=min(errors, default=None),
        )

    def _pinned(self, pattern: Any) -> Any:
        if isinstance(pattern, Call):
            return self._pinned_call(pattern)
        if isinstance(pattern, Many):
            return Many(self._pinned(pattern.part), pattern.least, pattern.most)
        assert isinstance(pattern, Seq | Par | AnyOf)
        return type(pattern)(tuple([self._pinned(part) for part in pattern.parts]))

    def _pinned_call(self, call: Call) -> Call:
        pins = {argument: data for (tool, argument), data in self.pins.items() if tool == call.name}
        stated = call.arguments if isinstance(call.arguments, Mapping) else {}
        new = {argument: data for argument, data in pins.items() if argument not in stated}
        if not new:
            return call
        pinned = as_call(ExpectedToolCall(name=call.name, arguments=new)).arguments
        assert isinstance(pinned, Mapping)
        mode = call.mode if isinstance(call.arguments, Mapping) else "listed"
        return replace(call, arguments={**stated, **pinned}, mode=mode)

    @property
    def text(self) -> str:
        """The constraints as arguments of `expect` and of `call`."""
        words = [f"{word}={value!r}" for word, value in self._constraints.items()]
        pins = [
            f"call({tool!r}, {argument}={_value_text(data)})" for (tool, argument), data in self.pins.items()
        ]
        return ", ".join([*words, *pins])

    @property
    def _constraints(self) -> dict[str, Any]:
        values = {
            "never": list(self.never) or None,
            "only": None if self.only is None else list(self.only),
            "at_most": dict(self.at_most) or None,
            "at_least": dict(self.at_least) or None,
            "before": [list(pair) for pair in self.before] or None,
            "tool_errors": self.tool_errors,
        }
        return {word: value for word, value in values.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """The constraints as they stand in a file; pinned arguments under ``pins``, by tool."""
        pins: dict[str, dict[str, Any]] = {}
        for (tool, argument), data in self.pins.items():
            pins.setdefault(tool, {})[argument] = data
        return {**self._constraints, **({"pins": pins} if pins else {})}


def _value_text(data: Any) -> str:
    if isinstance(data, Mapping) and len(data) == 1:
        ((operator, value),) = data.items()
        if operator == "$ref":
            return f"ref({value!r})"
        if operator == "$in":
            return f"one_of({', '.join(map(repr, value))})"
    return repr(data)
