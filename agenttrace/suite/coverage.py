"""`coverage`: which tools, arguments, errors and refusals the examples of a report look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agenttrace.core.errors import DatasetError, ExpectationError
from agenttrace.core.example import Example
from agenttrace.core.marks import cause_of, hidden_keys, known_part
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import ScoringResult
from agenttrace.core.suite_coverage import Coverage, ToolCoverage
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.suite.stated import Stated, stated_by

ScorersOf = Callable[[Example], Iterable[Scorer]]


def coverage(
    report: Iterable[ScoringResult],
    scorers: Iterable[Scorer] | ScorersOf = (),
    *,
    tools: Iterable[str] | None = None,
) -> Coverage:
    """Return which tools were offered, called and named by an expectation, and which arguments are pinned.

    `report` is any report, or its results; runs that failed count too. With `scorers`, expectations of their
    own count beside the examples' `expected_tools`. `tools` are the names of the tools that were offered, in
    place of those on record: runs from plain lists know only what was called, captured ones every tool that
    the process has observed, also another agent's.
    """
    scorers_of = scorers if callable(scorers) else constant(scorers)
    seen = _Seen(None if tools is None else frozenset(tools))
    stated: dict[tuple[int, str], list[Stated]] = {}
    unknown_runs = runs = 0
    for result in report:
        runs += 1
        trace = run_of(result)
        if trace is None:
            unknown_runs += 1
        else:
            seen.add(trace)
        key = (result.position, result.example.example_id)
        if key not in stated:
            stated[key] = _readable(result.example, scorers_of(result.example))
    per_example = list(stated.values())
    mentioned = {name for several in per_example for one in several for name in one.mentioned}
    names = sorted(seen.all_offered | seen.calls.keys() | mentioned)
    return Coverage(
        tools={name: seen.tool(name, per_example) for name in names},
        examples=len(stated),
        runs=runs,
        unknown_runs=unknown_runs,
    )


def run_of(result: ScoringResult) -> Trace | None:
    """Return the run that was scored: the recorded trace, else the example's own calls; None for neither."""
    if result.trace is not None and (result.trace.spans or result.example.tools_called is None):
        return result.trace
    if result.example.tools_called is None:
        return None
    try:
        return Trace.from_calls(result.example.tools_called)
    except DatasetError:  # the result says it, and is errored
        return None


def constant(scorers: Iterable[Scorer]) -> ScorersOf:
    """Return the function that gives every example the same scorers."""
    same = tuple(scorers)
    return lambda _: same


def _readable(example: Example, scorers: Iterable[Scorer]) -> list[Stated]:
    try:
        return stated_by(example, scorers)
    except ExpectationError:  # the result says it, and is errored
        return []


@dataclass
class _Seen:
    """What the runs show of tools; `only` are those that were offered, where that was said."""

    only: frozenset[str] | None = None
    offered: set[str] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    failed_calls: Counter[str] = field(default_factory=Counter)
    arguments: dict[str, set[str]] = field(default_factory=dict)

    def add(self, trace: Trace) -> None:
        self.offered.update(trace.tools, trace.offered_tools)
        for name, definition in trace.tools.items():
            self.arguments.setdefault(name, set()).update(p.name for p in definition.parameters)
        for call in trace.tool_calls:
            self.calls[call.name] += 1
            self.failed_calls[call.name] += call.failed is True
            self.arguments.setdefault(call.name, set()).update(_argument_names(call))

    @property
    def all_offered(self) -> set[str] | frozenset[str]:
        return self.offered if self.only is None else self.only

    def tool(self, name: str, per_example: Sequence[Sequence[Stated]]) -> ToolCoverage:
        pinned = {
            argument
            for several in per_example
            for one in several
            for tool, argument in one.pinned
            if tool == name
        }
        return ToolCoverage(
            name=name,
            offered=name in self.all_offered,
            calls=self.calls[name],
            failed_calls=self.failed_calls[name],
            constrained_by=sum(any(one.names(name) for one in several) for several in per_example),
            forbidden_by=sum(any(one.forbids(name) for one in several) for several in per_example),
            arguments_seen=frozenset(self.arguments.get(name, ())) | pinned,
            arguments_pinned=frozenset(pinned),
        )


def _argument_names(call: ToolCall) -> list[str]:
    """The names of a call's arguments, as far as they were recorded."""
    arguments = call.arguments
    if cause_of(arguments) is not None:
        known = known_part(arguments)
        arguments = known.part if known is not None and isinstance(known.part, dict) else {}
    hidden = hidden_keys(arguments)
    return [name for name in arguments if name not in hidden]
