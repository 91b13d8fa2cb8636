"""Isolate the user's code: a call gets its time and no more, whatever it does to its thread or its loop.

What is done for a call is written once, as steps: a generator that yields what is to be waited for. Whoever
carries the steps decides how to wait: `carried` awaits, on an event loop; a runner of an evaluation is a
thread, which makes plain calls itself.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from concurrent.futures import CancelledError, Executor, Future
from contextvars import Context
from threading import get_ident
from types import FunctionType, MethodType
from typing import Any, Final, NamedTuple, TypeVar

from agenttrace.core.errors import ConfigError
from agenttrace.core.snapshot import LEAVES
from agenttrace.process.loop_thread import EventLoop
from agenttrace.process.threads import DaemonExecutor, set_once, settle
from agenttrace.scoring.hanging import NOWHERE, Place, place_of_task, place_of_thread

T = TypeVar("T")

ANSWER_WITHIN = 1.0
"""Seconds in which the loop of the user's coroutines must answer after a timeout; else it is blocked."""


class Outcome(NamedTuple):
    """How a call ended: with a value, with an error, or not in time. `duration` is in seconds.

    `blocked_by_other`: not in time because another call blocked the event loop. `place`: where a call that
    is late stood at that moment.
    """

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False
    blocked_by_other: bool = False
    duration: float = 0.0
    place: Place = NOWHERE


LATE: Final = Outcome(timed_out=True)


class Call(NamedTuple):
    """One call to make: `function` with its arguments, in `context`, within `timeout` seconds."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    context: Context
    timeout: float | None


class Wait(NamedTuple):
    """To be waited for, `timeout` seconds at most. The answer is whether the future is done."""

    future: Future[Any]
    timeout: float | None


AGENT_IS_BACK: Final = None
"""The step between the agent and the scorers of an example: what follows may overlap with other agents."""

_LEFT_BY_WRAPS = frozenset({"__wrapped__"})
_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Steps = Generator["Call | Wait | None", Any, T]
"""What is done until there is a T. To a `Call` the answer is its `Outcome`, to a `Wait` whether it is
done."""


class Interrupted(Exception):
    """The user's code raised KeyboardInterrupt, so the evaluation stops.

    KeyboardInterrupt itself would break the engine's event loop instead of ending its tasks.
    """


class Refused(ConfigError):
    """The user's executor cannot run a call. That says nothing about the function of the call."""


class Isolation:
    """Where the calls of one evaluation run; any number of threads may carry its steps.

    Plain functions run on `executor`; without one, they are left to whoever carries the steps. Coroutines run
    on the event loop that `loop` returns. Where that is the loop that carries the steps, nothing can be done
    about one that blocks it.
    """

    def __init__(self, executor: Executor | None, loop: Callable[[], EventLoop]) -> None:
        self._executor = executor
        self._loop = loop
        self._running: dict[Future[asyncio.Task[None]], EventLoop] = {}

    def run(self, call: Call) -> Steps[Outcome]:
        """Make a plain or async call, and return its outcome, also where it raises.

        The value of a generator is the list of the items that it yields.

        Raises:
            Interrupted: the callable raised KeyboardInterrupt.
        """
        start = time.perf_counter()
        if is_async(call.function):
            outcome = yield from self._on_loop(call)
        else:
            outcome = yield from self._on_thread(call)
            value = outcome.value
            if type(value) not in LEAVES and isinstance(value, Awaitable | AsyncGenerator):
                timeout = call.timeout
                rest = None if timeout is None else max(timeout - (time.perf_counter() - start), 0.0)
                outcome = yield from self._on_loop(Call(_itself, (value,), {}, call.context, rest))
        if outcome.error is not None and isinstance(outcome.error, KeyboardInterrupt):
            raise Interrupted
        value, error, timed_out, blocked, _, place = outcome
        return Outcome(value, error, timed_out, blocked, time.perf_counter() - start, place)

    def _on_thread(self, call: Call) -> Steps[Outcome]:
        if self._executor is None:
            outcome: Outcome = yield call
            return outcome
        job = Job(call)
        try:
            execution = self._executor.submit(job.run)
        except BaseException as refusal:  # choke-point: of an executor of the user's, such as one shut down
            if isinstance(self._executor, DaemonExecutor):  # no thread can be started
                raise
            return _refused(refusal)
        in_time = False
        try:
            in_time = yield Wait(execution, call.timeout)
        finally:
            job.abandoned = not in_time
        if not in_time:
            return LATE._replace(place=job.place)
        if execution.cancelled():
            return _refused(CancelledError("the call was cancelled"))
        error = execution.exception()  # the executor's: the job raises nothing
        return execution.result() if error is None else _refused(error)

    def _on_loop(self, call: Call) -> Steps[Outcome]:
        loop = self._loop()
        future: Future[Outcome] = Future()
        task = loop.start(lambda: _consume(call), call.context, future.set_result)
        self._running[task] = loop
        in_time, place = False, NOWHERE
        try:
            in_time = yield Wait(future, call.timeout)
        finally:
            self._running.pop(task, None)
            if not in_time:
                place = place_of_task(loop.task_of(task))
                loop.cancel(task)
        if in_time:
            return future.result()
        if loop.blocked or not (yield Wait(loop.answer(), ANSWER_WITHIN)):
            loop.blocked = True  # later calls get a fresh one
            return LATE._replace(blocked_by_other=not loop.runs(task), place=place)
        return LATE._replace(place=place)

    def close(self) -> None:
        """Cancel the coroutines that still run."""
        for task, loop in list(self._running.items()):
            loop.cancel(task)


