"""The record of one call, which the traced thread writes, and where it goes.

A record is a plain list, because that is the cheapest thing Python can make; the positions below are its
fields. The record of the running call is itself the value of the one context variable, so a child finds its
parent by reference. Everything that can be worked out later (ids as text, parameter names, JSON) is left to
the pipeline's worker.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import SPAN_KEY_MASK, anchor_ns, new_span_key, new_trace_key
from agenttrace.core.limits import Limits
from agenttrace.core.marks import left_out
from agenttrace.core.numbers import is_number
from agenttrace.tracing.freeze import Frozen

if TYPE_CHECKING:
    from agenttrace.core.score import Score
    from agenttrace.core.span import Span
    from agenttrace.process.signal_safe import Counter
    from agenttrace.redaction import Redaction

SECRETS = "secrets"
"""The key of a record's extra for texts that its error may repeat; it is not recorded itself."""

PARENT, SCOPE, OBSERVED, INDEX, START, ARGUMENTS, END, OUTPUT, FAILURE, EXTRA = range(10)
"""Fields of a record. OBSERVED is None in a *head*: the entry that stands above the roots of a trace.
SCOPE is None in `OFF`: nothing under it is recorded. END 0 means the call still runs."""

Record = list[Any]
OnEnd = Callable[["Span"], None]

OFF: Record = [None, None, None, 0, 0, None, 0, None, None, None]
"""The parent of every call that is not recorded (sampled out, switched off, shut down)."""


class RecordSink(Protocol):
    """Where records go when their calls have ended: the part of a `Pipeline` that recording needs."""

    limit: int
    limits: Limits
    entrance: Any
    redaction: Redaction
    foreign_contexts: Counter
    unreadable_headers: Counter
    sampled_out: Counter
    queue_full: Counter
    joins_otel: bool

    def ensure_worker(self) -> None:
        """Start the worker that empties `entrance`, if none runs."""
        ...

    def weigh(self, value: Frozen) -> Any:
        """Admit a heavy value, or return the mark that takes its place."""
        ...

    def admit(self, size: int) -> bool:
        """Returns True if texts of so many characters may wait; else they are counted as dropped."""
        ...

    def recording_failed(self, error: BaseException) -> None:
        """Count a call that is recorded in part, and log the cause once. Never raises."""
        ...


class Recorder:
    """Where the traces that start at an observed function go.

    `resolve` returns the pipeline, or None if nothing is recorded. `admits` is called at each root;
    it returns True if its trace is kept. None in its place keeps every trace.
    """

    __slots__ = ("__weakref__", "admits", "owner", "project", "resolve")

    def __init__(
        self, project: str, resolve: Callable[[], RecordSink | None], admits: Callable[[], bool] | None = None
    ) -> None:
        self.project = project
        self.resolve = resolve
        self.admits = admits
        self.owner: Any = None


def sampler(rate: float) -> Callable[[], bool] | None:
    """The `admits` of a recorder that keeps this share of the traces; None where every trace is kept.

    Raises:
        ConfigError: `rate` is not a number from 0 to 1.
    """
    if not (is_number(rate) and 0 <= rate <= 1):
        raise ConfigError(f"sample_rate is a number from 0 (no trace) to 1 (every trace), got {rate!r}")
    return None if rate == 1 else partial(admitted, rate)


def admitted(rate: float) -> bool:
    """Whether one of several is among the share of them that is kept, by chance."""
    # Not of `random`: a user's seed must not choose our traces, nor forks repeat them.
    return rate == 1 or new_span_key() >> 32 < rate * (1 << 32)


_MOST_OF_OUR_OWN = 1 << 32
"""Ids of spans in a row that one process may give in one trace."""


