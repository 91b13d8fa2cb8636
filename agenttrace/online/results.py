"""Delivers online scores: to the store, then to exporters, handles, callbacks and alerts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.failure import fingerprints_of
from agenttrace.core.protocols import TakesScores, optional
from agenttrace.core.score import Score
from agenttrace.online.alerts import Alert, Every, LowScore
from agenttrace.online.backlog import Backlog
from agenttrace.online.news import News
from agenttrace.online.request import Request
from agenttrace.process.said_once import SaidOnce
from agenttrace.process.threads import no_thread_at_the_end
from agenttrace.scoring.isolation import Call, Interrupted, Isolation, Outcome, carried
from agenttrace.scoring.redacted import judged_fields, without_secrets_of
from agenttrace.tracing.record import SCOPE
from agenttrace.tracing.repeated_secrets import secrets_of_trace

if TYPE_CHECKING:
    from agenttrace.core.example import Example

CALL_SECONDS = 10.0
"""How long a callback or an alert may take."""

CALLS_AT_ONCE = 16
CALLS_WAITING = 1_000
"""Evaluations whose callbacks and alerts may wait or run. Beyond it, they are not called."""

TRIES = 5
"""How often scores are offered again to a store that refuses them."""

_CALLED_ON_LOOP_AT_EXIT = ("flush", "store", "pending")
"""What is called on the loop's own thread when the process ends and no other can start: it is short."""

_ToCall = tuple[str, Callable[[Any], Any], Any]


@dataclass(slots=True, eq=False)
class _Finished:
    """The scores of one evaluation, on their way into the store."""

    request: Request
    scores: tuple[Score, ...]
    """As the scorers gave them, for the handle and `on_result`."""
    shown: tuple[Score, ...]
    """Those for all others, which repeat no secret of the example and of its trace."""
    judged: Mapping[str, Any]
    """The judged fields, redacted: the example itself is forgotten once it is scored."""
    tries: int = 0

    @property
    def rows(self) -> list[ScoreRow]:
        trace_id, span_id = self.request.trace_id, self.request.span_id
        if trace_id is None:
            return []
        return [ScoreRow(trace_id, span_id, replace(score, example=self.judged)) for score in self.shown]


