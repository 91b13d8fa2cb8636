"""Record calls as spans."""

from agenttrace.tracing.capture import Capture, capture
from agenttrace.tracing.context import propagate
from agenttrace.tracing.live import LiveSpan, LiveTrace
from agenttrace.tracing.observed_function import known_tools
from agenttrace.tracing.threads import leave_threads

__all__ = ["Capture", "LiveSpan", "LiveTrace", "capture", "known_tools", "leave_threads", "propagate"]
