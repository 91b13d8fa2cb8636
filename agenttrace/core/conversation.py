"""The conversation that a model saw, also where the provider keeps it and a request has only what is new.

OpenAI's Responses name an earlier answer (``previous_response_id``) or a ``conversation``, Anthropic's
threads an earlier message: such a request holds what is new since then, and nothing before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.model_requests import LLM
from agenttrace.core.span import Span


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages up to a request, oldest first, in the provider's forms, answers as *assistant* messages.

    `missing` is the id of an earlier answer, or of a conversation, that was not recorded: the messages then
    begin in the middle.
    """

    messages: tuple[Mapping[str, Any], ...]
    missing: str | None = None


def conversation_of(request: Span, spans: Iterable[Span]) -> Conversation:
    """The conversation of a model's span, put together from those of `spans` that it goes on from."""
    models = [span for span in spans if span.span_type == LLM and span is not request]
    models.sort(key=lambda span: (span.start_ns, span.index))
    by_id = {str(span.attributes.get(semconv.RESPONSE_ID)): span for span in models}
    messages: list[Mapping[str, Any]] = [*_messages(request)]
    seen = {id(request)}
    span = request
    while True:
        sent = span.input or {}
        kept_as = _conversation_id(sent)
        if kept_as is not None:
            before = [
                one
                for one in models
                if one.start_ns <= span.start_ns and _conversation_id(one.input) == kept_as
            ]
            before = [one for one in before if id(one) not in seen]
            earlier = [message for one in before for message in (*_messages(one), *_answer(one))]
            return Conversation((*_system(request), *earlier, *messages), None if before else kept_as)
        previous = _previous_id(sent)
        if previous is None:
            return Conversation((*_system(request), *messages))
        answered = by_id.get(previous)
        if answered is None or id(answered) in seen:
            return Conversation((*_system(request), *messages), previous)
        seen.add(id(answered))
        messages[:0] = [*_messages(answered), *_answer(answered)]
        span = answered


def _previous_id(request: Mapping[str, Any]) -> str | None:
    thread = request.get("thread")
    inside = thread.get("previous_message_id") if isinstance(thread, Mapping) else None
    previous = request.get("previous_response_id") or inside
    return previous if isinstance(previous, str) else None


def _conversation_id(request: Mapping[str, Any] | None) -> str | None:
    conversation = (request or {}).get("conversation")
    if isinstance(conversation, Mapping):
        conversation = conversation.get("id")
    return conversation if isinstance(conversation, str) and conversation else None


def _messages(span: Span) -> Sequence[Mapping[str, Any]]:
    sent = span.input or {}
    messages = sent.get("messages", sent.get("input", sent.get("contents")))
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    return [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list | tuple) else []


def _system(span: Span) -> Sequence[Mapping[str, Any]]:
    """What a request tells the model beside the messages; that of earlier ones does not go on."""
    sent = span.input or {}
    text = sent.get("instructions", sent.get("system"))
    return [] if not text else [{"role": "system", "content": text}]


def _answer(span: Span) -> Sequence[Mapping[str, Any]]:
    output = span.output
    if not isinstance(output, Mapping):
        return []
    message = {"role": "assistant", "content": output.get("text")}
    if output.get("tool_calls"):
        message["tool_calls"] = output["tool_calls"]
    return [message]
