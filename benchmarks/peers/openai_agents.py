"""The tracing of the OpenAI Agents SDK, called by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from agents import function_span, trace
from agents.tracing import set_trace_processors
from agents.tracing.processor_interface import TracingExporter
from agents.tracing.processors import BatchTraceProcessor

from benchmarks.peers.by_hand import observe_by_hand
from benchmarks.subject import Subject


class _Sink(TracingExporter):
    """Makes of each span what would be sent, counts it, forgets it."""

    def __init__(self) -> None:
        self.seen = 0

    def export(self, items: list[Any]) -> None:
        for item in items:
            item.export()
        self.seen += len(items)


def start() -> Subject:
    sink = _Sink()
    processor = BatchTraceProcessor(sink)
    set_trace_processors([processor])

    def note(span: Any, what: str, text: str) -> None:
        setattr(span.span_data, what, text)

    def observe(function: Callable[..., Any]) -> Callable[..., Any]:
        return observe_by_hand(function, function_span, note)

    return Subject(observe, observe_root, processor.force_flush, processor.force_flush, lambda: sink.seen)


def observe_root(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def traced(*args: Any, **kwargs: Any) -> Any:
            with trace(function.__name__):
                return await function(*args, **kwargs)

    else:

        @wraps(function)
        def traced(*args: Any, **kwargs: Any) -> Any:
            with trace(function.__name__):
                return function(*args, **kwargs)

    return traced
