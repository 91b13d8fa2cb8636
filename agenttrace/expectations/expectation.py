"""`expect` makes an `Expectation`: a path of expected calls, with constraints beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from agenttrace.core.cached import cached_property
from agenttrace.core.errors import ExpectationError, ScorerError, did_you_mean
from agenttrace.core.marks import cause_of, hidden_keys
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.tagged import opened, untagged
from agenttrace.core.tool_call import ANY, ARGUMENT_MODES, ArgumentMode, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.matcher import runs_other_code, write_value
from agenttrace.expectations.pattern import AnyOf, Call, Item, Many, Par, Pattern, Seq, seq
from agenttrace.expectations.plans import EMPTY, Group, Planner

Mode = Literal["exact", "in_order", "any_order", "contains", "only", "lcs"]
"""*exact*: nothing but the path; *in_order*: the path, other calls free; *any_order*: the same calls, nothing
else; *contains*: at least these calls, in any order; *only*: no call outside the path, none of them required;
*lcs*: in order, graded."""

Severity = Literal["fail", "warn"]

Attempts = Literal["count", "collapse", "successes"]
"""*count*: every attempt is a call; *successes*: failed calls are left out; *collapse*: failed calls are left
out where a later call of the same tool succeeded, and stand for themselves where none did."""

MODES: tuple[Mode, ...] = get_args(Mode)
ATTEMPTS: tuple[Attempts, ...] = get_args(Attempts)
_WORDS_OF_OTHER_LIBRARIES = {
    "subset": "; 'only' allows no call outside the expected ones, 'contains' wants at least those",
    "superset": "; 'contains' wants at least the expected calls",
    "strict": "; did you mean 'exact'?",
    "unordered": "; did you mean 'any_order'?",
}
CHECKS = (
    "never", "only", "max_calls", "at_most", "at_least", "before", "tool_errors", "no_repeats",
    "tokens", "seconds", "cost",
)  # fmt: skip
"""The names of the constraints; what `severity` can be given for."""


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """A path of expected calls, with constraints beside it. Made by `expect` or `parse_expectation`.

    `path` None leaves the calls free; an empty path expects no calls. `mode`, `match` and `attempts` None
    mean the scorer's own.
    """

    path: Seq | None = None
    mode: Mode | None = None
    match: ArgumentMode | None = None
    never: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    max_calls: int | None = None
    at_most: Mapping[str, int] = field(default_factory=dict)
    at_least: Mapping[str, int] = field(default_factory=dict)
    before: tuple[tuple[str, str], ...] = ()
    tool_errors: int | None = None
    no_repeats: bool = False
    tokens: float | None = None
    seconds: float | None = None
    cost: float | None = None
    agent: str | None = None
    turn: int | None = None
    attempts: Attempts | None = None
    severity: Severity | Mapping[str, Severity] = "fail"
    source: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_words(self)
        _check_numbers(self)
        if self.never or self.only is not None or self.max_calls is not None or self.at_most:
            _check_feasible(self, least_calls(self.path))

    def severity_of(self, check: str) -> Severity:
        """Whether a constraint that does not hold fails the example."""
        return self.severity if isinstance(self.severity, str) else self.severity.get(check, "fail")

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call that the path mentions."""
        return () if self.path is None else tuple(self.path.calls())

    @cached_property
    def first_turn(self) -> int | None:
        """The first turn that it, or a call, is about; None where all is about the whole run."""
        return next((turn for turn in (self.turn, *(c.turn for c in self.calls)) if turn is not None), None)

    @cached_property
    def plan(self) -> Group:
        """The plan of the path where every tool is compared, and optional groups count as a whole."""
        return EMPTY if self.path is None else Planner().plan(self.path)

    @cached_property
    def is_path_only(self) -> bool:
        """Whether there are no constraints beside the path."""
        return all(_is_default(item, getattr(self, item.name)) for item in _CHECK_FIELDS)

    @cached_property
    def runs_other_code(self) -> bool:
        """Whether comparing with it runs code of the user's, asks a judge, or may be given up."""
        return any(runs_other_code(call.arguments) or runs_other_code(call.output) for call in self.calls)

    def to_data(self) -> Any:
        """The expectation as plain data: a list where there is only a path, else a mapping."""
        data: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in ("path", "source") or _is_default(item, value):
                continue
            if isinstance(value, tuple):
                value = [list(pair) if isinstance(pair, tuple) else pair for pair in value]
            data[item.name] = dict(value) if isinstance(value, Mapping) else value
        if self.path is None:
            return data
        path = self.path.to_data()
        return {"path": path, **data} if data else path


