"""Spans that other libraries recorded come in by OpenTelemetry."""

from __future__ import annotations

from agenttrace.otlp_in.arrival import TelemetryError
from agenttrace.otlp_in.traces import traces_from_otlp

__all__ = ["TelemetryError", "traces_from_otlp"]
