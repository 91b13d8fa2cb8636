"""langfuse's decorator, with an exporter that sends nothing."""

from __future__ import annotations

from langfuse import Langfuse, observe

from benchmarks.peers.fence import CLOSED
from benchmarks.peers.otel_sink import CountingExporter
from benchmarks.subject import Subject


def start() -> Subject:
    sink = CountingExporter()
    client = Langfuse(public_key="pk-none", secret_key="sk-none", base_url=CLOSED, span_exporter=sink)
    return Subject(observe(as_type="tool"), observe(as_type="agent"), client.flush, client.flush, sink.count)
