"""`Service`: the server with both doors, from its first request to the last span that it took."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from agenttrace.core.protocols import OnlyRead, Store, optional
from agenttrace.core.span import Span
from agenttrace.receiver import Intake, Keeper, OTLPReceiver, StoreSink
from agenttrace.receiver.application import MOST_BYTES, SECONDS_TO_SEND
from agenttrace.receiver.keeping import Keeps
from agenttrace.receiver.outcome import Outcome
from agenttrace.service.doors import Doors
from agenttrace.service.state import StoreState
from agenttrace.service.store_api import StoreAPI
from agenttrace.viewer.app import application
from agenttrace.viewer.guard import Guard
from agenttrace.viewer.serving import running_server

SECONDS_TO_END = 30.0
MOST_CONNECTIONS = 1_000


class Admits(Protocol):
    """Says who may send spans."""

    def admit(self, headers: Mapping[str, str]) -> str | Outcome | None:
        """The project that the spans of a request go to, None for the one that they name; or a refusal."""
        ...


class Service:
    """Serves the pages of a store and takes spans for it, until the process is told to stop.

    Args:
        store: The store.
        guard: Who may look at the pages.
        tokens: Who may send spans, and to which project.
        root: What addresses of pages begin with behind a proxy.
        stored: Called with the spans of each write, once they are stored.
        keepers: What reads and stores the spans that arrive, by default this process: `keeping_processes`
            are others.
    """

    def __init__(
        self,
        store: Store,
        guard: Guard,
        tokens: Admits,
        *,
        root: str = "",
        stored: Callable[[Sequence[Span]], object] | None = None,
        keepers: Sequence[Keeps] = (),
    ) -> None:
        self._store = store
        self.intake = Intake(*(keepers or [Keeper(StoreSink(store, stored=stored))]))
        takes_spans = optional(store, OnlyRead) is None
        receiver = OTLPReceiver(self.intake, tokens.admit) if takes_spans else None
        pages = application(store, guard, root=root)
        self.server = running_server(
            Doors(pages, receiver, StoreAPI(store, guard), StoreState(store), guard.hosts),
            seconds_to_send=SECONDS_TO_SEND,
            most_bytes=MOST_BYTES + 1_000_000,
            most_connections=MOST_CONNECTIONS,
        )

    def run(self, listener: socket.socket) -> bool:
        """Answer requests until the process is told to stop; returns True if all that was taken is stored.

        What was answered is stored. What was taken and not answered is stored, too, within `SECONDS_TO_END`.
        """
        with _outliving_sigterm():
            try:
                self.server.run(sockets=[listener])
            finally:
                is_done = self.intake.close(SECONDS_TO_END)
            return self._store.flush(SECONDS_TO_END) and is_done


@contextmanager
def _outliving_sigterm() -> Iterator[None]:
    """The server ends when it gets the signal, and sends it to the process again: that has yet to store."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)
