"""`compare`: compare an expectation with a trace or its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.marks import cause_of
from agenttrace.core.text import shorten
from agenttrace.core.tool import REQUIRED, ToolDefinition
from agenttrace.core.tool_call import ArgumentMode, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Mode, check_options
from agenttrace.expectations.matcher import Answerer
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import Call, Many, Par, Pattern, Seq
from agenttrace.expectations.plans import Group, Planner
from agenttrace.expectations.reading import reversed_reading
from agenttrace.expectations.references import sources_of
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import UNORDERED_MODES, Alignment, align, rank
from agenttrace.matching.all_orders import all_orders
from agenttrace.matching.checks import Check, Subject, check_constraints
from agenttrace.matching.comparators import check_comparators
from agenttrace.matching.compared import Comparators
from agenttrace.matching.comparison import SAYS_NOTHING, Comparison, says_nothing
from agenttrace.matching.empty_scope import chooses_none, empty_scope
from agenttrace.matching.fitting_order import fitting_orders
from agenttrace.matching.known_tools import check_choice, check_spelling, check_tags, check_tools, known_names
from agenttrace.matching.labels import AgreementWith, Effort, align_with_labels
from agenttrace.matching.parallel import has_unordered
from agenttrace.matching.selection import EVERYTHING, Selection, check_turns
from agenttrace.matching.source_order import source_orders
from agenttrace.matching.weights import Credit

_TOOL = attrgetter("tool")


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
        ScorerError: it needs a judge and there is none, or bounds what the trace does not tell; it is about a
            turn and the trace has none; a pattern (`re_`) takes too long; an unknown `mode` or `match`;
            `actual` is something else, perhaps the expectation.
    """
    check_options(mode, match)
    parsed = parse_expectation(expectation)
    trace = actual if isinstance(actual, Trace) else None
    known_tools = tools if tools is not None else (trace.tools if trace is not None else {})
    definitions = _definitions(trace, tools, known_tools)
    all_calls = _with_defaults(_calls_of(actual), definitions)
    check_turns(parsed, all_calls, trace)
    scope = _scoped(selection or EVERYTHING, parsed).knowing(parsed.calls)
    attempts = scope.calls(all_calls)
    calls, attempt_counts = scope.counted(attempts)
    _check_names(parsed.calls, scope, all_calls, trace, known_tools, comparators)
    how: Mode = parsed.mode or mode
    agreement_with = partial(
        CallAgreement,
        mode=parsed.match or match,
        tools=definitions,
        comparators=comparators,
        answers=answers,
        **_scope_options(parsed.calls, scope, all_calls, known_tools),
    )
    plan = _plan(parsed, how, scope, all_calls, known_tools, len(calls))
    why_empty = "" if attempts else _why_empty(scope, parsed.calls, all_calls, trace, known_tools)
    alignment, call_agreement = _aligned(plan, how, credit, calls, agreement_with)
    return Comparison(
        expectation=parsed,
        mode=how,
        credit=credit,
        calls=call_agreement.calls,
        attempts=attempt_counts,
        plan=plan,
        alignment=alignment,
        expects_calls=_expects_calls(parsed, call_agreement, all_calls, known_tools),
        checks=_checks(parsed, attempts, calls, trace, known_tools, scope, bool(why_empty)),
        call_agreement=call_agreement,
        empty_scope=why_empty or (SAYS_NOTHING if says_nothing(parsed) else ""),
        trace=trace,
    )


def _scope_options(
    expected: Sequence[Call],
    scope: Selection,
    all_calls: Sequence[ToolCall],
    known_tools: Mapping[str, ToolDefinition],
) -> dict[str, Any]:
    """What `CallAgreement` is to know of the scope; also what is outside, where values may come from there:
    these calls, and the tools of expected calls with labels."""
    options: dict[str, Any] = {"selection": scope, "expected_calls": expected}
    if scope.is_everything or not (sources := sources_of(expected)):
        return options
    labelled = {call.name for call in expected if call.label in sources}
    names = labelled if scope.tools is not None else ()
    uncompared = frozenset(name for name in names if not scope.expects(name, all_calls, known_tools))
    return {
        **options,
        "elsewhere": scope.elsewhere(all_calls, sources | labelled),
        "uncompared": uncompared,
    }


