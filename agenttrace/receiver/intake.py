"""The intake: requests wait within a bound of bytes; one thread reads them, and keeps many at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from agenttrace.core.errors import StoreError, error_text
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.span import Span
from agenttrace.otlp_in.arrival import Arrival, TelemetryError
from agenttrace.otlp_in.json_form import read_json
from agenttrace.otlp_in.protobuf import read_protobuf
from agenttrace.otlp_in.traces import spans_of
from agenttrace.process.said_once import SaidOnce
from agenttrace.process.threads import start_thread
from agenttrace.receiver.outcome import JSON, Outcome
from agenttrace.receiver.sink import Sink
from agenttrace.receiver.unpacking import TooLong, unpacked

MOST_WAITING = 64 * 1024 * 1024
"""Bytes of requests, as they came, that wait or are being kept."""
MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes of one request, unpacked."""
MOST_TOGETHER = 4 * 1024 * 1024
"""Bytes of requests, as they came, that are kept in one step."""
RETRY_SECONDS = 1
AWAY_SECONDS = 5
"""Seconds after which a request may come again: the intake is full, or the store cannot be written."""


@dataclass(slots=True)
class Waiting:
    """A request that waits: its body as it came, how that is packed and written, and whose it is.

    `project` is where its spans go, whatever they name; None: where they name, else ``"default"``.
    """

    body: bytes
    encoding: str
    content_type: str
    project: str | None
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
    """Takes requests, reads them and hands their spans to a sink, on a thread of its own.

    Requests that came while others were being kept are kept together, in one write of the sink. Each is
    answered after that. `most_waiting` is a number of bytes.
    """

    def __init__(self, sink: Sink, *, most_waiting: int = MOST_WAITING, most_unpacked: int = MOST_UNPACKED):
        self.counts = IntakeCounts()
        self._sink = sink
        self._most_waiting = most_waiting
        self._most_unpacked = most_unpacked
        self._queue: deque[Waiting] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._warnings = SaidOnce()

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

    def offer(self, request: Waiting) -> Future[Outcome]:
        """Take a request, or refuse it at once; returns what becomes of it. Any thread may call this."""
        with self._changed:
            refusal = self.refusal(len(request.body))
            if refusal is not None:
                self.counts.turned_away += 1
                request.ended.set_result(refusal)
                return request.ended
            self._queue.append(request)
            self._bytes += len(request.body)
            if self._thread is None:
                self._thread = start_thread(self._run, "intake")
            self._changed.notify()
        return request.ended

    def close(self, seconds: float) -> bool:
        """Take no more, and keep what waits, for at most `seconds`; returns True if all of it was kept."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)
        with self._changed:
            left = list(self._queue)
            self._queue.clear()
        for request in left:
            self._settle(request, Outcome(503, "the service ended before this was kept", 0, AWAY_SECONDS))
        return self._bytes == 0

    def _run(self) -> None:
        while requests := self._next():
            self._keep(requests)

    def _next(self) -> list[Waiting]:
        """The requests to keep together, once there are some; none at the end."""
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            together: list[Waiting] = []
            size = 0
            while self._queue and (not together or size + len(self._queue[0].body) <= MOST_TOGETHER):
                size += len(self._queue[0].body)
                together.append(self._queue.popleft())
            return together

    def _keep(self, requests: Sequence[Waiting]) -> None:
        readable: list[tuple[Waiting, Arrival, list[Span]]] = []
        for request in requests:
            try:
                arrival = self._read(request)
                spans = _spans(arrival, request.project)
            except BaseException as error:  # choke-point: whatever a body makes of the readers
                pass_on_interruption(error)
                self._settle(request, _refusal(error))
            else:
                readable.append((request, arrival, spans))
        outcome = self._written([span for _, _, spans in readable for span in spans])
        for request, arrival, spans in readable:
            own = outcome
            if outcome.status not in (200, 503) and len(readable) > 1:
                own = self._written(spans)  # one that cannot be kept costs no other
            if own.status == 200:
                self.counts.spans += len(spans)
                self.counts.unreadable += arrival.unread
                own = Outcome(200, arrival.problems[0] if arrival.problems else "", arrival.unread)
            self._settle(request, own)

    def _read(self, request: Waiting) -> Arrival:
        arrival = Arrival()
        content = unpacked(request.body, request.encoding, self._most_unpacked)
        if request.content_type == JSON:
            read_json(lenient_json(content), arrival)
        else:
            read_protobuf(content, arrival)
        return arrival

    def _written(self, spans: Sequence[Span]) -> Outcome:
        if not spans:
            return Outcome()
        try:
            self._sink.write(spans)
        except BaseException as error:  # choke-point: whatever the sink raises is an answer
            pass_on_interruption(error)
            self._warnings.warn(error_text(error), "receiver: spans could not be kept", error)
            if isinstance(error, StoreError | OSError):
                return Outcome(503, "the store cannot be written now", retry_after=AWAY_SECONDS)
            return Outcome(400, f"the spans cannot be kept: {error_text(error)}")
        return Outcome()

    def _settle(self, request: Waiting, outcome: Outcome) -> None:
        with self._changed:
            self._bytes -= len(request.body)
            self.counts.requests += 1
            self.counts.refused += outcome.status != 200
        if request.ended.set_running_or_notify_cancel():
            request.ended.set_result(outcome)


def _spans(arrival: Arrival, project: str | None) -> list[Span]:
    spans = spans_of(arrival)
    for span in spans:
        span.project = project or span.project or "default"
    return spans


def _refusal(error: BaseException) -> Outcome:
    if isinstance(error, TooLong):
        return Outcome(413, str(error))
    if isinstance(error, MemoryError):
        return Outcome(413, "the request is too large to be read here")
    if isinstance(error, InvalidJSON):
        return Outcome(400, f"the body is no JSON: {error}")
    if isinstance(error, TelemetryError | ValueError):
        return Outcome(400, str(error))
    return Outcome(400, f"the request cannot be read: {error_text(error)}")