_CHECK_FIELDS = [item for item in fields(Expectation) if item.name in CHECKS]


def expect(
    path: Item | None = None,
    *,
    mode: Mode | None = None,
    match: ArgumentMode | None = None,
    never: str | Sequence[str] = (),
    only: str | Sequence[str] | None = None,
    max_calls: int | None = None,
    at_most: Mapping[str, int] | None = None,
    at_least: Mapping[str, int] | None = None,
    before: Sequence[tuple[str, str]] = (),
    tool_errors: int | None = None,
    no_repeats: bool = False,
    tokens: float | None = None,
    seconds: float | None = None,
    cost: float | None = None,
    agent: str | None = None,
    turn: int | None = None,
    attempts: Attempts | None = None,
    severity: Severity | Mapping[str, Severity] = "fail",
    source: str | None = None,
) -> Expectation:
    """Say what should happen: a path (a pattern, or a list of calls), with constraints beside it.

    `never` and `only` take names and globs (``delete_*``). `max_calls`, `at_most`, `at_least` and
    `tool_errors` count calls. ``before=[("auth", "pay")]``: no pay before the first auth. `no_repeats`: no
    two calls with the same name and arguments. `tokens`, `seconds` and `cost` (US dollars) bound the whole
    run. `agent` and `turn` look at the calls of one sub-agent, of one turn, only. `severity` is for all
    constraints, or one for each check by its name; a *warn* is reported and does not fail.

    Without a path and constraints it holds for every run (written ``{}``); ``expect([])`` expects no calls.

    Raises:
        ExpectationError: an argument that cannot be understood, or an expectation that can never hold.
    """
    return Expectation(
        path=None if path is None else seq(path),
        mode=mode,
        match=match,
        never=_names(never, "never"),
        only=None if only is None else _names(only, "only"),
        max_calls=max_calls,
        at_most=_mapping(at_most, "at_most"),
        at_least=_mapping(at_least, "at_least"),
        before=tuple((first, second) for first, second in _pairs(before)),
        tool_errors=tool_errors,
        no_repeats=no_repeats,
        tokens=tokens,
        seconds=seconds,
        cost=cost,
        agent=agent,
        turn=turn,
        attempts=attempts,
        severity=severity if isinstance(severity, str) else _mapping(severity, "severity"),
        source=source,
    )


def check_options(mode: Mode, match: ArgumentMode) -> None:
    """Refuse an unknown mode, or an unknown way to compare arguments.

    Raises:
        ScorerError: it lists the known ones, and translates words of other libraries.
    """
    if mode not in MODES:
        raise ScorerError(_unknown("mode", mode, MODES))
    if match not in ARGUMENT_MODES:
        raise ScorerError(
            _unknown("how parameters are compared (parameters=, match=)", match, ARGUMENT_MODES)
        )


def _unknown(word: str, value: object, choices: Sequence[str]) -> str:
    text = str(value)
    hint = _WORDS_OF_OTHER_LIBRARIES.get(text, "") if choices is MODES else ""
    if choices is ARGUMENT_MODES and text in MODES:
        hint = f"; {text!r} is a mode: write mode: {text}"
    return f"{word} is one of {', '.join(choices)}, got {value!r}{hint or did_you_mean(text, choices)}"