def _why_empty(
    scope: Selection,
    expected: Sequence[Call],
    calls: Sequence[ToolCall],
    trace: Trace | None,
    tools: Mapping[str, ToolDefinition],
) -> str:
    """Why no call is in scope: any that is shows that the run has this agent and this turn."""
    return empty_scope(scope, calls, trace) or chooses_none(scope, expected, calls, tools)


def _check_names(
    expected: Sequence[Call],
    scope: Selection,
    all_calls: Sequence[ToolCall],
    trace: Trace | None,
    known_tools: Mapping[str, ToolDefinition],
    comparators: Comparators | None,
) -> None:
    """Refuse tools, parameters and tags of which it is known that there are none such."""
    if not known_tools and comparators is None and scope.tools is None and not _has_offered(trace):
        return  # nothing says which there are
    check_tools(expected, known_tools, scope, all_calls, trace)
    check_spelling(expected, trace, scope, all_calls)
    check_comparators(comparators, known_tools, scope, all_calls)
    check_choice(scope, known_tools, all_calls, trace)
    check_tags(scope, all_calls, known_tools)


def _has_offered(trace: Trace | None) -> bool:
    """Whether a live trace may have tools that a model was offered."""
    return trace is not None and not trace.is_recorded_run


def _definitions(
    trace: Trace | None, tools: Mapping[str, ToolDefinition] | None, known_tools: Mapping[str, ToolDefinition]
) -> Mapping[str, ToolDefinition]:
    """What expected arguments are bound through where the calls themselves have no definition.

    In a live trace these are the tools that models were offered and that nobody decorated.
    """
    if tools is not None or trace is None or trace.is_recorded_run:
        return known_tools if tools is not None or trace is not None else {}
    return {name: tool for name, tool in known_tools.items() if tool.described}


def _checks(
    expectation: Expectation,
    attempts: Sequence[ToolCall],
    calls: Sequence[ToolCall],
    trace: Trace | None,
    known_tools: Mapping[str, ToolDefinition],
    selection: Selection,
    scope_is_empty: bool,
) -> tuple[Check, ...]:
    if expectation.is_path_only:
        return ()
    names = known_names(known_tools, attempts, trace, selection)
    return check_constraints(expectation, Subject(attempts, calls, trace, names, selection, scope_is_empty))


def _with_defaults(
    calls: Sequence[ToolCall], definitions: Mapping[str, ToolDefinition]
) -> Sequence[ToolCall]:
    """The calls with their tools' defaults, where these are known by what a model was offered alone: such
    calls are recorded as they were asked for, and what is expected of them has the defaults."""
    if not definitions and not any(map(_TOOL, calls)):
        return calls
    tools = [call.tool or definitions.get(call.name) for call in calls]
    if not any(tool is not None and tool.described for tool in tools):
        return calls
    return [_with_default(call, tool) for call, tool in zip(calls, tools, strict=True)]


def _with_default(call: ToolCall, tool: ToolDefinition | None) -> ToolCall:
    unread = call.arguments_error is not None or cause_of(call.arguments) is not None
    if tool is None or not tool.described or unread:
        return call
    defaults = {
        parameter.name: parameter.default
        for parameter in tool.parameters
        if parameter.default is not REQUIRED and parameter.name not in call.arguments
    }
    return replace(call, arguments={**call.arguments, **defaults}) if defaults else call


