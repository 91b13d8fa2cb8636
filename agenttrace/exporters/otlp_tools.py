"""Which spans of a request say the tools that the recorder knew, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_text import tools_text

LONGEST = 64 * 1024
"""Characters of all tools' definitions together; beyond, the request says how many there are."""

Tools = Mapping[str, Iterable[ToolDefinition]]
"""The tools of each project, called or not."""
NO_TOOLS: Tools = {}


def known_tools_texts(spans: Sequence[Span], tools: Tools) -> dict[tuple[int, int], str]:
    """The value of `semconv.KNOWN_TOOLS` for each span that has it, by the ids of its trace and its own.

    In each trace it is the first root of each project, else its first span: a trace may be sent in parts, and
    each part says it.
    """
    texts: dict[str, str] = {}
    chosen: dict[tuple[int, str], Span] = {}
    for span in spans:
        place = span.trace_key, span.project
        earlier = chosen.get(place)
        if earlier is None or (earlier.parent_key is not None and span.parent_key is None):
            chosen[place] = span
    for project in {span.project for span in spans}:
        recorded = [tool for tool in tools.get(project, ()) if not tool.described]
        if recorded:
            texts[project] = tools_text(recorded, LONGEST)
    return {
        (span.trace_key, span.span_key): texts[span.project]
        for span in chosen.values()
        if span.project in texts
    }
