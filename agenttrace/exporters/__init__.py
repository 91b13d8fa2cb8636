"""Send finished spans to other systems."""

from agenttrace.exporters.otlp import OTLPExporter

__all__ = ["OTLPExporter"]
