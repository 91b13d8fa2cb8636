"""An OpenTelemetry exporter that counts spans and forgets them."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


class CountingExporter(SpanExporter):
    """Counts."""

    def __init__(self) -> None:
        self._seen = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._seen += len(spans)
        return SpanExportResult.SUCCESS

    def count(self) -> int:
        return self._seen

    def shutdown(self) -> None:
        pass

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True
