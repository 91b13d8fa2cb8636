# ruff: noqa: D102 - overridden methods are described once, in Pattern
"""Patterns of expected calls: `call`, `seq`, `par`, `opt`, `any_of`, `many`.

::

    call("login") >> par(call("hotel"), call("flight")) >> opt("seat_map")
                  >> any_of("book_card", seq("hold", "pay_later")) >> many("notify", 1, 2)

A plain name stands for a call with any arguments. Patterns are values: equal where they say the same,
written as data by `to_data`, read back by `parse_expectation`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agenttrace.core.errors import ExpectationError
from agenttrace.core.numbers import is_whole
from agenttrace.core.snapshot import LEAVES
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ANY, ARGUMENT_MODES, FIELD_OF, ArgumentMode, ExpectedToolCall
from agenttrace.expectations.matcher import read_value, write_value
from agenttrace.expectations.values import prepare

Item = Any
"""A pattern, a tool's name, or a flat mapping with ``tool_name``."""


class Pattern(ABC):
    """What calls should happen, in what order."""

    __slots__ = ()

    def __rshift__(self, other: Item) -> Seq:
        return seq(self, other)

    def __rrshift__(self, other: Item) -> Seq:
        return seq(other, self)

    @abstractmethod
    def calls(self) -> Iterator[Call]:
        """Every call that the pattern mentions, in the order written."""

    @abstractmethod
    def to_data(self) -> Any:
        """The pattern as plain data. Raises ExpectationError for a predicate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(ExpectedToolCall, Pattern):
    """One expected call."""

    def calls(self) -> Iterator[Call]:
        yield self

    def to_data(self) -> Any:
        data = ExpectedToolCall.to_data(self)
        if len(data) == 1:
            return self.name
        for key in ("parameters", "output"):
            if key in data:
                data[key] = write_value(data[key])
        return data

    def __repr__(self) -> str:
        parts = [repr(self.name)]
        if isinstance(self.arguments, Mapping):
            plain = self.arguments and all(
                key.isidentifier() and key not in _KEYWORDS for key in self.arguments
            )
            parts += (
                [f"{key}={value!r}" for key, value in self.arguments.items()]
                if plain
                else [repr(dict(self.arguments))]
            )
        for keyword, default in _KEYWORDS.items():
            value = getattr(self, FIELD_OF[keyword.rstrip("_")])
            if value is not default:
                parts.append(f"{keyword}={list(value) if keyword == 'ignore' else value!r}")
        return f"call({', '.join(parts)})"


MAX_NESTING = 64
"""Levels of patterns inside each other. A list in a list is no level of its own: both are one sequence."""


@dataclass(frozen=True, slots=True, repr=False)
class _Composite(Pattern):
    word: ClassVar[str]
    parts: tuple[Pattern, ...]
    nesting: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nesting", _nesting(self.parts))

    def calls(self) -> Iterator[Call]:
        for part in self.parts:
            if type(part) is Call:
                yield part
            else:
                yield from part.calls()

    def to_data(self) -> Any:
        return {self.word: [part.to_data() for part in self.parts]}

    def __repr__(self) -> str:
        return f"{self.word}({', '.join(map(repr, self.parts))})"


class Seq(_Composite):
    """One after the other."""

    __slots__ = ()
    word = "seq"

    def to_data(self) -> Any:
        return [part.to_data() for part in self.parts]


class Par(_Composite):
    """All parts, in any order, also interleaved."""

    __slots__ = ()
    word = "par"


class AnyOf(_Composite):
    """One of several alternatives."""

    __slots__ = ()
    word = "any_of"


@dataclass(frozen=True, slots=True)
class Many(Pattern):
    """A repetition: at least `least` times, at most `most` (None: without limit)."""

    part: Pattern
    least: int
    most: int | None
    nesting: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nesting", _nesting((self.part,)))

    def calls(self) -> Iterator[Call]:
        yield from self.part.calls()

    def to_data(self) -> Any:
        if (self.least, self.most) == (0, 1):
            return {"opt": self.part.to_data()}
        return {"many": self.part.to_data(), "times": [self.least, self.most]}

    def __repr__(self) -> str:
        if (self.least, self.most) == (0, 1):
            return f"opt({self.part!r})"
        return f"many({self.part!r}, {self.least}, {self.most})"


def _nesting(parts: Sequence[Pattern]) -> int:
    groups = [part for part in parts if type(part) is not Call]  # few, and it takes long to tell of what kind
    nesting = 1 + max((part.nesting for part in groups if isinstance(part, _Composite | Many)), default=0)
    if nesting > MAX_NESTING:
        raise too_deep(shorten(repr(parts[0]), 60))
    return nesting


def too_deep(inside: str) -> ExpectationError:
    """The error for patterns that are nested too deeply."""
    return ExpectationError(
        f"patterns nest at most {MAX_NESTING} levels deep, the path being the first, and there are more "
        f"around {inside}; say it flatter"
    )


def call(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    match: ArgumentMode | None = None,
    ignore: Sequence[str] = (),
    agent: str | None = None,
    turn: int | None = None,
    output: Any = ANY,
    as_: str | None = None,
    **parameters: Any,
) -> Call:
    """One expected call: ``call("refund", id=7)``.

    Without arguments it may have any; ``call("refund", {})`` is called with none. Arguments whose names are
    words of this function (`match`, `agent` …) go into the mapping. `match` says how arguments are compared
    (the scorer's way, where it is None), `ignore` names parameters that are left out of it, `output` is the
    expected result, `as_` a label for `ref`.

    Raises:
        ExpectationError: an empty name, a mapping and keywords both, an unknown `match`, a bad operator.
    """
    if arguments is not None and parameters:
        raise ExpectationError(f"call({name!r}, …): give the arguments as a mapping or as keywords, not both")
    values = arguments if arguments is not None else (parameters or ANY)
    return as_call(
        ExpectedToolCall(
            name=name, arguments=values, output=output, agent=agent, turn=turn, mode=match,
            ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore), label=as_,
        )
    )  # fmt: skip


_KEYWORDS: Mapping[str, Any] = call.__kwdefaults__ or {}


def as_call(expected: ExpectedToolCall) -> Call:
    """Check an expected call and make it a pattern: ``$`` operators become matchers, values are prepared.

    Raises:
        ExpectationError: an empty name, an unknown mode, a bad operator, a class in place of a value.
    """
    if isinstance(expected, Call):
        return expected
    return checked_call(
        **{field: getattr(expected, field) for field in ExpectedToolCall.__dataclass_fields__}
    )


def checked_call(
    *, name: str, arguments: Any = ANY, output: Any = ANY, mode: ArgumentMode | None = None, **others: Any
) -> Call:
    """`as_call` of the fields of an expected call.

    Raises:
        ExpectationError: an empty name, an unknown mode, a bad operator, a class in place of a value.
    """
    if not isinstance(name, str) or not name:
        raise ExpectationError(f"an expected call needs a tool's name, got {name!r}")
    if mode is not None and mode not in ARGUMENT_MODES:
        raise ExpectationError(f"match is one of {', '.join(ARGUMENT_MODES)}, got {mode!r}")
    turn = others.get("turn")
    if turn is not None and not is_whole(turn):
        raise ExpectationError(f"the turn of {name!r} is a number of 0 or more, got {turn!r}")
    if arguments is not ANY:
        arguments = _plain_copy(arguments) or _prepared_arguments(name, arguments)
    output = output if output is ANY else prepare(read_value(output))
    return Call(name=name, arguments=arguments, output=output, mode=mode, **others)


def _plain_copy(arguments: Any) -> dict[str, Any] | None:
    """The arguments where they are scalars that stand for themselves, as most are; None where not."""
    if type(arguments) is not dict:
        return None
    for key, value in arguments.items():
        if type(key) is not str or key[:1] == "$" or not key.isascii():
            return None
        if not (value.isascii() if type(value) is str else type(value) in LEAVES):
            return None
    return arguments.copy()


def _prepared_arguments(name: str, arguments: Any) -> Any:
    if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
        raise ExpectationError(f"the arguments of {name!r} map names to values, got {arguments!r}")
    return prepare(read_value(arguments))


def as_pattern(item: Item) -> Pattern:
    """The pattern that an item stands for; a list stands for one after the other."""
    if type(item) is Call or isinstance(item, Pattern):
        return item
    if isinstance(item, list | tuple):
        return seq(*item)
    return as_call(ExpectedToolCall.of(item))


def seq(*items: Item) -> Seq:
    """One after the other; other calls may stand between, if the mode allows it."""
    parts: list[Pattern] = []
    open_lists: list[Iterator[Item]] = [iter(items)]  # lists in lists are one sequence, however deep
    while open_lists:
        for item in open_lists[-1]:
            if type(item) is Call:
                parts.append(item)
                continue
            if isinstance(item, list | tuple):
                open_lists.append(iter(item))
                break
            part = as_pattern(item)
            parts.extend(part.parts if isinstance(part, Seq) else (part,))
        else:
            open_lists.pop()
    return Seq(tuple(parts))


def par(*items: Item) -> Par:
    """All of them, in any order, also interleaved."""
    if not items:
        raise ExpectationError("par needs at least one call")
    return Par(tuple(map(as_pattern, items)))


def opt(item: Item) -> Many:
    """Once or not at all. A group counts as called only where all of it fits."""
    return many(item, 0, 1)


def any_of(*items: Item) -> AnyOf:
    """One of the alternatives: the one that fits best; among equals that with earlier calls, then the first.

    Raises:
        ExpectationError: no alternative, or one that stands twice and so can never be chosen.
    """
    branches = tuple(map(as_pattern, items))
    if not branches:
        raise ExpectationError("any_of needs at least one alternative: without any it could never hold")
    for index, branch in enumerate(branches):
        if branch in branches[:index]:
            raise ExpectationError(f"any_of: the alternative {branch!r} stands twice")
    return AnyOf(branches)


def many(item: Item, least: int = 1, most: int | None = None) -> Many:
    """At least `least` and at most `most` times (None: without limit).

    Raises:
        ExpectationError: impossible numbers, or numbers that allow no call at all.
    """
    for number in (least, most):
        if number is not None and not is_whole(number):
            raise ExpectationError(f"many: how often is a whole number of 0 or more, got {number!r}")
    if most is not None and (most < least or most == 0):
        raise ExpectationError(
            f"many: from {least} to {most} times can never be; to forbid a call, use never="
        )
    return Many(as_pattern(item), least, most)
