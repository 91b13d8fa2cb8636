"""A span's name and attributes under OpenTelemetry's GenAI conventions (`core.semconv`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.core.tool_text import remembered_text
from agenttrace.exporters.openinference import (
    openinference_content,
    openinference_identity,
    plain_input,
    plain_output,
)
from agenttrace.exporters.otlp_encoding import json_text
from agenttrace.exporters.otlp_messages import read_answer, read_request, text_message

Semconv = Literal["genai", "openinference", "both"]
"""Under whose names a tool's and a retriever's arguments and results are sent."""

_OPERATIONS = {
    "agent": ("invoke_agent", semconv.AGENT_NAME),
    "chain": ("invoke_workflow", semconv.WORKFLOW_NAME),
    "llm": ("chat", semconv.REQUEST_MODEL),
    "retriever": ("retrieval", semconv.DATA_SOURCE_ID),
    "tool": ("execute_tool", semconv.TOOL_NAME),
}
"""For each span type: the conventions' name of the operation, and the attribute that names its subject."""

_IN_BOTH = frozenset({"retriever", "tool"})

_NAME_ATTRIBUTES = frozenset({semconv.AGENT_NAME, semconv.WORKFLOW_NAME, semconv.TOOL_NAME})


def wire_name(span: Span) -> str:
    """The operation followed by its subject, as in ``execute_tool search``.

    The span's own name where the conventions do not cover its type, or where the model is not known.
    """
    if span.span_type not in _OPERATIONS:
        return span.name
    operation, subject = _OPERATIONS[span.span_type]
    target = span.attributes.get(subject)
    if not target and subject == semconv.REQUEST_MODEL:
        return span.name
    return f"{span.attributes.get(semconv.OPERATION, operation)} {target or span.name}"


def attributes_of(span: Span, *, content: bool, names: Semconv = "both") -> dict[str, Any]:
    """The span's own attributes, with its other fields added under the names of the conventions.

    With ``names="both"`` tools and retrievers have OpenInference's names, too; with ``"openinference"`` their
    input and output have those alone, and every span says its kind.

    `content` false leaves out `semconv.CONTENT`: arguments, results, messages, error messages. What the
    user's own code set on a span or on the trace (attributes of other names, tags, metadata) is kept.
    """
    attributes = dict(span.attributes)
    if not content:
        attributes = {name: value for name, value in attributes.items() if name not in semconv.CONTENT}
    attributes[semconv.NAME], attributes[semconv.SPAN_TYPE], attributes[semconv.INDEX] = (
        span.name,
        span.span_type,
        span.index,
    )
    in_both = span.span_type in _IN_BOTH
    _add_operation(attributes, span)
    if names == "openinference" or (names == "both" and in_both):
        attributes = {**openinference_identity(span), **attributes}
    _add_context(attributes, span)
    if content and not (in_both and names == "openinference"):
        attributes |= _CONTENT_OF.get(span.span_type, _plain_content)(span)
    if content and in_both and names != "genai":
        attributes |= openinference_content(span)
    if content and span.tool is not None:
        attributes[semconv.TOOL_DEFINITION] = remembered_text(span.tool)
    return attributes


def _add_operation(attributes: dict[str, Any], span: Span) -> None:
    """Say what was done, and on what."""
    if span.span_type in _OPERATIONS:
        operation, subject = _OPERATIONS[span.span_type]
        attributes.setdefault(semconv.OPERATION, operation)
        if subject in _NAME_ATTRIBUTES:
            attributes.setdefault(subject, span.name)
    if span.span_type == "tool":
        attributes.setdefault(semconv.TOOL_TYPE, "function")
        if span.tool is not None and span.tool.description:
            attributes.setdefault(semconv.TOOL_DESCRIPTION, span.tool.description)


def _add_context(attributes: dict[str, Any], span: Span) -> None:
    """Say how it ended, for whom it was done, and what it used."""
    if span.status == "error":
        attributes.setdefault(semconv.ERROR_TYPE, span.error.type if span.error else semconv.OTHER_ERROR)
    elif span.status != "ok":
        attributes[semconv.STATUS] = span.status
    if semconv.SESSION_ID in attributes:
        attributes.setdefault(semconv.CONVERSATION_ID, attributes[semconv.SESSION_ID])
    if semconv.CUSTOMER_ID in attributes:
        attributes.setdefault(semconv.USER_ID, attributes[semconv.CUSTOMER_ID])
    for word, amount in (span.usage or {}).items():
        attributes[_usage_name(word)] = amount


def _usage_name(word: str) -> str:
    if word == "cost":
        return semconv.COST
    return semconv.USAGE.get(word) or f"{semconv.OTHER_USAGE}{word}"


def _tool_content(span: Span) -> dict[str, Any]:
    attributes = {}
    if span.input is not None:
        attributes[semconv.TOOL_ARGUMENTS] = json_text(span.input)
    if span.output is not None:
        is_text = isinstance(span.output, str)
        attributes[semconv.TOOL_RESULT] = span.output if is_text else json_text(span.output)
        if is_text:  # so that the text 21 is not read back as a number
            attributes[semconv.OUTPUT_MIME_TYPE] = "text/plain"
    return attributes


def _model_content(span: Span) -> dict[str, Any]:
    answer = read_answer(span.output)
    attributes = plain_output(span.output) if answer is None else {semconv.OUTPUT_MESSAGES: json_text(answer)}
    request = read_request(span.input or {})
    if request is None:
        return attributes | plain_input(span.input)
    attributes[semconv.INPUT_MESSAGES] = json_text(request.messages)
    if request.instructions:
        attributes[semconv.SYSTEM_INSTRUCTIONS] = json_text(request.instructions)
    if request.tools:
        attributes[semconv.TOOL_DEFINITIONS] = json_text(request.tools)
    return attributes | _other_input(request.rest, span.attributes)


def _retriever_content(span: Span) -> dict[str, Any]:
    documents = span.output
    if type(documents) is list and all(type(document) is dict for document in documents):
        attributes = {semconv.RETRIEVAL_DOCUMENTS: json_text(documents)}
    else:
        attributes = plain_output(documents)
    parameters = span.input or {}
    if not isinstance(parameters.get("query"), str):
        return attributes | plain_input(span.input)
    attributes[semconv.RETRIEVAL_QUERY] = parameters["query"]
    rest = {name: value for name, value in parameters.items() if name != "query"}
    return attributes | _other_input(rest, span.attributes)


def _agent_content(span: Span) -> dict[str, Any]:
    attributes = _plain_content(span)
    request = read_request(span.input or {})
    texts = list((span.input or {}).values())
    if request is not None:
        attributes[semconv.INPUT_MESSAGES] = json_text(request.messages)
    elif len(texts) == 1 and isinstance(texts[0], str):
        attributes[semconv.INPUT_MESSAGES] = json_text([text_message("user", texts[0])])
    answer = read_answer(span.output)
    if isinstance(span.output, str):
        answer = [text_message("assistant", span.output)]
    if answer is not None:
        attributes[semconv.OUTPUT_MESSAGES] = json_text(answer)
    return attributes


def _plain_content(span: Span) -> dict[str, Any]:
    return plain_input(span.input) | plain_output(span.output)


def _other_input(rest: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the conventions do not name, without the settings that are attributes already."""
    rest = {name: value for name, value in rest.items() if semconv.REQUEST.get(name) not in attributes}
    return {semconv.OTHER_INPUT: json_text(rest)} if rest else {}


_CONTENT_OF = {
    "agent": _agent_content,
    "llm": _model_content,
    "retriever": _retriever_content,
    "tool": _tool_content,
}