class Scope:
    """One trace while it is being recorded: its id, its counter of spans, the queue for its records.

    A span's id is `base` plus its place in the start order: unique in the trace, made without a look-up.
    """

    __slots__ = (
        "anchor",
        "attributes",
        "base",
        "harmless_caller",
        "hidden",
        "limit",
        "limits",
        "next",
        "of_callers",
        "outside_parent",
        "pipeline",
        "project",
        "queue",
        "remote_parent",
        "secrets",
        "trace_key",
        "weigh",
    )

    def __init__(
        self,
        pipeline: RecordSink,
        project: str,
        *,
        trace_key: int | None = None,
        remote_parent: int | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.project = project
        self.trace_key = new_trace_key() if trace_key is None else trace_key
        self.base = new_span_key()
        self.anchor = anchor_ns()
        self.next: Callable[[], int] = itertools.count(1).__next__
        self.queue: Any = pipeline.entrance
        self.limit = pipeline.limit
        self.limits = pipeline.limits
        self.weigh: Callable[[Frozen], Any] = pipeline.weigh
        self.remote_parent = remote_parent
        self.outside_parent: int | None = None
        """The parent that other processes are told where no call runs here; below it are roots."""
        self.attributes: dict[str, Any] | None = None
        self.secrets: dict[int, set[str]] | None = None
        """The secrets among the arguments of calls that failed and of those around them, by their `INDEX`."""
        self.of_callers: dict[int, frozenset[str]] | None = None
        """By a call's `INDEX`, the secrets among its arguments and those of its callers."""
        self.harmless_caller = 0
        """The `INDEX` of a call that is known to have none; at first that of what is above the roots."""
        self.hidden: dict[str, int] | None = None
        """What was taken out of calls that ended, with when the first of these did: others may repeat it."""

    def head(self) -> Record:
        """The entry that stands above the roots of this trace."""
        return [None, self, None, 0, 0, None, 0, None, None, None]

    def span_key(self, index: int) -> int:
        """The id of the span that started as number `index`."""
        return (self.base + index) & SPAN_KEY_MASK or 1

    def is_own(self, span_key: int) -> bool:
        """Whether a span id is one that this process gave to a span of this trace."""
        return (span_key - self.base) & SPAN_KEY_MASK < _MOST_OF_OUR_OWN

    def go_on_after_fork(self) -> None:
        """In a forked child that goes on with this trace: use numbers of spans far away from the parent's.

        The first span starts the worker of this process, which otherwise only a new trace does.
        """
        # Below 2^53, which JSON readers elsewhere take exactly.
        self.next = itertools.count(self.next() + (int.from_bytes(os.urandom(4), "big") << 20)).__next__
        self.queue = _FirstAfterFork(self, self.queue)


class _FirstAfterFork:
    """Replaces the queue in a forked child until its first span, so that no thread starts without one."""

    __slots__ = ("_queue", "_scope")

    def __init__(self, scope: Scope, queue: Any) -> None:
        self._scope = scope
        self._queue = queue

    def __len__(self) -> int:
        return len(self._queue)

    def append(self, record: Record) -> None:
        """Put the queue back, with the record in it, and start the worker."""
        self._scope.queue = self._queue
        self._queue.append(record)
        self._scope.pipeline.ensure_worker()


class ReceivedSpan(list[Any]):
    """A span that another library recorded, in the place of a record: `make` gives the span, redacted.

    The fields of a record say only where it belongs and when it came; what it holds is read where records
    become spans, not on the thread on which it ended. `weight` is the size of its long texts.
    """

    __slots__ = ("make", "weight")

    def __init__(self, scope: Scope, moment: int, make: Callable[[Redaction], Span], weight: int = 0) -> None:
        super().__init__([scope.head(), scope, _NOBODY, 0, moment, None, moment, None, None, None])
        self.make = make
        self.weight = weight


class FinishedSpan(ReceivedSpan):
    """A span that another process made of a call, redacted, with the scores that were put on it there."""

    __slots__ = ()

    def __init__(self, scope: Scope, moment: int, span: Span, scores: Sequence[Score] = ()) -> None:
        super().__init__(scope, moment, lambda _: span)
        if scores:
            self[EXTRA] = {"scores": list(scores)}


class _Nobody:
    """The function that a received span was observed by."""

    on_end: OnEnd | None = None
    name = ""


_NOBODY = _Nobody()


def key_of(record: Record) -> int:
    """The id of a record's span."""
    scope: Scope = record[SCOPE]
    return scope.span_key(record[INDEX])


def parent_key_of(record: Record) -> int | None:
    """The id of the parent's span: None for a root, the caller's in another process for a remote one."""
    parent: Record = record[PARENT]
    if parent[OBSERVED] is None:
        scope: Scope = record[SCOPE]
        return scope.remote_parent
    return key_of(parent)


OUT_OF_MEMORY = left_out("memory")
"""Replaces a heavy value for which there was no room."""


def weight_of(record: Record) -> int:
    """The size of all heavy values of a record."""
    if isinstance(record, ReceivedSpan):
        return record.weight
    weight = 0
    for value in record[ARGUMENTS] or ():
        if type(value) is Frozen:
            weight += value.size
    if type(record[OUTPUT]) is Frozen:
        weight += record[OUTPUT].size
    extra = record[EXTRA]
    if extra is not None:
        for value in (extra.get("input"), extra.get("output"), *extra.get("attributes", {}).copy().values()):
            if type(value) is Frozen:
                weight += value.size
    return weight


def without_heavy_values(record: Record) -> Record:
    """A copy of an ended record with marks in place of its heavy values."""
    return with_heavy_values(record, lambda _: dict(OUT_OF_MEMORY))


def with_heavy_values(record: Record, replace: Callable[[Frozen], Any]) -> Record:
    """A copy of an ended record with what `replace` returns in place of each of its heavy values.

    A received span is what it is: whoever received it saw to its size.
    """
    if isinstance(record, ReceivedSpan):
        return record

    def light(value: Any) -> Any:
        return replace(value) if type(value) is Frozen else value

    copy = record.copy()
    if record[ARGUMENTS] is not None:
        copy[ARGUMENTS] = tuple(map(light, record[ARGUMENTS]))
    copy[OUTPUT] = light(record[OUTPUT])
    extra = record[EXTRA]
    if extra is not None:
        copy[EXTRA] = {name: light(value) for name, value in extra.copy().items()}
        attributes = extra.get("attributes", {}).copy()
        copy[EXTRA]["attributes"] = {name: light(value) for name, value in attributes.items()}
    return copy