class Results:
    """Gathers finished evaluations, writes them in batches, then wakes those who wait for them.

    `write` waits only for the store: exporters, callbacks and alerts run as tasks of their own.
    """

    def __init__(
        self,
        backlog: Backlog,
        exporters: Sequence[Any],
        isolation: Isolation,
        write_scores: Callable[[Sequence[ScoreRow]], None],
    ) -> None:
        self._store = backlog.store
        self._write_rows = write_scores
        self._redaction = backlog.redaction
        self._redacted = backlog.redaction.score
        self._project = backlog.project
        self._news = News(backlog.store, backlog.project)
        self._exporters = [hook for one in exporters if (hook := optional(one, TakesScores)) is not None]
        self._counts = backlog.counts
        self._unfinished = backlog.unfinished
        self._isolation = isolation
        self._finished: list[_Finished] = []
        self._keys_to_drop: list[str] = []
        self._refusals = 0
        self._calls: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Semaphore(CALLS_AT_ONCE)
        self._warnings = SaidOnce(partial(self._redaction.text, "error"))

    @property
    def waiting(self) -> bool:
        """True while there is anything to write."""
        return bool(self._finished or self._keys_to_drop)

    def add(self, request: Request, scores: tuple[Score, ...], example: Example | None) -> None:
        """Take the scores of one evaluation, of an example that is None where it could not be made."""
        shown, judged = self._without_secrets(request, scores, example)
        self._finished.append(_Finished(request, scores, shown, judged))

    def _without_secrets(
        self, request: Request, scores: tuple[Score, ...], example: Example | None
    ) -> tuple[tuple[Score, ...], Mapping[str, Any]]:
        """The scores without secrets of the example and of the trace, and what was judged."""
        if example is None:
            return scores, {}
        try:
            secrets = set() if request.record is None else secrets_of_trace(request.record[SCOPE])
            shown = without_secrets_of(scores, example, self._redaction, secrets)
            if request.trace_id is None:
                return shown, {}
            return shown, judged_fields(example, self._redaction, secrets)
        except Exception as error:  # choke-point: the scores are kept without it
            self._warnings.warn("example", "online evaluation: example", error)
            return scores, {}

    def forget(self, request: Request) -> None:
        """Delete a request that is no longer pending from the store, with the next writing."""
        if request.saved and request.key is not None:
            self._keys_to_drop.append(request.key)

    async def write(self) -> None:
        """Store what was gathered, then finish its handles. What the store refuses is offered again later."""
        batch, self._finished = self._finished, []
        in_store = await self._write_scores(batch)
        settled: list[_Finished] = []
        for entry in batch:
            if entry not in in_store and entry.tries < TRIES:
                entry.tries += 1
                self._finished.append(entry)
                continue
            if entry not in in_store:
                self._counts.unstored += len(entry.rows)
            self.forget(entry.request)
            settled.append(entry)
        await self._drop_keys()
        for entry in settled:
            self._settle(entry.request, entry.scores, entry.shown)

    async def _drop_keys(self) -> None:
        keys, self._keys_to_drop = self._keys_to_drop, []
        if not keys or await self.call_isolated("pending", self._store.drop_pending_evaluations, keys):
            self._refusals = 0
        elif self._refusals < TRIES:
            self._refusals += 1
            self._keys_to_drop += keys

    async def _write_scores(self, batch: list[_Finished]) -> set[_Finished]:
        """Write a batch, one by one where the store refuses the whole; returns what was written."""
        rows = [row for entry in batch for row in entry.rows]
        if not rows or await self.call_isolated("store", self._write_rows, rows):
            return set(batch)
        in_store = {entry for entry in batch if not entry.rows}
        await self.call_isolated(
            "store", self._write_each, [entry for entry in batch if entry.rows], in_store
        )
        return in_store.copy()  # a call that ran out of time may still add to the other

    def _write_each(self, entries: list[_Finished], in_store: set[_Finished]) -> None:
        for entry in entries:
            try:
                self._write_rows(entry.rows)
            except Exception:  # choke-point: the warning about the batch is enough
                pass
            else:
                in_store.add(entry)

    def _settle(self, request: Request, scores: tuple[Score, ...], shown: tuple[Score, ...]) -> None:
        counts = self._counts
        if any(score.outcome == "errored" for score in scores):
            counts.errored += 1
        else:
            counts.scored += 1
        counts.weight -= request.weight
        # First, so that who waits for all waits for these, too.
        try:
            self._call(request, self._calls_for(request, scores, shown), self._low_scores(request, shown))
        except Exception as error:  # choke-point: one evaluation spoils no other
            counts.failed_calls += 1
            self._warnings.warn("calls", "online evaluation: callbacks and alerts were not called", error)
        counts.running -= 1
        self._unfinished.pop(request, None)
        request.handle.finish("scored", scores)

    def _calls_for(
        self, request: Request, scores: tuple[Score, ...], shown: tuple[Score, ...]
    ) -> list[_ToCall]:
        calls: list[_ToCall] = []
        if request.trace_id is not None:
            rows = [ScoreRow(request.trace_id, request.span_id, self._redacted(score)) for score in shown]
            calls += [("export", exporter.write_scores, rows) for exporter in self._exporters]
        if request.on_result is not None:
            calls.append(("on_result", request.on_result, scores))
        return calls

    def _low_scores(self, request: Request, scores: tuple[Score, ...]) -> list[LowScore]:
        """The scores to alert of. An errored one is logged in any case: nobody else would hear of it."""
        lows = []
        for score in map(self._redacted, scores):
            if score.outcome == "errored":
                problem = f"online evaluation: {score.name} gave no score: {score.reason}"
                self._warnings.warn(f"errored {fingerprints_of(score)}", problem)
            if request.alerts and score.outcome in ("failed", "errored"):
                low = LowScore(score, self._project, request.trace_id, request.span_id)
                lows.append(replace(low, session_id=request.session_id, customer_id=request.customer_id))
        return lows

    def _call(self, request: Request, calls: list[_ToCall], lows: list[LowScore]) -> None:
        if not calls and not lows:
            return
        if len(self._calls) >= CALLS_WAITING:
            self._counts.failed_calls += len(calls) + len(lows) * len(request.alerts)
            problem = f"more than {CALLS_WAITING} evaluations wait for their callbacks and alerts"
            self._warnings.warn("calls", f"online evaluation: calls: {problem}")
            return
        self._counts.callbacks_running += 1
        task = asyncio.get_running_loop().create_task(self._call_each(request, calls, lows))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _call_each(self, request: Request, calls: list[_ToCall], lows: list[LowScore]) -> None:
        failed_calls = len(calls)
        try:
            async with self._turn:
                for cause, function, argument in calls:
                    if await self.call_isolated(cause, function, argument):
                        failed_calls -= 1
                for low in lows:
                    failed_calls += await self._alert(request.alerts, low)
        finally:
            self._counts.failed_calls += failed_calls
            self._counts.callbacks_running -= 1

    async def _alert(self, alerts: Sequence[Alert], low: LowScore) -> int:
        """Tell the alerts, most of them only what is news. Returns how many calls failed."""
        failures = fingerprints_of(replace(low.score, gate=True))
        asked: list[dict[str, str]] = []
        await self.call_isolated("failures", lambda: asked.append(self._news.of(failures)))
        # Where the store cannot say what was told before, each one is told.
        news = asked[0] if asked else {one.key: "new" for one in failures}
        kind: Any = next(iter(sorted(news.values(), reverse=True)), "again")
        low = replace(low, news=kind, failures=tuple(one.title for one in failures if one.key in news))
        listeners = [alert for alert in alerts if news or isinstance(alert, Every)]
        return sum([not await self.call_isolated("alert", alert, low) for alert in listeners])

    async def tell(self, alerts: Sequence[Alert], news: Any) -> None:
        """Tell all of these alerts something."""
        for alert in alerts:
            self._counts.failed_calls += not await self.call_isolated("alert", alert, news)

    async def close(self) -> None:
        """Cancel the exporters, callbacks and alerts that are still running."""
        calls = list(self._calls)
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    async def call_isolated(self, cause: str, function: Callable[..., Any], *args: Any) -> bool:
        """Call foreign code on another thread for a limited time; returns True if it did not fail."""
        try:
            call = Call(function, args, {}, copy_context(), CALL_SECONDS)
            outcome = await carried(self._isolation.run(call))
        except Interrupted:
            return False
        except Exception as error:  # choke-point: no new thread, for one
            on_loop = cause in _CALLED_ON_LOOP_AT_EXIT and no_thread_at_the_end(error)
            outcome = _call_here(function, args) if on_loop else Outcome(error=error)
        if outcome.error is None and not outcome.timed_out:
            return True
        problem = ": did not return" if outcome.error is None else ""
        self._warnings.warn(cause, f"online evaluation: {cause}{problem}", outcome.error)
        return False


def _call_here(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    try:
        return Outcome(function(*args))
    except BaseException as error:  # choke-point: as on a thread of its own
        return Outcome(error=error)