def _mapping(value: Mapping[str, Any] | None, word: str) -> dict[str, Any]:
    if value is not None and (
        not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value)
    ):
        raise ExpectationError(f"{word} is a mapping of names, got {value!r}")
    return dict(value or {})


def _is_default(item: Field[Any], value: Any) -> bool:
    default = {} if item.default is MISSING else item.default
    return type(value) is type(default) and bool(value == default)


def _names(value: str | Sequence[str], word: str) -> tuple[str, ...]:
    names: Any = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple | set | frozenset) or not all(
        isinstance(name, str) and name for name in names
    ):
        raise ExpectationError(f"{word} is a tool's name or a list of names, got {value!r}")
    return tuple(sorted(names) if isinstance(names, set | frozenset) else names)


def _pairs(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(name, str) for name in value):
        value = [value]
    good = isinstance(value, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
        for pair in value
    )
    if not good:
        raise ExpectationError(f"before is a list of pairs of tools' names, got {value!r}")
    return [(pair[0], pair[1]) for pair in value]


def _check_words(expectation: Expectation) -> None:
    for word, value, choices in (
        ("mode", expectation.mode, MODES),
        ("match", expectation.match, ARGUMENT_MODES),
        ("attempts", expectation.attempts, ATTEMPTS),
    ):
        if value is not None and value not in choices:
            raise ExpectationError(_unknown(word, value, choices))
    severities = {"": expectation.severity} if isinstance(expectation.severity, str) else expectation.severity
    for check, severity in severities.items():
        if check and check not in CHECKS:
            raise ExpectationError(f"severity: no check is called {check!r}{did_you_mean(check, CHECKS)}")
        if severity not in ("fail", "warn"):
            raise ExpectationError(f"severity is 'fail' or 'warn', got {severity!r}")
    if expectation.agent is not None and not isinstance(expectation.agent, str):
        raise ExpectationError(f"agent is an agent's name, got {expectation.agent!r}")
    if not isinstance(expectation.no_repeats, bool):
        raise ExpectationError(f"no_repeats is true or false, got {expectation.no_repeats!r}")
    if expectation.mode is not None and expectation.path is None:
        raise ExpectationError(f"mode={expectation.mode!r} says how a path is compared, and there is no path")
    if expectation.match is not None and all(call.arguments is ANY for call in expectation.calls):
        also = f"; for the calls themselves write mode: {expectation.match}"
        raise ExpectationError(
            f"match={expectation.match!r} says how arguments are compared, and no call of the path has any"
            f"{also if expectation.match in MODES else ''}"
        )


def _check_numbers(expectation: Expectation) -> None:
    whole = {word: getattr(expectation, word) for word in ("max_calls", "tool_errors", "turn")}
    counts = {word: number for word, number in whole.items() if number is not None}
    for word in ("at_most", "at_least"):
        counts |= {f"{word}[{name!r}]": number for name, number in getattr(expectation, word).items()}
    for word, number in counts.items():
        if not is_whole(number):
            raise ExpectationError(f"{word} is a whole number of 0 or more, got {number!r}")
    for word in ("tokens", "seconds", "cost"):
        amount = getattr(expectation, word)
        if amount is not None and not (is_number(amount) and amount >= 0):
            raise ExpectationError(f"{word} is a number of 0 or more, got {amount!r}")


def _check_feasible(expectation: Expectation, needs: LeastCalls) -> None:
    """Refuse what no run could ever fulfil, unless that is only to be reported."""
    never = () if expectation.severity_of("never") == "warn" else expectation.never
    for name in needs.names:
        for glob in never:
            if fnmatchcase(name, glob):
                raise ExpectationError(f"the path expects {name!r}, which never={glob!r} forbids")
        if expectation.only is not None and not any(fnmatchcase(name, glob) for glob in expectation.only):
            raise ExpectationError(
                f"the path expects {name!r}, which only={list(expectation.only)!r} leaves out"
            )
    if expectation.mode == "only":
        return
    if expectation.max_calls is not None and needs.least > expectation.max_calls:
        raise ExpectationError(
            f"the path needs {needs.least} calls, and max_calls is {expectation.max_calls}"
        )
    for name, limit in expectation.at_most.items():
        if needs.least_of.get(name, 0) > limit:
            raise ExpectationError(
                f"the path needs {needs.least_of[name]} calls of {name!r}, at_most is {limit}"
            )
        if expectation.at_least.get(name, 0) > limit:
            raise ExpectationError(
                f"at_least of {name!r} is {expectation.at_least[name]}, at_most is {limit}"
            )


