"""`Signal`: how one kind of data (traces, logs) gets from the tracer's store to its collector."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from agenttrace.core.batch import Destination, Unsent, UnsentCounts
from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import HasPath, KeepsUnsent, optional
from agenttrace.exporters.otlp_encoding import encode
from agenttrace.exporters.otlp_http import Collector
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.exporters.sender import BackgroundSender

RequestOf = Callable[[Unsent, int, int], dict[str, Any]]
"""Makes the request of the items between two places."""


class Signal:
    """Sends one kind of data to its collector: ``traces`` or ``logs``."""

    def __init__(self, settings: SignalSettings, content: bool, request_of: RequestOf) -> None:
        self.settings = settings
        self.content = content
        self._request_of = request_of
        self._sender = BackgroundSender(Collector(settings), self._encode, name=settings.url)
        self._store: KeepsUnsent | None = None
        self._destination = Destination(settings.url, "spans")
        self._trouble: str | None = None

    def _encode(self, unsent: Unsent, start: int, stop: int) -> bytes:
        kind, protocol = self.settings.kind, self.settings.protocol
        return encode(kind, self._request_of(unsent, start, stop), protocol)

    def attach(self, store: KeepsUnsent, name: str) -> Destination:
        """Send what this store keeps, apart from what goes to the same address under another name.

        Raises:
            ConfigError: another exporter of this process sends there with other headers, or other content.
        """
        destination = Destination(
            f"{self.settings.url} {name}", "spans" if self.settings.kind == "traces" else "scores"
        )
        with_file = optional(store, HasPath)
        place = (str(id(store) if with_file is None else with_file.path), destination.name)
        other = _attached.get(place)
        mine = (self.settings.headers, self.content)
        if other is not None and (other.settings.headers, other.content) != mine:
            raise ConfigError(
                f"two exporters send to {self.settings.url} for {name!r} with different headers or content=; "
                "tell them apart: OTLPExporter(…, name=…)"
            )
        _attached[place] = self
        self._store, self._destination = store, destination
        self._sender.attach(store, destination)
        return destination

    def notice(self) -> None:
        """Wake the sender: something was stored."""
        self._sender.notice()

    def flush(self, timeout: float) -> bool:
        """Send what waits, for at most `timeout` seconds. Returns True if all of it was sent."""
        waiting = self._counts().waiting
        return self._trouble is None and (not waiting or self._sender.flush(timeout))

    def retry_refused(self) -> int:
        """Let what was refused wait again. Returns the number of items."""
        items = 0 if self._store is None else self._store.retry_refused(self._destination)
        if items:
            self._sender.notice()
        return items

    def _counts(self) -> UnsentCounts:
        self._trouble = None
        try:
            return UnsentCounts(0, 0) if self._store is None else self._store.count_unsent(self._destination)
        except Exception as error:  # choke-point: a file that cannot be read
            self._trouble = f"the store cannot be read: {error}"
            return UnsentCounts(0, 0)

    def stats(self) -> dict[str, Any]:
        """See `OTLPExporter.stats`."""
        counts = self._counts()
        trouble = self._sender.trouble
        return {
            "sent": self._sender.sent,
            **counts._asdict(),
            "trouble": self._trouble if trouble is None else trouble.text,
        }

    def close(self, timeout: float = 1.0) -> None:
        """Stop sending. What was not sent stays in the store."""
        self._sender.close(timeout)

    def after_fork(self) -> None:
        """In a forked child: begin anew."""
        sender = BackgroundSender(Collector(self.settings), self._encode, name=self.settings.url)
        if self._store is not None:
            sender.attach(self._store, self._destination)
        self._sender = sender


_attached: weakref.WeakValueDictionary[tuple[str, str], Signal] = weakref.WeakValueDictionary()
