"""The page of tools: how often each is called, how often it fails, how long it takes."""

from __future__ import annotations

from agenttrace.core.query import Labelled
from agenttrace.core.trace_reads import COUNTED_IN_FIGURES, Count
from agenttrace.viewer.query_line import QueryLine
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.words import column_unit

SHOWN = 150


def tool_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The tools that were called in the traces that match ``q``."""
    line = QueryLine.of(reads, asked)
    tools, count = ((), Count(0, False)) if line.error else reads.traces.tool_figures(line.query)
    rows = [
        (
            tool,
            line.with_term(Labelled("tool", (tool.name,))),
            line.with_term(Labelled("failed", (tool.name,))),
        )
        for tool in tools[:SHOWN]
    ]
    return 400 if line.error else 200, render(
        "tool_page.html",
        reads,
        line=line,
        rows=rows,
        left_out=len(tools) - len(rows),
        traces=count.number,
        is_capped=count.is_capped,
        most=COUNTED_IN_FIGURES,
        unit=column_unit(tool.middle for tool in tools),
    )
