"""How the spans of a stored trace are read together: what a store is given where it is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace

ReadSpans = Callable[[Sequence[Span]], tuple[Sequence[Span], Mapping[str, ToolDefinition]]]
"""From the spans as they are stored to the spans as they are read, with the tools that these tell of.

Returns the very same sequence where there is nothing to read otherwise.
"""


def read_with(trace: Trace, reading: ReadSpans | None) -> Trace:
    """The trace as `reading` has it; itself where that changes nothing."""
    if reading is None:
        return trace
    spans, tools = reading(trace.spans)
    if spans is trace.spans:
        return trace
    return Trace(spans, trace_key=trace.trace_key, tools={**tools, **trace.tools})
