"""logfire's decorator, sending nothing."""

from __future__ import annotations

import logfire
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from benchmarks.peers.otel_sink import CountingExporter
from benchmarks.subject import Subject


def start() -> Subject:
    sink = CountingExporter()
    processor = BatchSpanProcessor(sink)
    logfire.configure(
        send_to_logfire=False, console=False, metrics=False, additional_span_processors=[processor]
    )

    def flush() -> None:
        processor.force_flush()

    return Subject(
        logfire.instrument(record_return=True, allow_generator=True),
        logfire.instrument(),
        flush,
        flush,
        sink.count,
    )
