"""The calls that models asked for and whose execution was not recorded: what is known of each.

A call in a model's answer belongs to the tool span with its id; else to one with its name and arguments,
the latest answer before the span going first; else to one with its name that started before the agent asked
a model again. A call without a tool span is looked up in the later requests to models: the answer that the
model was given stands there. What became of it is its `CallStatus`.

Only what was asked for counts: the calls in an answer that did not arrive whole, or that is one of several
(``n`` > 1), are calls only where they were executed or answered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ExpectationError
from agenttrace.core.executions import AGENT, Nearest
from agenttrace.core.marks import cause_of
from agenttrace.core.message_parts import Request, Result
from agenttrace.core.model_requests import (
    LLM,
    ModelRequest,
    asked_for,
    hashable,
    model_requests,
    offered_tools,
    parts_in,
)
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_call import CallStatus
from agenttrace.core.value_key import text_key


def unrecorded_calls(
    spans: Sequence[Span],
    tools: Mapping[str, ToolDefinition],
    by_key: Mapping[int, Span],
    ancestors: Callable[[Span], Sequence[Span]],
) -> list[ModelRequest]:
    """The calls that models asked for and that no tool span belongs to, in the order they were asked for.

    `spans` are in start order; `tools` are the known tools; `by_key` has the spans by their ids; `ancestors`
    gives those above one, nearest first.
    """
    models = [span for span in spans if span.span_type == LLM]
    requests = list(model_requests(models, ancestors))
    if not requests:
        return []
    executions = [span for span in spans if span.span_type == TOOL]
    definitions = {
        span.name: span.tool for span in executions if span.tool is not None and not span.tool.described
    }
    for request in requests:
        request.tool = definitions.get(request.name)
        request.arguments = _with_defaults(request)
    _join_all(requests, executions, models, Nearest(by_key, AGENT))
    _put_after_what_was_asked_before(requests)
    waiting = [request for request in requests if request.execution is None]
    if waiting:
        _find_answers(waiting, models, {hashable(request.key) for request in requests})
    own = [span for span in executions if span.attributes.get(semconv.TOOL_TYPE) != semconv.HOSTED]
    known = {name for name, tool in tools.items() if not tool.described}
    are_known = own and all(span.tool is not None and span.tool.name in known for span in own)
    decorated = known if are_known else None
    unrecorded = [request for request in waiting if not request.several or request.answer is not None]
    for request in unrecorded:
        request.status = _status(request, decorated)
    return unrecorded


def _with_defaults(request: ModelRequest) -> Mapping[str, Any]:
    """The arguments as a call of the tool is recorded, where they fit it."""
    if request.tool is None or request.arguments_error is not None or cause_of(request.arguments) is not None:
        return request.arguments
    try:
        return request.tool.bind(request.arguments)
    except ExpectationError:
        return request.arguments


def _join_all(
    requests: Sequence[ModelRequest],
    executions: Sequence[Span],
    models: Sequence[Span],
    agent_above: Nearest,
) -> None:
    until = _next_request(models, agent_above)
    _join(
        requests,
        executions,
        lambda request: request.key,
        lambda span: span.attributes.get(semconv.TOOL_CALL_ID),
    )
    _join(requests, executions, _name_and_arguments, lambda span: (span.name, text_key(span.input or {})))
    _join(
        requests,
        executions,
        lambda request: request.name,
        lambda span: span.name,
        lambda request, span: span.start_ns < until[id(request.model)],
    )


def _join(
    requests: Sequence[ModelRequest],
    executions: Sequence[Span],
    key_of_request: Callable[[ModelRequest], Any],
    key_of_span: Callable[[Span], Any],
    in_time: Callable[[ModelRequest, Span], bool] | None = None,
) -> None:
    """Join what has the same key: a span with the latest answer before it, there with the first such call."""
    joined = {id(request.execution) for request in requests if request.execution is not None}
    waiting: dict[Any, list[ModelRequest]] = {}
    to_come = iter([request for request in requests if request.execution is None])
    request = next(to_come, None)
    for span in executions:
        while request is not None and request.model.start_ns <= span.start_ns:
            if (key := hashable(key_of_request(request))) is not None:
                waiting.setdefault(key, []).append(request)
            request = next(to_come, None)
        candidates = waiting.get(hashable(key_of_span(span)))
        if not candidates or id(span) in joined or (in_time and not in_time(candidates[-1], span)):
            continue
        first = len(candidates) - 1
        while first and candidates[first - 1].model is candidates[-1].model:
            first -= 1
        candidates.pop(first).execution = span


def _name_and_arguments(request: ModelRequest) -> tuple[str, str] | None:
    if request.arguments_error is not None:
        return None
    return request.name, text_key(request.arguments)


def _next_request(models: Sequence[Span], agent_above: Nearest) -> Mapping[int, float]:
    """For each model's span, by id: when the same agent asked a model again; infinity where it did not."""
    starts: dict[int | None, list[int]] = {}
    agents: list[int | None] = []
    for span in models:
        above = agent_above(span)
        agent = None if above is None else above.span_key
        agents.append(agent)
        starts.setdefault(agent, []).append(span.start_ns)
    until: dict[int, float] = {}
    for span, agent in zip(models, agents, strict=True):
        at = bisect_left(starts[agent], max(span.end_ns, span.start_ns + 1))
        until[id(span)] = starts[agent][at] if at < len(starts[agent]) else float("inf")
    return until


