"""The functions that a generated wrapper calls when a call starts, yields an item, ends or fails.

They run on the traced thread between the user's own steps, so they must not raise, block, log or do I/O. Our
own errors are counted, and the call goes on. What a signal handler or another thread throws in is not ours,
and is raised again.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.interruptions import thrown_in
from agenttrace.core.jsonable import jsonable
from agenttrace.core.limits import Limits
from agenttrace.core.marks import left_out, not_read
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction.repeated import secret_texts
from agenttrace.tracing.failure import failure_of
from agenttrace.tracing.freeze import LIGHT_TEXT, Frozen, freeze
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.otel_parent import MODULE, modules, otel_parent
from agenttrace.tracing.record import (
    END,
    EXTRA,
    FAILURE,
    OBSERVED,
    OFF,
    OUTPUT,
    SCOPE,
    SECRETS,
    Record,
    Scope,
)

_warnings = SaidOnce()

LIGHT_SIZE = 32
"""Bytes that a light value counts for."""

_PART_SIZE = 8
"""Bytes that each item counts for in a small mapping or list that a generator yields."""

_ITEMS = semconv.ITEMS

_LONGEST_SECRET = 4_096
"""Characters of an argument that is not recorded, among which secrets are looked for."""

_FEWEST_ITEMS = 16
"""Light items of a generator that are kept in whatever room, as are those of a flat list."""

_FEWEST_SIZE = _FEWEST_ITEMS * (LIGHT_TEXT + 8)
"""What these count for at most."""


def root(observed: ObservedFunction) -> Record:
    """The head of a new trace for a call that has no parent, or `OFF`. Never raises."""
    try:
        pipeline = observed.recorder.resolve()
        if pipeline is None:
            return OFF
        admits = observed.recorder.admits
        if admits is not None and not admits():
            pipeline.sampled_out.add()
            return OFF
        pipeline.ensure_worker()
        if MODULE in modules and pipeline.joins_otel:
            parent = otel_parent()
            if parent is not None:
                return Scope(
                    pipeline, observed.recorder.project, trace_key=parent[0], remote_parent=parent[1]
                ).head()
        return Scope(pipeline, observed.recorder.project).head()
    except Exception as error:  # choke-point: the guard of recording; the agent's call goes on unrecorded
        if thrown_in(error):
            raise
        _warnings.warn("unrecorded", "nothing is recorded", error)
        return OFF


def freeze_arguments(scope: Scope, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of a call's arguments that later changes cannot reach. Never raises."""
    try:
        limits, copies, heavy = scope.limits, [], False
        for value in values:
            copy = freeze(value, limits)
            if type(copy) is Frozen:
                heavy = True
            copies.append(copy)
        if heavy:
            _admit(scope, copies)
        return tuple(copies)
    except Exception as error:  # choke-point
        if thrown_in(error):
            raise
        scope.pipeline.recording_failed(error)
        return tuple(not_read() for _ in values)


def freeze_one(scope: Scope, value: Any) -> Any:
    """A copy of one value that later changes cannot reach. Never raises."""
    try:
        copy = freeze(value, scope.limits)
        return scope.weigh(copy) if type(copy) is Frozen else copy
    except Exception as error:  # choke-point
        if thrown_in(error):
            raise
        scope.pipeline.recording_failed(error)
        return not_read()


def _admit(scope: Scope, copies: list[Any]) -> None:
    """Weigh the heavy copies. Those for which one span has no room are replaced by a mark."""
    room = scope.limits.span
    for position, copy in enumerate(copies):
        if type(copy) is Frozen:
            room -= copy.size
            copies[position] = left_out("span") if room < 0 else scope.weigh(copy)


def emit(record: Record, end: int) -> None:
    """End a record, at a time of the monotonic clock, and hand it over.

    Setting END and appending come last: after an interruption, END tells if the record was handed over.
    """
    scope: Scope = record[SCOPE]
    queue = scope.queue
    if len(queue) < scope.limit:
        record[END] = end
        queue.append(record)
    else:
        record[END] = end
        scope.pipeline.queue_full.add()


def fail(record: Record, error: BaseException) -> None:
    """End a record with the exception that is leaving its call; one that has ended stays as it is.

    Raises nothing but RecursionError (with so little stack left, the caller must end the record) and what is
    thrown in from outside.
    """
    if record[SCOPE] is None or record[END]:
        return
    end = monotonic_ns()
    try:
        record[FAILURE] = failure_of(error)
        if not record[OBSERVED].capture_input:
            _note_secrets(record, error)
        emit(record, end)
    except RecursionError:
        raise
    except BaseException as failure:  # choke-point
        if not record[END]:
            record[FAILURE] = record[FAILURE] or ("error", None)
            emit(record, end)
        if not isinstance(failure, Exception) or thrown_in(failure):
            raise
        record[SCOPE].pipeline.recording_failed(failure)


