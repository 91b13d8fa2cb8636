"""An event loop on a daemon thread: the bridge from plain code to coroutines."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import Context, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

logger = logging.getLogger("agenttrace")

NOTICE = 0.1
"""Seconds after which a waiting thread looks up: a signal that arrives just before it starts to wait, or on
Windows at any time, does not wake it."""

WIND_UP = 5.0
"""Seconds that an interrupted engine gets to store what it has."""


class LoopThread:
    """An event loop on its own daemon thread. `blocked` is noted by who found that it does not answer.

    The user's code that runs there does not end it. Where that stops the loop, or raises SystemExit or
    KeyboardInterrupt in a task or a callback, asyncio leaves `run_forever`, and everything else on the loop
    would wait for ever: so the loop is run again, until `close`.
    """

    def __init__(self, name: str, executor: ThreadPoolExecutor | None = None) -> None:
        self.blocked = False
        self._closing = False
        self._name = name
        self._loop = asyncio.new_event_loop()
        if executor is not None:
            self._loop.set_default_executor(executor)
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not (self._closing or self._loop.is_closed()):
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt):  # anything else is kept by the task that raised it
                logger.warning("code on the event loop %s tried to end its thread", self._name, exc_info=True)
        self._loop.close()

    @property
    def alive(self) -> bool:
        """Whether the loop's thread still runs."""
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
        """Cancel what `start` began; from any thread, without waiting."""
        self._loop.call_soon_threadsafe(lambda: started.result().cancel())

    def runs(self, started: Future[asyncio.Task[Any]]) -> bool:
        """Whether what `start` began is what the loop executes at this moment; from any thread."""
        return started.done() and asyncio.current_task(self._loop) is started.result()

    async def answers(self, within: float) -> bool:
        """Whether this loop still runs callbacks. Awaited on another loop."""
        asking = asyncio.get_running_loop()
        answered = asyncio.Event()

        def answer() -> None:
            try:
                asking.call_soon_threadsafe(answered.set)
            except RuntimeError:  # the answer comes after the one who asked has gone
                pass

        self._loop.call_soon_threadsafe(answer)
        try:
            await asyncio.wait_for(answered.wait(), within)
        except TimeoutError:
            return False
        return True

    def close(self, within: float = 1.0) -> None:
        """Cancel what is left and end the loop; a blocked one is left behind after `within` seconds."""
        if self.alive:
            asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop)
        self._thread.join(within)

    async def _wind_up(self) -> None:
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        try:
            if rest:
                await asyncio.wait(rest, timeout=0.5)
            await self._loop.shutdown_asyncgens()
        finally:
            self._closing = True
            self._loop.stop()


def wait_for(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end from plain code, also inside a running event loop, as in a notebook.

    It sees a copy of the caller's context variables. What a signal handler raises in the waiting thread, as
    Control-C raises KeyboardInterrupt, cancels the coroutine and reaches the caller once it has wound up.

    Raises:
        RuntimeError: the loop was closed under the coroutine, so that it cannot end.
    """
    bridge = LoopThread("agenttrace-evaluation")
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
