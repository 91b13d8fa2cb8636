"""The thread that empties outboxes."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from agenttrace.core.daemon_executor import DaemonExecutor
from agenttrace.core.parcel import Parcel
from agenttrace.core.protocols import Outbox
from agenttrace.exporters.courier import Courier, Receipt, Trouble
from agenttrace.exporters.otlp_splitting import joined

LINGER_SECONDS = 1.0
"""How long the first parcel waits for others, so that they go in one request."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between attempts while the collector is in trouble; also the most that its Retry-After is given."""

MAX_BYTES = 4 * 1024 * 1024
"""Bytes of one request before compression: what collectors take by default."""

_AT_ONCE = 8
_LOOK_SECONDS = 5.0
LEASE_SECONDS = 5.0
"""How long a process that died is believed to be sending; who lives renews its lease meanwhile."""

_ELSEWHERE = Trouble("another process is sending", retry_after=1.0)

log = logging.getLogger("agenttrace")


class Sender:
    """Sends what waits in outboxes, one request at a time, oldest first; pauses while that fails.

    Everything happens on a daemon thread, which the first parcel starts. No lock is shared with who exports:
    a bell, counters. Of several processes that share an outbox, one sends at a time.
    """

    def __init__(self, courier: Courier, outboxes: Callable[[], Sequence[Outbox]], *, name: str) -> None:
        self._courier = courier
        self._outboxes = outboxes
        self._name = name
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._cancel: Callable[[], object] | None = None
        self._tick = itertools.count(1).__next__
        self._asked = self._done = self._failed = 0
        self._hurry = self._closing = self._gave_up = False
        self._failures = 0
        self._again_at = 0.0
        self.trouble: Trouble | None = None
        self.sent = self.refused = self.dropped = 0

    def notice(self) -> None:
        """There is something to send."""
        self._asked = self._tick()
        self._ensure_thread()
        self._bell.put(None)

    def flush(self, timeout: float) -> bool:
        """Send what waits, at most `timeout` seconds; whether all was sent.

        False at once while the collector is in trouble, or another process sends: it waits for neither.
        """
        if self._gave_up or self._closing or time.monotonic() < self._again_at:
            return False
        self._hurry = True
        self.notice()
        asked, deadline = self._asked, time.monotonic() + timeout
        while self._done < asked:
            if self._failed >= asked or time.monotonic() >= deadline or self._thread is None:
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
        if self._thread is not None:
            self._thread.join(timeout)

    def _ensure_thread(self) -> None:
        if self._closing or self._gave_up or (self._thread is not None and self._thread.is_alive()):
            return
        thread = threading.Thread(target=self._serve, name="agenttrace-otlp", daemon=True)
        thread.agenttrace_internal = True  # type: ignore[attr-defined] # seen by the thread patch
        try:
            thread.start()
            self._thread = thread
        except RuntimeError:  # no new thread: limit reached, or the interpreter is going down
            pass

    # On the thread.

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            runner.get_loop().set_default_executor(DaemonExecutor())
            while not (self._closing or self._gave_up):
                self._wait()
                asked = self._asked
                try:
                    trouble = None if self._closing else runner.run(self._send_all())
                except asyncio.CancelledError:
                    return
                except Exception as error:  # choke-point: an outbox that cannot be read, a bug of ours
                    trouble = Trouble(f"{type(error).__name__}: {error}")
                self._settle(asked, trouble)

    def _wait(self) -> None:
        """Until there is something to send, others have had time to join it, and no pause is on."""
        while not self._closing and (left := self._again_at - time.monotonic()) > 0:
            self._ring(left)
        if self.trouble is None and not self._hurry and not self._closing:
            self._ring(_LOOK_SECONDS)
            ends = time.monotonic() + LINGER_SECONDS
            while not (self._hurry or self._closing) and (left := ends - time.monotonic()) > 0:
                self._ring(left)
        self._hurry = False

    def _ring(self, seconds: float) -> None:
        try:
            self._bell.get(timeout=seconds)
        except Empty:
            pass

    async def _send_all(self) -> Trouble | None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        self._cancel = lambda: None if task is None else loop.call_soon_threadsafe(task.cancel)
        trouble = None
        try:
            for outbox in self._outboxes():
                trouble = await self._empty(outbox) or trouble
        finally:
            self._cancel = None
        return trouble

    async def _empty(self, outbox: Outbox) -> Trouble | None:
        if not outbox.oldest(1):
            return None
        if not self._lease(outbox):
            return _ELSEWHERE
        try:
            while parcels := outbox.oldest(_AT_ONCE):
                parcel, keys = joined(parcels, MAX_BYTES)
                receipt = await self._take(parcel, outbox)
                if receipt.trouble is not None:
                    return receipt.trouble
                self._book(outbox, keys, receipt)
                if not self._lease(outbox):
                    return _ELSEWHERE
        finally:
            outbox.release(self._holder)
        return None

    def _lease(self, outbox: Outbox) -> bool:
        return outbox.lease(self._holder, LEASE_SECONDS)

    async def _take(self, parcel: Parcel, outbox: Outbox) -> Receipt:
        """Let a parcel be taken, renewing the lease as long as that lasts."""
        taking = asyncio.ensure_future(self._courier.take(parcel))
        try:
            while not (await asyncio.wait({taking}, timeout=LEASE_SECONDS / 3))[0]:
                self._lease(outbox)
            return taking.result()
        finally:
            taking.cancel()

    def _book(self, outbox: Outbox, keys: list[int], receipt: Receipt) -> None:
        for parcel, reason in receipt.refused:
            self.dropped += outbox.put([parcel], refused=reason)
            self.refused += parcel.items
            log.warning("%s refused %d %s: %s", self._name, parcel.items, parcel.kind, reason)
        outbox.drop(keys)
        self.sent += receipt.sent

    def _settle(self, asked: int, trouble: Trouble | None) -> None:
        before, self.trouble = self.trouble, trouble
        if trouble is None:
            if before not in (None, _ELSEWHERE):
                log.info("%s takes what is sent again", self._name)
            self._failures, self._again_at = 0, 0.0
            self._done = asked
            return
        self._gave_up = trouble.final
        pause = FIRST_PAUSE if trouble is _ELSEWHERE else self._pause(trouble)
        self._again_at = time.monotonic() + pause
        self._failed = asked
        if trouble is not _ELSEWHERE and before in (None, _ELSEWHERE):
            log.warning(
                "%s: %s; what is recorded waits in the outbox%s",
                self._name,
                trouble.text,
                ", until a process with other settings sends it" if trouble.final else " (said once)",
            )

    def _pause(self, trouble: Trouble) -> float:
        """Doubling, with jitter, on top of what the collector asks for."""
        self._failures = min(self._failures + 1, 10)
        backoff = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._failures - 1))
        backoff *= random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
        return min(LONGEST_PAUSE, (trouble.retry_after or 0.0) + backoff)
