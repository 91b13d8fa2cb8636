"""What happens to online scores: into the store, to the exporters, to who asked, to who is alerted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from agenttrace.core.protocols import Store, TakesScores, optional
from agenttrace.core.score import Score
from agenttrace.online.alerts import LowScore
from agenttrace.online.counts import Counts
from agenttrace.online.lifecycle import no_thread_at_the_end
from agenttrace.online.request import Request
from agenttrace.scoring.isolation import Call, Interrupted, Isolation, Outcome

CALL_SECONDS = 10.0
"""How long a callback or an alert may take."""

CALLS_AT_ONCE = 16
CALLS_WAITING = 1_000
"""Evaluations whose callbacks and alerts may wait or run; those of what comes beyond are not called."""

TRIES = 5
"""How often scores are offered again to a store that refuses them."""

_ALSO_HERE = ("flush", "store", "pending")
"""What is done on the loop's own thread where the process ends and there is no other: it returns soon."""

_ToCall = tuple[str, Callable[[Any], Any], Any]

log = logging.getLogger("agenttrace")


@dataclass(slots=True, eq=False)
class _Finished:
    """The scores of one evaluation, on their way into the store."""

    request: Request
    scores: tuple[Score, ...]
    tries: int = 0

    @property
    def rows(self) -> list[tuple[str, str | None, Score]]:
        trace_id, span_id = self.request.trace_id, self.request.span_id
        return [] if trace_id is None else [(trace_id, span_id, score) for score in self.scores]


class Results:
    """Gathers finished evaluations, writes them in batches, then tells those who wait for them.

    Storing is all that its caller waits for: exporters, callbacks and alerts are tasks of their own.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        exporters: Sequence[Any],
        counts: Counts,
        held: dict[Request, None],
        isolation: Isolation,
    ) -> None:
        self._store = store
        self._redacted: Callable[[Score], Score] = getattr(store, "redacted", _itself)
        self._project = project
        self._exporters = [hook for one in exporters if (hook := optional(one, TakesScores)) is not None]
        self._counts = counts
        self._held = held
        self._isolation = isolation
        self._finished: list[_Finished] = []
        self._forgotten: list[str] = []
        self._refusals = 0
        self._calls: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Semaphore(CALLS_AT_ONCE)
        self._warned: set[str] = set()

    @property
    def waiting(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._finished or self._forgotten)

    def add(self, request: Request, scores: tuple[Score, ...]) -> None:
        """Take the scores of one evaluation."""
        self._finished.append(_Finished(request, scores))

    def forget(self, request: Request) -> None:
        """Take what is no longer pending out of the store, with the next writing."""
        if request.saved and request.key is not None:
            self._forgotten.append(request.key)

    async def write(self) -> None:
        """Store what was gathered, then finish its handles; a store that refuses is asked again later."""
        batch, self._finished = self._finished, []
        kept = await self._stored(batch)
        ended: list[_Finished] = []
        for entry in batch:
            if entry not in kept and entry.tries < TRIES:
                entry.tries += 1
                self._finished.append(entry)
                continue
            if entry not in kept:
                self._counts.unstored += len(entry.rows)
            self.forget(entry.request)
            ended.append(entry)
        await self._drop_forgotten()
        for entry in ended:
            self._settle(entry.request, entry.scores)

    async def _drop_forgotten(self) -> None:
        keys, self._forgotten = self._forgotten, []
        if not keys or await self.guarded("pending", self._store.drop_pending_evaluations, keys):
            self._refusals = 0
        elif self._refusals < TRIES:
            self._refusals += 1
            self._forgotten += keys

    async def _stored(self, batch: list[_Finished]) -> set[_Finished]:
        """What is in the store: of a batch that it refuses, what it takes alone."""
        rows = [row for entry in batch for row in entry.rows]
        if not rows or await self.guarded("store", self._store.write_scores, rows):
            return set(batch)
        kept = {entry for entry in batch if not entry.rows}
        await self.guarded("store", self._store_each, [entry for entry in batch if entry.rows], kept)
        return kept.copy()  # a call that was left behind may still add to the other

    def _store_each(self, entries: list[_Finished], kept: set[_Finished]) -> None:
        for entry in entries:
            try:
                self._store.write_scores(entry.rows)
            except Exception as error:  # choke-point: said of the batch already
                log.debug("online evaluation: store: %s", error)
            else:
                kept.add(entry)

    def _settle(self, request: Request, scores: tuple[Score, ...]) -> None:
        counts = self._counts
        if any(score.outcome == "errored" for score in scores):
            counts.errored += 1
        else:
            counts.scored += 1
        counts.weight -= request.weight
        self._call(self._calls_for(request, scores))  # first, so that who waits for all waits for these, too
        counts.running -= 1
        self._held.pop(request, None)
        request.handle.finish("scored", scores)

    def _calls_for(self, request: Request, scores: tuple[Score, ...]) -> list[_ToCall]:
        calls: list[_ToCall] = []
        if request.trace_id is not None:
            rows = [(request.trace_id, request.span_id, self._redacted(score)) for score in scores]
            calls += [("export", exporter.write_scores, rows) for exporter in self._exporters]
        if request.on_result is not None:
            calls.append(("on_result", request.on_result, scores))
        for score in scores:
            if score.outcome == "failed":
                low = LowScore(self._redacted(score), self._project, request.trace_id, request.span_id)
                calls += [("alert", alert, low) for alert in request.alerts]
        return calls

    def _call(self, calls: list[_ToCall]) -> None:
        if not calls:
            return
        if len(self._calls) >= CALLS_WAITING:
            self._counts.failed_calls += len(calls)
            self._warn("calls", f"more than {CALLS_WAITING} evaluations wait for their callbacks and alerts")
            return
        self._counts.callbacks_running += 1
        task = asyncio.get_running_loop().create_task(self._call_each(calls))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _call_each(self, calls: list[_ToCall]) -> None:
        left = len(calls)
        try:
            async with self._turn:
                for cause, function, argument in calls:
                    if await self.guarded(cause, function, argument):
                        left -= 1
        finally:
            self._counts.failed_calls += left
            self._counts.callbacks_running -= 1

    async def close(self) -> None:
        """Give up what is still being called."""
        calls = list(self._calls)
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    async def guarded(self, cause: str, function: Callable[..., Any], *args: Any) -> bool:
        """Call what is not ours, off the loop's thread, for a limited time; whether it went well."""
        try:
            outcome = await self._isolation.run(Call(function, args, {}, copy_context()), CALL_SECONDS)
        except Interrupted:
            return False
        except Exception as error:  # choke-point: no new thread, for one
            ends = cause in _ALSO_HERE and no_thread_at_the_end(error)
            outcome = _called_here(function, args) if ends else Outcome(error=error)
        if outcome.error is None and not outcome.timed_out:
            return True
        self._warn(
            cause,
            "did not return" if outcome.timed_out else f"{type(outcome.error).__name__}: {outcome.error}",
        )
        return False

    def _warn(self, cause: str, what: str) -> None:
        if cause not in self._warned:
            self._warned.add(cause)
            log.warning("online evaluation: %s: %s (said once)", cause, what)


def _called_here(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    try:
        return Outcome(function(*args))
    except BaseException as error:  # choke-point: as on a thread of its own
        return Outcome(error=error)


def _itself(score: Score) -> Score:
    return score
