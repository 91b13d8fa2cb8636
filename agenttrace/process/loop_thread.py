"""An event loop on a daemon thread: the bridge from plain code to coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import Context, copy_context
from typing import Any, TypeVar

from agenttrace.process.said_once import SaidOnce
from agenttrace.process.threads import settle, start_thread

T = TypeVar("T")

NOTICE = 0.1
"""Seconds after which a waiting thread wakes to handle signals: one that arrives just before the wait, or on
Windows at any time, does not wake it."""

WIND_UP = 5.0
"""Seconds that an interrupted evaluation gets to store its results."""


class LoopThread:
    """An event loop on its own daemon thread. Callers set `blocked` when the loop does not answer.

    The user's code that runs there cannot end it. If that code stops the loop, or raises SystemExit or
    KeyboardInterrupt in a task or a callback, asyncio leaves `run_forever`, and everything else on the loop
    would wait for ever. So the loop is run again, until `close`.
    """

    def __init__(self, name: str, executor: ThreadPoolExecutor | None = None) -> None:
        self.blocked = False
        self._closing = False
        self._name = name
        self._warnings = SaidOnce()
        self._loop = asyncio.new_event_loop()
        if executor is not None:
            self._loop.set_default_executor(executor)
        self._thread = start_thread(self._serve, name)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not (self._closing or self._loop.is_closed()):
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:  # all else is kept by the task that raised it
                text = f"code on the event loop {self._name} tried to end its thread"
                self._warnings.warn(type(error).__name__, text, error, traceback="with")
        self._loop.close()

    @property
    def alive(self) -> bool:
        """Returns True while the loop's thread runs."""
        return self._thread.is_alive()

    def start(
        self, make: Callable[[], Coroutine[Any, Any, T]], context: Context, done: Callable[[T], None]
    ) -> Future[asyncio.Task[None]]:
        """Run a coroutine that never raises in `context`; `done` gets its value, on this loop's thread."""
        started: Future[asyncio.Task[None]] = Future()

        async def report() -> None:
            done(await make())

        def begin() -> None:
            started.set_result(self._loop.create_task(report(), context=context))

        self._loop.call_soon_threadsafe(begin)
        return started

    def cancel(self, started: Future[asyncio.Task[Any]]) -> None:
        """Cancel a task that `start` began. May be called on any thread; does not wait."""
        self._loop.call_soon_threadsafe(lambda: started.result().cancel())

    def task_of(self, started: Future[asyncio.Task[Any]]) -> asyncio.Task[Any] | None:
        """The task that `start` began, None where it has not begun yet."""
        return started.result() if started.done() else None

    def runs(self, started: Future[asyncio.Task[Any]]) -> bool:
        """Returns True if the loop executes this task at the moment. May be called on any thread."""
        return started.done() and asyncio.current_task(self._loop) is started.result()

    async def answers(self, within: float) -> bool:
        """Returns True if this loop runs a callback in time. To be awaited on another loop."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._loop.call_soon_threadsafe(settle, answer, None)
        try:
            await asyncio.wait_for(answer, within)
        except TimeoutError:
            return False
        return True

    def close(self, within: float = 1.0) -> None:
        """Cancel the tasks and end the loop. After `within` seconds, a blocked loop is abandoned."""
        if self.alive:
            asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop)
        self._thread.join(within)

    async def _wind_up(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=0.5)
            await self._loop.shutdown_asyncgens()
        finally:
            self._closing = True
            self._loop.stop()


class LoopKeeper:
    """Keeps one loop for the coroutines of a thread's plain code, until that thread ends.

    What is bound to a loop, such as a client that keeps connections, so goes on working in the next
    evaluation of the thread. A loop that does not answer, or that a fork left behind, is replaced.
    """

    def __init__(self) -> None:
        self._loop: LoopThread | None = None

    def loop(self) -> LoopThread:
        """The loop; its thread is started when it is first asked for."""
        if self._loop is None or self._loop.blocked or not self._loop.alive:
            self._loop = LoopThread("async")
        return self._loop

    def __del__(self) -> None:
        if self._loop is not None:
            self._loop.close(within=0)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.keeper = LoopKeeper()


_of_thread = _OfThread()


def loop_keeper() -> LoopKeeper:
    """The keeper of the calling thread's loop."""
    return _of_thread.keeper


def wait_for(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end from plain code, also inside a running event loop, as in a notebook.

    It sees a copy of the caller's context variables. If a signal handler raises in the waiting thread, as
    Control-C raises KeyboardInterrupt, the coroutine is cancelled, and the exception is raised once that has
    ended.

    Raises:
        RuntimeError: the loop was closed under the coroutine, so that it cannot end.
    """
    bridge = LoopThread("evaluation")
    result: Future[T] = Future()

    async def run() -> None:
        try:
            result.set_result(await make())
        except BaseException as error:  # choke-point: the caller's thread raises it
            result.set_exception(error)

    task = bridge.start(run, copy_context(), lambda _: None)
    try:
        while not wait((result,), timeout=NOTICE).done:
            if not bridge.alive and not result.done():
                raise RuntimeError("the event loop of the evaluation was closed while it ran")
        return result.result()
    except BaseException:
        if bridge.alive:
            bridge.cancel(task)
            _let_wind_up(result)
        raise
    finally:
        bridge.close()


def _let_wind_up(result: Future[Any]) -> None:
    try:
        result.exception(timeout=WIND_UP)
    except BaseException:  # choke-point: cancelled, or not in time: the interrupt goes on either way
        pass
