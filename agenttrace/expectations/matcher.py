# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""`Matcher`: the base class of everything that can stand in place of an expected value.

In Python, matchers are made by functions (`re_`, `approx` …); beside these, `ANY` (the key is there), any
predicate (a callable of the value), and ``a & b`` (both hold). In plain data they are ``$`` operators:

``{"$re": "^a"}``, ``{"$in": […]}``, ``{"$approx": 12, "$abs": 1, "$rel": 0.1}``, ``{"$gt": 1, "$lte": 5}``
(all must hold), ``{"$type": "integer"}``, ``{"$len": 3}``, ``{"$has": x}`` or ``{"$has": [x, y]}``,
``{"$any": true}``, ``{"$absent": true}``, ``{"$not": x}``, ``{"$semantic": "…"}``,
``{"$ref": "find.output.id"}``, ``{"$default": x}``. A literal key that begins with ``$`` is written with
``$$``. `read_value` reads them, `write_value` writes them.

A matcher is a class that names its function and its operator, with that function below it; the room's
`__init__` and the front door offer the function. `OPERATORS` is the one table of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, cast

from agenttrace.core.errors import ExpectationError, did_you_mean, with_article
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import KnownPart, cause_within
from agenttrace.core.snapshot import LEAVES, in_stable_order
from agenttrace.core.tagged import untagged
from agenttrace.core.tool_call import ANY, ArgumentMode, ToolCall


class Answerer(Protocol):
    """Decides for `semantic` whether a value means what a text says."""

    def answer(self, text: str, value: Any) -> bool:
        """Whether the value means it. Raises ScorerError where this cannot be decided."""
        ...


@dataclass(slots=True)
class Context:
    """What the comparison of one value may depend on, apart from the value.

    `calls` are all calls in scope, then those from which values may come, too; `position` is that of the call
    whose value is compared. `labels` holds for each label a test of whether the call at a position fits the
    expected call of that label. `names` are other names of tools, each with the one under which its calls are
    here. `earlier` tells the positions of the calls that were, or may have been, before the one at another.
    """

    mode: ArgumentMode = "exact"
    calls: Sequence[ToolCall] = ()
    position: int = 0
    labels: Mapping[str, Callable[[int], bool]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    earlier: Callable[[int], Iterable[int]] = range
    answers: Answerer | None = None


PLAIN = Context()
_FLOATS = ("NaN", "Infinity", "-Infinity")


class Matcher(ABC):
    """What can stand in place of an expected value, at any depth: a frozen dataclass.

    `word` is the function that makes it, `operator` its key in plain data, beside which stand its `options`.
    A matcher without an operator has no written form.
    """

    __slots__ = ()
    word: ClassVar[str] = ""
    operator: ClassVar[str] = ""
    options: ClassVar[tuple[str, ...]] = ()
    looks_inside: ClassVar[bool] = False
    """It compares the value with expected ones, which see themselves what cannot be told."""
    takes_recorded: ClassVar[bool] = False
    """It is given a recorded value as it stands, because it has `agree` read it: read twice, a mapping of the
    user's that looks like a tag or a mark would be taken for one."""
    is_opaque: ClassVar[bool] = False
    """It may look at any part of the value, so that it cannot be told where a part was not recorded."""

    gives_up: ClassVar[bool] = False
    """It raises where a value takes it too long."""

    def __init_subclass__(cls) -> None:
        if "operator" in vars(cls):
            OPERATORS[cls.operator] = cls
            MATCHER_OPTIONS.update({f"${option}": cls.operator for option in cls.options})

    @property
    def values(self) -> tuple[Any, ...]:
        """The values that it is made of."""
        return tuple(getattr(self, item.name) for item in fields(cast(Any, self)))

    @abstractmethod
    def agree(self, actual: Any, context: Context) -> float:
        """Agreement with an actual value, 0 to 1."""

    def agree_with_part(self, known: KnownPart | None, actual: Any, context: Context) -> float | None:
        """Agreement with a value that was not recorded whole, of which `known` is known; None where that
        cannot be told."""
        return None

    def why(self, actual: Any, context: Context) -> str:
        """Why they do not agree, where the two values do not show it; else ``""``."""
        return ""

    @property
    def accepts_absence(self) -> bool:
        """Whether a missing key agrees."""
        return False

    @property
    def _options(self) -> dict[str, Any]:
        options = {name: getattr(self, name) for name in self.options}
        return {name: value for name, value in options.items() if value is not None}

    @classmethod
    def read(cls, value: Any, **options: Any) -> Matcher:
        """The matcher with an operator's value."""
        make: Any = cls
        matcher: Matcher = make(value, **options)
        return matcher

    def to_data(self) -> dict[str, Any]:
        """The ``$`` operators that read back as this matcher.

        Raises:
            ExpectationError: it has no operator.
        """
        if not self.operator:
            raise ExpectationError(f"this cannot be written as data: {self!r}")
        return {self.operator: self.values[0], **{f"${key}": value for key, value in self._options.items()}}

    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self._options.items()]
        values = self.values[: len(self.values) - len(self.options)]
        return f"{self.word}({', '.join([*map(repr, values), *options])})"

    def __and__(self, other: Matcher) -> All:
        if not isinstance(other, Matcher):
            return NotImplemented
        return All((*_parts(self), *_parts(other)))


