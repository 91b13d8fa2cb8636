"""judgeval's tracer without a key: spans are made, batched, counted."""

from __future__ import annotations

from judgeval import Tracer
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from benchmarks.peers.otel_sink import CountingExporter
from benchmarks.subject import Subject


def start() -> Subject:
    sink = CountingExporter()
    processor = BatchSpanProcessor(sink)
    tracer = Tracer.init(project_name="bench", span_processors=[processor])

    def flush() -> None:
        processor.force_flush()

    return Subject(
        tracer.observe(span_type="tool"), tracer.observe(span_type="agent"), flush, flush, sink.count
    )
