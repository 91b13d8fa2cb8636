"""Threads that the end of the process does not wait for."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future

import pytest

from agenttrace.core.daemon_executor import DaemonExecutor, _run


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
    _run(future, pytest.fail, ("it was called",), {})
    with pytest.raises(CancelledError):
        future.result(0)
