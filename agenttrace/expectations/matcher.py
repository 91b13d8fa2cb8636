# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""`Matcher`: the base class of everything that can stand in place of an expected value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agenttrace.core.errors import ExpectationError
from agenttrace.core.jsonable import jsonable
from agenttrace.core.tool_call import ANY, ArgumentMode, ToolCall


class Answerer(Protocol):
    """Decides for `semantic` whether a value means what a text says."""

    def answer(self, text: str, value: Any) -> bool:
        """Whether the value means it. Raises ScorerError where this cannot be decided."""
        ...


@dataclass(slots=True)
class Context:
    """What the comparison of one value may depend on, apart from the value.

    `calls` are all calls in scope, `position` is that of the call whose value is compared. `labels` holds for
    each label a test of whether the call at a position fits the expected call of that label.
    """

    mode: ArgumentMode = "exact"
    calls: Sequence[ToolCall] = ()
    position: int = 0
    labels: Mapping[str, Callable[[int], bool]] = field(default_factory=dict)
    answers: Answerer | None = None


PLAIN = Context()


class Matcher(ABC):
    """What can stand in place of an expected value, at any depth."""

    __slots__ = ()

    @abstractmethod
    def agree(self, actual: Any, context: Context) -> float:
        """Agreement with an actual value, 0 to 1."""

    def why(self, actual: Any, context: Context) -> str:
        """Why they do not agree, where the two values do not show it; else ``""``."""
        return ""

    @property
    def accepts_absence(self) -> bool:
        """Whether a missing key agrees."""
        return False

    @abstractmethod
    def to_data(self) -> dict[str, Any]:
        """The ``$`` operators that read back as this matcher."""

    def __and__(self, other: Matcher) -> All:
        return All((*_parts(self), *_parts(other)))


@dataclass(frozen=True, slots=True)
class All(Matcher):
    """Several matchers at once, each with its own operator: ``gte(1) & lte(5)``."""

    parts: tuple[Matcher, ...]

    def __post_init__(self) -> None:
        operators = [key for part in self.parts for key in part.to_data()]
        if len(set(operators)) < len(operators):
            raise ExpectationError(f"the same operator stands twice in {self.parts!r}; use one_of or not_")

    def agree(self, actual: Any, context: Context) -> float:
        return min(part.agree(actual, context) for part in self.parts)

    @property
    def accepts_absence(self) -> bool:
        return all(part.accepts_absence for part in self.parts)

    def to_data(self) -> dict[str, Any]:
        return {key: value for part in self.parts for key, value in part.to_data().items()}

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts))


@dataclass(frozen=True, slots=True)
class Unordered:
    """The members of an expected set."""

    members: tuple[Any, ...]


def write_value(value: Any) -> Any:
    """An expected value as plain data, with matchers as ``$`` operators and literal ``$`` keys as ``$$``.

    Raises:
        ExpectationError: a predicate.
    """
    if value is ANY:
        return {"$any": True}
    if isinstance(value, Matcher):
        return value.to_data()
    if isinstance(value, Unordered | set | frozenset):
        members = value.members if isinstance(value, Unordered) else tuple(value)
        return {"$has": [write_value(member) for member in members], "$len": len(members)} if members else []
    if isinstance(value, Mapping):
        if len(value) == 1 and value.get("$float") in ("NaN", "Infinity", "-Infinity"):
            return dict(value)  # a float in its written form, which reads back as one
        return {_escaped(str(key)): write_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [write_value(item) for item in value]
    if callable(value) and not isinstance(value, type):
        raise ExpectationError(f"a predicate cannot be written as data: {value!r}")
    return jsonable(value)


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def _parts(matcher: Matcher) -> tuple[Matcher, ...]:
    return matcher.parts if isinstance(matcher, All) else (matcher,)
