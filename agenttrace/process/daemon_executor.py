"""A thread pool whose daemon threads the end of the process does not wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 32
"""How many calls run at a time; asyncio's own executor has that many at most."""


class DaemonExecutor(ThreadPoolExecutor):
    """A pool of daemon threads, made as they are needed, kept for the next call.

    It is the default executor of our event loops, in which asyncio looks up host names. Python waits at its
    exit for the threads of any other executor, however long a name server takes. Each call runs with the
    context variables of the code that submitted it.
    """

    def __init__(self, threads: int = THREADS) -> None:
        super().__init__(max_workers=threads)
        self._limit = threads
        self._thread_count = 0
        self._idle = threading.Semaphore(0)
        self._count_lock = threading.Lock()
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call as soon as a thread is free. Any number of calls may wait."""
        future: Future[T] = Future()
        context = copy_context()
        self._calls.put(lambda: _run(future, lambda: context.run(fn, *args, **kwargs)))
        if not self._idle.acquire(blocking=False):
            self._add_thread()
        return future

    def _add_thread(self) -> None:
        with self._count_lock:
            if self._thread_count < self._limit:
                self._thread_count += 1
                threading.Thread(target=self._serve, name="agenttrace-pool", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._calls.get()()
            self._idle.release()


def _run(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # choke-point: whoever waits for the future gets it
        future.set_exception(error)
