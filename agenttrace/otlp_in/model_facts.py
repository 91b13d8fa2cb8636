"""What a model was asked and what it answered, from the attributes and events of its span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.marks import not_recorded
from agenttrace.otlp_in import model_tables, tables
from agenttrace.otlp_in.arrival import Event
from agenttrace.otlp_in.messages import Message, event_messages, messages_in, numbered_messages
from agenttrace.otlp_in.numbered import Lists
from agenttrace.otlp_in.present import Present
from agenttrace.otlp_in.values import value_of


def model_input(
    fields: Mapping[str, Any],
    has: Present,
    events: Sequence[Event],
    lists: Lists,
    tools: Sequence[Mapping[str, Any]],
) -> dict[str, Any] | None:
    """The messages and tools of a request, ``{"messages": […], "tools": […]}``; None where none are known."""
    messages = numbered_messages(lists, model_tables.NUMBERED_INPUT)
    if not messages:
        messages = _first(fields, has.input_messages, "user")
    if not messages:
        messages = [one for role, of in _of_events(fields, events) if role != "answer" for one in of]
    instructions = fields.get(semconv.SYSTEM_INSTRUCTIONS)
    if instructions is not None and not any(message.get("role") == "system" for message in messages):
        messages = [*messages_in([{"role": "system", "parts": value_of(instructions)}], "system"), *messages]
    request: dict[str, Any] = {"messages": messages} if messages else {}
    if tools:
        request["tools"] = [{"type": "function", "function": tool} for tool in tools]
    return request or None


def model_output(
    fields: Mapping[str, Any], has: Present, events: Sequence[Event], lists: Lists
) -> list[Message] | None:
    """The messages of an answer; None where none are known."""
    messages = numbered_messages(lists, model_tables.NUMBERED_OUTPUT) or _vercel(fields)
    messages = messages or _first(fields, has.output_messages, "assistant")
    if not messages:
        messages = [one for role, of in _of_events(fields, events) if role == "answer" for one in of]
    return _only_answers(messages) or None


def mark_left_out(answer: Sequence[Message], remedy: str) -> None:
    """Mark the arguments of calls that came without any: these are not recorded, which is not none."""
    for message in answer:
        for call in message.get("tool_calls", ()):
            call["function"].setdefault("arguments", not_recorded(remedy))


def answer_in(raw: Any) -> list[Message]:
    """The messages of an answer that one attribute holds."""
    return _only_answers(messages_in(raw, "assistant"))


def _only_answers(messages: Sequence[Message]) -> list[Message]:
    """Without answers to calls, which an answer does not hold: those come with the next request."""
    return [message for message in messages if message.get("role") != "tool"]


def _first(fields: Mapping[str, Any], keys: Sequence[str], role: str) -> list[Message]:
    empty: list[Message] = []
    for key in keys:
        raw = fields[key]
        if raw is not None:
            messages = messages_in(raw, role)
            if any(message.get("content") or "tool_calls" in message for message in messages):
                return messages
    return empty


def _vercel(fields: Mapping[str, Any]) -> list[Message]:
    """An answer in Vercel's attributes, which has its text and its calls apart."""
    calls = value_of(next((fields[key] for key in model_tables.ANSWER_CALLS if key in fields), None))
    text = next((fields[key] for key in model_tables.ANSWER_TEXTS if key in fields), None)
    if not isinstance(calls, list) and not isinstance(text, str):
        return []
    parts = [{**call, "type": "tool-call"} for call in calls or () if isinstance(call, dict)] if calls else []
    content = [*([{"type": "text", "text": text}] if isinstance(text, str) else []), *parts]
    return messages_in([{"role": "assistant", "content": content}], "assistant")


def _of_events(fields: Mapping[str, Any], events: Sequence[Event]) -> list[tuple[str, list[Message]]]:
    """The messages of events, each with its role; also of those that stand as a list in an attribute."""
    messages = [
        (tables.MESSAGE_EVENTS[event.name], event_messages(event.name, event.attributes, event.body))
        for event in sorted(events, key=lambda event: event.time_ns)
        if event.name in tables.MESSAGE_EVENTS
    ]
    listed = value_of(fields.get(tables.LISTED_EVENTS))
    for entry in listed if isinstance(listed, list) else ():
        name = entry.get("event.name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in tables.MESSAGE_EVENTS:
            messages.append((tables.MESSAGE_EVENTS[name], event_messages(name, entry, entry)))
    return messages
