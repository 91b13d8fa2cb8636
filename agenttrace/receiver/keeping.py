"""`Keeper`: reads requests and puts their spans into a sink, several requests in one write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from agenttrace.core.errors import ExportError, StoreError, error_text
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.span import Span
from agenttrace.otlp_in.arrival import Arrival, TelemetryError
from agenttrace.otlp_in.json_form import read_json
from agenttrace.otlp_in.protobuf import read_protobuf
from agenttrace.otlp_in.traces import spans_of
from agenttrace.process.said_once import SaidOnce
from agenttrace.receiver.outcome import JSON, Outcome
from agenttrace.receiver.sink import Sink
from agenttrace.receiver.unpacking import TooLong, unpacked
from agenttrace.redaction import without_secrets

MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes of one request, unpacked."""
AWAY_SECONDS = 5
"""Seconds after which a request may come again, where the store cannot be written."""


class Request(NamedTuple):
    """A request: its body as it came, how that is packed and written, and whose it is.

    `project` is where its spans go, whatever they name; None: where they name, else ``"default"``.
    """

    body: bytes
    encoding: str
    content_type: str
    project: str | None = None


class Reply(NamedTuple):
    """What became of a request, and how many spans of it were kept."""

    outcome: Outcome
    spans: int = 0


class Keeps(Protocol):
    """Keeps what requests hold. One thread at a time calls it."""

    def keep(self, requests: Sequence[Request]) -> list[Reply]:
        """Keep the spans of several requests, and say for each what became of it. Never raises."""
        ...

    def close(self, seconds: float) -> None:
        """Let go of what is used for that, within so many seconds."""
        ...


class Keeper:
    """Keeps what requests hold, in this process.

    Args:
        sink: Where their spans go.
        most_unpacked: Bytes of one request, unpacked, of which no more is read.
        close: Called at the end, such as the method of the sink's store.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        most_unpacked: int = MOST_UNPACKED,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        self._sink = sink
        self._close = close
        self._most_unpacked = most_unpacked
        self._warnings = SaidOnce(without_secrets)

    def keep(self, requests: Sequence[Request]) -> list[Reply]:
        """Keep the spans of several requests in one write; one that cannot be kept costs no other."""
        read = [self._read(request) for request in requests]
        readable = [each for each in read if not isinstance(each, Outcome)]
        outcome = self._written([span for _, spans in readable for span in spans])
        replies: list[Reply] = []
        for each in read:
            if isinstance(each, Outcome):
                replies.append(Reply(each))
                continue
            arrival, spans = each
            own = outcome
            if outcome.status not in (200, 503) and len(readable) > 1:
                own = self._written(spans)
            if own.status == 200:
                own = Outcome(200, arrival.problems[0] if arrival.problems else "", arrival.unread)
            replies.append(Reply(own, len(spans) if own.status == 200 else 0))
        return replies

    def close(self, seconds: float) -> None:
        """Let go of the sink."""
        self._close()

    def _read(self, request: Request) -> tuple[Arrival, list[Span]] | Outcome:
        try:
            arrival = Arrival()
            content = unpacked(request.body, request.encoding, self._most_unpacked)
            if request.content_type == JSON:
                read_json(lenient_json(content), arrival)
            else:
                read_protobuf(content, arrival)
            spans = spans_of(arrival)
        except BaseException as error:  # choke-point: whatever a body makes of the readers
            pass_on_interruption(error)
            return _refusal(error)
        for span in spans:
            span.project = request.project or span.project or "default"
        return arrival, spans

    def _written(self, spans: Sequence[Span]) -> Outcome:
        if not spans:
            return Outcome()
        try:
            self._sink.write(spans)
        except BaseException as error:  # choke-point: whatever the sink raises is an answer
            pass_on_interruption(error)
            self._warnings.warn(error_text(error), "receiver: spans could not be kept", error)
            if isinstance(error, StoreError | ExportError | OSError):
                return Outcome(503, "the store cannot be written now", retry_after=AWAY_SECONDS)
            return Outcome(400, f"the spans cannot be kept: {error_text(error)}")
        return Outcome()


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
