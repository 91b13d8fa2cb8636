"""What a span is called on the wire, with what it carries.

Names are those of OpenTelemetry's GenAI conventions (`core.semconv`) where these have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.exporters.otlp_messages import read_answer, read_request
from agenttrace.exporters.otlp_values import json_text

_OPERATIONS = {
    "agent": ("invoke_agent", semconv.AGENT_NAME),
    "chain": ("invoke_workflow", semconv.WORKFLOW_NAME),
    "llm": ("chat", semconv.REQUEST_MODEL),
    "retriever": ("retrieval", semconv.DATA_SOURCE_ID),
    "tool": ("execute_tool", semconv.TOOL_NAME),
}
"""What the conventions call the operation of a type of span, with the attribute that says on what."""

_BEARS_THE_NAME = frozenset({semconv.AGENT_NAME, semconv.WORKFLOW_NAME, semconv.TOOL_NAME})


def wire_name(span: Span) -> str:
    """The operation with what it is on, as in ``execute_tool search``; the span's own name for types of which
    the conventions say nothing, and for a call to a model that is not known."""
    if span.span_type not in _OPERATIONS:
        return span.name
    operation, subject = _OPERATIONS[span.span_type]
    named = span.attributes.get(subject)
    if not named and subject == semconv.REQUEST_MODEL:
        return span.name
    return f"{span.attributes.get(semconv.OPERATION, operation)} {named or span.name}"


def attributes_of(span: Span, *, content: bool) -> dict[str, Any]:
    """The span's own attributes, and what it says otherwise under the names of the conventions.

    `content` false leaves out `semconv.CONTENT`: arguments, results, messages, what was raised. What the
    user's own code said of a span or of the trace (attributes of other names, tags, metadata) is kept.
    """
    told = dict(span.attributes)
    if not content:
        told = {name: value for name, value in told.items() if name not in semconv.CONTENT}
    told[semconv.NAME], told[semconv.SPAN_TYPE], told[semconv.INDEX] = span.name, span.span_type, span.index
    if span.span_type in _OPERATIONS:
        operation, subject = _OPERATIONS[span.span_type]
        told.setdefault(semconv.OPERATION, operation)
        if subject in _BEARS_THE_NAME:
            told.setdefault(subject, span.name)
    if span.status == "error":
        told.setdefault(semconv.ERROR_TYPE, span.error.type if span.error else semconv.OTHER_ERROR)
    elif span.status != "ok":
        told[semconv.STATUS] = span.status
    if semconv.SESSION_ID in told:
        told.setdefault(semconv.CONVERSATION_ID, told[semconv.SESSION_ID])
    if semconv.CUSTOMER_ID in told:
        told.setdefault(semconv.USER_ID, told[semconv.CUSTOMER_ID])
    if span.usage:
        for word, amount in span.usage.items():
            told[_usage_name(word)] = amount
    return {**told, **_CONTENT_OF.get(span.span_type, _plain_content)(span)} if content else told


def _usage_name(word: str) -> str:
    if word == "cost":
        return semconv.COST
    return semconv.USAGE.get(word) or f"{semconv.OTHER_USAGE}{word}"


def _tool_content(span: Span) -> dict[str, Any]:
    told = {}
    if span.input is not None:
        told[semconv.TOOL_ARGUMENTS] = json_text(span.input)
    if span.output is not None:
        told[semconv.TOOL_RESULT] = json_text(span.output)
    return told


def _model_content(span: Span) -> dict[str, Any]:
    answer = read_answer(span.output)
    told = _plain_output(span.output) if answer is None else {semconv.OUTPUT_MESSAGES: json_text(answer)}
    request = read_request(span.input or {})
    if request is None:
        return told | _plain_input(span.input)
    told[semconv.INPUT_MESSAGES] = json_text(request.messages)
    if request.instructions:
        told[semconv.SYSTEM_INSTRUCTIONS] = json_text(request.instructions)
    if request.tools:
        told[semconv.TOOL_DEFINITIONS] = json_text(request.tools)
    return told | _other_input(request.rest, span.attributes)


def _retriever_content(span: Span) -> dict[str, Any]:
    found = span.output
    if type(found) is list and all(type(document) is dict for document in found):
        told = {semconv.RETRIEVAL_DOCUMENTS: json_text(found)}
    else:
        told = _plain_output(found)
    given = span.input or {}
    if not isinstance(given.get("query"), str):
        return told | _plain_input(span.input)
    told[semconv.RETRIEVAL_QUERY] = given["query"]
    rest = {name: value for name, value in given.items() if name != "query"}
    return told | _other_input(rest, span.attributes)


def _plain_content(span: Span) -> dict[str, Any]:
    return _plain_input(span.input) | _plain_output(span.output)


def _plain_input(given: Mapping[str, Any] | None) -> dict[str, Any]:
    if given is None:
        return {}
    return {semconv.INPUT_VALUE: json_text(given), semconv.INPUT_MIME_TYPE: "application/json"}


def _plain_output(output: Any) -> dict[str, Any]:
    if output is None:
        return {}
    if isinstance(output, str):
        return {semconv.OUTPUT_VALUE: output, semconv.OUTPUT_MIME_TYPE: "text/plain"}
    return {semconv.OUTPUT_VALUE: json_text(output), semconv.OUTPUT_MIME_TYPE: "application/json"}


def _other_input(rest: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """What has no name of its own, but for the settings that are attributes already."""
    rest = {name: value for name, value in rest.items() if semconv.REQUEST.get(name) not in attributes}
    return {semconv.OTHER_INPUT: json_text(rest)} if rest else {}


_CONTENT_OF = {"llm": _model_content, "retriever": _retriever_content, "tool": _tool_content}
