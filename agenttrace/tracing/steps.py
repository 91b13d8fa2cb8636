"""What a generated wrapper calls while a call starts, ends or fails: the guarded side of recording.

Everything here runs on the traced thread between the user's own steps, so nothing here may raise, block, log
or do I/O. Errors of ours are counted; the call goes on.
"""

from __future__ import annotations

from typing import Any

from agenttrace.core.identity import monotonic_ns
from agenttrace.core.span import Status
from agenttrace.tracing.failure import describe, status_of
from agenttrace.tracing.freeze import MAX_SPAN_SIZE, Frozen, freeze
from agenttrace.tracing.record import END, EXTRA, FAILURE, OFF, OUTPUT, SCOPE, SITE, Record, Scope, Site

MAX_ITEMS_KEPT = 1_000
"""Items of a generator's output that are recorded; all of them are counted."""


def root(site: Site) -> Record:
    """The head of a new trace for a call that has no parent, or `OFF`. Never raises."""
    try:
        pipeline = site.recorder.resolve()
        if pipeline is None:
            return OFF
        admits = site.recorder.admits
        if admits is not None and not admits():
            pipeline.sampled_out.add()
            return OFF
        pipeline.ensure_worker()
        return Scope(pipeline, site.recorder.project).head()
    except Exception:  # choke-point: the guard of recording; the agent's call goes on unrecorded
        return OFF


def freeze_arguments(scope: Scope, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of a call's arguments that later changes cannot reach. Never raises."""
    try:
        room = MAX_SPAN_SIZE
        copies = []
        for value in values:
            copy = freeze(value)
            if type(copy) is Frozen:
                room -= copy.size
                copy = {"$truncated": "span"} if room < 0 else scope.pipeline.weigh(copy)
            copies.append(copy)
        return tuple(copies)
    except Exception:  # choke-point
        scope.pipeline.guarded.add()
        return ({"$type": "unreadable"},) * len(values)


def freeze_one(scope: Scope, value: Any) -> Any:
    """The same for one value."""
    return freeze_arguments(scope, (value,))[0]


def emit(record: Record) -> None:
    """Hand an ended record over."""
    scope: Scope = record[SCOPE]
    queue = scope.queue
    if len(queue) < scope.limit:
        queue.append(record)
    else:
        scope.pipeline.overflow(record)


def fail(record: Record, error: BaseException) -> None:
    """End a record with the exception that is leaving its call. Never raises."""
    if record[SCOPE] is None:
        return
    record[END] = monotonic_ns()
    try:
        status = status_of(error)
        record[FAILURE] = (status, describe(error) if status == "error" else None)
        emit(record)
    except Exception:  # choke-point
        record[SCOPE].pipeline.guarded.add()


def succeed(record: Record, output: Any) -> None:
    """End a record whose call returned something that must be copied. Never raises."""
    record[END] = monotonic_ns()
    site: Site = record[SITE]
    if site.capture_output:
        record[OUTPUT] = freeze_one(record[SCOPE], output)
    emit(record)


def note_item(items: list[Any], item: Any) -> None:
    """Keep a generator's item for the output, up to a bound. Never raises."""
    if len(items) < MAX_ITEMS_KEPT:
        items.append(freeze(item))


def end_steps(
    record: Record, items: list[Any], count: int, returned: Any = None, status: Status | None = None
) -> None:
    """End the record of a generator: exhausted, or dropped or closed before that (`status`). Never raises."""
    scope = record[SCOPE]
    if scope is None:
        return
    record[END] = monotonic_ns()
    try:
        site: Site = record[SITE]
        extra = record[EXTRA] = record[EXTRA] or {}
        attributes = extra.setdefault("attributes", {})
        attributes["agenttrace.items"] = count
        if site.capture_output:
            size = sum(item.size if type(item) is Frozen else 32 for item in items)
            record[OUTPUT] = scope.pipeline.weigh(Frozen(items, size, "items"))
            if returned is not None:
                attributes["agenttrace.returned"] = freeze_one(scope, returned)
        if status is not None:
            record[FAILURE] = (status, None)
        emit(record)
    except Exception:  # choke-point
        scope.pipeline.guarded.add()
