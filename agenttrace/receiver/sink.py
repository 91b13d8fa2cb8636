"""Where received spans go: `Sink`; `StoreSink` puts them into a store, without secrets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from agenttrace.core.batch import Batch
from agenttrace.core.errors import StoreError
from agenttrace.core.protocols import Store
from agenttrace.core.span import Span
from agenttrace.otlp_in.reading import to_store
from agenttrace.redaction import Redaction
from agenttrace.redaction.received import redact_all_arrived

MOST_AT_ONCE = 4_000
"""Spans in one transaction."""


_SECONDS_TO_RETURN = 1.0


class Sink(Protocol):
    """Takes the spans that arrived. One thread at a time calls it."""

    def write(self, spans: Sequence[Span]) -> None:
        """Keep the spans, each with its project; one that is there already is replaced.

        Raises:
            StoreError: it cannot now: the same spans may come again.
        """
        ...


class StoreSink:
    """Puts received spans into a store, redacted; then says which ones these were.

    Args:
        store: The store.
        redaction: What is taken out, by default what looks like a secret.
        stored: Called with the spans, on the writing thread, once they are in the store.
    """

    def __init__(
        self,
        store: Store,
        redaction: Redaction | None = None,
        *,
        stored: Callable[[Sequence[Span]], object] | None = None,
    ) -> None:
        self._store = store
        self._redaction = redaction or Redaction()
        self._stored = stored

    def write(self, spans: Sequence[Span]) -> None:
        """Keep the spans; those of one trace say what is known of each other.

        Raises:
            StoreError: the store cannot be written now. What its memory keeps meanwhile is not answered for:
                it is gone when the process is killed.
        """
        if self._store.health().waiting and not self._store.flush(_SECONDS_TO_RETURN):
            raise StoreError("the store cannot be written")
        by_trace: dict[int, list[Span]] = {}
        for span in redact_all_arrived(spans, self._redaction):
            by_trace.setdefault(span.trace_key, []).append(span)
        rows = [row for together in by_trace.values() for row in to_store(together)]
        for at in range(0, len(rows), MOST_AT_ONCE):
            self._store.write(Batch(rows[at : at + MOST_AT_ONCE]))
        if self._store.health().waiting:
            raise StoreError("the store cannot be written")
        if self._stored is not None:
            self._stored(rows)
