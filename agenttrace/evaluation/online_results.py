"""What happens to online scores: into the store, to the exporters, to who asked, to who is alerted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

from agenttrace.core.protocols import Store
from agenttrace.core.score import Score
from agenttrace.evaluation.alerts import LowScore
from agenttrace.evaluation.lanes import Call, Interrupted, Lanes
from agenttrace.evaluation.request import Request
from agenttrace.evaluation.tally import Tally

CALL_SECONDS = 10.0
"""How long a callback or an alert may take."""

TRIES = 5
"""How often scores are offered to a store that refuses them."""

log = logging.getLogger("agenttrace")


class Results:
    """Gathers finished evaluations, writes them in batches, then tells those who wait for them."""

    def __init__(
        self, store: Store, project: str, exporters: Sequence[Any], tally: Tally, lanes: Lanes
    ) -> None:
        self._store = store
        self._project = project
        self._exporters = exporters
        self._tally = tally
        self._lanes = lanes
        self._finished: list[tuple[Request, tuple[Score, ...]]] = []
        self._tries = 0
        self._warned: set[str] = set()

    @property
    def waiting(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._finished)

    def add(self, request: Request, scores: tuple[Score, ...]) -> None:
        """Take the scores of one evaluation."""
        self._finished.append((request, scores))

    async def write(self) -> None:
        """Store what was gathered, then finish its handles; a store that refuses is asked again later."""
        batch, self._finished = self._finished, []
        rows = [
            (request.trace_id, request.span_id, score)
            for request, scores in batch
            if request.trace_id is not None
            for score in scores
        ]
        saved = [request.key for request, _ in batch if request.saved and request.key is not None]
        if await self._stored(rows, saved):
            self._tries = 0
        elif self._tries < TRIES:
            self._tries += 1
            self._finished = batch + self._finished
            return
        else:
            self._tally.unstored += len(rows)
        for request, scores in batch:
            await self._tell(request, scores)

    async def _stored(self, rows: list[tuple[str, str | None, Score]], saved: list[str]) -> bool:
        stored = await self.guarded("store", self._store.write_scores, rows) if rows else True
        if stored and saved:
            stored = await self.guarded("pending", self._store.drop_pending_evaluations, saved)
        for exporter in self._exporters:
            if rows and callable(getattr(exporter, "write_scores", None)):
                await self.guarded("export", exporter.write_scores, rows)
        return stored

    async def _tell(self, request: Request, scores: tuple[Score, ...]) -> None:
        tally = self._tally
        if any(score.outcome == "errored" for score in scores):
            tally.errored += 1
        else:
            tally.scored += 1
        tally.weight -= request.weight
        tally.telling += 1  # before the next line, so that who waits for all waits for this, too
        tally.running -= 1
        request.handle.finish("scored", scores)
        if request.on_result is not None and not await self.guarded("on_result", request.on_result, scores):
            tally.failed_calls += 1
        for score in scores:
            if score.outcome == "failed":
                low = LowScore(score, self._project, request.trace_id, request.span_id)
                for alert in request.alerts:
                    if not await self.guarded("alert", alert, low):
                        tally.failed_calls += 1
        tally.telling -= 1

    async def guarded(self, cause: str, function: Callable[..., Any], *args: Any) -> bool:
        """Call what is not ours, off the loop's thread, for a limited time; whether it went well."""
        try:
            outcome = await self._lanes.run(Call(function, args, {}, copy_context()), CALL_SECONDS)
        except Interrupted:
            return False
        if outcome.error is None and not outcome.timed_out:
            return True
        if cause not in self._warned:
            self._warned.add(cause)
            what = (
                "did not return" if outcome.timed_out else f"{type(outcome.error).__name__}: {outcome.error}"
            )
            log.warning("online evaluation: %s: %s (said once)", cause, what)
        return False
