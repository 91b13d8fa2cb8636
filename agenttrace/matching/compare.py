"""`compare`: compare an expectation with a trace or its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ArgumentMode, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Mode, check_options
from agenttrace.expectations.matcher import Answerer
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.plans import Group, Planner
from agenttrace.matching.agreement import CallAgreement, Comparators
from agenttrace.matching.align import align
from agenttrace.matching.checks import Subject, check_constraints
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.known_tools import check_tools, known_names
from agenttrace.matching.selection import EVERYTHING, Selection
from agenttrace.matching.weights import Credit


def compare(
    expectation: Any,
    actual: Trace | Sequence[ToolCall],
    *,
    mode: Mode = "in_order",
    match: ArgumentMode = "exact",
    credit: Credit = "partial",
    selection: Selection | None = None,
    comparators: Comparators | None = None,
    tools: Mapping[str, ToolDefinition] | None = None,
    answers: Answerer | None = None,
) -> Comparison:
    """Compare an expectation, in any form that `parse_expectation` reads, with a trace or a list of calls.

    `mode` and `match` apply where the expectation does not say its own. `credit` says whether numbers count
    agreement or calls that agree fully. `selection` says which calls are compared, `comparators` how single
    tools' arguments are. `tools` are the known tools (the trace's own, for a trace); where there are any, an
    expected tool must be among them. `answers` decide `semantic`.

    Raises:
        ExpectationError: the expectation cannot be understood, names an unknown tool or parameter, or
            can be aligned in too many ways to search them all.
        ScorerError: it needs a judge and there is none, or bounds what the trace does not tell; a pattern
            (`re_`) takes too long; an unknown `mode` or `match`; `actual` is something else, perhaps the
            expectation.
    """
    check_options(mode, match)
    all_calls = _calls_of(actual)
    parsed = parse_expectation(expectation)
    trace = actual if isinstance(actual, Trace) else None
    known_tools = tools if tools is not None else (trace.tools if trace is not None else {})
    scope = _scoped(selection or EVERYTHING, parsed)
    attempts = scope.calls(all_calls)
    calls, attempt_counts = scope.counted(attempts)
    expected = parsed.calls
    check_tools(expected, known_tools, scope, all_calls)
    known = known_names(known_tools, attempts, trace, scope)
    call_agreement = CallAgreement(
        calls,
        mode=parsed.match or match,
        tools=known_tools if tools is not None or (trace is not None and trace.is_recorded_run) else {},
        comparators=comparators,
        answers=answers,
        selection=scope,
        expected_calls=expected,
    )
    how: Mode = parsed.mode or mode
    plan = _plan(parsed, how, call_agreement, all_calls, known_tools)
    return Comparison(
        expectation=parsed,
        mode=how,
        credit=credit,
        calls=calls,
        attempts=attempt_counts,
        alignment=align(plan, call_agreement, how, credit),
        expects_calls=any(scope.expects(call.name, all_calls, known_tools) for call in expected),
        untagged=scope.untagged(expected, all_calls, known_tools),
        checks=()
        if parsed.is_path_only
        else check_constraints(parsed, Subject(attempts, calls, trace, known)),
        call_agreement=call_agreement,
    )


def _calls_of(actual: Trace | Sequence[ToolCall]) -> Sequence[ToolCall]:
    if isinstance(actual, Trace):
        return actual.tool_calls
    if not isinstance(actual, list | tuple) or not all(isinstance(call, ToolCall) for call in actual):
        raise ScorerError(
            "what happened comes second, after what should: a Trace or its tool_calls (Trace.from_calls "
            f"makes one of plain data), got {type(actual).__name__} {actual!r:.200}"
        )
    return actual


def _scoped(selection: Selection, expectation: Expectation) -> Selection:
    if expectation.agent is None and expectation.turn is None and expectation.attempts is None:
        return selection
    return replace(
        selection,
        agent=expectation.agent if expectation.agent is not None else selection.agent,
        turn=expectation.turn if expectation.turn is not None else selection.turn,
        attempts=expectation.attempts or selection.attempts,
    )


def _plan(
    expectation: Expectation,
    mode: Mode,
    call_agreement: CallAgreement,
    all_calls: Sequence[ToolCall],
    known_tools: Mapping[str, ToolDefinition],
) -> Group:
    plan = expectation.plan
    if expectation.path is None or (
        call_agreement.selection.tools is None and (plan.is_fixed or mode != "only")
    ):
        return plan

    def in_scope(name: str) -> bool:
        return call_agreement.selection.expects(name, all_calls, known_tools)

    return Planner(in_scope, whole=mode != "only", calls=len(call_agreement.calls)).plan(expectation.path)
