"""The worker of online evaluations: waits until the judged call has ended, then scores within a deadline."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.protocols import Scorer, TakesModel, optional
from agenttrace.core.rates import Rule
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.online.alerts import Alert, log_alert
from agenttrace.online.backlog import Backlog
from agenttrace.online.look import Look
from agenttrace.online.rate_watch import RateWatch
from agenttrace.online.request import Request
from agenttrace.online.results import Results
from agenttrace.online.trouble_watch import Troubles, TroubleWatch
from agenttrace.process.loop_thread import LoopKeeper
from agenttrace.process.threads import DaemonExecutor, no_thread_at_the_end
from agenttrace.scoring.apply import apply_scorer
from agenttrace.scoring.isolation import Call, Isolation, carried
from agenttrace.scoring.score_options import options_of, versions_of

POLL_SECONDS = 0.02
TICK_SECONDS = 0.1
SPAN_SECONDS = 60.0
"""How long an evaluation waits for its span to end; then it scores what there is of the trace."""


class OnlineWorker:
    """Does online evaluations. All its methods run on its loop; any thread may set `stopping`."""

    def __init__(
        self,
        backlog: Backlog,
        *,
        owner: str,
        flush_spans: Callable[[float], Any],
        write_scores: Callable[[Sequence[ScoreRow]], None],
        exporters: Sequence[Any],
        concurrency: int,
        timeout: float,
        rules: Sequence[Rule] = (),
        alerts: Sequence[Alert] = (),
        troubles: Troubles | None = None,
    ) -> None:
        self._backlog = backlog
        self._unfinished = unfinished = backlog.unfinished
        self._counts = counts = backlog.counts
        self._store = backlog.store
        self._owner = owner
        self._flush_spans = flush_spans
        self._concurrency = concurrency
        self._timeout = timeout
        self._threads = DaemonExecutor(math.inf, name="eval")
        self._loops = LoopKeeper(DaemonExecutor())
        self._isolation = Isolation(self._threads, self._loops.loop)
        self._results = Results(backlog, exporters, self._isolation, write_scores)
        self._waiting: deque[Request] = deque(unfinished)  # those of a worker that died
        rates = RateWatch(rules, backlog.store, backlog.project, owner)
        self._rates = Look(rates.check, rates.pause)
        self._alerts = alerts or [log_alert]
        # Without alerts of the user's there is nobody to tell: the log has each trouble already.
        watch = TroubleWatch(troubles if alerts else None, backlog.project)
        self._troubles = Look(watch.check, watch.pause)
        counts.waiting, counts.running, counts.callbacks_running = len(unfinished), 0, 0
        self._running: dict[asyncio.Task[None], Request] = {}
        self.stopping = False

    async def run(self) -> None:
        """Work until `stopping` is set; then write what there is to the store, and end."""
        try:
            await self._work()
        finally:
            try:
                self._take_inbox()
                self._remove_all_cancelled()
                saved_keys = [request.key for request in self._unfinished if request.saved and request.key]
                await self._tick()
                if saved_keys and self.stopping:
                    await self._results.call_isolated("pending", self._release, saved_keys)
            finally:
                await self._end()

    async def _work(self) -> None:
        last_tick = time.monotonic()
        while not self.stopping:
            self._take_inbox()
            if not self._unfinished and not self._backlog.inbox:
                self._counts.weight = 0
            due = self._take_due()
            if due:
                await self._begin(due)
            now = time.monotonic()
            if now - last_tick > TICK_SECONDS or (self._results.waiting and not self._running):
                last_tick = now
                await self._tick()
            if self._rates.due:
                await self._look_at("rules", self._rates)
            if self._troubles.due:
                await self._look_at("troubles", self._troubles)
            await self._pause(bool(due))

    async def _end(self) -> None:
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._results.close()
        self._threads.shutdown()
        self._loops.close()

    def _take_inbox(self) -> None:
        """Move all requests of the inbox to those that wait here."""
        counts, inbox = self._counts, self._backlog.inbox
        while inbox:
            counts.waiting += 1  # first, so that the sum of the counts never misses one
            try:
                request = inbox.popleft()
            except IndexError:  # a shutdown has emptied the inbox in the meantime
                counts.waiting -= 1
                return
            request.received_at = time.monotonic()
            self._unfinished[request] = None
            self._waiting.append(request)

    def _take_due(self) -> list[Request]:
        """Take requests whose span has ended, as many as may run now; cancelled ones are removed."""
        free_places = self._concurrency - len(self._running)
        due: list[Request] = []
        for _ in range(len(self._waiting) if free_places > 0 else 0):
            request = self._waiting.popleft()
            if request.handle.done():
                self._remove_cancelled(request)
            elif len(due) >= free_places or not (
                request.span_has_ended or time.monotonic() - request.received_at > SPAN_SECONDS
            ):
                self._waiting.append(request)
            elif request.begun or request.handle.begin():
                request.begun = True
                due.append(request)
            else:
                self._remove_cancelled(request)
        return due

    def _remove_all_cancelled(self) -> None:
        """Remove what was cancelled while there was no free place: nobody else looks at it until there is."""
        waiting: deque[Request] = deque()
        for request in self._waiting:
            if request.handle.done():
                self._remove_cancelled(request)
            else:
                waiting.append(request)
        self._waiting = waiting

    def _remove_cancelled(self, request: Request) -> None:
        """Remove a request that was cancelled, here and from the store."""
        self._counts.cancelled.add()
        self._counts.waiting -= 1
        self._counts.weight -= request.weight
        self._unfinished.pop(request, None)
        self._results.forget(request)

    async def _begin(self, due: list[Request]) -> None:
        if any(request.trace_key is not None for request in due):
            await self._results.call_isolated("flush", self._flush_spans, 1.0)
        loop = asyncio.get_running_loop()
        for request in due:
            self._counts.running += 1
            self._counts.waiting -= 1
            task = loop.create_task(self._evaluate(request))
            self._running[task] = request
            task.add_done_callback(lambda task: self._running.pop(task, None))

    async def _evaluate(self, request: Request) -> None:
        timeout = request.timeout or self._timeout
        example = None
        try:
            example = request.example()
            trace = await self._trace(request, example)
            scores = await asyncio.gather(
                *(self._score(scorer, request, example, trace, timeout) for scorer in request.scorers)
            )
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # choke-point: an example that cannot be made, a store not to be read
            if no_thread_at_the_end(error):
                self._postpone(request)
                return
            scores = [Score.errored(scorer.name, scorer.threshold, error) for scorer in request.scorers]
        self._results.add(request, tuple(scores), example)

    def _postpone(self, request: Request) -> None:
        """Wait for a thread that is in use, since a process that ends starts no more of them.

        Where none is in use, the request is left to a later process.
        """
        counts, other_tasks = self._counts, len(self._running) - 1
        if other_tasks > 0:
            counts.waiting += 1
            self._concurrency = other_tasks
            self._waiting.append(request)
        else:
            counts.left.add()
        counts.running -= 1

    async def _score(
        self, scorer: Scorer, request: Request, example: Any, trace: Trace | None, timeout: float
    ) -> Score:
        try:
            taking = optional(scorer, TakesModel)
            if request.model is not None and taking is not None:
                scorer = taking.with_model(request.model)
            score = await carried(apply_scorer(scorer, example, trace, self._isolation, timeout))
            # A run has these in its metadata.
            metadata = {**versions_of(scorer, example), **score.metadata}
            return replace(score, options=options_of(scorer), metadata=metadata)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # choke-point: one scorer spoils no other
            if no_thread_at_the_end(error):
                raise
            return Score.errored(scorer.name, scorer.threshold, error)

    async def _trace(self, request: Request, example: Any) -> Trace | None:
        """The stored spans at and below the request's span; where there are none, the example's own calls.

        None where the example has no `tools_called` either: the trace was sampled out or dropped, or there
        never was one, so nothing says what was called.
        """
        trace: Trace | None = None
        if request.trace_id is not None:
            read = Call(self._store.trace, (request.trace_id,), {}, copy_context(), 10.0)
            outcome = await carried(self._isolation.run(read))
            if outcome.error is not None:
                raise outcome.error
            trace = outcome.value
            if trace is not None:
                request.session_id, request.customer_id = trace.session_id, trace.customer_id
        if trace is not None and request.span_key is not None:
            trace = trace.under(request.span_key)
        if trace is not None and trace.spans:
            return trace
        return None if example.tools_called is None else Trace.from_calls(example.tools_called)

    async def _tick(self) -> None:
        """Write scores to the store, and (for a later process) requests that have waited for a tick."""
        self._remove_all_cancelled()
        if self._results.waiting:
            await self._results.write()
        overdue = time.monotonic() - TICK_SECONDS
        to_save = [
            request
            for request in self._unfinished
            if not request.saved
            and (self.stopping or (request.received_at < overdue and not request.save_attempted))
        ]
        if to_save:
            for request in to_save:
                request.save_attempted = True  # where it fails, it is tried again at the end only
            await self._results.call_isolated("pending", self._save, to_save)

    async def _look_at(self, cause: str, look: Look) -> None:
        """Tell the alerts what a look finds: a rule that is broken, a trouble of recording."""
        await self._results.call_isolated(cause, look.look)
        while look.news:  # also what an earlier look found that took longer than it may
            await self._results.tell(self._alerts, look.news.popleft())

    def _save(self, requests: list[Request]) -> None:
        failure = self._backlog.save(requests, None if self.stopping else self._owner)
        if failure is not None:
            raise failure

    def _release(self, keys: list[str]) -> None:
        """Give up the ownership of saved requests, so that another process may resume them."""
        self._store.claim_pending_evaluations(keys, None, held_by=self._owner)

    async def _pause(self, busy: bool) -> None:
        if self._running and (busy or self._waiting):
            await asyncio.wait(self._running, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(POLL_SECONDS)
