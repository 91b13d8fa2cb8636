"""What does online evaluations, on an event loop of its own: a limit, a deadline for each."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

from agenttrace.core.protocols import Scorer, Store, TakesModel, optional
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.online.counts import Counts
from agenttrace.online.lifecycle import no_thread_at_the_end
from agenttrace.online.pending import keep_pending
from agenttrace.online.request import Request
from agenttrace.online.results import Results
from agenttrace.process.daemon_executor import DaemonExecutor
from agenttrace.scoring.apply import apply_scorer
from agenttrace.scoring.isolation import Call, Isolation

POLL_SECONDS = 0.02
TICK_SECONDS = 0.1
SPAN_SECONDS = 60.0
"""How long an evaluation waits for its span to end; then it judges what there is of the trace."""


class OnlineWorker:
    """What does online evaluations. Everything runs on its loop; `stopping` may be set from anywhere."""

    def __init__(
        self,
        inbox: deque[Request],
        held: dict[Request, None],
        counts: Counts,
        store: Store,
        project: str,
        *,
        owner: str,
        flush_spans: Callable[[float], Any],
        exporters: Sequence[Any],
        concurrency: int,
        timeout: float,
    ) -> None:
        self._inbox = inbox
        self._held = held
        self._counts = counts
        self._store = store
        self._project = project
        self._owner = owner
        self._flush_spans = flush_spans
        self._concurrency = concurrency
        self._timeout = timeout
        self._isolation = Isolation(of_loop=DaemonExecutor())
        self._results = Results(store, project, exporters, counts, held, self._isolation)
        self._waiting: deque[Request] = deque(held)  # what a worker that died has left
        counts.waiting, counts.running, counts.callbacks_running = len(held), 0, 0
        self._running: dict[asyncio.Task[None], Request] = {}
        self.stopping = False

    async def run(self) -> None:
        """Work until `stopping` is set; then write what there is and leave."""
        try:
            await self._work()
        finally:
            try:
                self._admit()
                kept = [request.key for request in self._held if request.saved and request.key]
                await self._tick()
                if kept and self.stopping:
                    await self._results.guarded("pending", self._release, kept)
            finally:
                await self._leave()

    async def _work(self) -> None:
        ticked = time.monotonic()
        while not self.stopping:
            self._admit()
            due = self._take_due()
            if due:
                await self._begin(due)
            now = time.monotonic()
            if now - ticked > TICK_SECONDS or (self._results.waiting and not self._running):
                ticked = now
                await self._tick()
            await self._pause(bool(due))

    async def _leave(self) -> None:
        under_way = list(self._running)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._results.close()
        self._isolation.close()

    def _admit(self) -> None:
        """Move what was asked for into the worker's own line."""
        counts = self._counts
        while self._inbox:
            counts.waiting += 1  # first, so that the sum of the counts never misses one
            try:
                request = self._inbox.popleft()
            except IndexError:  # a shutdown was quicker
                counts.waiting -= 1
                return
            request.since = time.monotonic()
            self._held[request] = None
            self._waiting.append(request)

    def _take_due(self) -> list[Request]:
        """Those whose span has ended, as many as may run at a time; the cancelled ones are struck off."""
        free = self._concurrency - len(self._running)
        due: list[Request] = []
        for _ in range(len(self._waiting) if free > 0 else 0):
            request = self._waiting.popleft()
            if request.handle.done():
                self._strike(request)
            elif len(due) >= free or not (
                request.span_has_ended or time.monotonic() - request.since > SPAN_SECONDS
            ):
                self._waiting.append(request)
            elif request.taken or request.handle.begin():
                request.taken = True
                due.append(request)
            else:
                self._strike(request)
        return due

    def _strike(self, request: Request) -> None:
        """Forget one that was cancelled, here and in the store."""
        self._counts.cancelled += 1
        self._counts.waiting -= 1
        self._counts.weight -= request.weight
        self._held.pop(request, None)
        self._results.forget(request)

    async def _begin(self, due: list[Request]) -> None:
        if any(request.trace_key is not None for request in due):
            await self._results.guarded("flush", self._flush_spans, 1.0)
        loop = asyncio.get_running_loop()
        for request in due:
            self._counts.running += 1
            self._counts.waiting -= 1
            task = loop.create_task(self._evaluate(request))
            self._running[task] = request
            task.add_done_callback(lambda task: self._running.pop(task, None))

    async def _evaluate(self, request: Request) -> None:
        timeout = request.timeout or self._timeout
        try:
            example = request.example()
            trace = await self._trace(request, example)
            scores = await asyncio.gather(
                *(self._score(scorer, request, example, trace, timeout) for scorer in request.scorers)
            )
        except asyncio.CancelledError:
            raise
        except (
            BaseException
        ) as error:  # choke-point: an example that cannot be made, a store that cannot be read
            if no_thread_at_the_end(error):
                self._put_off(request)
                return
            scores = [Score.errored(scorer.name, scorer.threshold, error) for scorer in request.scorers]
        self._results.add(request, tuple(scores))

    def _put_off(self, request: Request) -> None:
        """The process ends, and Python starts no more threads: wait for one of those there are. Where there
        are none, a later process does what is left."""
        counts, others = self._counts, len(self._running) - 1
        if others > 0:
            counts.waiting += 1
            self._concurrency = others
            self._waiting.append(request)
        else:
            counts.left.add()
        counts.running -= 1

    async def _score(
        self, scorer: Scorer, request: Request, example: Any, trace: Trace, timeout: float
    ) -> Score:
        try:
            taking = optional(scorer, TakesModel)
            if request.model is not None and taking is not None:
                scorer = taking.with_model(request.model)
            return await apply_scorer(scorer, example, trace, self._isolation, timeout)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # choke-point: one scorer spoils no other
            if no_thread_at_the_end(error):
                raise
            return Score.errored(scorer.name, scorer.threshold, error)

    async def _trace(self, request: Request, example: Any) -> Trace:
        """What is stored of the span and what is under it; a recorded run's calls where there is no span."""
        if request.trace_id is None:
            return Trace.from_calls(example.tools_called or [])
        read = Call(self._store.trace, (request.trace_id,), {}, copy_context())
        outcome = await self._isolation.run(read, 10.0)
        if outcome.error is not None:
            raise outcome.error
        stored: Trace | None = outcome.value
        if stored is None:
            return Trace.from_calls(example.tools_called or [])
        return stored if request.span_key is None else stored.under(request.span_key)

    async def _tick(self) -> None:
        """Write the scores; write down what has waited for longer than a tick, for a later process."""
        if self._results.waiting:
            await self._results.write()
        overdue = time.monotonic() - TICK_SECONDS
        unsaved = [
            request
            for request in self._held
            if not request.saved and (self.stopping or (request.since < overdue and not request.tried))
        ]
        if unsaved:
            for request in unsaved:
                request.tried = True  # where it cannot be kept, it is tried again at the end only
            await self._results.guarded("pending", self._save, unsaved)

    def _save(self, requests: list[Request]) -> None:
        owner = None if self.stopping else self._owner
        failure = keep_pending(requests, self._store, self._project, owner)
        if failure is not None:
            raise failure

    def _release(self, keys: list[str]) -> None:
        """Leave what was kept to whoever resumes it."""
        self._store.claim_pending_evaluations(keys, None, held_by=self._owner)

    async def _pause(self, busy: bool) -> None:
        if self._running and (busy or self._waiting):
            await asyncio.wait(self._running, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(POLL_SECONDS)