def _calls_of(actual: Trace | Sequence[ToolCall]) -> Sequence[ToolCall]:
    if isinstance(actual, Trace):
        return actual.tool_calls
    if not isinstance(actual, list | tuple) or not all(isinstance(call, ToolCall) for call in actual):
        raise ScorerError(
            "what happened comes second, after what should: a Trace or its tool_calls (Trace.from_calls "
            f"makes one of plain data), got {type(actual).__name__} {shorten(repr(actual), 200)}"
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


def _expects_calls(
    expectation: Expectation,
    call_agreement: CallAgreement,
    all_calls: Sequence[ToolCall],
    known_tools: Mapping[str, ToolDefinition],
) -> bool:
    """Whether the path names any tool that is compared.

    Where it names none, any call breaks it, and so an optional tool with unknown tags favours the run.
    """
    selection, path = call_agreement.selection, expectation.path
    if selection.tools is None or path is None:
        return bool(expectation.calls)
    required = {call.name for call in _required_calls(path)}
    optional = {call.name for call in path.calls()} - required
    if any(selection.expects(name, all_calls, known_tools) for name in sorted(required)):
        return True
    with reversed_reading() if call_agreement.calls else nullcontext():
        return any(selection.expects(name, all_calls, known_tools) for name in sorted(optional))


def _required_calls(pattern: Pattern) -> Iterator[Call]:
    """The calls that stand in every way to fulfil a pattern."""
    if isinstance(pattern, Call):
        yield pattern
    elif isinstance(pattern, Seq | Par):
        for part in pattern.parts:
            yield from _required_calls(part)
    elif isinstance(pattern, Many) and pattern.least:
        yield from _required_calls(pattern.part)


def _plan(
    expectation: Expectation,
    mode: Mode,
    selection: Selection,
    all_calls: Sequence[ToolCall],
    known_tools: Mapping[str, ToolDefinition],
    calls: int,
) -> Group:
    plan = expectation.plan
    if expectation.path is None or (selection.tools is None and (plan.is_fixed or mode != "only")):
        return plan

    def in_scope(name: str) -> bool:
        return selection.expects(name, all_calls, known_tools)

    return Planner(in_scope, whole=mode != "only", calls=calls).plan(expectation.path)


def _aligned(
    plan: Group,
    mode: Mode,
    credit: Credit,
    calls: Sequence[ToolCall],
    agreement_with: AgreementWith,
) -> tuple[Alignment, CallAgreement]:
    """The best alignment, in the order of the list or in another one that overlapping calls admit."""
    effort = Effort() if plan.labels else None
    alignment, call_agreement = align_with_labels(plan, calls, mode, credit, agreement_with, effort)
    if _is_perfect(alignment, calls, plan) or not has_unordered(calls):
        return alignment, call_agreement
    best, best_agreement = alignment, call_agreement
    orders = _every_order(plan, call_agreement)
    if orders is None:
        fitting = _orders(plan, alignment, call_agreement, mode, credit)
        orders = chain(fitting, source_orders(plan, calls, mode, credit, agreement_with))
    for in_order in orders:
        other, other_agreement = align_with_labels(plan, in_order, mode, credit, agreement_with, effort)
        if rank(other, mode, credit)[:2] < rank(best, mode, credit)[:2]:
            best, best_agreement = other, other_agreement
            if _is_perfect(best, calls, plan):
                break
    return best, best_agreement


def _every_order(plan: Group, call_agreement: CallAgreement) -> Iterator[list[ToolCall]] | None:
    """All orders of overlapping calls, where they are few and values come from calls."""
    options = [option for place in plan.places for option in place.options]
    sources = sources_of(options)
    if not sources:
        return None
    names = sources.union(option.name for option in options)
    return all_orders(call_agreement.calls, {*map(call_agreement.selection.name_of, names)})


def _orders(
    plan: Group, alignment: Alignment, call_agreement: CallAgreement, mode: Mode, credit: Credit
) -> Iterator[list[ToolCall]]:
    """The orders of overlapping calls that may fit better than that of the list, where order counts."""
    if mode in UNORDERED_MODES:
        return
    for fixed in (alignment.plan, align(plan, call_agreement, "contains", credit).plan):
        for order in fitting_orders(fixed, call_agreement, credit):
            yield [call_agreement.calls[position] for position in order]


def _is_perfect(alignment: Alignment, calls: Sequence[ToolCall], plan: Group) -> bool:
    """Whether no order of the calls could fit better."""
    if alignment.matched < alignment.required:
        return False
    return alignment.full == len(calls) or (plan.is_fixed and alignment.full == len(alignment.places))
