"""Calls of tools that a model's provider ran itself become tool spans under the span of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.hosted_calls import HostedCall
from agenttrace.core.marks import cause_of
from agenttrace.core.message_parts import Request
from agenttrace.core.model_requests import parts_in
from agenttrace.core.recorded_calls import read_arguments
from agenttrace.core.span import SpanError
from agenttrace.core.tool import TOOL
from agenttrace.integrations.spans import Spans
from agenttrace.providers.answer import Choice
from agenttrace.tracing.open_span import OpenSpan

LISTING = "function"
"""The type of the spans of what is no call of a tool: a provider that looks up an MCP server's tools."""


def record_hosted(
    spans: Spans, model: OpenSpan, choices: Iterable[Choice], request: Mapping[str, Any]
) -> None:
    """Record the hosted calls of an answer, in their order, under the span of the model.

    They begin and end when the answer is complete: it does not tell their times. Their arguments, where
    the answer does not have them, are those that the `request` repeats.
    """
    for choice in choices:
        for listing in choice.listings:
            _record(spans, model, listing, LISTING)
        for call in choice.hosted_calls:
            _record(spans, model, call if call.arguments is not None else _as_asked(call, request), TOOL)


def _record(spans: Spans, model: OpenSpan, call: HostedCall, span_type: str) -> None:
    arguments, problem = (None, None) if call.arguments is None else read_arguments(call.arguments)
    span = spans.span(call.name, span_type=span_type, input=arguments).open(under=model)
    say = span.set_attribute
    if span_type == TOOL:
        say(semconv.TOOL_NAME, call.name)
        say(semconv.TOOL_TYPE, semconv.HOSTED)
    if call.key is not None:
        say(semconv.TOOL_CALL_ID, call.key)
    if call.metadata:
        say(semconv.CALL_METADATA, call.metadata)
    if problem is not None:
        say(semconv.ARGUMENTS_ERROR, problem)
    if cause_of(call.output) == "not recorded":
        span.leave_output_unknown()
    elif call.output is not None:
        span.output = call.output
    if call.error is not None:
        span.end(error=SpanError("ToolError", call.error))
    else:
        span.end(status="abandoned" if call.status == "abandoned" else None)


def _as_asked(call: HostedCall, request: Mapping[str, Any]) -> HostedCall:
    """The call with the name and arguments that it was asked for with, in an earlier answer."""
    for part in parts_in(request.get("messages") or ()):
        if isinstance(part, Request) and part.key == call.key and isinstance(part.name, str):
            return replace(call, name=part.name, arguments=part.arguments)
    return call