OPERATORS: dict[str, type[Matcher]] = {}
"""Every matcher with a written form, by its operator; a class enters itself."""

MATCHER_OPTIONS: dict[str, str] = {}
"""Every option that stands beside an operator, with that operator."""


def _operators_of(part: Matcher) -> Iterable[str]:
    try:
        data: Mapping[str, Any] = part.to_data()
    except ExpectationError:  # it holds a predicate, which has no written form
        return ()
    return data


@dataclass(frozen=True, slots=True, repr=False)
class All(Matcher):
    """Several matchers at once, each with its own operator: ``gte(1) & lte(5)``."""

    looks_inside = True
    parts: tuple[Matcher, ...]

    def __post_init__(self) -> None:
        operators = [key for part in self.parts for key in _operators_of(part)]
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


def runs_other_code(value: Any) -> bool:
    """Whether comparing with a prepared value runs code of the user's, asks a judge, or may be given up."""
    if isinstance(value, Matcher):
        is_ours = type(value).__module__.startswith(_OURS)
        return not is_ours or value.is_opaque or value.gives_up or any(map(runs_other_code, value.values))
    if isinstance(value, Mapping):
        return any(map(runs_other_code, value.values()))
    if isinstance(value, Unordered):
        return any(map(runs_other_code, value.members))
    return isinstance(value, list | tuple) and any(map(runs_other_code, value))


_OURS = __name__.partition(".")[0] + "."


def read_value(raw: Any) -> Any:
    """An expected value with its ``$`` operators turned into matchers; other values are left as they are.

    Raises:
        ExpectationError: an unknown operator (with a suggestion), one with a value that it cannot take, or
            operators and ordinary keys in one mapping; a value that is nested too deeply, or holds itself.
    """
    try:
        return _read_value(raw)
    except RecursionError:
        raise ExpectationError("an expected value is nested too deeply, or holds itself") from None


def _read_value(raw: Any) -> Any:
    if type(raw) in LEAVES:  # most values are, and asking for a `Mapping` takes longer than all the rest
        return raw
    if type(raw) is dict or isinstance(raw, Mapping):
        if (value := untagged(raw)) is not raw:
            return value
        operators = [key for key in raw if isinstance(key, str) and _is_operator(key)]
        if not operators:
            return {_unescaped(key): _read_value(item) for key, item in raw.items()}
        return _read_operators(raw, operators)
    if type(raw) in (list, tuple):
        return [_read_value(item) for item in raw]
    return raw


def _is_operator(key: str) -> bool:
    return key.startswith("$") and not key.startswith("$$")