@dataclass(frozen=True, slots=True)
class LeastCalls:
    """The least number of calls that a pattern needs: in all (`least`), of each tool (`least_of`)."""

    least: int = 0
    least_of: Counter[str] = field(default_factory=Counter)
    names: tuple[str, ...] = ()


def least_calls(pattern: Pattern | None) -> LeastCalls:
    """Count what a pattern needs; alternatives need the least that any branch needs, tool by tool."""
    if pattern is None:
        return LeastCalls()
    if isinstance(pattern, Call):
        return LeastCalls(1, Counter({pattern.name: 1}), (pattern.name,))
    if isinstance(pattern, Many):
        inner = least_calls(pattern.part)
        counts = Counter({name: count * pattern.least for name, count in inner.least_of.items()})
        return LeastCalls(inner.least * pattern.least, counts, inner.names)
    assert isinstance(pattern, Seq | Par | AnyOf)
    parts = [least_calls(part) for part in pattern.parts]
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    if isinstance(pattern, AnyOf):
        common = parts[0].least_of
        for part in parts[1:]:
            common &= part.least_of
        return LeastCalls(min(part.least for part in parts), common, names)
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part.least_of)
    return LeastCalls(sum(part.least for part in parts), total, names)


CallParts = Literal["calls", "names"]
"""Which parts of each call are expected: its name with its arguments, or its name alone."""


def expectation_of(run: Trace | Sequence[ToolCall], expect: CallParts = "calls") -> list[Any]:
    """The tool calls of a run as expected tools, in their order: plain data to keep, edit, or compare with.

    ``Example(input=…, expected_tools=expectation_of(captured.trace))``. Failed attempts are among the calls.
    Arguments are those that were recorded, defaults included; where a part was cut, redacted or not opened,
    anything is expected. A call whose arguments could not be read is expected by name only.

    Raises:
        ExpectationError: `run` is neither a trace nor its calls, or `expect` is unknown.
    """
    if expect not in ("calls", "names"):
        raise ExpectationError(
            f"expect is 'calls' or 'names', got {expect!r}{did_you_mean(str(expect), ('calls', 'names'))}"
        )
    calls = run.tool_calls if isinstance(run, Trace) else run
    if not isinstance(calls, list | tuple) or not all(isinstance(call, ToolCall) for call in calls):
        raise ExpectationError(f"a run is a Trace, or its tool_calls, got {run!r:.200}")
    if expect == "names":
        return [call.name for call in calls]
    return [
        call.name
        if call.arguments_error is not None
        else {"tool_name": call.name, "parameters": known_value(call.arguments)}
        for call in calls
    ]


def known_value(recorded: Any) -> Any:
    """A recorded value as an expected one, in plain data: anything is expected where a part is not known."""
    return write_value(_what_is_known(recorded))


def _what_is_known(recorded: Any) -> Any:
    """A recorded value with ANY in the place of each part that was not recorded whole."""
    if cause_of(recorded) is not None:
        return ANY
    if isinstance(recorded, Mapping):
        if hidden_keys(recorded):
            return ANY
        entries = opened(dict(recorded))
        if type(entries) is not dict:  # a tagged value, which reads back as it stands
            return recorded
        if untagged(entries) is not entries:  # which would read back as a tagged value
            return ANY
        return {key: _what_is_known(item) for key, item in entries.items()}
    if isinstance(recorded, list | tuple):
        return [_what_is_known(item) for item in recorded]
    return recorded
