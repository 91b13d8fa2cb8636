"""Daemon threads of ours: started in one way, as a pool, or as one whose worker is replaced when it dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from agenttrace.core.errors import error_text
from agenttrace.process.said_once import SaidOnce

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
T = TypeVar("T")

POOL_THREADS = 32
"""How many calls a pool runs at a time; asyncio's own executor has that many at most."""

PAUSES = (0.1, 0.5, 2.0)
"""Seconds to wait after each death before the next worker starts."""

CALM_SECONDS = 60.0
"""Seconds of life after which a worker's death counts as the first again."""


def start_thread(run: Callable[[], object], name: str) -> threading.Thread:
    """Start a thread that the end of the process does not wait for, and that no recorded call goes on in.

    Raises:
        RuntimeError: no new thread can be started.
    """
    thread = threading.Thread(target=run, name=f"agenttrace-{name}", daemon=True)
    thread.agenttrace_internal = True  # type: ignore[attr-defined] # seen by the thread patch
    thread.start()
    return thread


def no_thread_at_the_end(error: BaseException) -> bool:
    """Return True if an error says that no thread can be started because the process ends (Python 3.12)."""
    return issubclass(type(error), RuntimeError) and getattr(threading, "_SHUTTING_DOWN", False)


def settle(future: asyncio.Future[T], value: T) -> None:
    """Give a future its value from another thread; drop it where nothing waits for it any more."""
    try:
        future.get_loop().call_soon_threadsafe(set_once, future, value)
    except RuntimeError:  # the future's loop is closed
        pass


def set_once(future: asyncio.Future[T], value: T) -> None:
    """Give a future its value, on its own loop, unless it has one."""
    if not future.done():
        future.set_result(value)


class DaemonExecutor(ThreadPoolExecutor):
    """A pool of daemon threads, made as they are needed, kept for the next call.

    It is the default executor of our event loops, in which asyncio looks up host names, and runs the user's
    plain functions. Python waits at its exit for the threads of any other executor, however long a name
    server takes. Each call runs with the context variables of the code that submitted it.
    """

    def __init__(self, limit: float = POOL_THREADS, *, name: str = "pool") -> None:
        super().__init__()
        self._limit = limit
        self._name = name
        self._thread_count = 0
        self._count_lock = threading.Lock()
        self._idle = threading.Semaphore(0)
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._ended = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call as soon as a thread is free. Any number of calls may wait.

        Raises:
            RuntimeError: no new thread can be started, or the pool was shut down; the call is not made.
        """
        if self._ended:
            raise RuntimeError("the pool of threads was shut down")
        if not self._idle.acquire(blocking=False):
            self._add_thread()
        future: Future[T] = Future()
        context = copy_context()
        self._calls.put((future, lambda: context.run(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end when they have made the calls that were submitted. Waits for none of them."""
        self._ended = True
        self._calls.put(None)

    def _add_thread(self) -> None:
        with self._count_lock:
            if self._thread_count < self._limit:
                start_thread(self._serve, self._name)
                self._thread_count += 1

    def _serve(self) -> None:
        while self._make_next_call():
            pass
        self._calls.put(None)  # for the next thread

    def _make_next_call(self) -> bool:
        """Wait for a call and make it. Returns False when there will be no more."""
        item = self._calls.get()
        if item is None:
            return False
        future, call = item
        if not future.set_running_or_notify_cancel():
            self._idle.release()
            return True
        try:
            value = call()
        except BaseException as error:  # choke-point: whoever waits for the future gets it
            self._idle.release()  # first, so that whoever submits another call upon this one gets this thread
            future.set_exception(error)
        else:
            self._idle.release()
            future.set_result(value)
        return True


class Worker(Protocol):
    """What a `SupervisedThread` runs. It must end soon after `stopping` is set."""

    stopping: bool

    async def run(self) -> None:
        """Work until `stopping`."""
        ...


class SupervisedThread:
    """Runs one worker until it is stopped; `alive` until then.

    When a worker dies, another takes over its work; when that does not help, `give_up` is called with the
    reason. If a process forks while a thread imports a module, the module's lock stays locked in the child,
    which would wait for it for ever. So `ready` is set when the imports are done, and a fork waits for that.
    """

    def __init__(self, make: Callable[[], Worker], give_up: Callable[[str], None], *, name: str) -> None:
        self.alive = True
        self.ready = threading.Event()
        self._name = name
        self._warnings = SaidOnce()
        self._make = make
        self._give_up = give_up
        self._stopped = threading.Event()
        self._worker: Worker | None = None
        self._thread = start_thread(self._serve, name)

    def stop(self, wait: float) -> bool:
        """Ask the worker to store what it has and end. Returns False if it runs on after `wait` seconds."""
        self._stopped.set()
        worker = self._worker
        if worker is not None:
            worker.stopping = True
        self._thread.join(wait)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        deaths = 0
        try:
            while not self._stopped.is_set():
                began = time.monotonic()
                reason = self._run()
                if reason is None:
                    return
                deaths = 1 if time.monotonic() - began > CALM_SECONDS else deaths + 1
                if deaths > len(PAUSES):
                    self._give_up(reason)
                    return
                self._stopped.wait(PAUSES[deaths - 1])
        finally:
            self.alive = False
            self.ready.set()

    def _run(self) -> str | None:
        """Make a worker and run it. Returns why it died, or None."""
        import asyncio

        try:
            worker = self._worker = self._make()
            self.ready.set()
            if self._stopped.is_set():  # `stop` was called just before
                worker.stopping = True
            asyncio.run(worker.run())
        except BaseException as error:  # choke-point: another worker takes over
            reason = error_text(error)
            self._warnings.warn(reason, f"{self._name} starts anew after", error)
            return reason
        return None
