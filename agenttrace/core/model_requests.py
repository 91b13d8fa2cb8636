"""What the models of a trace asked for: the tools that they were offered, the calls in their answers.

Answers are read as `wrap` and the LangGraph handler record them, or in a provider's own form, as a function
gives them that is observed with ``span_type="llm"``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import DatasetError
from agenttrace.core.marks import cause_of, left_out
from agenttrace.core.message_parts import Request, Result, arguments_of, metadata_of, parts_of, text_in
from agenttrace.core.span import Span, SpanError
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import CallStatus
from agenttrace.core.tool_schemas import offered_names
from agenttrace.core.value_key import text_key

LLM = "llm"
"""The type of a model's span."""

_SAYS_NO_CALL = frozenset({"stop", "end_turn", "stop_sequence", "refusal", "content_filter"})
"""Finish reasons of answers that ask for no call."""


@dataclass(slots=True, eq=False)
class ModelRequest:
    """A call that a model asked for, in the answer that the span `model` holds.

    `execution` is the tool span that it belongs to. Without one `status` is set, with what is known of it.
    `start_ns` is when it was asked for: at the end of the answer, or when the call that was asked for before
    it began. `asked_for`: see there. `several`: it is one of several answers, or part of one that did not
    arrive whole. `tool` is the definition that calls of this name have in the trace: one of the same name
    elsewhere may be another tool.
    """

    model: Span
    name: str
    arguments: Mapping[str, Any]
    arguments_error: str | None
    key: Any
    asked_for: tuple[str, str]
    several: bool
    start_ns: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool: ToolDefinition | None = None
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


def model_requests(
    models: Sequence[Span], ancestors: Callable[[Span], Sequence[Span]]
) -> Iterator[ModelRequest]:
    """Every call that was asked for, once: two spans of one answer (a framework's, its client's) overlap."""
    seen: dict[Hashable, Span] = {}
    for span in models:
        several = len(_answers(span.output)) > 1 or span.status != "ok"
        for part in requests_in(span.output):
            request = _model_request(span, part, several)
            same = (part.name, hashable(part.key), text_key(request.arguments), request.arguments_error)
            earlier = seen.get(same)
            overlaps = earlier is not None and earlier is not span and earlier.end_ns > span.start_ns
            if overlaps and (part.key is not None or earlier in ancestors(span)):
                continue
            seen[same] = span
            yield request


def requests_in(output: Any) -> Iterator[Request]:
    """The calls that a model's answer asks for by name, in order, of all its answers where it has several."""
    for answer in _answers(output):
        for part in parts_in(answer):
            if isinstance(part, Request) and isinstance(part.name, str) and part.name:
                yield part


def offered_tools(span: Span) -> tuple[frozenset[str], bool]:
    """The names of the tools in a request to a model, in any provider's form, and whether these are all."""
    return offered_names(span.input or {})


def cut_answer(spans: Iterable[Span]) -> Span | None:
    """The first answer of a model, as `wrap` and the LangGraph handler record them, of which so much was left
    out that it may have asked for more calls; None without one."""
    for span in spans:
        if span.span_type == LLM and semconv.OPERATION in span.attributes and _may_lack_calls(span.output):
            reasons = span.attributes.get(semconv.FINISH_REASONS)
            if not isinstance(reasons, list) or not _SAYS_NO_CALL.issuperset(map(str, reasons)):
                return span
    return None


def _model_request(span: Span, request: Request, several: bool) -> ModelRequest:
    arguments, error = arguments_of(request)
    if error is not None and isinstance(request.arguments, str) and cause_of(request.arguments) is not None:
        arguments, error = left_out("span"), None  # not the model's fault that they cannot be read
    return ModelRequest(
        span,
        request.name,
        arguments,
        error,
        request.key,
        asked_for(request),
        several,
        span.end_ns,
        metadata_of(request),
    )


def asked_for(request: Request) -> tuple[str, str]:
    """The name and the arguments of a call, the same for each way to write them."""
    arguments, error = arguments_of(request)
    return str(request.name), text_key(arguments) if error is None else str(request.arguments)


def _answers(output: Any) -> list[list[Mapping[str, Any]]]:
    """The answers in a model's output, each as messages: in the form of `wrap`, or in a provider's own."""
    if isinstance(output, Mapping):
        choices, items, message = output.get("choices"), output.get("output"), output.get("message")
        if isinstance(choices, list | tuple):
            return [
                [choice["message"]] for choice in _mappings(choices) if _mappings([choice.get("message")])
            ]
        if isinstance(items, list | tuple):
            return [_mappings(items)]
        return [[message if isinstance(message, Mapping) else output]]
    if not isinstance(output, list | tuple):
        return []
    messages = _mappings(output)
    if messages and all("finish_reason" in message for message in messages):
        return [[message] for message in messages]
    return [[{"content": output}, *messages]]


def _mappings(items: Iterable[Any]) -> list[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, Mapping)]


def parts_in(messages: Iterable[Any]) -> Iterator[Request | Result]:
    """What messages ask for and answer; nothing of what is no message."""
    for message in messages:
        if isinstance(message, list | tuple):  # several conversations
            yield from parts_in(message)
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


def hashable(key: Any) -> Any:
    """The id of a call as the key of a mapping; None stays None."""
    return key if isinstance(key, str | int | tuple) or key is None else text_key(key)
