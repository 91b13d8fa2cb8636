"""A span for a block of code: ``with tracer.span("plan") as span``."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.jsonable import clean_text
from agenttrace.tracing.context import Entered, current
from agenttrace.tracing.live_span import LiveSpan, as_text
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.open_span import OpenSpan
from agenttrace.tracing.record import OFF, SCOPE, Record, Recorder
from agenttrace.tracing.steps import count_foreign_context, emit, fail_here, freeze_one, root


class SpanBlock:
    """Opens a span on entry and ends it on exit. Works in coroutines, too. Can be entered only once."""

    __slots__ = ("_entered", "_observed", "_record", "_values")

    def __init__(self, recorder: Recorder, name: str, span_type: str, values: dict[str, Any] | None) -> None:
        names = tuple(clean_text(as_text(key)) for key in values or ())
        self._observed = ObservedFunction(
            name=clean_text(name), span_type=clean_text(span_type), recorder=recorder, names=names
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
