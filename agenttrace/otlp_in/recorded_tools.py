"""The tools that a recorder knew, called or not, as the spans of one trace that it sent say them."""

from __future__ import annotations

from collections.abc import Iterable

from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_text import tool_of_entry, tools_of_entry
from agenttrace.otlp_in.own_facts import UNREADABLE


def recorded_tools(spans: Iterable[Span]) -> dict[str, ToolDefinition]:
    """The tools that the recorders of a trace knew, by name; none where it is not known which these are.

    Each part of a trace that was sent at once has a list of them. Where one of these was too long, or was cut
    on its way, or where a call's own definition is in none of them (its part has no list: a version before
    sent it), there may be others.
    """
    tools: dict[str, ToolDefinition] = {}
    of_calls: dict[str, ToolDefinition] = {}
    for span in spans:
        attributes = span.attributes
        if semconv.RECEIVED not in attributes:
            continue
        if semconv.KNOWN_TOOLS in attributes:
            part = tools_of_entry(attributes[semconv.KNOWN_TOOLS])
            if part is None:
                return {}
            tools |= part
        elif semconv.KNOWN_TOOLS + UNREADABLE in attributes:
            return {}
        if span.span_type == TOOL:
            tool = tool_of_entry(span.name, attributes.get(semconv.TOOL_DEFINITION))
            if tool is not None:
                of_calls[tool.name] = tool
    return tools | of_calls if tools.keys() >= of_calls.keys() else {}
