"""The pages of what is not there: they say what was looked for, where, and what is near."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple

from agenttrace.core.errors import AgentTraceError, AmbiguousId
from agenttrace.core.query import Identified, Query
from agenttrace.core.trace import Trace
from agenttrace.viewer.links import Links, hex_id
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render

_NEAREST = 5
_RUNS = 1_000


class Near(NamedTuple):
    """Something whose id or name is like the one that was looked for."""

    link: str | None
    id: str
    name: str


def no_trace(reads: Reads, trace_id: str) -> tuple[int, str]:
    """There is no such trace: it was never here, or was retired."""
    links = Links(reads.root)
    near: list[Near] = []
    for digits in (8, 4):
        prefix = hex_id(trace_id)[:digits]
        if len(prefix) == digits:
            traces = reads.traces.search(Query((Identified(prefix),)), limit=_NEAREST).traces
            near = [Near(links.trace(facts.trace_id), facts.trace_id, facts.name) for facts in traces]
        if near:
            break
    return 404, render("missing.html", reads, what="trace", wanted=trace_id, near=near, trace=None)


def no_span(reads: Reads, trace: Trace, span_id: str) -> tuple[int, str]:
    """The trace has no such span."""
    return 404, render("missing.html", reads, what="span", wanted=span_id, near=(), trace=trace)


def no_run(reads: Reads, wanted: str) -> tuple[int, str]:
    """There is no such run."""
    runs = reads.store.runs(limit=_RUNS)
    alike = get_close_matches(wanted, {run.name for run in runs}, _NEAREST)
    chosen = [run for run in runs if run.run_id[:4] == wanted[:4] or run.name in alike]
    links = Links(reads.root)
    near = [Near(links.run(run.run_id), run.run_id, run.name) for run in chosen[:_NEAREST]]
    return 404, render("missing.html", reads, what="run", wanted=wanted, near=near, trace=None)


def no_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """There is no such page."""
    return 404, render("missing.html", reads, what="page", wanted=asked.get("path", ""), near=(), trace=None)


def trouble(reads: Reads, error: AgentTraceError) -> tuple[int, str]:
    """The store cannot be read, an answer takes too long, or several traces are meant: the page says why, and
    what to do."""
    return status_of(error), render("trouble.html", reads, message=str(error), path=reads.path)


def status_of(error: AgentTraceError) -> int:
    """The HTTP status for an error: who asked, or the store, is to be looked at."""
    if isinstance(error, AmbiguousId):
        return 404
    return 400 if isinstance(error, ValueError) else 503
