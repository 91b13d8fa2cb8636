"""What models asked for in a live trace, joined with the spans of the tools that were executed.

A call in a model's answer belongs to the tool span with its id; else to one with its name and arguments,
the latest answer before the span going first; else to one with its name that started before the agent asked
a model again. A call without a tool span is looked up in the later requests to models: the answer that the
model was given stands there. What became of it is its `CallStatus`.

Only what was asked for counts: the calls in an answer that did not arrive whole, or that is one of several
(``n`` > 1), are calls only where they were executed or answered.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import DatasetError, ExpectationError
from agenttrace.core.marks import cause_of, left_out
from agenttrace.core.message_parts import Request, Result, arguments_of, metadata_of, parts_of, text_in
from agenttrace.core.span import Span, SpanError
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_call import CallStatus

LLM = "llm"
"""The type of a model's span."""

_SAYS_NO_CALL = frozenset({"stop", "end_turn", "stop_sequence", "refusal", "content_filter"})
"""Finish reasons of answers that ask for no call."""


@dataclass(slots=True, eq=False)
class ModelRequest:
    """A call that a model asked for, in the answer that the span `model` holds.

    `execution` is the tool span that it belongs to. Without one `status` is set, with what is known of it.
    `start_ns` is when it was asked for: at the end of the answer, or when the call that was asked for before
    it began. `several`: it is one of several answers, or part of one that did not arrive whole.
    """

    model: Span
    name: str
    arguments: Mapping[str, Any]
    arguments_error: str | None
    key: Any
    several: bool
    start_ns: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    execution: Span | None = None
    answer: Result | None = None
    status: CallStatus = "requested"

    @property
    def output(self) -> Any:
        """What the model was given as an answer, or None."""
        return None if self.answer is None else self.answer.output

    @property
    def error(self) -> SpanError | None:
        """The failure that the answer tells of, or None."""
        failed = self.answer is not None and self.answer.failed
        return SpanError("ToolError", text_in(self.output)) if failed else None


def unrecorded_calls(
    spans: Sequence[Span],
    tools: Mapping[str, ToolDefinition],
    ancestors: Callable[[Span], Sequence[Span]],
) -> list[ModelRequest]:
    """The calls that models asked for and that no tool span belongs to, in the order they were asked for.

    `spans` are in start order; `tools` are the known tools; `ancestors` gives the spans above one, nearest
    first.
    """
    models = [span for span in spans if span.span_type == LLM and span.output is not None]
    requests = list(_requests(models, ancestors))
    if not requests:
        return []
    executions = [span for span in spans if span.span_type == TOOL]
    definitions = {**tools, **{span.name: span.tool for span in executions if span.tool is not None}}
    for request in requests:
        request.arguments = _with_defaults(request, definitions)
    _join_all(requests, executions, models, ancestors)
    _put_after_what_was_asked_before(requests)
    waiting = [request for request in requests if request.execution is None]
    if waiting:
        _find_answers(waiting, [span for span in spans if span.span_type == LLM])
    decorated = set(tools) if executions and all(span.tool is not None for span in executions) else None
    unrecorded = [request for request in waiting if not request.several or request.answer is not None]
    for request in unrecorded:
        request.status = _status(request, decorated)
    return unrecorded


def cut_answer(spans: Iterable[Span]) -> Span | None:
    """The first answer of a model, as `wrap` and the LangGraph handler record them, of which so much was left
    out that it may have asked for more calls; None without one."""
    for span in spans:
        if span.span_type == LLM and semconv.OPERATION in span.attributes and _may_lack_calls(span.output):
            reasons = span.attributes.get(semconv.FINISH_REASONS)
            if not isinstance(reasons, list) or not _SAYS_NO_CALL.issuperset(map(str, reasons)):
                return span
    return None


def offered_tools(span: Span) -> tuple[frozenset[str], bool]:
    """The names of the tools in a request to a model, in any provider's form, and whether these are all.

    They are not where the request has none, where one has no name of its own (it may stand for several), or
    where the list was cut.
    """
    request = span.input or {}
    lists = [request[name] for name in ("tools", "functions") if request.get(name)]
    names: set[str] = set()
    complete = bool(lists)
    for tools in lists:
        complete = complete and isinstance(tools, list | tuple) and cause_of(tools) is None
        for tool in tools if isinstance(tools, list | tuple) else ():
            function = tool.get("function") if isinstance(tool, Mapping) else None
            holder = function if isinstance(function, Mapping) else tool
            name = holder.get("name") if isinstance(holder, Mapping) else None
            if isinstance(name, str) and cause_of(name) is None:
                names.add(name)
            else:
                complete = False
    return frozenset(names), complete


# The calls in the answers.


def _requests(models: Sequence[Span], ancestors: Callable[[Span], Sequence[Span]]) -> Iterator[ModelRequest]:
    """Every call that was asked for, once: two spans of one answer (a framework's, its client's) overlap."""
    seen: dict[Hashable, Span] = {}
    for span in models:
        answers = _answers(span.output)
        several = len(answers) > 1 or span.status != "ok"
        for part in (part for answer in answers for part in _parts(answer)):
            if not isinstance(part, Request) or not isinstance(part.name, str) or not part.name:
                continue
            request = _model_request(span, part, several)
            same = (part.name, _hashable(part.key), _text(request.arguments), request.arguments_error)
            earlier = seen.get(same)
            overlaps = earlier is not None and earlier is not span and earlier.end_ns > span.start_ns
            if overlaps and (part.key is not None or earlier in ancestors(span)):
                continue
            seen[same] = span
            yield request


