"""Calls that came into the trace of an example that had ended, while others ran: they are in no score."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from contextlib import AbstractContextManager

from agenttrace.evaluation.agent_run import Captured, CaptureScope
from agenttrace.suite.stated import Stated
from agenttrace.tracing.capture import MOST_LATE, Capture, LateCall

_MOST_NAMES = 5
_ADVICE = (
    "If it is a thread or a task that an earlier example started and that serves this one, carry each call"
    " along with agenttrace.propagate; see docs/tracing.md, Threads and tasks"
)


class LateCalls:
    """The late calls of all traces of an evaluation.

    A worker that one example starts and that serves the others, a thread or a task, belongs to the call that
    started it: what it does for the others is recorded in that trace.
    """

    def __init__(self) -> None:
        self._calls: deque[LateCall] = deque(maxlen=MOST_LATE)
        self._while_others_ran: set[LateCall] = set()
        self._of_failures: set[int] = set()

    def followed(self, capture: CaptureScope) -> CaptureScope:
        """The scope, of whose captures the late calls are noted here."""

        def captured() -> AbstractContextManager[Captured]:
            scope = capture()
            if isinstance(scope, Capture):
                scope.late_calls = self._calls
            return scope

        return captured

    def leave_out(self, trace_key: int) -> None:
        """Count no calls of a run that failed: an agent that did not return in time may still be at work."""
        self._of_failures.add(trace_key)

    def why_not_comparable(self, began: int, ended: int, stated: Callable[[], list[Stated]]) -> str | None:
        """Why a run between two moments cannot be compared with what is stated, or None if it can.

        A late call of a tool that is stated may be one of this run. `stated` is asked only where there is
        one. The moments are `monotonic_ns`.
        """
        calls = [
            call
            for call in self._calls.copy()  # others add to it meanwhile
            if began <= call.moment <= ended and call.trace_key not in self._of_failures
        ]
        if not calls:
            return None
        self._while_others_ran.update(calls)
        all_stated = stated()
        names = [
            name
            for name in dict.fromkeys(call.name for call in calls)
            if any(one.names(name) or one.forbids(name) for one in all_stated)
        ]
        if not names:
            return None
        return (
            f"{', '.join(names[:_MOST_NAMES])}: called while this example ran, and recorded in the trace of"
            f" another, which had ended; nothing says whose call it was. {_ADVICE}"
        )

    def warning(self) -> str | None:
        """What to say of calls that began while an example ran, in the trace of another that had ended."""
        if not self._while_others_ran:
            return None
        names = Counter(call.name for call in self._while_others_ran)
        listed = ", ".join(f"{name} ({count})" for name, count in names.most_common(_MOST_NAMES))
        return (
            f"{names.total()} calls of tools were recorded in the traces of examples that had ended, while"
            f" others ran, and are in no score: {listed}. {_ADVICE}"
        )
