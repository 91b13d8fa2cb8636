"""Run the user's code on threads and a loop that can be abandoned after a timeout.

A plain function runs on a daemon thread, a coroutine on an event loop of its own daemon thread. Neither can
block the engine: after the timeout the call is abandoned, and the next one gets another thread, or another
loop where the old one no longer answers. A daemon thread that never ends does not keep the process alive.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextvars import Context
from dataclasses import dataclass, replace
from threading import get_ident
from types import FunctionType, MethodType
from typing import Any, Final

from agenttrace.core.errors import ConfigError
from agenttrace.process.loop_thread import LoopKeeper, LoopThread
from agenttrace.process.threads import DaemonExecutor, set_once, settle
from agenttrace.scoring.hanging import place_of_task, place_of_thread

ANSWER_WITHIN = 1.0
"""Seconds in which the loop of the user's coroutines must answer after a timeout; else it is blocked."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: with a value, with an error, or not in time. `duration` is in seconds.

    `blocked_by_other`: not in time because another call blocked the event loop. `place`: where a call that
    is late stood at that moment, as the lines of a traceback.
    """

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False
    blocked_by_other: bool = False
    duration: float = 0.0
    place: str = ""


LATE: Final = Outcome(timed_out=True)


@dataclass(frozen=True, slots=True)
class Call:
    """One call to run: `function` with its arguments, in `context`."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    context: Context


class Interrupted(Exception):
    """The user's code raised KeyboardInterrupt, so the evaluation stops.

    KeyboardInterrupt itself would break the engine's event loop instead of ending its tasks.
    """


class Refused(ConfigError):
    """The user's executor cannot run a call. That says nothing about the function of the call."""


class Isolation:
    """The threads and the loop of one evaluation. Used from the engine's loop only.

    Plain functions run on `executor`, or on new daemon threads. Coroutines run on the loop of the engine
    itself where `on_this_loop` says so: then nothing can be done about one that blocks it. Else they run on
    the loop that `keeper` keeps beyond this evaluation, or on a new one whose default executor is `of_loop`.
    """

    def __init__(
        self,
        executor: Executor | None = None,
        *,
        of_loop: ThreadPoolExecutor | None = None,
        on_this_loop: bool = False,
        keeper: LoopKeeper | None = None,
    ) -> None:
        self._executor_is_ours = executor is None
        self._executor = DaemonExecutor(math.inf, name="eval") if executor is None else executor
        self._of_loop = of_loop
        self._on_this_loop = on_this_loop
        self._keeper = keeper
        self._loop: LoopThread | None = None
        self._running: set[Future[asyncio.Task[None]]] = set()

    async def run(self, call: Call, timeout: float | None) -> Outcome:
        """Run a plain or async callable and return its outcome, also where it raises.

        The value of a generator is the list of the items that it yields.

        Raises:
            Interrupted: the callable raised KeyboardInterrupt.
        """
        start = time.perf_counter()
        if is_async(call.function):
            outcome = await self._on_loop(call, timeout)
        else:
            outcome = await self._on_thread(call, timeout)
            if isinstance(outcome.value, Awaitable | AsyncGenerator):
                remaining = None if timeout is None else max(timeout - (time.perf_counter() - start), 0.0)
                outcome = await self._on_loop(Call(_itself, (outcome.value,), {}, call.context), remaining)
        if isinstance(outcome.error, KeyboardInterrupt):
            raise Interrupted
        return replace(outcome, duration=time.perf_counter() - start)

    async def _on_thread(self, call: Call, timeout: float | None) -> Outcome:
        job = _Job(call)
        try:
            self._executor.submit(job.run).add_done_callback(job.finish)
        except RuntimeError as error:
            if self._executor_is_ours:  # no thread can be started
                raise
            job.refuse(error)  # it was shut down meanwhile
        outcome = LATE
        try:
            outcome = await _in_time(job.future, timeout)
        finally:
            job.abandoned = outcome is LATE
        return replace(LATE, place=place_of_thread(job.thread_id)) if outcome is LATE else outcome

    async def _here(self, call: Call, timeout: float | None) -> Outcome:
        """Run a coroutine on the running loop."""
        task = asyncio.get_running_loop().create_task(_consume(call), context=call.context)
        try:
            await asyncio.wait((task,), timeout=timeout)
            if task.done():
                return task.result()
            return replace(LATE, place=place_of_task(task))
        finally:
            task.cancel()

    async def _on_loop(self, call: Call, timeout: float | None) -> Outcome:
        if self._on_this_loop:
            return await self._here(call, timeout)
        if self._loop is None or not self._loop.alive:
            keeper = self._keeper
            self._loop = LoopThread("async", self._of_loop) if keeper is None else keeper.loop()
        loop = self._loop
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        task = loop.start(lambda: _consume(call), call.context, lambda outcome: settle(future, outcome))
        self._running.add(task)
        outcome = LATE
        place = ""
        try:
            outcome = await _in_time(future, timeout)
        finally:
            self._running.discard(task)
            if outcome is LATE:
                place = place_of_task(loop.task_of(task))
                loop.cancel(task)
        if outcome is LATE and (loop.blocked or not await loop.answers(ANSWER_WITHIN)):
            loop.blocked = True
            if self._loop is loop:
                self._loop = None  # something blocks it: later calls get a fresh one
            return replace(LATE, blocked_by_other=not loop.runs(task), place=place)
        return replace(LATE, place=place) if outcome is LATE else outcome

    def close(self) -> None:
        """End each thread as soon as it is idle, and cancel the calls that still run on the loop."""
        if self._executor_is_ours:
            self._executor.shutdown()
        if self._loop is None:
            return
        if self._keeper is None:
            self._loop.close()
        elif self._loop.alive:
            for task in tuple(self._running):
                self._loop.cancel(task)