def _put_after_what_was_asked_before(requests: Sequence[ModelRequest]) -> None:
    latest: dict[int, int] = {}
    for request in requests:
        start = max(latest.get(id(request.model), 0), request.start_ns)
        if request.execution is not None:
            start = max(start, request.execution.start_ns)
        latest[id(request.model)] = request.start_ns = start


def _find_answers(requests: Sequence[ModelRequest], models: Sequence[Span], keys: Collection[Any]) -> None:
    """Give each call the answer that stands in the first later request to a model that has one.

    It has the call's id. An agent may have given the call another id: then it is found by the name and the
    arguments with that id, if it is none of `keys`, the ids that models gave.
    """
    by_key: dict[Hashable, list[ModelRequest]] = {}
    by_call: dict[Hashable, list[ModelRequest]] = {}
    for request in requests:
        by_key.setdefault(_result_key(request.key, request.name), []).append(request)
        by_call.setdefault(request.asked_for, []).append(request)
    first_end = min(request.model.end_ns for request in requests)
    for span in models:
        sent = span.input or {}
        messages = sent.get("messages", sent.get("input", sent.get("contents")))
        if span.start_ns < first_end or not isinstance(messages, list | tuple):
            continue
        parts = _with_ids(parts_in(messages))
        asked = {hashable(part.key): part for part in parts if isinstance(part, Request)}
        results = {_result_key(part.key, part.name): part for part in parts if isinstance(part, Result)}

        def is_same_tool(request: ModelRequest, asked: Mapping[Any, Request] = asked) -> bool:
            part = None if request.key is None else asked.get(hashable(request.key))
            return part is None or part.name == request.name

        def is_renamed(request: ModelRequest, asked: Mapping[Any, Request] = asked) -> bool:
            return request.answer is None and request.key is not None and hashable(request.key) not in asked

        for key in results.keys() & by_key.keys():
            _answer(by_key, key, results[key], span, is_same_tool)
        for key, part in asked.items():
            if key is not None and key in results and key not in keys and asked_for(part) in by_call:
                _answer(by_call, asked_for(part), results[key], span, is_renamed)


def _with_ids(parts: Iterable[Request | Result]) -> list[Request | Result]:
    """The parts; a result without an id, as Gemini's, under that of the first call of its name that waits."""
    paired: list[Request | Result] = []
    waiting: dict[Any, deque[Any]] = {}
    for part in parts:
        if isinstance(part, Request):
            waiting.setdefault(hashable(part.name), deque()).append(part.key)
        elif part.key is None and (keys := waiting.get(hashable(part.name))):
            part = part._replace(key=keys.popleft())
        paired.append(part)
    return paired


def _answer(
    waiting: dict[Hashable, list[ModelRequest]],
    key: Hashable,
    result: Result,
    span: Span,
    fits: Callable[[ModelRequest], bool],
) -> None:
    """Give an answer in the request of a span to the latest call before it that fits; earlier ones lose it.

    Other conversations may use the same ids.
    """
    begun = list(takewhile(lambda request: request.model.start_ns <= span.start_ns, waiting[key]))
    fitting = [request for request in begun if request.model.end_ns <= span.start_ns and fits(request)]
    if fitting:
        fitting[-1].answer = result
        waiting[key][: len(begun)] = [request for request in begun if request.model.end_ns > span.start_ns]


def _result_key(key: Any, name: Any) -> Hashable:
    """What a result is found by: the call's id, or without one its tool's name."""
    return (None, hashable(name)) if key is None else hashable(key)


def _status(request: ModelRequest, decorated: set[str] | None) -> CallStatus:
    """What is known of a call without a span; `decorated` are the known tools, if all that ran are known."""
    names, complete = offered_tools(request.model)
    offered = names if complete else decorated
    if request.arguments_error is not None:
        return "attempted"
    if offered is not None and request.name not in offered and request.name not in names:
        return "attempted"
    if request.answer is None:
        return "requested"
    if request.answer.failed is None:
        return "answered"
    return "error" if request.answer.failed else "ok"