def _model_request(span: Span, request: Request, several: bool) -> ModelRequest:
    arguments, error = arguments_of(request)
    if error is not None and isinstance(request.arguments, str) and cause_of(request.arguments) is not None:
        arguments, error = left_out("span"), None  # not the model's fault that they cannot be read
    return ModelRequest(
        span, request.name, arguments, error, request.key, several, span.end_ns, metadata_of(request)
    )


def _answers(output: Any) -> list[list[Mapping[str, Any]]]:
    """The answers in a model's output, each as messages: in the form of `wrap`, or in a provider's own."""
    if isinstance(output, Mapping):
        choices, items, message = output.get("choices"), output.get("output"), output.get("message")
        if isinstance(choices, list | tuple):
            messages = [choice.get("message") for choice in choices if isinstance(choice, Mapping)]
            return [[message] for message in messages if isinstance(message, Mapping)]
        if isinstance(items, list | tuple):
            return [[item for item in items if isinstance(item, Mapping)]]
        return [[message if isinstance(message, Mapping) else output]]
    if not isinstance(output, list | tuple):
        return []
    messages = [item for item in output if isinstance(item, Mapping)]
    if messages and all("finish_reason" in message for message in messages):
        return [[message] for message in messages]
    return [[{"content": output}, *messages]]


def _parts(messages: Iterable[Any]) -> Iterator[Request | Result]:
    """What messages ask for and answer; nothing of what is no message."""
    for message in messages:
        if isinstance(message, list | tuple):  # several conversations
            yield from _parts(message)
        elif isinstance(message, Mapping):
            try:
                yield from parts_of(message)
            except DatasetError:
                continue


def _may_lack_calls(output: Any) -> bool:
    answers = output if isinstance(output, list) else [output]
    parts = [answer.get("tool_calls") for answer in answers if isinstance(answer, dict)]
    calls = [call for part in parts if isinstance(part, list) for call in part]
    whole = (output, *answers, *parts, *calls)
    return any(cause_of(one) in ("cut", "not recorded") for one in whole if not isinstance(one, str))


# Calls and executions.


def _with_defaults(request: ModelRequest, definitions: Mapping[str, ToolDefinition]) -> Mapping[str, Any]:
    """The arguments as a call of the tool is recorded, where they fit it."""
    definition = definitions.get(request.name)
    if definition is None or request.arguments_error is not None or cause_of(request.arguments) is not None:
        return request.arguments
    try:
        return definition.bind(request.arguments)
    except ExpectationError:
        return request.arguments


def _join_all(
    requests: Sequence[ModelRequest],
    executions: Sequence[Span],
    models: Sequence[Span],
    ancestors: Callable[[Span], Sequence[Span]],
) -> None:
    until = _next_request(models, ancestors)
    _join(
        requests,
        executions,
        lambda request: request.key,
        lambda span: span.attributes.get(semconv.TOOL_CALL_ID),
    )
    _join(requests, executions, _name_and_arguments, lambda span: (span.name, _text(span.input or {})))
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
    taken = {id(request.execution) for request in requests if request.execution is not None}
    waiting: dict[Any, list[ModelRequest]] = {}
    to_come = iter([request for request in requests if request.execution is None])
    request = next(to_come, None)
    for span in executions:
        while request is not None and request.model.start_ns <= span.start_ns:
            if (key := _hashable(key_of_request(request))) is not None:
                waiting.setdefault(key, []).append(request)
            request = next(to_come, None)
        candidates = waiting.get(_hashable(key_of_span(span)))
        if not candidates or id(span) in taken or (in_time and not in_time(candidates[-1], span)):
            continue
        model = candidates[-1].model
        first = next(at for at, candidate in enumerate(candidates) if candidate.model is model)
        candidates.pop(first).execution = span


def _name_and_arguments(request: ModelRequest) -> tuple[str, str] | None:
    if request.arguments_error is not None:
        return None
    return request.name, _text(request.arguments)


def _next_request(models: Sequence[Span], ancestors: Callable[[Span], Sequence[Span]]) -> Mapping[int, float]:
    """For each model's span, by id: when the same agent asked a model again; infinity where it did not."""
    starts: dict[int | None, list[int]] = {}
    agents: list[int | None] = []
    for span in models:
        agent = next((above.span_key for above in ancestors(span) if above.span_type == "agent"), None)
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


# What became of the others.


def _find_answers(requests: Sequence[ModelRequest], models: Sequence[Span]) -> None:
    """Give each call the answer that stands in the first later request to a model that has one."""
    waiting = list(requests)
    for span in models:
        if not any(request.model.end_ns <= span.start_ns for request in waiting):
            continue
        sent = span.input or {}
        messages = sent.get("messages", sent.get("input"))
        parts = list(_parts(messages)) if isinstance(messages, list | tuple) else []
        asked = {_hashable(part.key): part.name for part in parts if isinstance(part, Request)}
        results = {_result_key(part.key, part.name): part for part in parts if isinstance(part, Result)}
        for request in waiting:
            if request.model.end_ns <= span.start_ns:
                # Another conversation may use the same id.
                is_same = (
                    request.key is None or asked.get(_hashable(request.key), request.name) == request.name
                )
                request.answer = results.get(_result_key(request.key, request.name)) if is_same else None
        waiting = [request for request in waiting if request.answer is None]


def _result_key(key: Any, name: Any) -> Hashable:
    """What a result is found by: the call's id, or without one its tool's name."""
    return (None, _hashable(name)) if key is None else _hashable(key)


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


def _text(value: Any) -> str:
    """One text for all mappings with the same entries."""
    return json.dumps(value, sort_keys=True, default=repr)


def _hashable(key: Any) -> Any:
    return key if isinstance(key, str | int | tuple) or key is None else _text(key)
