"""Event loops for the user's coroutines: one on a daemon thread of ours, or one that runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context
from typing import Any, TypeVar

from agenttrace.process.said_once import SaidOnce
from agenttrace.process.threads import start_thread

T = TypeVar("T")


class EventLoop:
    """An event loop as other threads see it. Callers set `blocked` when it does not answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.blocked = False
        self._loop = loop

    @classmethod
    def running(cls) -> EventLoop:
        """The loop that runs in this thread."""
        return cls(asyncio.get_running_loop())

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
        try:
            self._loop.call_soon_threadsafe(lambda: started.result().cancel())
        except RuntimeError:  # the loop is closed, and the task is over
            pass

    def task_of(self, started: Future[asyncio.Task[Any]]) -> asyncio.Task[Any] | None:
        """The task that `start` began, None where it has not begun yet."""
        return started.result() if started.done() else None

    def runs(self, started: Future[asyncio.Task[Any]]) -> bool:
        """Returns True if the loop executes this task at the moment. May be called on any thread."""
        return started.done() and asyncio.current_task(self._loop) is started.result()

    def answer(self) -> Future[None]:
        """What is done as soon as this loop runs a callback."""
        answer: Future[None] = Future()
        self._loop.call_soon_threadsafe(answer.set_result, None)
        return answer


class LoopThread(EventLoop):
    """An event loop on its own daemon thread.

    The user's code that runs there cannot end it. If that code stops the loop, or raises SystemExit or
    KeyboardInterrupt in a task or a callback, asyncio leaves `run_forever`, and everything else on the loop
    would wait for ever. So the loop is run again, until `close`.
    """

    def __init__(self, name: str, executor: ThreadPoolExecutor | None = None) -> None:
        super().__init__(asyncio.new_event_loop())
        self._closing = False
        self._name = name
        self._warnings = SaidOnce()
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

    def call(self, coroutine: Coroutine[Any, Any, T], within: float | None = None) -> T:
        """Run a coroutine here, and wait for what it returns or raises. Not to be called on this thread.

        Raises:
            TimeoutError: it was cancelled, as it did not end within so many seconds.
        """
        running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return running.result(within)
        finally:
            running.cancel()  # where the wait ended before it

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
    `executor` is the default one of the loop, `name` that of its thread.
    """

    def __init__(self, executor: ThreadPoolExecutor | None = None, name: str = "async") -> None:
        self._name = name
        self._executor = executor
        self._lock = threading.Lock()
        self._loop: LoopThread | None = None

    def loop(self) -> LoopThread:
        """The loop; its thread is started when it is first asked for. May be called on any thread."""
        with self._lock:
            if self._loop is None or self._loop.blocked or not self._loop.alive:
                self._loop = LoopThread(self._name, self._executor)
            return self._loop

    def close(self, within: float = 1.0) -> None:
        """End the loop, if there is one."""
        if self._loop is not None:
            self._loop.close(within)

    def __del__(self) -> None:
        self.close(within=0)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.keeper = LoopKeeper()


_of_thread = _OfThread()


def loop_keeper() -> LoopKeeper:
    """The keeper of the calling thread's loop."""
    return _of_thread.keeper
