"""agenttrace as a subject: the wrapper alone, and with its SQLite store."""

from __future__ import annotations

import time
from pathlib import Path

from agenttrace import Tracer
from benchmarks.subject import Subject

WRITER_TURN = 0.002
"""Seconds left to the writer between two blocks: it is busy for most of the run, and does not fall behind."""


def recording_alone() -> tuple[Subject, Tracer]:
    """Records are made and queued, then thrown away: no worker runs, nothing is stored."""
    tracer = Tracer("bench", store="memory")
    pipeline = tracer._pipeline
    pipeline.ensure_worker = lambda: None  # type: ignore[method-assign] # the only way to have no worker
    return Subject(
        tracer.observe(span_type="tool"), tracer.observe(span_type="agent"), pipeline.queue.clear
    ), tracer


def with_sqlite(directory: Path, queue_limit: int = 100_000) -> tuple[Subject, Tracer]:
    """The default: the writer thread stores in a SQLite file while the calls are made."""
    tracer = Tracer("bench", store=directory / "traces.db", queue_limit=queue_limit)
    subject = Subject(
        tracer.observe(span_type="tool"),
        tracer.observe(span_type="agent"),
        settle=lambda: time.sleep(WRITER_TURN),
        flush=lambda: tracer.flush(timeout=120.0) and None,
        kept=lambda: int(tracer.stats()["written"]),
    )
    return subject, tracer
