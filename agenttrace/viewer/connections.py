"""Connections to the server: how many there may be, and how much and how long a client may send."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 100
LONGEST_HEAD = 16_384
SECONDS_TO_SEND = 5.0
MOST_BYTES_OF_A_REQUEST = 1_000_000
"""What is read of one request. A client that is refused early may send so much before it looks at the answer;
all beyond a form's 64 KB is dropped as it comes."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """A connection that is closed when its client takes too long to send a request, or sends too much.

    The time runs while the server waits for a client: for the head of its next request, then for the body.
    """

    seconds_to_send = SECONDS_TO_SEND
    most_bytes = MOST_BYTES_OF_A_REQUEST
    most_connections = MOST_CONNECTIONS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: asyncio.TimerHandle | None = None
        self._waits_for: Any = None
        self._bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come: it is sent away where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.write(_FULL)
            transport.close()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """A client has sent something."""
        if self.transport.is_closing():
            return
        self._bytes += len(data)
        if self._bytes > self.most_bytes:
            self._stop_waiting()
            self.transport.abort()
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """The answer is sent: the next request begins."""
        self._bytes = 0
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """The request cannot be read on: nothing that is made of it meanwhile can be sent any more."""
        super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Let the time run anew where the server waits for something else than before."""
        state = self.conn.their_state
        if state is self._waits_for:
            return
        self._stop_waiting()
        if state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing():
            self._waits_for = state
            self._waiting = self.loop.call_later(self.seconds_to_send, self.transport.close)

    def _stop_waiting(self) -> None:
        self._waits_for = None
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def protocol_of(
    seconds_to_send: float,
    most_bytes: int = MOST_BYTES_OF_A_REQUEST,
    most_connections: int = MOST_CONNECTIONS,
) -> type[BoundedProtocol]:
    """The protocol with other bounds."""
    bounds = {
        "seconds_to_send": seconds_to_send,
        "most_bytes": most_bytes,
        "most_connections": most_connections,
    }
    return type("BoundedProtocol", (BoundedProtocol,), bounds)
