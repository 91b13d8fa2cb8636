"""Check the constraints of an expectation (never, only, limits, order, cost), each on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.tool_call import ToolCall, are_unordered
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Severity
from agenttrace.expectations.reading import has_failed
from agenttrace.matching.repeats import Repeats
from agenttrace.matching.selection import Selection
from agenttrace.matching.spending import Measure, spent_within


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one constraint: whether it held, what was wanted and found, the calls that broke it.

    `broken_by` are the calls' indexes in the trace. *vacuous*: it could not fail, because no known tool has
    the name that it guards, or the run has no such agent or turn as it looks at.
    """

    name: str
    held: bool
    wanted: str
    found: str = ""
    severity: Severity = "fail"
    vacuous: bool = False
    broken_by: tuple[int, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the example fails because of it."""
        return not self.held and self.severity == "fail"

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name."""
        return {**asdict(self), "broken_by": list(self.broken_by)}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is examined: all attempts in scope, those that count, the trace, the known tools' names.

    `selection` knows the tools' other names. `scope_is_empty`: the run has no such agent, or no such turn.
    """

    attempts: Sequence[ToolCall]
    calls: Sequence[ToolCall]
    trace: Trace | None
    names: frozenset[str]
    selection: Selection
    scope_is_empty: bool = False

    def fits(self, tool: str, glob: str) -> bool:
        """Whether a constraint's name or glob is one of a tool."""
        return self.selection.is_named(tool, glob)


def check_constraints(expectation: Expectation, subject: Subject) -> tuple[Check, ...]:
    """Every constraint that the expectation states, in a fixed order.

    Raises:
        ScorerError: tokens, seconds or cost are limited, and the trace does not tell whether the limit is
            kept.
    """
    return tuple(
        replace(
            check,
            severity=expectation.severity_of(check.name),
            vacuous=check.vacuous
            or (subject.scope_is_empty and check.held and check.name not in _OF_WHOLE_RUN),
        )
        for constraint in _CONSTRAINTS
        for check in constraint(expectation, subject)
    )


def _call_list(calls: Sequence[ToolCall]) -> str:
    listing = ", ".join(call.label for call in calls[:5])
    return listing + (f", … {len(calls) - 5} more" if len(calls) > 5 else "")


def _indexes(calls: Sequence[ToolCall]) -> tuple[int, ...]:
    return tuple(call.index for call in calls)


def _violation(name: str, wanted: str, offenders: Sequence[ToolCall], *, vacuous: bool = False) -> Check:
    observation = f"called {_call_list(offenders)}" if offenders else ""
    return Check(
        name,
        not offenders,
        wanted,
        observation,
        vacuous=vacuous and not offenders,
        broken_by=_indexes(offenders),
    )


def _is_unknown(glob: str, subject: Subject) -> bool:
    """Whether the known tools include none of such a name; False where no tools are known."""
    return bool(subject.names) and not any(subject.fits(name, glob) for name in subject.names)


def _never(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    for glob in expectation.never:
        offenders = [call for call in subject.attempts if subject.fits(call.name, glob)]
        yield _violation("never", f"never {glob}", offenders, vacuous=_is_unknown(glob, subject))


def _only(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    globs = expectation.only
    if globs is not None:
        offenders = [
            call for call in subject.attempts if not any(subject.fits(call.name, glob) for glob in globs)
        ]
        yield _violation("only", f"only {', '.join(globs) or 'no tool'}", offenders)


def _max_calls(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    most = expectation.max_calls
    if most is not None:
        beyond = _indexes(subject.calls[most:])
        observation = f"{len(subject.calls)} calls"
        yield Check("max_calls", not beyond, f"at most {most} calls", observation, broken_by=beyond)


def _at_most(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    for glob, most in expectation.at_most.items():
        calls = [call for call in subject.calls if subject.fits(call.name, glob)]
        beyond = _indexes(calls[most:])
        yield Check(
            "at_most",
            not beyond,
            f"at most {most} × {glob}",
            f"{len(calls)} × {glob}",
            vacuous=not beyond and _is_unknown(glob, subject),
            broken_by=beyond,
        )


def _at_least(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    for glob, least in expectation.at_least.items():
        count = sum(subject.fits(call.name, glob) for call in subject.calls)
        yield Check("at_least", count >= least, f"at least {least} × {glob}", f"{count} × {glob}")


def _before(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    for first, second in expectation.before:
        calls = subject.calls
        start = next((n for n, call in enumerate(calls) if subject.fits(call.name, first)), None)
        firsts = [call for call in calls if call.window is not None and subject.fits(call.name, first)]
        early = [
            call
            for call in calls[:start]
            if subject.fits(call.name, second) and not any(are_unordered(call, other) for other in firsts)
        ]
        yield _violation("before", f"{first} before {second}", early, vacuous=_is_unknown(second, subject))


def _tool_errors(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    most = expectation.tool_errors
    if most is not None:
        failures = [call for call in subject.attempts if has_failed(call)]
        beyond = _indexes(failures[most:])
        observation = f"{len(failures)} failed" + (f": {_call_list(failures)}" if failures else "")
        yield Check("tool_errors", not beyond, f"at most {most} failed calls", observation, broken_by=beyond)


def _no_repeats(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    if expectation.no_repeats:
        earlier = Repeats()
        repeats: list[ToolCall] = []
        for call in subject.calls:
            if earlier.count(call):
                repeats.append(call)
            earlier.add(call)
        yield _violation("no_repeats", "no call repeated with the same arguments", repeats)


def _spending(expectation: Expectation, subject: Subject) -> Iterator[Check]:
    limits: Sequence[tuple[Measure, float | None, str]] = (
        ("tokens", expectation.tokens, "tokens"),
        ("seconds", expectation.seconds, "s"),
        ("cost", expectation.cost, "US dollars"),
    )
    for word, limit, unit in limits:
        if limit is None:
            continue
        limited = f"the expectation limits {word} to {limit}"
        if subject.trace is None:
            raise ScorerError(f"{limited}, and a list of calls does not tell them")
        spent = spent_within(subject.trace, word, limit, limited)
        observation = spent.text(f"{spent.amount:g} {unit}")
        yield Check(word, spent.amount <= limit, f"at most {limit:g} {unit}", observation)


_OF_WHOLE_RUN = ("tokens", "seconds", "cost")

_CONSTRAINTS: Sequence[Callable[[Expectation, Subject], Iterator[Check]]] = (
    _never, _only, _max_calls, _at_most, _at_least, _before, _tool_errors, _no_repeats, _spending,
)  # fmt: skip
