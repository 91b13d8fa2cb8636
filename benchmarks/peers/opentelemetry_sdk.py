"""OpenTelemetry's SDK, called by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from benchmarks.peers.by_hand import observe_by_hand
from benchmarks.peers.otel_sink import CountingExporter
from benchmarks.subject import Subject


def start() -> Subject:
    sink = CountingExporter()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(sink))
    tracer = provider.get_tracer("bench")

    def note(span: Any, what: str, text: str) -> None:
        span.set_attribute(what, text)

    def observe(function: Callable[..., Any]) -> Callable[..., Any]:
        return observe_by_hand(function, tracer.start_as_current_span, note)

    def flush() -> None:
        provider.force_flush()

    return Subject(observe, observe, flush, flush, sink.count)
