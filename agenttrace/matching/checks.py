"""The constraints of an expectation, each checked on its own."""

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
    """One check: whether it held, what was wanted, what was found, which calls broke it (by index).

    *vacuous*: it held because it could not fail: no tool that is recorded has the name that it guards.
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
        """Whether the example fails by it."""
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
    """What the constraints look at: all attempts in scope, those that count, the trace, the known tools."""

    attempts: Sequence[ToolCall]
    calls: Sequence[ToolCall]
    trace: Trace | None
    tools: Mapping[str, ToolDefinition]


def check_constraints(said: Expectation, subject: Subject) -> tuple[Check, ...]:
    """Every constraint that the expectation states, in a fixed order.

    Raises:
        ScorerError: tokens, seconds or cost are bounded, and nothing says how much was spent.
    """
    return tuple(check for constraint in _CONSTRAINTS for check in constraint(said, subject))


def _listed(calls: Sequence[ToolCall]) -> str:
    shown = ", ".join(f"{call.name} (call {call.index + 1})" for call in calls[:5])
    return shown + (f", … {len(calls) - 5} more" if len(calls) > 5 else "")


def _breaking(
    said: Expectation, name: str, wanted: str, broken: Sequence[ToolCall], *, vacuous: bool = False
) -> Check:
    found = f"called {_listed(broken)}" if broken else ""
    indexes = tuple(call.index for call in broken)
    return Check(name, not broken, wanted, found, said.severity_of(name), vacuous and not broken, indexes)


def _is_unknown(globs: Sequence[str], subject: Subject) -> bool:
    """Whether the tools are known and none of them has such a name."""
    known = {*subject.tools, *(call.name for call in subject.attempts)}
    return bool(subject.tools) and not any(fnmatchcase(name, glob) for name in known for glob in globs)


def _never(said: Expectation, subject: Subject) -> list[Check]:
    return [
        _breaking(
            said,
            "never",
            f"never {glob}",
            [call for call in subject.attempts if fnmatchcase(call.name, glob)],
            vacuous=_is_unknown((glob,), subject),
        )
        for glob in said.never
    ]


def _only(said: Expectation, subject: Subject) -> list[Check]:
    if said.only is None:
        return []
    globs = said.only
    broken = [call for call in subject.attempts if not any(fnmatchcase(call.name, glob) for glob in globs)]
    return [_breaking(said, "only", f"only {', '.join(globs) or 'no tool'}", broken)]


def _max_calls(said: Expectation, subject: Subject) -> list[Check]:
    if said.max_calls is None:
        return []
    broken = tuple(call.index for call in subject.calls[said.max_calls :])
    count = len(subject.calls)
    return [
        Check(
            "max_calls",
            not broken,
            f"at most {said.max_calls} calls",
            f"{count} calls",
            said.severity_of("max_calls"),
            broken_by=broken,
        )
    ]


def _counts(said: Expectation, subject: Subject) -> list[Check]:
    checks: list[Check] = []
    for word, phrase, limits in (
        ("at_most", "at most", said.at_most),
        ("at_least", "at least", said.at_least),
    ):
        for glob, limit in limits.items():
            calls = [call for call in subject.calls if fnmatchcase(call.name, glob)]
            held = len(calls) <= limit if word == "at_most" else len(calls) >= limit
            vacuous = word == "at_most" and held and _is_unknown((glob,), subject)
            broken = () if held or word == "at_least" else tuple(call.index for call in calls[limit:])
            checks.append(
                Check(
                    word,
                    held,
                    f"{phrase} {limit} × {glob}",
                    f"{len(calls)} × {glob}",
                    said.severity_of(word),
                    vacuous,
                    broken,
                )
            )
    return checks


def _before(said: Expectation, subject: Subject) -> list[Check]:
    checks: list[Check] = []
    for first, then in said.before:
        start = next((n for n, call in enumerate(subject.calls) if fnmatchcase(call.name, first)), None)
        early = [
            call
            for n, call in enumerate(subject.calls)
            if fnmatchcase(call.name, then) and (start is None or n < start)
        ]
        vacuous = _is_unknown((then,), subject)
        checks.append(_breaking(said, "before", f"{first} before {then}", early, vacuous=vacuous))
    return checks


def _tool_errors(said: Expectation, subject: Subject) -> list[Check]:
    if said.tool_errors is None:
        return []
    failed = [call for call in subject.attempts if call.failed]
    held = len(failed) <= said.tool_errors
    broken = () if held else tuple(call.index for call in failed[said.tool_errors :])
    found = f"{len(failed)} failed" + (f": {_listed(failed)}" if failed else "")
    wanted = f"at most {said.tool_errors} failed calls"
    return [Check("tool_errors", held, wanted, found, said.severity_of("tool_errors"), broken_by=broken)]


def _no_repeats(said: Expectation, subject: Subject) -> list[Check]:
    if not said.no_repeats:
        return []
    seen: Counter[tuple[str, str]] = Counter()
    broken: list[ToolCall] = []
    for call in subject.calls:
        key = (call.name, value_key(call.arguments))
        if seen[key]:
            broken.append(call)
        seen[key] += 1
    return [_breaking(said, "no_repeats", "no call repeated with the same arguments", broken)]


def _spending(said: Expectation, subject: Subject) -> list[Check]:
    checks: list[Check] = []
    for word, limit, measure, unit in (
        ("tokens", said.tokens, spent_tokens, "tokens"),
        ("seconds", said.seconds, spent_seconds, "s"),
        ("cost", said.cost, spent_cost, "US dollars"),
    ):
        if limit is None:
            continue
        spent = None if subject.trace is None else measure(subject.trace)
        if spent is None:
            raise ScorerError(f"the expectation limits {word} to {limit}, and the trace does not tell them")
        checks.append(
            Check(
                word, spent <= limit, f"at most {limit:g} {unit}", f"{spent:g} {unit}", said.severity_of(word)
            )
        )
    return checks


_CONSTRAINTS: Sequence[Callable[[Expectation, Subject], list[Check]]] = (
    _never, _only, _max_calls, _counts, _before, _tool_errors, _no_repeats, _spending,
)  # fmt: skip
