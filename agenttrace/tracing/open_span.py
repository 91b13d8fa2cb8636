"""`SpanBlock`: a span for a block of code; `OpenSpan`: one that is open until a call of `end`.

`make_current` makes its record the running call of a context. The `CurrentCall` that it returns puts the
former running call back, also from outside of that context.
"""

from __future__ import annotations

import gc
import os
import sys
import weakref
from contextvars import Context, Token
from types import TracebackType
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.jsonable import clean_text
from agenttrace.core.marks import not_read
from agenttrace.core.span import SpanError, Status
from agenttrace.process.fork_and_exit import at_exit
from agenttrace.tracing.context import Entered, captured_open, captured_scopes, current
from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.live import LiveSpan, as_text, by_name
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.record import FAILURE, INDEX, OBSERVED, OFF, PARENT, SCOPE, Record, Recorder
from agenttrace.tracing.steps import count_foreign_context, emit, fail_here, freeze_one, root

UNNAMED = "unnamed"
"""The name of a span whose name is an empty text: it may come from a model."""


class SpanBlock:
    """Opens a span on entry and ends it on exit. Works in coroutines, too. Can be entered only once."""

    __slots__ = ("_entered", "_observed", "_record", "_values")

    def __init__(self, recorder: Recorder, name: str, span_type: str, inputs: Any) -> None:
        values = None if inputs is None else by_name(inputs)
        names = tuple(clean_text(as_text(key)) for key in values or ())
        self._observed = ObservedFunction(
            name=(clean_text(as_text(name)) if name is not None else "") or UNNAMED,
            span_type=clean_text(span_type),
            recorder=recorder,
            names=names,
        )
        self._values = values
        self._record: Record | None = None
        self._entered: Entered | None = None

    def __enter__(self) -> LiveSpan:
        if self._entered is not None:
            raise ConfigError(f"the span {self._observed.name!r} is opened a second time; make another")
        record = self._begin(current.get())
        span = LiveSpan(record)
        self._record = record
        self._entered = Entered(OFF if record is None else record)
        return span

    def open(self, under: OpenSpan | None = None) -> OpenSpan:
        """Start the span without making it the running call; it ends when `OpenSpan.end` is called.

        Its parent is `under`, or else the running call.
        """
        return OpenSpan(self._begin(current.get() if under is None else under.parent_record))

    def _begin(self, parent: Record | None) -> Record | None:
        parent = parent or root(self._observed)
        scope = parent[SCOPE]
        if scope is None:
            return None
        values = None if self._values is None else tuple(freeze_one(scope, v) for v in self._values.values())
        return [parent, scope, self._observed, scope.next(), monotonic_ns(), values, 0, None, None, None]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        record = self._record
        assert self._entered is not None
        try:
            if record is not None:
                if error is not None:
                    fail_here(record, error)
                else:
                    emit(record, monotonic_ns())
        finally:
            if not self._entered.leave() and record is not None:
                count_foreign_context(record)


MAX_DEPTH = 10_000


