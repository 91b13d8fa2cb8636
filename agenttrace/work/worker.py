"""`Worker`: claims the evaluations that wait in a store and does them, one of any number of processes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agenttrace.core.errors import ConfigError, StoreError, error_text
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.pending import FAILED, Claim, QueuesWork
from agenttrace.core.protocols import KeepsUnsent, Scorer, Store, optional
from agenttrace.online.request import owner_text
from agenttrace.process.threads import DaemonExecutor
from agenttrace.work.evaluation import Evaluating, Settled, TooEarly
from agenttrace.work.left_behind import LeftBehind
from agenttrace.work.rules import Rule

CONCURRENCY = 8
LEASE_SECONDS = 60.0
MOST_IN_COMPANY = 2
"""How often an evaluation is tried beside others. Then it is done alone, so that one that ends its worker
takes no others with it."""

POLL_SECONDS = 0.5
_SOON = 0.02
_LONGEST_PAUSE = 10.0
_COMPARE_SECONDS = 60.0
"""Seconds between two comparisons of the rules with those of other workers."""


@dataclass(slots=True)
class WorkerCounts:
    """What a worker did: evaluations with new scores, those that needed none, those that could not be done.

    `lost` are those that another worker took because the lease had run out; `resumed` those that an agent's
    process had left behind; `away` counts the failed attempts to use the store.
    """

    done: int = 0
    unchanged: int = 0
    failed: int = 0
    lost: int = 0
    resumed: int = 0
    away: int = 0

    def to_dict(self) -> dict[str, int]:
        """The counts by name."""
        return asdict(self)


class Worker:
    """Does what waits in a store: the evaluations that rules ask for, and those that processes left behind.

    An evaluation belongs to the worker as long as its lease runs, which is renewed while it is done. What
    a worker brings after its lease ran out and another one claimed the evaluation is not stored. So each is
    scored once, whatever becomes of the workers.

    Args:
        store: The store, which must keep work.
        rules: What is evaluated.
        scorers: Those that `Tracer.async_evaluate` names, for what processes left behind.
        concurrency: How many evaluations are done at a time.
        lease: Seconds without a sign of life after which others may take an evaluation.
        projects: Where to look for what processes left behind; by default in those that have traces.
        say: Told what a person should know, one line at a time.

    Raises:
        ConfigError: the store keeps no work, or there is nothing to do for this worker.
    """

    def __init__(
        self,
        store: Store,
        rules: Sequence[Rule] = (),
        scorers: Sequence[Scorer] = (),
        *,
        concurrency: int = CONCURRENCY,
        lease: float = LEASE_SECONDS,
        projects: Sequence[str] = (),
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        queueing = optional(store, QueuesWork)
        if queueing is None:
            raise ConfigError(
                f"{type(store).__name__} keeps no work for workers; use a file or postgresql://…"
            )
        if not rules and not scorers:
            raise ConfigError("a worker needs rules or scorers: they say what it can do")
        self.owner = owner_text(os.urandom(6).hex())
        self.counts = WorkerCounts()
        self.stopping = False
        self._store = store
        self._queue = queueing.work_queue()
        self._rules = {rule.name: rule for rule in rules}
        self._concurrency = concurrency
        self._lease = lease
        self._say = say
        self._left = LeftBehind(store, scorers, projects, concurrency) if scorers else None
        self._tasks: dict[asyncio.Task[None], Claim] = {}
        self._settling: set[asyncio.Task[None]] = set()
        self._threads = DaemonExecutor(name="store")
        self._renew_at = self._compare_at = 0.0

    def stop(self) -> None:
        """Let `run` give back what is not done, and return. Any thread may call this."""
        self.stopping = True

    async def run(self, *, once: bool = False) -> None:
        """Work until `stop` is called; with `once`, until nothing is due.

        Raises:
            StoreError: with `once` alone, where the store cannot be used. Else it is tried again.
        """
        evaluating = Evaluating(self._store, self._ask)
        pause = POLL_SECONDS
        try:
            while not self.stopping:
                try:
                    idle = await self._step(evaluating, once=once)
                    pause = POLL_SECONDS
                except StoreError as error:
                    self.counts.away += 1
                    if once:
                        raise
                    self._say(f"the store cannot be used now: {error}; it is tried again")
                    idle, pause = True, min(pause * 2, _LONGEST_PAUSE)
                if once and idle and not self._tasks:
                    return
                await self._rest(pause if idle else _SOON)
        finally:
            await self._end()
            evaluating.close()

    async def _step(self, evaluating: Evaluating, *, once: bool) -> bool:
        """Renew, claim and begin what there is; returns True where there was nothing to begin."""
        now = time.monotonic()
        if now >= self._renew_at:
            await self._renew()
            self._renew_at = now + self._lease / 4
        if now >= self._compare_at:
            await self._compare()
            self._compare_at = now + _COMPARE_SECONDS
        resumed = await self._resume(once=once)
        free = self._concurrency - len(self._tasks)
        if free <= 0 or not self._rules:
            return not resumed
        claims: list[Claim] = await self._ask(
            lambda: self._queue.claim(self.owner, free, self._lease, rules=self._rules)
        )
        suspects = [claim for claim in claims if claim.tries > MOST_IN_COMPANY]
        if suspects:
            await self._alone(
                suspects[0], [claim for claim in claims if claim is not suspects[0]], evaluating
            )
            return False
        for claim in claims:
            self._begin(claim, evaluating)
        return not claims and not resumed

    async def _alone(self, claim: Claim, others: Sequence[Claim], evaluating: Evaluating) -> None:
        """Do one evaluation while nothing else is held: its workers died before."""
        await self._ask(lambda: self._queue.give_back(others, 0))
        while self._tasks and not self.stopping:
            await self._rest(POLL_SECONDS)
            await self._renew([claim])
        self._begin(claim, evaluating)
        while self._tasks and not self.stopping:
            await self._rest(POLL_SECONDS)
            await self._renew()

    def _begin(self, claim: Claim, evaluating: Evaluating) -> None:
        task = asyncio.get_running_loop().create_task(self._do(claim, evaluating))
        self._tasks[task] = claim
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        self._settling.discard(task)

    async def _do(self, claim: Claim, evaluating: Evaluating) -> None:
        try:
            ended = await evaluating.evaluate(claim, self._rules[claim.item.rule])
        except StoreError as error:
            self.counts.away += 1
            self._say(f"trace {claim.item.trace_id} cannot be read now: {error}; it is tried again")
            await self._give_back([claim], _LONGEST_PAUSE)
            return
        except Exception as error:  # choke-point: an evaluation that breaks is told, and breaks no other
            pass_on_interruption(error)
            ended = Settled(FAILED + error_text(error), [])
        task = asyncio.current_task()
        assert task is not None
        self._settling.add(task)
        if isinstance(ended, TooEarly):
            await self._give_back([claim], ended.seconds)
        else:
            await self._settle(claim, ended)

    async def _settle(self, claim: Claim, ended: Settled) -> None:
        """Store what came out, as soon as the store can be written; it is nobody's once the lease is lost."""
        pause = _SOON
        while True:
            try:
                settled = await self._ask(self._queue.settle, claim, ended.seen, ended.scores)
                break
            except StoreError as error:
                self.counts.away += 1
                if self.stopping:
                    return
                self._say(f"scores cannot be stored now: {error}; it is tried again")
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)
        counts = self.counts
        if not settled:
            counts.lost += 1
        elif ended.has_failed:
            counts.failed += 1
            self._say(f"trace {claim.item.trace_id}, rule {claim.item.rule!r}: {ended.seen}")
        elif ended.scores is None:
            counts.unchanged += 1
        else:
            counts.done += 1

    async def _give_back(self, claims: Sequence[Claim], seconds: float) -> None:
        if claims:
            try:
                await self._ask(lambda: self._queue.give_back(claims, seconds))
            except StoreError:  # the lease runs out, then others have them
                self.counts.away += 1

    async def _renew(self, more: Sequence[Claim] = ()) -> None:
        held = {task: claim for task, claim in self._tasks.items() if task not in self._settling}
        claims = [*held.values(), *more]
        if not claims:
            return
        kept_claims = set(await self._ask(lambda: self._queue.renew(claims, self._lease)))
        for task, claim in held.items():
            if claim not in kept_claims and not task.done() and task not in self._settling:
                self.counts.lost += 1
                task.cancel()

    async def _compare(self) -> None:
        """Say where another worker evaluates a rule of the same name in another way."""
        leasing = optional(self._store, KeepsUnsent)
        if leasing is None:
            return
        for rule in self._rules.values():
            name, digest, seconds = f"rule {rule.name}", rule.digest, 2.5 * _COMPARE_SECONDS
            if not await self._ask(lambda n=name, d=digest, s=seconds: leasing.lease(n, d, s)):
                self._say(
                    f"another worker evaluates the rule {rule.name!r} with other scorers or options: which "
                    "of them a trace gets is chance; give all workers the same rules"
                )

    async def _resume(self, *, once: bool) -> bool:
        """Go on with what processes left behind; returns True where there was any."""
        if self._left is None:
            return False
        number: int = await self._ask(lambda: self._left.resume(at_once=once))  # type: ignore[union-attr]
        self.counts.resumed += number
        return number > 0 or (once and self._left.busy)

    async def _rest(self, seconds: float) -> None:
        """Wait until an evaluation has ended, for at most so many seconds."""
        until = time.monotonic() + seconds
        while not self.stopping and (left := until - time.monotonic()) > 0:
            if self._tasks:
                done, _ = await asyncio.wait(
                    self._tasks, timeout=min(left, 0.1), return_when=asyncio.FIRST_COMPLETED
                )
                if done:
                    return
            else:
                await asyncio.sleep(min(left, 0.1))

    async def _end(self) -> None:
        """Give back what is not done, once what is being stored is."""
        if self._left is not None:
            await self._ask(self._left.close)
        for task in list(self._tasks):
            if task not in self._settling:
                task.cancel()
        claims = [claim for task, claim in self._tasks.items() if task not in self._settling]
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._give_back(claims, 0)
        self._threads.shutdown(wait=False)

    async def _ask(self, function: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: function(*args))