class _Job:
    """One call on a thread, with the future that gets its outcome."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.abandoned = False
        self.thread_id: int | None = None

    def run(self) -> Outcome:
        """Make the call. Never raises."""
        self.thread_id = get_ident()
        try:
            return Outcome(self.call.context.run(self._value))
        except BaseException as error:  # choke-point: whatever the user's code raises is the outcome
            return Outcome(error=error)

    def finish(self, execution: Future[Outcome]) -> None:
        """Hand over the outcome. `run` never raises: an error is the executor's, and the call never began."""
        if execution.cancelled():
            self.refuse(CancelledError("the call was cancelled"))
        elif (error := execution.exception()) is not None:
            self.refuse(error)
        else:
            settle(self.future, execution.result())

    def refuse(self, error: BaseException) -> None:
        """Say as the outcome that the user's executor could not run the call."""
        text = f"the executor could not run the call: {error or type(error).__name__}; give one of threads"
        settle(self.future, Outcome(error=Refused(text)))

    def _value(self) -> Any:
        value = self.call.function(*self.call.args, **self.call.kwargs)
        if not isinstance(value, Generator):
            return value
        items: list[Any] = []
        for item in value:
            if self.abandoned:
                value.close()
                break
            items.append(item)
        return items


async def _in_time(future: asyncio.Future[Outcome], timeout: float | None) -> Outcome:
    """Return the outcome, or `LATE`. Cheaper than `asyncio.wait_for`, and nothing is cancelled."""
    if timeout is None:
        return await future
    timer = future.get_loop().call_later(timeout, set_once, future, LATE)
    try:
        return await future
    finally:
        timer.cancel()


async def _consume(call: Call) -> Outcome:
    try:
        value = call.function(*call.args, **call.kwargs)
        if isinstance(value, AsyncGenerator):
            return Outcome([item async for item in value])
        return Outcome(await value if isinstance(value, Awaitable) else value)
    except BaseException as error:  # choke-point: whatever the user's code raises is the outcome
        return Outcome(error=error)


def _itself(value: Any) -> Any:
    return value


def is_async(function: Callable[..., Any]) -> bool:
    """Return True if a call of it makes a coroutine or an async generator; `__call__` is looked at, too."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return True
    if isinstance(function, FunctionType | MethodType | type):
        return False
    call = getattr(type(function), "__call__", None)  # noqa: B004 - its kind is asked, not its existence
    return inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call)
