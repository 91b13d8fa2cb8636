"""The background thread that sends what waits in a store for one destination."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import threading
import time
from _thread import allocate_lock
from collections.abc import Callable
from queue import Empty, SimpleQueue

from agenttrace.core.batch import Destination, Unsent
from agenttrace.core.protocols import KeepsUnsent
from agenttrace.exporters.otlp_http import SendFailure, SendResult, SendsUnsent
from agenttrace.http.transport import pause_before
from agenttrace.process.threads import DaemonExecutor, start_thread

LINGER_SECONDS = 1.0
"""How long the first batch waits for others, so that they go in one request."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between attempts while the collector is in trouble; also the most that its Retry-After is given."""

LEASE_SECONDS = 5.0
"""After how long without renewal another process may send: a process that died renews no lease."""

MAX_BYTES = 4 * 1024 * 1024
"""Bytes of one request before compression: what collectors take by default."""

MAX_ITEMS = 2_000
"""Spans or scores of one request."""

TRIAL_ITEMS = 20
"""The same for the first request after a failure: while a collector is down, little is encoded for it."""

MIN_BYTES = 64 * 1024
"""Requests are halved down to this size while they are not answered in time, until nothing waits any more."""

_POLL_SECONDS = 5.0
_OTHER_PROCESS_SENDS = SendFailure("another process is sending", retry_after=1.0)

log = logging.getLogger("agenttrace")


