"""`Observing`: queues the traces that arrive for the rules that ask for them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from agenttrace.core.errors import ConfigError
from agenttrace.core.pending import QueuesWork, WorkItem
from agenttrace.core.protocols import Store, optional
from agenttrace.core.span import Span
from agenttrace.process.said_once import SaidOnce
from agenttrace.work.rules import Rule

MOST_WAITING = 1_000_000
"""Evaluations that may wait in a store before no more are queued."""
COUNT_SECONDS = 10.0


class Observing:
    """Queues each trace whose spans arrive, to be evaluated when it has come to rest.

    Each span that arrives puts the trace's evaluations off, and has those that were done looked at again. A
    worker sees then whether anything new came: what is sent twice changes nothing. `StoreSink(store,
    stored=Observing(store, rules).arrived)` joins it to a receiver.

    `dropped` counts evaluations that were not queued because `most_waiting` wait already.

    Raises:
        ConfigError: the store keeps no work.
    """

    def __init__(self, store: Store, rules: Sequence[Rule], *, most_waiting: int = MOST_WAITING) -> None:
        queueing = optional(store, QueuesWork)
        if queueing is None:
            raise ConfigError(f"{type(store).__name__} keeps no work for rules; use a file or postgresql://…")
        self.rules = tuple(rules)
        self.dropped = 0
        self._queue = queueing.work_queue()
        self._most_waiting = most_waiting
        self._full = False
        self._count_at = 0.0
        self._warnings = SaidOnce()

    def arrived(self, spans: Sequence[Span]) -> None:
        """Queue the traces of spans that are stored by now. One thread at a time calls this.

        Raises:
            StoreError: the store cannot be written now; the same spans may come again.
        """
        by_rest: dict[float, list[WorkItem]] = {}
        for project, trace_id in dict.fromkeys((span.project, span.trace_id) for span in spans):
            for rule in self.rules:
                if rule.asks_for(project, trace_id):
                    item = WorkItem(project, trace_id, rule.name)
                    by_rest.setdefault(rule.rest, []).append(item)
        for rest, items in by_rest.items():
            if self._is_full():
                self.dropped += len(items)
                text = f"more than {self._most_waiting:,} evaluations wait; are workers running?"
                self._warnings.warn("full", text)
                continue
            self._queue.add(items, rest)

    def _is_full(self) -> bool:
        now = time.monotonic()
        if now >= self._count_at:
            self._count_at = now + COUNT_SECONDS
            waiting = sum(counts.waiting for counts in self._queue.counts().values())
            self._full = waiting >= self._most_waiting
        return self._full
