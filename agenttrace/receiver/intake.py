"""The intake: requests wait within a bound of bytes, and are kept in the order in which they came."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from agenttrace.process.threads import start_thread
from agenttrace.receiver.keeping import AWAY_SECONDS, Keeps, Request
from agenttrace.receiver.outcome import Outcome

MOST_WAITING = 64 * 1024 * 1024
"""Bytes of requests, as they came, that wait or are being kept."""
MOST_TOGETHER = 4 * 1024 * 1024
"""Bytes of requests, as they came, that are kept in one step."""
RETRY_SECONDS = 1
"""Seconds after which a request may come again, where the intake is full."""


@dataclass(slots=True)
class Waiting:
    """A request that waits, and what becomes of it."""

    request: Request
    ended: Future[Outcome] = field(default_factory=Future)


@dataclass(slots=True)
class IntakeCounts:
    """What the intake has done: requests by how they ended, spans that were kept, records that were not."""

    requests: int = 0
    refused: int = 0
    turned_away: int = 0
    spans: int = 0
    unreadable: int = 0


class Intake:
    """Takes requests and has them kept, on a thread for each of its keepers.

    Requests that came while others were being kept are kept together. Each is answered after that.

    Args:
        keepers: What keeps them: `Keeper` in this process, `KeepingProcess` in one of its own.
        most_waiting: Bytes of requests that wait or are being kept.
    """

    def __init__(self, *keepers: Keeps, most_waiting: int = MOST_WAITING) -> None:
        self.counts = IntakeCounts()
        self._keepers = keepers
        self._most_waiting = most_waiting
        self._queue: deque[Waiting] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._closed = False
        self._threads: list[threading.Thread] = []

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the requests that are not answered yet."""
        return self._bytes

    def refusal(self, size: int) -> Outcome | None:
        """Why a request of so many bytes would be refused now; None where it would."""
        if self._closed:
            return Outcome(503, "the service is ending", retry_after=AWAY_SECONDS)
        if self._bytes and self._bytes + size > self._most_waiting:
            return Outcome(429, "too much waits here to be kept", retry_after=RETRY_SECONDS)
        return None

    def reserve(self, size: int) -> Outcome | None:
        """Set bytes aside for a request that is being read, or say why not; `release` gives them back."""
        with self._changed:
            refusal = self.refusal(size)
            if refusal is None:
                self._bytes += size
            else:
                self.counts.turned_away += 1
            return refusal

    def release(self, size: int) -> None:
        """Give back bytes that were set aside."""
        with self._changed:
            self._bytes -= size

    def offer(self, request: Request) -> Future[Outcome]:
        """Take a request, or refuse it at once; returns what becomes of it. Any thread may call this."""
        waiting = Waiting(request)
        with self._changed:
            refusal = self.refusal(len(request.body))
            if refusal is not None:
                self.counts.turned_away += 1
                waiting.ended.set_result(refusal)
                return waiting.ended
            self._queue.append(waiting)
            self._bytes += len(request.body)
            if not self._threads:
                self._threads = [
                    start_thread(partial(self._run, keeper), "intake") for keeper in self._keepers
                ]
            self._changed.notify()
        return waiting.ended

    def close(self, seconds: float) -> bool:
        """Take no more, and keep what waits, for at most `seconds`; returns True if all of it was kept."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))
        for keeper in self._keepers:
            keeper.close(max(until - time.monotonic(), 0))
        with self._changed:
            left = list(self._queue)
            self._queue.clear()
        for waiting in left:
            self._settle(waiting, Outcome(503, "the service ended before this was kept", 0, AWAY_SECONDS))
        return self._bytes == 0

    def _run(self, keeper: Keeps) -> None:
        while waiting := self._next():
            self._keep(keeper, waiting)

    def _next(self) -> list[Waiting]:
        """The requests to keep together, once there are some; none at the end."""
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            together: list[Waiting] = []
            size, most = 0, math.ceil(len(self._queue) / len(self._keepers))  # the others take their share
            while len(together) < most:
                size += len(self._queue[0].request.body)
                if together and size > MOST_TOGETHER:
                    break
                together.append(self._queue.popleft())
            return together

    def _keep(self, keeper: Keeps, waiting: Sequence[Waiting]) -> None:
        replies = keeper.keep([each.request for each in waiting])
        for each, (outcome, spans) in zip(waiting, replies, strict=True):
            with self._changed:
                self.counts.spans += spans
                self.counts.unreadable += outcome.rejected
            self._settle(each, outcome)

    def _settle(self, waiting: Waiting, outcome: Outcome) -> None:
        with self._changed:
            self._bytes -= len(waiting.request.body)
            self.counts.requests += 1
            self.counts.refused += outcome.status != 200
        if waiting.ended.set_running_or_notify_cancel():
            waiting.ended.set_result(outcome)
