"""A run with other calls: the trace of it that scorers are given, and what they say."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from agenttrace.core.example import Example
from agenttrace.core.identity import new_span_key
from agenttrace.core.protocols import Scorer, TakesModel, optional
from agenttrace.core.recorded_calls import call_to_mapping
from agenttrace.core.report import ResultOutcome, outcome_of
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import UNRECORDED_STATUSES, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.scoring.apply import last_line, own_arguments, why_not_a_score


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run with the example and the scorers that decide whether it passes.

    `number` is that of the example; its trials are several runs of one number. `trace` is None where only the
    output is known.
    """

    number: int
    example: Example
    trace: Trace | None
    scorers: tuple[Scorer, ...]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The run's calls."""
        return () if self.trace is None else self.trace.tool_calls

    @property
    def output(self) -> Any:
        """The run's output."""
        output = self.example.actual_output
        return self.trace.output if output is None and self.trace is not None else output

    def outcome(self, calls: Sequence[ToolCall], output: Any, expected_tools: Any = None) -> ResultOutcome:
        """The outcome with these calls and this output, and other `expected_tools` where there are any."""
        return outcome_of(None, None, self.scores(calls, output, expected_tools))[0]

    def scores(self, calls: Sequence[ToolCall], output: Any, expected_tools: Any = None) -> list[Score]:
        """The scores with these calls and this output: see `outcome`."""
        fields: dict[str, Any] = {} if expected_tools is None else {"expected_tools": expected_tools}
        if self.example.tools_called is not None:
            fields["tools_called"] = [call_to_mapping(call) for call in calls]
        if self.example.actual_output is not None:
            fields["actual_output"] = output
        example = self.example.model_copy(update=fields)
        trace = self.trace
        if trace is not None:
            trace = trace_with(trace, calls, trace.output if output is self.output else output)
        return [score_of(scorer, example, trace) for scorer in self.scorers]


def trace_with(trace: Trace, calls: Sequence[ToolCall], output: Any) -> Trace:
    """The trace with other calls, in the order given, in place of its tools' spans."""
    own_calls = {id(call) for call in trace.tool_calls}
    spans = {span.span_id: span for span in trace.spans if span.span_type == TOOL}
    others = [span for span in trace.spans if span.span_type != TOOL]
    parent_key = others[0].span_key if others else None
    for call in calls:
        if id(call) in own_calls and call.span_id in spans:
            others.append(spans[call.span_id])
        elif call.status not in UNRECORDED_STATUSES or call.span_id in spans:
            others.append(_span_of(call, trace.trace_key, parent_key))
    damaged = Trace(others, trace_key=trace.trace_key, tools=trace.tools, output=output)
    damaged.tool_calls = tuple(
        [call if call.index == index else replace(call, index=index) for index, call in enumerate(calls)]
    )
    return damaged


def _span_of(call: ToolCall, trace_key: int, parent_key: int | None) -> Span:
    return Span(
        trace_key=trace_key,
        span_key=new_span_key(),
        parent_key=parent_key,
        name=call.name,
        span_type=TOOL,
        start_ns=call.start_ns,
        end_ns=call.end_ns,
        input=call.arguments,
        output=call.output,
        error=call.error,
        status="ok" if call.error is None else "error",
        tool=call.tool,
    )


def score_of(scorer: Scorer, example: Example, trace: Trace | None) -> Score:
    """Return a scorer's score, asked on this thread; an errored one where it returned none."""
    try:
        own_example, own_trace = own_arguments(scorer, example, trace)
        value = scorer.score(own_example, cast(Trace, own_trace))  # None: the calls are unknown
    except Exception as error:  # choke-point: a scorer that breaks is errored
        return Score.errored(scorer.name, scorer.threshold, last_line(error))
    if inspect.iscoroutine(value):
        value.close()
    fault = why_not_a_score(value)
    if isinstance(value, Score) and fault is None:
        return value
    return Score.errored(scorer.name, scorer.threshold, f"the scorer {scorer.name!r} {fault}")


def why_left_out(scorer: Scorer, asked_a_model: Collection[str]) -> str | None:
    """Return why a scorer is not asked about damaged runs, or None if it is: it may ask a model.

    It takes a model, has a judge, is async, or is among the names of those whose scores name a model.
    """
    if optional(scorer, TakesModel) is not None or getattr(scorer, "ask", None) is not None:
        return "it asks a model"
    functions = (scorer.score, getattr(scorer, "function", None))
    if any(inspect.iscoroutinefunction(function) for function in functions):
        return "it is async, and may ask a model"
    return "its scores name a model" if scorer.name in asked_a_model else None
