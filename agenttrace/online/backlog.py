"""What was asked for and is not done yet."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence

from agenttrace.core.protocols import Store
from agenttrace.online.counts import Counts
from agenttrace.online.pending import keep_pending
from agenttrace.online.request import Request
from agenttrace.tracing.context import running, runs_inside
from agenttrace.tracing.record import END

_LEFT = (
    "the evaluation was not done when the tracer was shut down; it is pending in the store, "
    "resume_evaluations finishes it"
)
_LOST = "the evaluation was not done when the tracer was shut down, nor could it be kept in the store in time"

log = logging.getLogger("agenttrace")


class Backlog:
    """The online evaluations that are not done: those in the `inbox`, which no worker has seen, and those
    `held`, which a worker has taken and not finished; they outlive the worker. With the counts of all.
    """

    def __init__(self, store: Store, project: str) -> None:
        self.inbox: deque[Request] = deque()
        self.held: dict[Request, None] = {}
        self.counts = Counts()
        self._store = store
        self._project = project

    @property
    def size(self) -> int:
        """How many wait or run."""
        counts = self.counts
        return len(self.inbox) + counts.waiting + counts.running + counts.callbacks_running

    def held_up_by_caller(self) -> int:
        """How many wait for the end of a call that the caller is inside."""
        if running() is None:
            return 0
        requests = {*self.inbox.copy(), *self.held.copy()}
        return sum(1 for one in requests if one.record and not one.record[END] and runs_inside(one.record))

    def leave_held(self, *, keep: bool) -> None:
        """Leave what a worker had taken to a later process; `keep`: the worker has not written it down."""
        requests = list(self.held)
        if keep:
            self._keep(requests)
        for request in requests:
            request.handle.give_up("left", request.scorers, _LEFT if request.saved else _LOST)

    def leave_inbox(self) -> None:
        """Leave what no worker has taken to a later process."""
        requests = list(self._take_inbox())
        self._keep(requests)
        for request in requests:
            self.counts.left.add()
            request.handle.give_up("left", request.scorers, _LEFT if request.saved else _LOST)

    def drop_inbox(self, why: str) -> None:
        """Drop what no worker has taken; from any thread, also several at once."""
        for request in self._take_inbox():
            self.counts.dropped.add()
            request.handle.give_up("dropped", request.scorers, why)

    def drop_all(self, why: str) -> None:
        """Drop everything: nobody may wait for a worker that cannot live."""
        for request in self.held.copy():
            self.counts.dropped.add()
            request.handle.give_up("dropped", request.scorers, why)
        self.held.clear()
        self.drop_inbox(why)
        counts = self.counts
        counts.waiting = counts.running = counts.callbacks_running = counts.weight = 0

    def _take_inbox(self) -> Iterator[Request]:
        while True:
            try:
                yield self.inbox.popleft()
            except IndexError:
                return

    def _keep(self, requests: Sequence[Request]) -> None:
        failure = keep_pending([one for one in requests if not one.saved], self._store, self._project, None)
        if failure is not None:
            log.warning("online evaluation: pending: %s: %s", type(failure).__name__, failure)
