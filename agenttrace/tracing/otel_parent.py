"""The OpenTelemetry span that is current where a trace begins: both then share one trace.

OpenTelemetry is never imported here. Where nobody has imported it, there is no span of its own either, and
the question costs one look-up.
"""

from __future__ import annotations

import sys

from agenttrace.core.interruptions import thrown_in

MODULE = "opentelemetry.trace"
modules = sys.modules


def otel_parent() -> tuple[int, int] | None:
    """The ids of the current span's trace and of the span; None without one, or if it is not sampled.

    Of a span that is not sampled no back end hears, so nothing could stand under it. Raises only what is
    thrown in from outside.
    """
    try:
        context = modules[MODULE].get_current_span().get_span_context()
        if not (context.is_valid and context.trace_flags & 1):
            return None
        trace_key, span_key = context.trace_id, context.span_id
        if type(trace_key) is not int or type(span_key) is not int:
            return None
        return (trace_key, span_key) if 0 < trace_key < 1 << 128 and 0 < span_key < 1 << 64 else None
    except Exception as error:  # choke-point: a span of the user's own, a module half imported
        if thrown_in(error):
            raise
        return None
