"""About how many bytes a span holds in memory."""

from __future__ import annotations

from typing import Any

from agenttrace.core.span import Span

_SPAN_BYTES = 600


def weight(span: Span) -> int:
    """Its texts and collections, counted without following other objects."""
    size = _SPAN_BYTES
    left: list[Any] = [span.input, span.output, span.attributes, span.usage]
    if span.error is not None:
        size += len(span.error.message) + 300 * len(span.error.frames)
    while left:
        value = left.pop()
        if isinstance(value, str):
            size += 50 + len(value)
        elif isinstance(value, dict):
            size += 64 + 100 * len(value)
            left += value.values()
        elif isinstance(value, list | tuple):
            size += 56 + 8 * len(value)
            left += value
        else:
            size += 16
    return size
