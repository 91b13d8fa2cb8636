"""Finished spans go out."""

from agenttrace.exporters.otlp import OTLPExporter

__all__ = ["OTLPExporter"]
