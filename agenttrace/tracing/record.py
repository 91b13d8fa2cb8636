"""The live record of one call: what the traced thread writes, nothing more.

A record is a plain list, because that is the cheapest thing Python can make; the positions below are its
fields. The record of the running call is itself the value of the one context variable, so a child finds its
parent by reference. Everything that can be worked out later (ids as text, parameter names, JSON) is left to
the pipeline's worker.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agenttrace.core.identity import SPAN_KEY_MASK, anchor_ns, new_span_key, new_trace_key

if TYPE_CHECKING:
    from agenttrace.core.span import Span
    from agenttrace.core.tool_call import ToolDefinition
    from agenttrace.tracing.pipeline import Pipeline
    from agenttrace.tracing.rebinding import Rebinding
    from agenttrace.tracing.redaction import Redaction

PARENT, SCOPE, SITE, INDEX, START, ARGUMENTS, END, OUTPUT, FAILURE, EXTRA = range(10)
"""Fields of a record. SITE is None in a *head*: the entry that stands above the roots of a trace.
SCOPE is None in `OFF`: nothing under it is recorded. END 0 means the call still runs."""

METADATA = "agenttrace.metadata"
"""The attribute of a root that holds what was said of its trace, by name."""

Record = list[Any]
OnEnd = Callable[["Span"], None]

SiteRules = tuple["Redaction | None", bool, str, "ToolDefinition | None", tuple[str, ...]]
"""What a redaction makes of a site: whether values are redacted by their name; its name, its definition, the
names of its values. In one tuple, because several redactions may take turns on several threads."""

OFF: Record = [None, None, None, 0, 0, None, 0, None, None, None]
"""The parent of every call that is not recorded (sampled out, switched off, shut down)."""


class Site:
    """One decorated place: what is the same for each of its calls."""

    __slots__ = (
        "__weakref__",
        "capture_input",
        "capture_output",
        "definition",
        "function",
        "metadata",
        "name",
        "names",
        "on_end",
        "rebinding",
        "recorder",
        "rules",
        "span_type",
        "wrapper",
    )

    def __init__(
        self,
        *,
        name: str,
        span_type: str,
        recorder: Recorder,
        names: tuple[str, ...] = (),
        capture_input: bool = True,
        capture_output: bool = True,
        metadata: Mapping[str, Any] | None = None,
        function: Any = None,
        definition: ToolDefinition | None = None,
        on_end: OnEnd | None = None,
        rebinding: Rebinding | None = None,
    ) -> None:
        self.name = name
        self.span_type = span_type
        self.recorder = recorder
        self.names = names
        self.capture_input = capture_input
        self.capture_output = capture_output
        self.metadata = metadata
        self.function = function
        self.definition = definition
        self.on_end = on_end
        self.rules: SiteRules = (None, True, "", None, ())
        self.rebinding = rebinding
        self.wrapper: Callable[[], Any] | None = None


class Recorder:
    """Where the traces that start at a site go.

    `resolve` gives the pipeline, or None where nothing is recorded; `admits` decides at each root whether its
    trace is kept (None: every one).
    """

    __slots__ = ("__weakref__", "admits", "owner", "project", "resolve")

    def __init__(
        self, project: str, resolve: Callable[[], Pipeline | None], admits: Callable[[], bool] | None = None
    ) -> None:
        self.project = project
        self.resolve = resolve
        self.admits = admits
        self.owner: Any = None


class Scope:
    """One trace while it is being recorded: its id, its counter of starts, its way out.

    A span's id is `base` plus its place in the start order: unique in the trace, made without a look-up.
    """

    __slots__ = (
        "anchor",
        "attributes",
        "base",
        "limit",
        "next",
        "pipeline",
        "project",
        "queue",
        "remote_parent",
        "trace_key",
    )

    def __init__(
        self,
        pipeline: Pipeline,
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
        self.remote_parent = remote_parent
        self.attributes: dict[str, Any] | None = None

    def head(self) -> Record:
        """The entry that stands above the roots of this trace."""
        return [None, self, None, 0, 0, None, 0, None, None, None]

    def span_key(self, index: int) -> int:
        """The id of the span that started as number `index`."""
        return (self.base + index) & SPAN_KEY_MASK or 1

    def go_on_after_fork(self) -> None:
        """In a forked child that goes on with this trace: number its spans far away from those of its parent,
        and let the first of them start this process's writer, which no root of the child's would do."""
        # Below 2^53, which JSON readers elsewhere take exactly.
        self.next = itertools.count(self.next() + (int.from_bytes(os.urandom(4), "big") << 20)).__next__
        self.queue = _FirstAfterFork(self, self.queue)


class _FirstAfterFork:
    """Takes the place of a queue in a forked child until something comes: no span, no thread."""

    __slots__ = ("_queue", "_scope")

    def __init__(self, scope: Scope, queue: Any) -> None:
        self._scope = scope
        self._queue = queue

    def __len__(self) -> int:
        return len(self._queue)

    def append(self, record: Record) -> None:
        """Put the queue back, with the record in it, and see to it that somebody empties it."""
        self._scope.queue = self._queue
        self._queue.append(record)
        self._scope.pipeline.ensure_worker()


def key_of(record: Record) -> int:
    """The id of a record's span."""
    scope: Scope = record[SCOPE]
    return scope.span_key(record[INDEX])


def parent_key_of(record: Record) -> int | None:
    """The id of the parent's span: None for a root, the caller's in another process for a remote one."""
    parent: Record = record[PARENT]
    if parent[SITE] is None:
        scope: Scope = record[SCOPE]
        return scope.remote_parent
    return key_of(parent)
