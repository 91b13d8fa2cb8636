"""A span that is ended by whoever holds it, on any thread, at any time."""

from __future__ import annotations

from agenttrace.core.identity import monotonic_ns
from agenttrace.core.span import Status
from agenttrace.tracing.context import current
from agenttrace.tracing.live_span import LiveSpan
from agenttrace.tracing.loan import Loan, lend
from agenttrace.tracing.record import FAILURE, INDEX, OFF, PARENT, SCOPE, SITE, Record
from agenttrace.tracing.steps import emit, fail_here

MAX_DEPTH = 10_000


class OpenSpan(LiveSpan):
    """A span for work that starts in one place and ends in another: a stream, a callback, a queue.

    Made by `SpanBlock.open`. It is not the running call unless it is lent. Nothing here raises.
    """

    __slots__ = ("_open",)

    def __init__(self, record: Record | None) -> None:
        super().__init__(record)
        self._open = [True]  # its pop is atomic: of several that end the span, one does

    @property
    def parent_record(self) -> Record:
        """What stands above the spans that are opened under this one."""
        return OFF if self._record is None else self._record

    def end(self, *, error: BaseException | None = None, status: Status | None = None) -> None:
        """End the span: with the exception that ended the work, or as `status`. A second end does nothing."""
        record = self._record
        try:
            self._open.pop()
        except IndexError:
            return
        if record is None:
            return
        if error is not None:
            fail_here(record, error)
            return
        if status is not None and status != "ok":
            record[FAILURE] = (status, None)
        emit(record, monotonic_ns())

    def set_type(self, span_type: str) -> None:
        """Give the span another type."""
        if self._record is not None:
            self._record[SITE].span_type = span_type  # the site of a block is this span's own

    def lend(self) -> Loan | None:
        """Make this the running call of this context, until the loan is taken back; see `loan.lend`."""
        return lend(self.parent_record)

    def is_above_running(self) -> bool:
        """Whether the running call was started, directly or not, under this one."""
        own, record = self._record, current.get()
        if own is None:
            return False
        for _ in range(MAX_DEPTH):
            if record is None or record[SITE] is None or record[SCOPE] is not own[SCOPE]:
                return False
            if record[INDEX] == own[INDEX]:
                return True
            record = record[PARENT]
        return False

    def count_recording_error(self) -> None:
        """Count something that could not be recorded, in the tracer's ``stats()["recording_errors"]``."""
        if self._record is not None:
            self._record[SCOPE].pipeline.guarded.add()