class BackgroundSender:
    """Sends what waits in a store, one request at a time, oldest first; pauses while that fails.

    Everything happens on a daemon thread, which the first notice starts. Who stores never waits for it: they
    share a queue of wake-ups and counters. Of several processes that share a store, one sends at a time.
    """

    def __init__(self, client: SendsUnsent, *, name: str) -> None:
        self._client = client
        self._name = name
        self._store: KeepsUnsent | None = None
        self._destination = Destination(name, "spans")
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._wakeups: SimpleQueue[None] = SimpleQueue()
        self._starting = allocate_lock()
        self._thread: threading.Thread | None = None
        self._cancel: Callable[[], object] | None = None
        self._tick = itertools.count(1).__next__
        # Each flush and each pass takes the next tick; a pass serves all flushes before it.
        self._urgent_tick = self._pass_tick = self._sent_tick = self._failed_tick = 0
        self._closing = self._gave_up = False
        self._failures = 0
        self._next_attempt_at = 0.0
        self._max_bytes = MAX_BYTES
        self.trouble: SendFailure | None = None
        self.sent = 0

    def attach(self, store: KeepsUnsent, destination: Destination) -> None:
        """Take the store to read from."""
        self._store, self._destination = store, destination

    def notice(self) -> None:
        """Wake the thread: there is something to send."""
        if not (self._gave_up or self._closing):
            self._ensure_thread()
            if self._wakeups.empty():
                self._wakeups.put(None)

    def flush(self, timeout: float) -> bool:
        """Send what waits, for at most `timeout` seconds. Returns True if all of it was sent.

        Returns False at once while the collector is in trouble, or another process is sending.
        """
        if self._gave_up or self._closing or time.monotonic() < self._next_attempt_at:
            return False
        self._urgent_tick = tick = self._tick()
        self.notice()
        deadline = time.monotonic() + timeout
        while self._sent_tick < tick:
            if self._failed_tick > tick or time.monotonic() >= deadline or self._thread is None:
                return False
            time.sleep(0.005)
        return True

    def close(self, timeout: float = 1.0) -> None:
        """Stop, also amid a request; what was not sent stays in the store."""
        self._closing = True
        self._wakeups.put(None)
        cancel = self._cancel
        if cancel is not None:
            cancel()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _ensure_thread(self) -> None:
        thread = self._thread
        if (thread is not None and thread.is_alive()) or not self._starting.acquire(blocking=False):
            return
        try:
            if self._thread is None or not self._thread.is_alive():
                self._thread = start_thread(self._serve, "otlp")
        except RuntimeError:  # no new thread: limit reached, or the interpreter is going down
            pass
        finally:
            self._starting.release()

    # On the thread.

    def _serve(self) -> None:
        try:
            with asyncio.Runner() as runner:
                runner.get_loop().set_default_executor(DaemonExecutor())
                while not (self._closing or self._gave_up):
                    self._wait()
                    self._pass(runner)
        except (Exception, asyncio.CancelledError):  # choke-point: closed amid a request, no files left …
            pass  # the next batch starts another thread

    def _pass(self, runner: asyncio.Runner) -> None:
        self._pass_tick = self._tick()
        trouble = None
        try:
            if not self._closing:
                trouble = runner.run(self._send_all())
        except Exception as error:  # choke-point: a store that cannot be read, a bug of ours
            trouble = SendFailure(f"{type(error).__name__}: {error}")
        self._settle(trouble)

    def _wait(self) -> None:
        """Wait until no pause is left and there is something to send, then a moment for more to join it."""
        while not self._closing and (seconds := self._next_attempt_at - time.monotonic()) > 0:
            self._sleep(seconds)
        if self.trouble is None and not self._is_urgent():
            self._sleep(_POLL_SECONDS)
            ends = time.monotonic() + LINGER_SECONDS
            while not self._is_urgent() and (seconds := ends - time.monotonic()) > 0:
                self._sleep(seconds)

    def _is_urgent(self) -> bool:
        return self._closing or self._urgent_tick > self._pass_tick

    def _sleep(self, seconds: float) -> None:
        try:
            self._wakeups.get(timeout=seconds)
        except Empty:
            pass

    async def _send_all(self) -> SendFailure | None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        self._cancel = lambda: None if task is None else loop.call_soon_threadsafe(task.cancel)
        try:
            return None if self._store is None else await self._empty(self._store)
        finally:
            self._cancel = None

    async def _empty(self, store: KeepsUnsent) -> SendFailure | None:
        """Send what waits now. What arrives meanwhile is left to the next pass, so that this one ends."""
        remaining = store.count_unsent(self._destination).waiting
        if not remaining:
            return None
        if not self._lease(store):
            return _OTHER_PROCESS_SENDS
        try:
            most = MAX_ITEMS if self.trouble is None else TRIAL_ITEMS
            while remaining > 0 and (unsent := self._next(store, most)) is not None:
                result = await self._send(unsent, store)
                if result.trouble is not None:
                    return result.trouble
                most = MAX_ITEMS
                held = self._lease(store)
                if held:
                    store.settle(unsent, result.refused)
                # After it is settled, so that whoever sees it counted does not find it waiting too.
                self._count_sent(result)
                if not held:  # taken over meanwhile: what waits is the other one's to settle
                    return _OTHER_PROCESS_SENDS
                remaining -= max(len(unsent.items), 1)
        finally:
            store.release(self._lease_name, self._holder)
        return None

    @property
    def _lease_name(self) -> str:
        return f"send {self._destination.kind} to {self._destination.name}"

    def _lease(self, store: KeepsUnsent) -> bool:
        return store.lease(self._lease_name, self._holder, LEASE_SECONDS)

    def _next(self, store: KeepsUnsent, most: int) -> Unsent | None:
        # Half of the bytes: names, ids and times come to the texts.
        return store.unsent(self._destination, most=most, max_bytes=self._max_bytes // 2)

    async def _send(self, unsent: Unsent, store: KeepsUnsent) -> SendResult:
        """Send items, renewing the lease for as long as that lasts."""
        loop = asyncio.get_running_loop()
        sending = asyncio.ensure_future(self._client.send(unsent, self._max_bytes))
        try:
            while not (await asyncio.wait({sending}, timeout=LEASE_SECONDS / 3))[0]:
                try:
                    await loop.run_in_executor(None, self._lease, store)
                except Exception as error:  # choke-point: the request under way goes on all the same
                    log.debug("the lease could not be renewed: %s", error)
            return sending.result()
        finally:
            sending.cancel()

    def _count_sent(self, result: SendResult) -> None:
        if result.refused:
            count = sum(refusal.refused for refusal in result.refused)
            what = f"refused {count} {self._destination.kind}: {result.refused[0].reason}"
            self._log(logging.WARNING, what)
        self.sent += result.sent

    def _settle(self, trouble: SendFailure | None) -> None:
        before = self.trouble
        if trouble is None:
            self.trouble = None
            self._failures, self._next_attempt_at = 0, 0.0
            self._max_bytes = MAX_BYTES
            self._sent_tick = self._pass_tick
            if before not in (None, _OTHER_PROCESS_SENDS):
                self._log(logging.INFO, "takes what is sent again")
            return
        self._gave_up = trouble.final
        if trouble.slow:
            self._max_bytes = max(self._max_bytes // 2, MIN_BYTES)
        self._next_attempt_at = time.monotonic() + self._pause(trouble)
        if trouble is not _OTHER_PROCESS_SENDS and before in (None, _OTHER_PROCESS_SENDS):
            until = ", this process sends no more" if trouble.final else " (said once)"
            self._log(logging.WARNING, f"{trouble.text}; what is recorded waits in the store{until}")
        # Last, so that whoever sees the trouble, or is told that a flush failed, finds it in the log.
        self.trouble = trouble
        self._failed_tick = self._pass_tick

    def _pause(self, trouble: SendFailure) -> float:
        if trouble is _OTHER_PROCESS_SENDS:
            return FIRST_PAUSE
        self._failures += 1
        if trouble.rare:
            return LONGEST_PAUSE
        return pause_before(
            self._failures, first=FIRST_PAUSE, longest=LONGEST_PAUSE, retry_after=trouble.retry_after
        )

    def _log(self, level: int, what: str) -> None:
        """Log a line, whatever the user's own log handlers may raise."""
        try:
            log.log(level, "%s: %s", self._name, what)
        except Exception:  # choke-point
            pass
