"""Check the constraints of an expectation (never, only, limits, order, cost), each on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Severity
from agenttrace.expectations.values import value_key
from agenttrace.matching.spending import spent_cost, spent_seconds, spent_tokens


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one constraint: whether it held, what was wanted and found, the calls that broke it.

    `broken_by` are the calls' indexes. *vacuous*: it could not fail, because no recorded tool has the name
    that it guards.
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
        return {
            "name": self.name,
            "held": self.held,
            "wanted": self.wanted,
            "found": self.found,
            "severity": self.severity,
            "vacuous": self.vacuous,
            "broken_by": list(self.broken_by),
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """What the constraints examine: all attempts in scope, those that count, the trace, the known tools."""

    attempts: Sequence[ToolCall]
    calls: Sequence[ToolCall]
    trace: Trace | None
    tools: Mapping[str, ToolDefinition]


def check_constraints(expectation: Expectation, subject: Subject) -> tuple[Check, ...]:
    """Every constraint that the expectation states, in a fixed order.

    Raises:
        ScorerError: tokens, seconds or cost are limited, and the trace does not say how much was spent.
    """
    return tuple(check for constraint in _CONSTRAINTS for check in constraint(expectation, subject))


def _call_list(calls: Sequence[ToolCall]) -> str:
    listing = ", ".join(f"{call.name} (call {call.index + 1})" for call in calls[:5])
    return listing + (f", … {len(calls) - 5} more" if len(calls) > 5 else "")


def _violation(
    expectation: Expectation,
    name: str,
    requirement: str,
    offenders: Sequence[ToolCall],
    *,
    vacuous: bool = False,
) -> Check:
    observation = f"called {_call_list(offenders)}" if offenders else ""
    indexes = tuple(call.index for call in offenders)
    return Check(
        name,
        not offenders,
        requirement,
        observation,
        expectation.severity_of(name),
        vacuous and not offenders,
        indexes,
    )


def _is_unknown(globs: Sequence[str], subject: Subject) -> bool:
    """Whether the known tools include none of such a name; False where no tools are known."""
    names = {*subject.tools, *(call.name for call in subject.attempts)}
    return bool(subject.tools) and not any(fnmatchcase(name, glob) for name in names for glob in globs)


def _never(expectation: Expectation, subject: Subject) -> list[Check]:
    return [
        _violation(
            expectation,
            "never",
            f"never {glob}",
            [call for call in subject.attempts if fnmatchcase(call.name, glob)],
            vacuous=_is_unknown((glob,), subject),
        )
        for glob in expectation.never
    ]


def _only(expectation: Expectation, subject: Subject) -> list[Check]:
    if expectation.only is None:
        return []
    globs = expectation.only
    offenders = [call for call in subject.attempts if not any(fnmatchcase(call.name, glob) for glob in globs)]
    return [_violation(expectation, "only", f"only {', '.join(globs) or 'no tool'}", offenders)]


def _max_calls(expectation: Expectation, subject: Subject) -> list[Check]:
    if expectation.max_calls is None:
        return []
    beyond = tuple(call.index for call in subject.calls[expectation.max_calls :])
    count = len(subject.calls)
    return [
        Check(
            "max_calls",
            not beyond,
            f"at most {expectation.max_calls} calls",
            f"{count} calls",
            expectation.severity_of("max_calls"),
            broken_by=beyond,
        )
    ]


def _counts(expectation: Expectation, subject: Subject) -> list[Check]:
    checks: list[Check] = []
    for word, phrase, limits in (
        ("at_most", "at most", expectation.at_most),
        ("at_least", "at least", expectation.at_least),
    ):
        for glob, limit in limits.items():
            calls = [call for call in subject.calls if fnmatchcase(call.name, glob)]
            holds = len(calls) <= limit if word == "at_most" else len(calls) >= limit
            vacuous = word == "at_most" and holds and _is_unknown((glob,), subject)
            beyond = () if holds or word == "at_least" else tuple(call.index for call in calls[limit:])
            checks.append(
                Check(
                    word,
                    holds,
                    f"{phrase} {limit} × {glob}",
                    f"{len(calls)} × {glob}",
                    expectation.severity_of(word),
                    vacuous,
                    beyond,
                )
            )
    return checks


def _before(expectation: Expectation, subject: Subject) -> list[Check]:
    checks: list[Check] = []
    for first, second in expectation.before:
        start = next((n for n, call in enumerate(subject.calls) if fnmatchcase(call.name, first)), None)
        early = [
            call
            for n, call in enumerate(subject.calls)
            if fnmatchcase(call.name, second) and (start is None or n < start)
        ]
        vacuous = _is_unknown((second,), subject)
        checks.append(_violation(expectation, "before", f"{first} before {second}", early, vacuous=vacuous))
    return checks


def _tool_errors(expectation: Expectation, subject: Subject) -> list[Check]:
    if expectation.tool_errors is None:
        return []
    failures = [call for call in subject.attempts if call.failed]
    holds = len(failures) <= expectation.tool_errors
    beyond = () if holds else tuple(call.index for call in failures[expectation.tool_errors :])
    observation = f"{len(failures)} failed" + (f": {_call_list(failures)}" if failures else "")
    requirement = f"at most {expectation.tool_errors} failed calls"
    return [
        Check(
            "tool_errors",
            holds,
            requirement,
            observation,
            expectation.severity_of("tool_errors"),
            broken_by=beyond,
        )
    ]


def _no_repeats(expectation: Expectation, subject: Subject) -> list[Check]:
    if not expectation.no_repeats:
        return []
    counts: Counter[tuple[str, str]] = Counter()
    repeats: list[ToolCall] = []
    for call in subject.calls:
        key = (call.name, value_key(call.arguments))
        if counts[key]:
            repeats.append(call)
        counts[key] += 1
    return [_violation(expectation, "no_repeats", "no call repeated with the same arguments", repeats)]


def _spending(expectation: Expectation, subject: Subject) -> list[Check]:
    checks: list[Check] = []
    for word, limit, measure, unit in (
        ("tokens", expectation.tokens, spent_tokens, "tokens"),
        ("seconds", expectation.seconds, spent_seconds, "s"),
        ("cost", expectation.cost, spent_cost, "US dollars"),
    ):
        if limit is None:
            continue
        amount = None if subject.trace is None else measure(subject.trace)
        if amount is None:
            raise ScorerError(f"the expectation limits {word} to {limit}, and the trace does not tell them")
        checks.append(
            Check(
                word,
                amount <= limit,
                f"at most {limit:g} {unit}",
                f"{amount:g} {unit}",
                expectation.severity_of(word),
            )
        )
    return checks


_CONSTRAINTS: Sequence[Callable[[Expectation, Subject], list[Check]]] = (
    _never, _only, _max_calls, _counts, _before, _tool_errors, _no_repeats, _spending,
)  # fmt: skip