def _unescaped(key: Any) -> Any:
    return key[1:] if isinstance(key, str) and key.startswith("$$") else key


def _read_operators(raw: Mapping[str, Any], operators: list[str]) -> Any:
    known = {*OPERATORS, *MATCHER_OPTIONS, "$any"}
    for key in operators:
        if key not in known and key != "$float":  # which is only how files spell NaN and the infinities
            hint = did_you_mean(key, known)
            raise ExpectationError(f"unknown operator {key!r}{hint}; a literal key is written '${key}'")
        if MATCHER_OPTIONS.get(key, key) not in raw:
            owner = MATCHER_OPTIONS[key]
            options = " and ".join(
                repr(option) for option in MATCHER_OPTIONS if MATCHER_OPTIONS[option] == owner
            )
            raise ExpectationError(f"{options} belong to {owner!r}, which is missing in {dict(raw)!r}")
    if len(operators) < len(raw):
        other = next(key for key in raw if key not in operators)
        raise ExpectationError(
            f"operators and the ordinary key {other!r} stand in one mapping: {dict(raw)!r}"
        )
    values = [_read_operator(key, raw) for key in operators if key not in MATCHER_OPTIONS]
    if len(values) == 1:
        return values[0]
    if not all(isinstance(value, Matcher) for value in values):
        raise ExpectationError(f"these operators cannot stand together: {', '.join(operators)}")
    return All(tuple(values))


def _read_operator(key: str, raw: Mapping[str, Any]) -> Any:
    value = raw[key]
    if key in OPERATORS:
        kind = OPERATORS[key]
        return kind.read(value, **{name: raw[f"${name}"] for name in kind.options if f"${name}" in raw})
    if key == "$any":
        return when_true(key, value, ANY)
    if value not in _FLOATS:
        raise ExpectationError(f"'$float' is one of 'NaN', 'Infinity', '-Infinity', got {value!r}")
    return float(value)


def when_true(operator: str, value: Any, meaning: Any) -> Any:
    """The meaning of an operator that takes no value but True. Raises ExpectationError for any other."""
    if value is not True:
        raise ExpectationError(f"{operator!r} is written {{{operator!r}: true}}, got {value!r}")
    return meaning


def write_value(value: Any) -> Any:
    """An expected value as plain data, with matchers as ``$`` operators and literal ``$`` keys as ``$$``.

    Raises:
        ExpectationError: a predicate, or an object that has no written form.
    """
    if value is ANY:
        return {"$any": True}
    if isinstance(value, Matcher):
        return value.to_data()
    if isinstance(value, Unordered | set | frozenset):
        members = value.members if isinstance(value, Unordered) else in_stable_order(value)
        if not members:
            return []
        # A text and a mapping have members and a length, too.
        return {"$type": "array", "$has": [write_value(member) for member in members], "$len": len(members)}
    if isinstance(value, Mapping):
        if not isinstance(untagged(value), Mapping):
            return dict(value)  # a value in its written form, which reads back as one
        return {_escaped(str(key)): write_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [write_value(item) for item in value]
    if callable(value) and not isinstance(value, type):
        raise ExpectationError(f"a predicate cannot be written as data: {value!r}")
    data = jsonable(value)
    if cause_within(data) is not None:
        raise ExpectationError(
            f"{with_article(type(value).__qualname__)} cannot be written as data; expect its fields as JSON "
            "values, or a matcher"
        )
    return data


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def _parts(matcher: Matcher) -> tuple[Matcher, ...]:
    return matcher.parts if isinstance(matcher, All) else (matcher,)


_WITHOUT_MATCHERS = LEAVES | {type(ANY)}


def matchers_in(value: Any) -> Iterator[Matcher]:
    """Every matcher in a value, nested ones too."""
    if type(value) in _WITHOUT_MATCHERS:
        return
    if isinstance(value, Matcher):
        yield value
        value = value.values
    elif isinstance(value, Unordered):
        value = value.members
    elif isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple | set | frozenset):
        return
    for part in value:
        yield from matchers_in(part)
