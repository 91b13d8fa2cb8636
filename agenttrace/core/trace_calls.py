"""The tool calls of a trace, in order: those that tool spans recorded, and what models asked for besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from agenttrace.core import semconv
from agenttrace.core.asked import asked_places
from agenttrace.core.call_order import follow_one_another, in_order
from agenttrace.core.call_paths import CallPath, CallPaths
from agenttrace.core.executions import Execution, executions_of, stand_apart
from agenttrace.core.model_requests import ModelRequest
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_call import ToolCall, Window, plain_call
from agenttrace.core.unrecorded_calls import unrecorded_calls

_Ordered = tuple[Execution, Window | None]


def tool_calls_of(
    spans: Sequence[Span],
    by_key: Mapping[int, Span],
    models: Sequence[Span],
    tools: Mapping[str, ToolDefinition],
    *,
    is_recorded_run: bool,
) -> tuple[ToolCall, ...]:
    """The calls in order, also failed ones and those without a recorded execution.

    `spans`, and the requests to models among them, are in start order; `tools` are the known tools. In a
    recorded run (see `Trace.is_recorded_run`) the calls are in order as they stand.
    """
    if is_recorded_run:
        executions = executions_of(spans, by_key)
        return _calls([(each, None) for each in executions], [], by_key, tools)
    if not models:
        made = [span for span in spans if span.span_type == TOOL]
        if follow_one_another(made) and stand_apart(made, by_key):
            return _one_by_one(made, by_key)
    executions = executions_of(spans, by_key)
    if len(executions) < 2:
        ordered: list[_Ordered] = [(each, None) for each in executions]
    else:
        ordered = in_order(executions, asked_places(models, by_key, executions))
    requests = unrecorded_calls(spans, tools, by_key, _Ancestors(by_key)) if models else []
    return _calls(ordered, requests, by_key, {})


def _one_by_one(made: Sequence[Span], by_key: Mapping[int, Span]) -> tuple[ToolCall, ...]:
    """The calls of spans that are in order, each of a call of its own, as of most agents."""
    place_of = CallPaths(by_key)
    return tuple(
        [
            plain_call(span, index, *place_of(span), span.tool)
            if span.input is not None and not span.attributes
            else _made_call(index, Execution(span), None, place_of(span), {})
            for index, span in enumerate(made)
        ]
    )


def _calls(
    ordered: Sequence[_Ordered],
    requests: Sequence[ModelRequest],
    by_key: Mapping[int, Span],
    tools: Mapping[str, ToolDefinition],
) -> tuple[ToolCall, ...]:
    """The calls of executions, and of requests among them; `tools` are defined where a call says nothing."""
    place_of = CallPaths(by_key)
    made = [execution.span.start_ns for execution, _ in ordered]
    # A request stands before the first call that began after it: until there, none of them is later.
    stand: list[tuple[int, _Ordered | ModelRequest]] = [
        *zip(accumulate(made, max), ordered, strict=True),
        *((request.start_ns, request) for request in requests),
    ]
    if requests:
        stand.sort(key=lambda one: one[0])
    return tuple(
        _requested_call(index, each, place_of(each.model))
        if isinstance(each, ModelRequest)
        else _made_call(index, *each, place_of(each[0].span), tools)
        for index, (_, each) in enumerate(stand)
    )


def _made_call(
    index: int,
    execution: Execution,
    window: Window | None,
    place: CallPath,
    tools: Mapping[str, ToolDefinition],
) -> ToolCall:
    """The call of an execution; `tools` are the definitions that hold where it has none."""
    span = execution.span
    attributes = span.attributes
    if not attributes and not execution.inner and span.input is not None:
        return plain_call(span, index, *place, span.tool or tools.get(span.name), window)
    arguments, tool = execution.arguments
    status, error = execution.ending
    return ToolCall(
        name=span.name,
        arguments=arguments,
        output=execution.output,
        error=error,
        status=status,
        index=index,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        agent=place.agent,
        path=place.path,
        parent_id=span.parent_id,
        span_id=span.span_id,
        turn=place.turn,
        tool=tool or tools.get(span.name),
        arguments_error=attributes.get(semconv.ARGUMENTS_ERROR),
        from_answer=semconv.FROM_ANSWER in attributes,
        metadata=attributes.get(semconv.CALL_METADATA, {}),
        window=window,
        remedy=execution.remedy if execution.output is None else None,
    )


def _requested_call(index: int, request: ModelRequest, place: CallPath) -> ToolCall:
    return ToolCall(
        name=request.name,
        arguments=request.arguments,
        output=request.output,
        error=request.error,
        status=request.status,
        index=index,
        start_ns=request.start_ns,
        end_ns=request.start_ns,
        agent=place.agent,
        path=place.path,
        parent_id=request.model.parent_id,
        span_id=request.model.span_id,
        turn=place.turn,
        tool=request.tool,
        arguments_error=request.arguments_error,
        from_answer=request.answer is not None,
        metadata=request.metadata,
    )


class _Ancestors:
    """Finds the parents of a span, nearest first; stops at a loop."""

    def __init__(self, by_key: Mapping[int, Span]) -> None:
        self._by_key = by_key

    def __call__(self, span: Span) -> list[Span]:
        above: list[Span] = []
        visited = {span.span_key}
        key = span.parent_key
        while key is not None and key not in visited:
            visited.add(key)
            parent = self._by_key.get(key)
            if parent is None:
                break
            above.append(parent)
            key = parent.parent_key
        return above
