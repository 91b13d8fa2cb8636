"""Threads that the end of the process does not wait for."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar

import pytest

from agenttrace.process.daemon_executor import DaemonExecutor, _run


def test_a_call_gives_its_value_or_its_exception():
    executor = DaemonExecutor()
    assert executor.submit(divmod, 7, 2).result(5) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 7, 0).result(5)


def test_its_threads_are_daemons_that_no_shutdown_waits_for():
    executor, gate = DaemonExecutor(), threading.Event()
    started = executor.submit(lambda: (threading.current_thread().daemon, gate.wait(30)))
    executor.shutdown(wait=True)
    assert not started.done()
    gate.set()
    assert started.result(5) == (True, True)


def test_a_call_that_was_cancelled_is_not_made():
    future = Future()
    future.cancel()
    _run(future, lambda: pytest.fail("it was called"))
    with pytest.raises(CancelledError):
        future.result(0)


def test_a_thread_that_is_free_is_used_again_and_there_are_no_more_than_the_limit():
    executor = DaemonExecutor(3)
    first = executor.submit(threading.get_ident).result(5)
    deadline = time.monotonic() + 5
    while executor._idle._value < 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert executor.submit(threading.get_ident).result(5) == first
    gate = threading.Event()
    waiting = [executor.submit(lambda: (gate.wait(5), threading.get_ident())[1]) for _ in range(20)]
    gate.set()
    assert len({future.result(5) for future in waiting}) <= 3


def test_a_call_sees_the_context_of_who_submitted_it():
    who: ContextVar[str] = ContextVar("who", default="nobody")
    executor = DaemonExecutor(1)
    for name in ("ann", "ben"):
        who.set(name)
        assert executor.submit(who.get).result(5) == name
