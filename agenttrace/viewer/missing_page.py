"""The pages of what is not there: they say what was looked for, where, and what is near."""

from __future__ import annotations

from agenttrace.core.errors import AgentTraceError, ConfigError, QueryError
from agenttrace.core.query import Identified, Query
from agenttrace.core.trace import Trace
from agenttrace.viewer.links import hex_id
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render


def no_trace(reads: Reads, trace_id: str) -> tuple[int, str]:
    """There is no such trace: it was never here, or was retired."""
    near = []
    for digits in (8, 4):
        prefix = hex_id(trace_id)[:digits]
        if len(prefix) == digits:
            near = list(reads.traces.search(Query((Identified(prefix),)), limit=5).traces)
        if near:
            break
    return 404, render("missing.html", reads, what="trace", wanted=trace_id, near=near, trace=None)


def no_span(reads: Reads, trace: Trace, span_id: str) -> tuple[int, str]:
    """The trace has no such span."""
    return 404, render("missing.html", reads, what="span", wanted=span_id, near=(), trace=trace)


def no_run(reads: Reads, wanted: str) -> tuple[int, str]:
    """There is no such run."""
    return 404, render("missing.html", reads, what="run", wanted=wanted, near=(), trace=None)


def no_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """There is no such page."""
    return 404, render("missing.html", reads, what="page", wanted=asked.get("path", ""), near=(), trace=None)


def trouble(reads: Reads, error: AgentTraceError) -> tuple[int, str]:
    """The store cannot be read, or an answer takes too long: the page says why, and what to do."""
    status = 400 if isinstance(error, QueryError | ConfigError) else 503
    return status, render("trouble.html", reads, message=str(error), path=reads.path)
