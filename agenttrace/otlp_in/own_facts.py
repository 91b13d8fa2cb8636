"""What our own exporter wrote, read back; and the attributes that a trace relies on, each of its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from agenttrace.core import semconv
from agenttrace.core.model_requests import LLM
from agenttrace.core.span import Status
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import CallStatus
from agenttrace.otlp_in.definitions import offered_in
from agenttrace.otlp_in.messages import messages_in
from agenttrace.otlp_in.present import present_in
from agenttrace.otlp_in.values import TEXT, marked_value, value_of


def own_facts(
    span_type: str, name: str, attributes: Mapping[str, Any]
) -> tuple[str, dict[str, Any] | None, Any]:
    """Name, input and output of a span that our exporter wrote."""
    named = attributes.get(semconv.NAME)
    name = named if isinstance(named, str) else name
    if span_type == TOOL:
        arguments = value_of(_either(attributes, semconv.TOOL_ARGUMENTS, semconv.INPUT_VALUE))
        output = marked_value(attributes, _either(attributes, semconv.TOOL_RESULT, semconv.OUTPUT_VALUE))
    elif span_type == LLM and semconv.INPUT_MESSAGES in attributes:
        arguments, output = _request(attributes), _answer(attributes)
    elif span_type == "retriever" and semconv.RETRIEVAL_QUERY in attributes:
        arguments = {"query": attributes[semconv.RETRIEVAL_QUERY], **_other_input(attributes)}
        output = value_of(attributes.get(semconv.RETRIEVAL_DOCUMENTS))
        output = _plain_output(attributes) if output is None else output
    elif span_type == "retriever" and attributes.get(semconv.INPUT_MIME_TYPE) == TEXT:
        arguments = {"query": attributes.get(semconv.INPUT_VALUE), **_other_input(attributes)}
        output = _plain_output(attributes)
    else:
        arguments = value_of(attributes.get(semconv.INPUT_VALUE))
        output = _answer(attributes) if span_type == LLM else _plain_output(attributes)
    return name, dict(arguments) if isinstance(arguments, dict) else None, output


def _request(attributes: Mapping[str, Any]) -> dict[str, Any]:
    messages = messages_in(attributes[semconv.INPUT_MESSAGES], "user")
    instructions = value_of(attributes.get(semconv.SYSTEM_INSTRUCTIONS))
    if instructions:
        messages = [*messages_in([{"role": "system", "parts": instructions}], "system"), *messages]
    offered = offered_in(attributes, present_in(attributes), {})
    tools = [{"type": "function", "function": tool} for tool in offered]
    return {"messages": messages, **({"tools": tools} if tools else {}), **_other_input(attributes)}


def _other_input(attributes: Mapping[str, Any]) -> dict[str, Any]:
    rest = value_of(attributes.get(semconv.OTHER_INPUT))
    return dict(rest) if isinstance(rest, dict) else {}


def _answer(attributes: Mapping[str, Any]) -> Any:
    raw = attributes.get(semconv.OUTPUT_MESSAGES)
    return _plain_output(attributes) if raw is None else messages_in(raw, "assistant") or value_of(raw)


def _plain_output(attributes: Mapping[str, Any]) -> Any:
    return marked_value(attributes, attributes.get(semconv.OUTPUT_VALUE))


def _either(attributes: Mapping[str, Any], name: str, other: str) -> Any:
    """What stands under the first name, else under the second: spans go out under the names of either."""
    value = attributes.get(name)
    return attributes.get(other) if value is None else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_mappings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


_TYPED: Mapping[str, Callable[[Any], bool]] = {
    semconv.AGENT_NAME: _is_text,
    semconv.SCOPE_NAME: _is_text,
    semconv.SESSION_ID: _is_text,
    semconv.CUSTOMER_ID: _is_text,
    semconv.TOOL_CALL_ID: _is_text,
    semconv.ARGUMENTS_ERROR: _is_text,
    semconv.TAGS: _are_texts,
    semconv.METADATA: _is_mapping,
    semconv.CALL_METADATA: _is_mapping,
    semconv.LOGS: _are_mappings,
    semconv.INDEX: lambda value: type(value) is int and 0 <= value < 1 << 63,
    semconv.TURN: _is_whole,
    semconv.TURNS: _is_whole,
    semconv.ATTEMPT: _is_whole,
    semconv.ITEMS: _is_whole,
    semconv.NOT_RECORDED: _is_text,
    semconv.UNFINISHED: lambda value: value is True,
    semconv.RECEIVED: _is_mapping,
    semconv.TOOL_DEFINITION: _is_mapping,
    semconv.KNOWN_TOOLS: _is_mapping,
    semconv.CALL_STATUS: lambda value: value in get_args(CallStatus),
    semconv.STATUS: lambda value: value in get_args(Status),
}
"""The attributes that a trace relies on, each with what it has to be."""
_RELIED_ON = frozenset(_TYPED)


UNREADABLE = ".unreadable"
"""The end of the name under which an attribute stays that a trace relies on and that cannot be read."""


def typed_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which what a trace relies on has the type that it should have; what cannot be read is left
    out under its name, and stays under another."""
    copy = dict(attributes)
    for key in _RELIED_ON.intersection(attributes):
        if not _TYPED[key](copy[key]):
            value = value_of(copy.pop(key))
            copy[key if _TYPED[key](value) else key + UNREADABLE] = value
    if not isinstance(copy.get(semconv.RECEIVED), dict):
        copy[semconv.RECEIVED] = {}
    return copy
