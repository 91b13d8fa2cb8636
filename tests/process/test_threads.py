"""Threads that the end of the process does not wait for."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextvars import ContextVar

import pytest

from agenttrace.process.threads import DaemonExecutor


def test_a_call_gives_its_value_or_its_exception():
    executor = DaemonExecutor()
    assert executor.submit(divmod, 7, 2).result(60) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 7, 0).result(60)


def test_its_threads_are_daemons_that_no_shutdown_waits_for():
    executor, gate = DaemonExecutor(), threading.Event()
    started = executor.submit(lambda: (threading.current_thread().daemon, gate.wait(60)))
    executor.shutdown(wait=True)
    assert not started.done()
    gate.set()
    assert started.result(60) == (True, True)


def test_a_call_that_was_cancelled_is_not_made():
    executor, gate = DaemonExecutor(1), threading.Event()
    first = executor.submit(gate.wait, 60)
    waiting, last = executor.submit(pytest.fail, "it was called"), executor.submit(divmod, 7, 2)
    assert waiting.cancel()
    gate.set()
    assert (first.result(60), last.result(60)) == (True, (3, 1))
    with pytest.raises(CancelledError):
        waiting.result(0)


def test_a_thread_that_is_free_is_used_again_and_there_are_no_more_than_the_limit():
    executor = DaemonExecutor(3)
    first = executor.submit(threading.get_ident).result(60)
    assert executor.submit(threading.get_ident).result(60) == first
    gate = threading.Event()
    waiting = [executor.submit(lambda: (gate.wait(60), threading.get_ident())[1]) for _ in range(20)]
    gate.set()
    assert len({future.result(60) for future in waiting}) <= 3


def test_a_call_sees_the_context_of_who_submitted_it():
    who: ContextVar[str] = ContextVar("who", default="nobody")
    executor = DaemonExecutor(1)
    for name in ("ann", "ben"):
        who.set(name)
        assert executor.submit(who.get).result(60) == name


def test_a_shutdown_ends_the_threads_when_they_have_made_the_calls_that_wait():
    executor, gate = DaemonExecutor(2), threading.Event()
    futures = [executor.submit(lambda: (gate.wait(60), threading.current_thread())[1]) for _ in range(6)]
    executor.shutdown()
    gate.set()
    for thread in {future.result(60) for future in futures}:
        thread.join(60)
        assert not thread.is_alive()
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(divmod, 7, 2)


def test_a_call_for_which_there_is_no_thread_is_an_error_and_is_never_made(monkeypatch):
    executor, gate, made = DaemonExecutor(2), threading.Event(), []
    busy = executor.submit(gate.wait, 60)

    def refuses(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuses)
        with pytest.raises(RuntimeError, match="can't start"):
            executor.submit(made.append, 1)
    gate.set()
    busy.result(60)
    executor.submit(made.append, 2).result(60)
    assert made == [2]


def test_a_pool_without_a_limit_lets_no_call_wait():
    executor, all_there = DaemonExecutor(float("inf")), threading.Barrier(40)
    assert (
        len({future.result(60) for future in [executor.submit(all_there.wait, 60) for _ in range(40)]}) == 40
    )
