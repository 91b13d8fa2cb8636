"""OpenInference's decorators on OpenTelemetry's SDK."""

from __future__ import annotations

from openinference.instrumentation import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from benchmarks.peers.otel_sink import CountingExporter
from benchmarks.subject import Subject


def start() -> Subject:
    sink = CountingExporter()
    processor = BatchSpanProcessor(sink)
    provider = TracerProvider()
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("bench")

    def flush() -> None:
        processor.force_flush()

    return Subject(tracer.tool, tracer.agent(name="agent"), flush, flush, sink.count)