class OpenSpan(LiveSpan):
    """A span for work that starts in one place and ends in another: a stream, a callback, a queue.

    Made by `SpanBlock.open`. It is the running call only after `make_current`. Nothing here raises. One that
    is dropped before its end, and one that is open when the process ends, is recorded as abandoned.
    """

    __slots__ = ("__weakref__", "_open", "_process")

    def __init__(self, record: Record | None) -> None:
        super().__init__(record)
        self._open = [True]  # its pop is atomic: of several that end the span, one does
        if record is not None and record[SCOPE].trace_key in captured_scopes:
            captured_open.setdefault(record[SCOPE].trace_key, {})[record[INDEX]] = record
        self._process = 0
        if record is not None:
            self._process = os.getpid()
            _open_spans.add(self)

    def __del__(self) -> None:
        try:
            self.abandon()
        except BaseException:  # choke-point: Python is taking its modules apart
            pass

    def abandon(self) -> None:
        """End the span as abandoned, unless it has ended; a forked child leaves that to its parent."""
        if self._open and self._process == os.getpid():
            self.end(status="abandoned")

    @property
    def parent_record(self) -> Record:
        """The parent of spans that are opened under this one."""
        return OFF if self._record is None else self._record

    def end(self, *, error: BaseException | SpanError | None = None, status: Status | None = None) -> None:
        """End the span: with the error that ended the work, or as `status`. A second end does nothing."""
        record = self._record
        try:
            self._open.pop()
        except IndexError:
            return
        if record is None:
            return
        _open_spans.discard(self)
        if captured_open:
            captured_open.get(record[SCOPE].trace_key, {}).pop(record[INDEX], None)
        if isinstance(error, BaseException):
            fail_here(record, error)
            return
        if error is not None:
            record[FAILURE] = ("error", error)
        elif status is not None and status != "ok":
            record[FAILURE] = (status, None)
        emit(record, monotonic_ns())

    def leave_output_unknown(self) -> None:
        """Say of the output that it was not recorded: it cannot be told whether it was any."""
        self._notes()["output"] = Frozen(not_read(), 0)

    def set_type(self, span_type: str) -> None:
        """Give the span another type."""
        if self._record is not None:
            self._record[OBSERVED].span_type = span_type  # a block's is this span's own

    def make_current(self) -> CurrentCall | None:
        """Make this the running call of this context, until `CurrentCall.restore`; see `make_current`."""
        return make_current(self.parent_record)

    def is_above_running(self) -> bool:
        """Returns True if the running call was started, directly or not, under this one."""
        own, record = self._record, current.get()
        if own is None:
            return False
        for _ in range(MAX_DEPTH):
            if record is None or record[OBSERVED] is None or record[SCOPE] is not own[SCOPE]:
                return False
            if record[INDEX] == own[INDEX]:
                return True
            record = record[PARENT]
        return False

    def recording_failed(self, error: BaseException) -> None:
        """Count something that could not be recorded, in ``stats()["recording_errors"]``, and log it once."""
        if self._record is not None:
            self._record[SCOPE].pipeline.recording_failed(error)


_open_spans: weakref.WeakSet[OpenSpan] = weakref.WeakSet()


def end_open_spans() -> None:
    """End the spans that are open still, as abandoned: the process ends."""
    for span in list(_open_spans):
        span.abandon()


at_exit("traces", end_open_spans)


class CurrentCall:
    """A change of the running call, made by `make_current`. A second `restore` does nothing."""

    __slots__ = ("_context", "_record", "_token")

    def __init__(self, record: Record, token: Token[Any], context: Context | None) -> None:
        self._record = record
        self._token: Token[Any] | None = token
        self._context = context

    def restore(self) -> None:
        """Put the former running call back, unless another one runs there by now. Never raises."""
        token, self._token = self._token, None
        context, self._context = self._context, None
        if token is None:
            return
        try:
            current.reset(token)
        except ValueError:  # called in another context, such as that of a task which waits for our end
            if context is not None and context.get(current) is self._record:
                try:
                    context.run(current.reset, token)
                except (RuntimeError, ValueError):  # its task runs at this moment, in another thread
                    pass


def make_current(record: Record) -> CurrentCall | None:
    """Make a record the running call of this context, until `restore` of the returned object.

    Returns None, and changes nothing, in an asyncio task whose context cannot be reached from outside: there
    the record would stay the running call after its end.
    """
    before = current.get()
    try:
        token = current.set(record)
        asyncio = sys.modules.get("asyncio")  # where nobody loaded it, no task runs
        try:
            task = asyncio.current_task() if asyncio is not None else None
        except RuntimeError:  # no event loop runs in this thread
            task = None
        if task is None:
            return CurrentCall(record, token, None)
        context = _context_of(task, record)
        if context is None:
            current.reset(token)
            return None
        return CurrentCall(record, token, context)
    except BaseException:  # a signal handler's
        current.set(before)
        raise


def _context_of(task: Any, record: Record) -> Context | None:
    """The context in which a task runs; before Python 3.12 a task has no `get_context`, but refers to it."""
    candidates = [task.get_context()] if hasattr(task, "get_context") else gc.get_referents(task)
    return next((c for c in candidates if isinstance(c, Context) and c.get(current) is record), None)
