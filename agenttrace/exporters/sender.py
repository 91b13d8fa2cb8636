"""The thread that empties outboxes."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import threading
import time
from _thread import allocate_lock
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from agenttrace.core.protocols import Outbox, Parcel
from agenttrace.exporters.otlp_encoding import joined
from agenttrace.exporters.otlp_http import Collector, Receipt, SendFailure
from agenttrace.http.transport import pause_before
from agenttrace.process.daemon_executor import DaemonExecutor

LINGER_SECONDS = 1.0
"""How long the first parcel waits for others, so that they go in one request."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between attempts while the collector is in trouble; also the most that its Retry-After is given."""

LEASE_SECONDS = 5.0
"""How long a process that died is believed to be sending; who lives renews its lease meanwhile."""

MAX_BYTES = 4 * 1024 * 1024
"""Bytes of one request before compression: what collectors take by default."""

MIN_BYTES = 64 * 1024
"""How small requests become while none is answered in time."""

_LOOK_SECONDS = 5.0
_ELSEWHERE = SendFailure("another process is sending", retry_after=1.0)

log = logging.getLogger("agenttrace")


class Sender:
    """Sends what waits in outboxes, one request at a time, oldest first; pauses while that fails.

    Everything happens on a daemon thread, which the first parcel starts. Who exports never waits for it: they
    share a bell and counters. Of several processes that share an outbox, one sends at a time.
    """

    def __init__(self, collector: Collector, outboxes: Callable[[], Sequence[Outbox]], *, name: str) -> None:
        self._collector = collector
        self._outboxes = outboxes
        self._name = name
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._starting = allocate_lock()
        self._thread: threading.Thread | None = None
        self._cancel: Callable[[], object] | None = None
        self._tick = itertools.count(1).__next__
        # Each wish to send and each pass over the outboxes takes a tick: a pass sees to the wishes before it.
        self._hurried = self._begun = self._done = self._failed = 0
        self._closing = self._gave_up = False
        self._failures = 0
        self._again_at = 0.0
        self._max_bytes = MAX_BYTES
        self.trouble: SendFailure | None = None
        self.sent = 0

    def notice(self) -> None:
        """There is something to send."""
        if not (self._gave_up or self._closing):
            self._ensure_thread()
            if self._bell.empty():
                self._bell.put(None)

    def flush(self, timeout: float) -> bool:
        """Send what waits, at most `timeout` seconds; whether all was sent.

        False at once while the collector is in trouble, or another process sends: it waits for neither.
        """
        if self._gave_up or self._closing or time.monotonic() < self._again_at:
            return False
        self._hurried = tick = self._tick()
        self.notice()
        deadline = time.monotonic() + timeout
        while self._done < tick:
            if self._failed > tick or time.monotonic() >= deadline or self._thread is None:
                return False
            time.sleep(0.005)
        return True

    def close(self, timeout: float = 1.0) -> None:
        """Stop, also amid a request; what was not sent stays in its outbox."""
        self._closing = True
        self._bell.put(None)
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
                new_thread = threading.Thread(target=self._serve, name="agenttrace-otlp", daemon=True)
                new_thread.agenttrace_internal = True  # type: ignore[attr-defined] # seen by the thread patch
                new_thread.start()
                self._thread = new_thread
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
            pass  # the next parcel starts another thread

    def _pass(self, runner: asyncio.Runner) -> None:
        self._begun = self._tick()
        trouble = None
        try:
            if not self._closing:
                trouble = runner.run(self._send_all())
        except Exception as error:  # choke-point: an outbox that cannot be read, a bug of ours
            trouble = SendFailure(f"{type(error).__name__}: {error}")
        self._settle(trouble)

    def _wait(self) -> None:
        """Until there is something to send, others have had time to join it, and no pause is on."""
        while not self._closing and (seconds := self._again_at - time.monotonic()) > 0:
            self._ring(seconds)
        if self.trouble is None and not self._is_urgent():
            self._ring(_LOOK_SECONDS)
            ends = time.monotonic() + LINGER_SECONDS
            while not self._is_urgent() and (seconds := ends - time.monotonic()) > 0:
                self._ring(seconds)

    def _is_urgent(self) -> bool:
        return self._closing or self._hurried > self._begun

    def _ring(self, seconds: float) -> None:
        try:
            self._bell.get(timeout=seconds)
        except Empty:
            pass

    async def _send_all(self) -> SendFailure | None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        self._cancel = lambda: None if task is None else loop.call_soon_threadsafe(task.cancel)
        trouble = None
        try:
            for outbox in self._outboxes():
                trouble = await self._empty(outbox) or trouble
        finally:
            self._cancel = None
        return trouble

    async def _empty(self, outbox: Outbox) -> SendFailure | None:
        """Send what waits now; what comes meanwhile is the next pass's, so that this one ends."""
        remaining = outbox.counts()[0]
        if not remaining:
            return None
        if not self._lease(outbox):
            return _ELSEWHERE
        try:
            while remaining > 0 and (parcels := outbox.oldest(self._max_bytes)):
                parcel, keys = joined(parcels)
                receipt = await self._take(parcel, outbox)
                if receipt.trouble is not None:
                    return receipt.trouble
                self._max_bytes = MAX_BYTES
                self._book(outbox, keys, receipt)
                remaining -= parcel.items
                if not self._lease(outbox):
                    return _ELSEWHERE
        finally:
            outbox.release(self._holder)
        return None

    def _lease(self, outbox: Outbox) -> bool:
        return outbox.lease(self._holder, LEASE_SECONDS)

    async def _take(self, parcel: Parcel, outbox: Outbox) -> Receipt:
        """Let a parcel be taken, renewing the lease as long as that lasts."""
        loop = asyncio.get_running_loop()
        taking = asyncio.ensure_future(self._collector.take(parcel, self._max_bytes))
        try:
            while not (await asyncio.wait({taking}, timeout=LEASE_SECONDS / 3))[0]:
                try:
                    await loop.run_in_executor(None, self._lease, outbox)
                except Exception as error:  # choke-point: the request under way goes on all the same
                    log.debug("the lease could not be renewed: %s", error)
            return taking.result()
        finally:
            taking.cancel()

    def _book(self, outbox: Outbox, keys: list[int], receipt: Receipt) -> None:
        item_count = outbox.settle(keys, receipt.refused)
        self.sent += min(receipt.sent, item_count)
        if receipt.refused:
            count = sum(parcel.items for parcel, _ in receipt.refused)
            self._say(
                logging.WARNING, f"refused {count} {receipt.refused[0][0].kind}: {receipt.refused[0][1]}"
            )

    def _settle(self, trouble: SendFailure | None) -> None:
        before, self.trouble = self.trouble, trouble
        if trouble is None:
            self._failures, self._again_at = 0, 0.0
            self._done = self._begun
            if before not in (None, _ELSEWHERE):
                self._say(logging.INFO, "takes what is sent again")
            return
        self._gave_up = trouble.final
        if trouble.slow:
            self._max_bytes = max(self._max_bytes // 2, MIN_BYTES)
        self._again_at = time.monotonic() + self._pause(trouble)
        self._failed = self._begun
        if trouble is not _ELSEWHERE and before in (None, _ELSEWHERE):
            until = ", this process sends no more" if trouble.final else " (said once)"
            self._say(logging.WARNING, f"{trouble.text}; what is recorded waits in the outbox{until}")

    def _pause(self, trouble: SendFailure) -> float:
        if trouble is _ELSEWHERE:
            return FIRST_PAUSE
        self._failures += 1
        return pause_before(
            self._failures, first=FIRST_PAUSE, longest=LONGEST_PAUSE, retry_after=trouble.retry_after
        )

    def _say(self, level: int, what: str) -> None:
        """Log; whatever handlers the user has given to the logger, nothing stops here."""
        try:
            log.log(level, "%s: %s", self._name, what)
        except Exception:  # choke-point
            pass
