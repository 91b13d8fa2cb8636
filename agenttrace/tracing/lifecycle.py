"""What happens to the pipelines when the process ends or forks."""

from __future__ import annotations

import atexit
import os
import sys
import time
import weakref
from typing import TYPE_CHECKING

from agenttrace.tracing.context import current
from agenttrace.tracing.record import SCOPE

if TYPE_CHECKING:
    from agenttrace.tracing.pipeline import Pipeline

EXIT_SECONDS = 1.0
"""How long all pipelines together may hold up the end of the process."""

CHILD_SECONDS = 5.0
"""The same for a child of multiprocessing: many of them end together, and queue for the one file."""

_pipelines: weakref.WeakSet[Pipeline] = weakref.WeakSet()


def look_after(pipeline: Pipeline) -> None:
    """Flush this pipeline when the process ends; start it anew in forked children."""
    _pipelines.add(pipeline)


def flush_when_a_child_process_ends(pipeline: Pipeline) -> None:
    """Children of multiprocessing leave without running atexit: use their own way out.

    Nothing is imported here: another thread may have been importing the same module when this process was
    forked, and its lock would never be released.
    """
    finalize = getattr(sys.modules.get("multiprocessing.util"), "Finalize", None)
    if finalize is not None:
        finalize(pipeline, _flush_if_there, args=(weakref.ref(pipeline),), exitpriority=100)


def _flush_if_there(reference: weakref.ref[Pipeline]) -> None:
    pipeline = reference()
    if pipeline is not None:
        pipeline.store_all(CHILD_SECONDS)
        pipeline.flush(EXIT_SECONDS)


@atexit.register
def _flush_at_exit() -> None:
    deadline = time.monotonic() + EXIT_SECONDS
    for pipeline in list(_pipelines):
        try:
            if not pipeline.closed:
                pipeline.finish_up(max(deadline - time.monotonic(), 0.0))
        except BaseException:  # choke-point: Control-C, for one; the others are flushed all the same
            pass


def _in_forked_child() -> None:
    record = current.get()
    for pipeline in list(_pipelines):
        pipeline.after_fork()
    if record is not None and record[SCOPE] is not None:
        record[SCOPE].go_on_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
