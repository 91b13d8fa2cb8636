"""`KeepingProcess`: keeps what requests hold in a process of its own; several use several processors."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from agenttrace.core.errors import error_text
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.process.said_once import SaidOnce
from agenttrace.receiver.keeping import Keeps, Reply, Request
from agenttrace.receiver.outcome import Outcome

AGAIN_SECONDS = 1
"""Seconds after which requests may come again whose process died."""
_SECONDS_TO_BE_KILLED = 5.0


class KeepingProcess:
    """Has requests kept by another process, which is started with the first of them, and anew when it dies.

    A process that dies while it keeps requests may have stored them: they are told to come again, and are
    stored once. It ends when this process does, however that ends.

    Args:
        open_keeper: Called there, once; pickled on the way, so a function of a module or a `partial` of one.
    """

    def __init__(self, open_keeper: Callable[[], Keeps]) -> None:
        self._open_keeper = open_keeper
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._warnings = SaidOnce()

    @property
    def process_id(self) -> int | None:
        """The id of the process; None where there is none yet."""
        return None if self._process is None else self._process.pid

    def keep(self, requests: Sequence[Request]) -> list[Reply]:
        """Keep the spans of several requests there."""
        try:
            if self._process is not None and not self._process.is_alive():
                self._end(0.0)
            connection = self._connection or self.start()
            connection.send([tuple(request) for request in requests])
            return [Reply(*each) for each in connection.recv()]
        except BaseException as error:  # choke-point: what a process that died makes of its pipe
            pass_on_interruption(error)
            self._warnings.warn(
                error_text(error), "receiver: a process that stores spans died, and is started anew", error
            )
            self._end(0.0)
            return [Reply(Outcome(503, "this could not be stored now", retry_after=AGAIN_SECONDS))] * len(
                requests
            )

    def close(self, seconds: float) -> None:
        """End the process, which closes its store first; it has no more than so many seconds for it."""
        self._end(seconds)

    def start(self) -> Connection:
        """Start the process before there is anything to keep; returns the pipe to it."""
        context = get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(
            target=_keep_all, args=(there, self._open_keeper), name="agenttrace-intake", daemon=True
        )
        self._process.start()
        there.close()
        self._connection = here
        return here

    def _end(self, seconds: float) -> None:
        connection, self._connection = self._connection, None
        process, self._process = self._process, None
        if connection is not None:
            connection.close()
        if process is None or process.pid is None:
            return
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join(_SECONDS_TO_BE_KILLED)


def _keep_all(connection: Connection, open_keeper: Callable[[], Keeps]) -> None:
    """Keep what comes through the pipe until it is closed, as it is when the other process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C reaches all; the one that listens ends this one
    keeper = open_keeper()
    with suppress(EOFError, OSError):
        while True:
            requests = connection.recv()
            connection.send([tuple(each) for each in keeper.keep([Request(*each) for each in requests])])
    keeper.close(0.0)
