"""Records become spans, spans go to the store: the worker's side of the pipeline."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from typing import Any

from agenttrace.core.protocols import Exporter, SpanSink
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.tracing.finish import finish, scores_of
from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.record import ARGUMENTS, OUTPUT, Record
from agenttrace.tracing.redaction import Redaction

BATCH = 4_000
"""Records that are made spans and stored in one go."""

log = logging.getLogger("agenttrace")


class Outlet:
    """Takes records off the queue, makes them spans, hands them to the store, then to the other exporters.

    Used by one thread at a time. What the store refuses stays in `pending` and is offered again.
    """

    def __init__(self, store: SpanSink, exporters: Sequence[Exporter], redaction: Redaction) -> None:
        self.store = store
        self.exporters = tuple(exporters)
        self.redaction = redaction
        self.pending: list[Span] = []
        self.stored = 0
        self.unreadable = 0
        self.unexported = 0
        self._pending_scores: list[tuple[str, str | None, Score]] = []
        self._warned: set[str] = set()

    def take(self, queue: deque[Any], stop: type) -> tuple[Any, int]:
        """Move up to `BATCH` records from the queue to `pending`; return what of type `stop` ended it early,
        or None, and the weight that left the queue."""
        weight = 0
        for _ in range(BATCH):
            try:
                record = queue.popleft()
            except IndexError:
                break
            if type(record) is stop:
                return record, weight
            weight += _weight(record)
            try:
                span = finish(record, self.redaction)
            except Exception as error:  # choke-point: one bad record must not lose its neighbours
                self.unreadable += 1
                self.warn("record", f"a record could not be read: {type(error).__name__}: {error}")
                continue
            self.pending.append(span)
            found = scores_of(record)
            if found:
                self._pending_scores.extend((span.trace_id, span.span_id, score) for score in found)
        return None, weight

    def export(self) -> bool:
        """Hand the pending spans over; true when the store took them."""
        spans = self.pending
        if spans:
            try:
                self.store.export(spans)
            except Exception as error:  # choke-point: a store in trouble must not reach the agent
                self.warn("store", f"spans could not be stored yet: {type(error).__name__}: {error}")
                return False
            self.stored += len(spans)
            self.pending = []
            self._export_elsewhere(spans)
        self._write_scores()
        return True

    def _export_elsewhere(self, spans: list[Span]) -> None:
        for exporter in self.exporters:
            try:
                exporter.export(spans)
            except Exception as error:  # choke-point: nor an exporter
                self.unexported += len(spans)
                self.warn("export", f"{len(spans)} spans were not exported: {type(error).__name__}: {error}")

    def _write_scores(self) -> None:
        scores, self._pending_scores = self._pending_scores, []
        if not scores:
            return
        try:
            self.store.write_scores(scores)
        except Exception as error:  # choke-point: nor its scores
            self.warn("scores", f"{len(scores)} scores were not stored: {type(error).__name__}: {error}")

    def flush(self, timeout: float) -> None:
        """Let the store and the exporters finish."""
        for sink in (self.store, *self.exporters):
            try:
                sink.flush(timeout)
            except Exception as error:  # choke-point
                self.warn(
                    "flush", f"{type(sink).__name__} could not be flushed: {type(error).__name__}: {error}"
                )

    def close(self) -> None:
        """Close the store and the exporters."""
        for sink in (self.store, *self.exporters):
            try:
                sink.close()
            except Exception as error:  # choke-point
                self.warn(
                    "close", f"{type(sink).__name__} could not be closed: {type(error).__name__}: {error}"
                )

    def warn(self, cause: str, message: str) -> None:
        """Log once per cause."""
        if cause not in self._warned:
            self._warned.add(cause)
            log.warning("%s (said once)", message)


class Nowhere:
    """The store of a pipeline that keeps nothing: for captures while recording is off."""

    def export(self, spans: Sequence[Span]) -> None:
        """Forget them."""

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None:
        """Forget them."""

    def flush(self, timeout: float) -> bool:
        """There is nothing to wait for."""
        return True

    def close(self) -> None:
        """There is nothing to release."""


def _weight(record: Record) -> int:
    return sum(v.size for v in (*(record[ARGUMENTS] or ()), record[OUTPUT]) if type(v) is Frozen)
