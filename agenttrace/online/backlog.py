"""The backlog of online evaluations: those asked for and not finished, with the counts of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.protocols import Store
from agenttrace.online.request import Request
from agenttrace.process.said_once import SaidOnce
from agenttrace.process.signal_safe import Counter
from agenttrace.redaction import Redaction
from agenttrace.scoring.redacted import redacted_example
from agenttrace.tracing.context import running, runs_inside
from agenttrace.tracing.record import END

_LEFT = (
    "the evaluation was not done when the tracer was shut down; it is pending in the store, "
    "resume_evaluations finishes it"
)
_LOST = "the evaluation was not done when the tracer was shut down, nor could it be kept in the store in time"


_OF_EVALUATIONS = ("pending", "scored", "errored", "dropped", "sampled_out", "cancelled")


class Counts:
    """How many online evaluations there were, and how they ended.

    `asked` is the sum of pending, scored, errored, dropped, sampled_out and cancelled. Of the pending, `left`
    are those that a later process has to do. `unstored` counts scores that the store refused, `failed_calls`
    callbacks and alerts that failed. Each `Counter` may be used by several threads without a lock; only the
    worker changes the other numbers, but for `weight`, which is approximate across threads, and set right
    whenever nothing waits.
    """

    def __init__(self) -> None:
        self.asked = Counter()
        self.dropped = Counter()
        self.sampled_out = Counter()
        self.left = Counter()
        self.cancelled = Counter()
        self.waiting = 0
        self.running = 0
        self.callbacks_running = 0
        self.scored = 0
        self.errored = 0
        self.unstored = 0
        self.failed_calls = 0
        self.weight = 0

    def to_dict(self, inbox: int) -> dict[str, int]:
        """The counts by name; `inbox` is how many requests the worker has not taken yet."""
        return {
            "asked": self.asked.value(),
            "pending": inbox + self.waiting + self.running + self.left.value(),
            "scored": self.scored,
            "errored": self.errored,
            "dropped": self.dropped.value(),
            "sampled_out": self.sampled_out.value(),
            "cancelled": self.cancelled.value(),
            "unstored": self.unstored,
            "failed_calls": self.failed_calls,
        }


def adds_up(counts: Mapping[str, int]) -> bool:
    """Returns False for counts that were read while an evaluation went from one to another of them."""
    return counts["asked"] == sum(counts[name] for name in _OF_EVALUATIONS)


class Backlog:
    """The online evaluations that are not finished, and the counts of all.

    In the `inbox` are those that no worker has taken; `unfinished` are those that a worker has taken. Both
    stay when a worker dies, for the next one.
    """

    def __init__(self, store: Store, project: str, redaction: Redaction) -> None:
        self.inbox: deque[Request] = deque()
        self.unfinished: dict[Request, None] = {}
        self.counts = Counts()
        self.store = store
        self.project = project
        self.redaction = redaction
        self._warnings = SaidOnce(partial(redaction.text, "error"))

    @property
    def size(self) -> int:
        """How many wait or run."""
        counts = self.counts
        return len(self.inbox) + counts.waiting + counts.running + counts.callbacks_running

    def waiting_for_caller(self) -> int:
        """How many wait for the end of a call that the caller is inside."""
        if running() is None:
            return 0
        requests = {*self.inbox.copy(), *self.unfinished.copy()}
        records = [request.record for request in requests if request.record is not None]
        return sum(1 for record in records if not record[END] and runs_inside(record))

    def leave_unfinished(self, *, keep: bool) -> None:
        """Leave what a worker had taken to a later process; `keep` writes it to the store here, too."""
        self._leave(list(self.unfinished), keep=keep)

    def leave_inbox(self) -> None:
        """Leave what no worker has taken to a later process."""
        requests = list(self._take_inbox())
        for request in requests:
            (self.counts.cancelled if request.handle.done() else self.counts.left).add()
        self._leave(requests, keep=True)

    def drop_inbox(self, why: str) -> None:
        """Drop what no worker has taken. Any thread may call this, also several at once."""
        self._drop(self._take_inbox(), why)

    def drop_all(self, why: str) -> None:
        """Drop everything, so that nobody waits for a worker that cannot be started."""
        self._drop(self.unfinished.copy(), why)
        self.unfinished.clear()
        self.drop_inbox(why)
        counts = self.counts
        counts.waiting = counts.running = counts.callbacks_running = counts.weight = 0

    def _take_inbox(self) -> Iterator[Request]:
        while True:
            try:
                yield self.inbox.popleft()
            except IndexError:
                return

    def _drop(self, requests: Iterable[Request], why: str) -> None:
        for request in requests:
            self.counts.dropped.add()
            request.handle.give_up("dropped", request.scorers, why)

    def _leave(self, requests: Sequence[Request], *, keep: bool) -> None:
        failure = self.save(requests, None) if keep else None
        if failure is not None:
            self._warnings.warn("pending", "online evaluation: pending", failure)
        for request in requests:
            request.handle.give_up("left", request.scorers, _LEFT if request.saved else _LOST)

    def save(self, requests: Sequence[Request], owner: str | None) -> BaseException | None:
        """Write requests, redacted, to the store; where that fails, one by one: a bad one stops no other.

        One that was cancelled meanwhile is not written. Sets `saved` on each request that was; one that was
        saved before is not written again. Returns the last error, or None where all were written.
        """
        rows: list[tuple[Request, dict[str, Any]]] = []
        failure: BaseException | None = None
        for request in requests:
            try:
                if not request.saved and not request.handle.done():
                    data = request.to_data(owner)
                    data["example"] = redacted_example(data["example"], self.redaction)
                    rows.append((request, data))
            except BaseException as error:  # choke-point: an example that cannot be made; scoring it says why
                pass_on_interruption(error)
                failure = error
        if rows and self._write(rows) is not None:
            for row in rows:
                failure = self._write([row]) or failure
        return failure

    def _write(self, rows: Sequence[tuple[Request, dict[str, Any]]]) -> BaseException | None:
        try:
            self.store.save_pending_evaluations(self.project, [data for _, data in rows])
        except BaseException as error:  # choke-point: a store that refuses them
            pass_on_interruption(error)
            return error
        for request, _ in rows:
            request.saved = True
        return None