class Job:
    """A call on the thread that makes it. Others may look where it stands, and abandon it."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._thread_id: int | None = None
        self.abandoned = False
        self.due = math.inf if call.timeout is None else time.perf_counter() + call.timeout

    @property
    def place(self) -> Place:
        """Where the call stands; nowhere if it has not begun."""
        return place_of_thread(self._thread_id)

    def run(self) -> Outcome:
        """Make the call. Never raises."""
        self._thread_id = get_ident()
        process = os.getpid()
        try:
            return Outcome(self._call.context.run(self._value))
        except BaseException as error:  # choke-point: whatever the user's code raises is the outcome
            return Outcome(error=error)
        finally:
            if (
                os.getpid() != process
            ):  # a child of a fork in that code: what waits for the outcome is not here
                os._exit(0)

    def _value(self) -> Any:
        value = self._call.function(*self._call.args, **self._call.kwargs)
        if type(value) in LEAVES or not isinstance(value, Generator):
            return value
        items: list[Any] = []
        for item in value:
            if self.abandoned:
                value.close()
                break
            items.append(item)
        return items


async def carried(steps: Steps[T], agent_is_back: Callable[[], object] | None = None) -> T:
    """Carry steps on the running event loop; plain calls have an executor."""
    answer: Any = None
    try:
        while True:
            step = steps.send(answer)
            if isinstance(step, Wait):
                answer = await _arrives(step)
            elif isinstance(step, Call):
                raise TypeError("steps on an event loop need an executor for plain calls")
            else:
                answer = None
                if agent_is_back is not None:
                    agent_is_back()
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


async def _arrives(wait: Wait) -> bool:
    if not wait.future.done():
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        wait.future.add_done_callback(lambda _: settle(waiter, None))
        timer = None if wait.timeout is None else loop.call_later(wait.timeout, set_once, waiter, None)
        try:
            await waiter
        finally:
            if timer is not None:
                timer.cancel()
    return wait.future.done()


def _refused(error: BaseException) -> Outcome:
    text = f"the executor could not run the call: {error or type(error).__name__}; give one of threads"
    return Outcome(error=Refused(text))


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
    plain = function.__func__ if isinstance(function, MethodType) else function
    if type(plain) is FunctionType and plain.__dict__.keys() <= _LEFT_BY_WRAPS:  # nothing else marks it
        return bool(plain.__code__.co_flags & _ASYNC)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return True
    if isinstance(function, FunctionType | MethodType | type):
        return False
    call = getattr(type(function), "__call__", None)  # noqa: B004 - its kind is asked, not its existence
    return inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call)