def _note_secrets(record: Record, error: BaseException) -> None:
    """Note the secret arguments of a call whose arguments are not recorded: its error may repeat them."""
    observed: ObservedFunction = record[OBSERVED]
    redaction = record[SCOPE].pipeline.redaction
    names = [name for name in observed.names if redaction.is_secret(name)]
    place = error.__traceback__
    if not names or place is None:
        return
    arguments = place.tb_frame.f_locals  # of our wrapper, which has the parameters' names
    named = [(name, jsonable(arguments[name], limit=_LONGEST_SECRET)) for name in names if name in arguments]
    record[EXTRA] = {**(record[EXTRA] or {}), SECRETS: secret_texts(named, redaction)}


def fail_here(record: Record, error: BaseException) -> None:
    """Like `fail`, for callers who can do nothing about a lack of stack."""
    try:
        fail(record, error)
    except RecursionError:
        pass


def count_foreign_context(record: Record, error: ValueError | None = None) -> None:
    """Count a call that ended in another context than it began in, where no running call can be put back.

    `error` is what `ContextVar.reset` raised. If a signal handler raised it, it is raised again.
    """
    if error is not None and thrown_in(error):
        raise error
    scope: Scope | None = record[SCOPE]
    if scope is not None:
        scope.pipeline.foreign_contexts.add()


def succeed(record: Record, output: Any) -> None:
    """End a record whose call returned something that must be copied. Never raises."""
    end = monotonic_ns()
    observed: ObservedFunction = record[OBSERVED]
    if observed.capture_output:
        record[OUTPUT] = freeze_one(record[SCOPE], output)
    emit(record, end)


def partly_recorded(scope: Scope | None, error: MemoryError) -> None:
    """Count a call that could not be recorded whole for want of memory. Never raises."""
    try:
        if scope is not None:
            scope.pipeline.recording_failed(error)
    except MemoryError:
        pass


def end_without_memory(record: Record, output: Any, error: MemoryError) -> Any:
    """Return the output of a call that could not be ended for want of memory; try once more to end it."""
    try:
        if not record[END]:
            emit(record, monotonic_ns())
    except MemoryError:
        partly_recorded(record[SCOPE], error)
    return output


def first_step(generator: AsyncGenerator[Any, Any]) -> Awaitable[Any]:
    """Start the async generator inside our own, without the event loop's hooks.

    If the loop knew both, it would close both at the same time when it ends, which fails. Ours closes the one
    inside.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return generator.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)


def most_items(limits: Limits) -> int:
    """How many light items of a generator one span has room for, with the mark after them."""
    return min(limits.items, max(limits.span // LIGHT_SIZE - 1, _FEWEST_ITEMS))


def note_item(record: Record, items: list[Any], heavy: int, item: Any, most: int) -> tuple[int, int]:
    """Add an item that is not a light scalar, if the span has room for it. Never raises.

    `heavy` is the size of those that were added so. Returns how many items are kept at most (no more than
    `most`, and none further where there was no room), and the size.
    """
    limits: Limits = record[SCOPE].limits
    copy = freeze(item, limits)
    size: int = heavy + (copy.size if type(copy) is Frozen else _PART_SIZE * len(copy))
    room = (limits.span - size) // LIGHT_SIZE - 1  # for the mark at the end
    if room <= len(items):
        return 0, heavy
    items.append(copy)
    return (most if most < room else room), size


def end_steps(
    record: Record,
    items: list[Any],
    heavy: int,
    count: int,
    return_value: Any = None,
    error: BaseException | None = None,
) -> None:
    """End the record of a generator that was exhausted or closed, or that `error` left.

    `items` are those that are kept, of `count`; `heavy` is the size of those that are not light. A record
    that has ended stays as it is. Never raises.
    """
    scope = record[SCOPE]
    if scope is None or record[END]:
        return
    end = monotonic_ns()
    try:
        if record[EXTRA] is None:
            record[EXTRA] = {"attributes": {_ITEMS: count}}
        else:
            record[EXTRA].setdefault("attributes", {})[_ITEMS] = count
        if record[OBSERVED].capture_output:
            if heavy or count > _FEWEST_ITEMS or len(items) < count or scope.limits.value < _FEWEST_SIZE:
                _keep_items(record, items, heavy, count)
            else:  # as a function would return them
                record[OUTPUT] = items
            if return_value is not None:
                record[EXTRA]["attributes"][semconv.RETURNED] = freeze_one(scope, return_value)
    except Exception as failure:  # choke-point
        if thrown_in(failure):
            raise
        scope.pipeline.recording_failed(failure)
    if error is not None:
        if not issubclass(type(error), GeneratorExit):
            fail_here(record, error)
            return
        record[FAILURE] = ("abandoned", None)
    queue = scope.queue  # as `emit` does
    record[END] = end
    if len(queue) < scope.limit:
        queue.append(record)
    else:
        scope.pipeline.queue_full.add()


def _keep_items(record: Record, items: list[Any], heavy: int, count: int) -> None:
    left = count - len(items)
    if left:
        items = [*items, Frozen(left_out(left), 0)]
    record[OUTPUT] = record[SCOPE].weigh(Frozen(items, heavy + LIGHT_SIZE * len(items), "items"))
