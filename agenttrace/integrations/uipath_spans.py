"""Tool calls in OpenTelemetry spans as UiPath's evaluators look for them."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError
from agenttrace.core.trace import Trace

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

_LITERALS = ("{", "[", "True", "False", "None")
_MESSAGE_KEYS = frozenset({
    "content", "type", "name", "id", "tool_call_id", "status", "artifact", "example",
    "additional_kwargs", "response_metadata",
})  # fmt: skip
"""What a tool message of LangChain's holds; its content is the tool's output."""


def trace_of_spans(spans: Sequence[ReadableSpan], output: Any = None) -> Trace:
    """The tool calls among spans, by start time; spans that start together keep their places.

    A span is a tool call where it has a ``tool.name`` and no true ``tool.synthesized``. Arguments are
    ``input.value``: a mapping, or its text as JSON or as a Python literal; text that is neither makes a call
    whose arguments could not be read. The output is ``output.value``, see `read_value`; of a tool message it
    is the ``content``. A span with the status ERROR is a failed call, and a call all the same.

    Raises:
        ConfigError: something that is no span.
    """
    for span in spans:
        if not isinstance(getattr(span, "attributes", {}) or {}, Mapping) or not hasattr(span, "start_time"):
            raise ConfigError(f"agent_trace holds OpenTelemetry's ReadableSpans, got {span!r:.200}")
    ordered = sorted(spans, key=lambda span: span.start_time or 0)
    calls = [_call(span.attributes, span) for span in ordered if span.attributes]
    return Trace.from_calls([call for call in calls if call is not None], output=output)


def _call(attributes: Mapping[str, Any], span: ReadableSpan) -> dict[str, Any] | None:
    name = attributes.get("tool.name")
    if not name or attributes.get("tool.synthesized"):
        return None
    arguments = attributes.get(semconv.INPUT_VALUE)
    if isinstance(arguments, str):
        read = read_value(arguments)
        arguments = read if isinstance(read, Mapping) else arguments
    elif arguments is not None and not isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, default=str)
    output = read_value(attributes.get(semconv.OUTPUT_VALUE))
    if isinstance(output, Mapping) and "content" in output and output.keys() <= _MESSAGE_KEYS:
        output = read_value(output["content"])
    code = getattr(getattr(span, "status", None), "status_code", None)
    failed = getattr(code, "name", "") == "ERROR"
    return {"name": str(name), "arguments": arguments, "output": output, "error": failed}


def read_value(value: Any) -> Any:
    """The value that a text writes down, as JSON or as a Python literal; else the text, or what was given."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        if not value.startswith(_LITERALS):
            return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return value
