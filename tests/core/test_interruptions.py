"""Exceptions from outside are told from those of our own code and of the user's values."""

import ast
import builtins
import ctypes
import functools
import gc
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import agenttrace
from agenttrace.core.handlers import register_snapshot
from agenttrace.core.interruptions import pass_on_interruption, thrown_in
from agenttrace.core.snapshot import snapshot


class TimeLimit(Exception):
    pass


def caught(function):
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def by_signal(handler, function=lambda: time.sleep(1)):
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        return caught(lambda: (signal.raise_signal(signal.SIGUSR1), function()))
    finally:
        signal.signal(signal.SIGUSR1, before)


def named(signum, frame):
    raise TimeLimit


def starred(*_):
    raise TimeoutError("a builtin one")


class Callable:
    def __call__(self, signum, frame):
        self.fail()

    def fail(self):
        raise ValueError("deeper")


class TestASignalHandler:
    @pytest.mark.parametrize(
        "handler",
        [
            named,
            starred,
            lambda *_: 1 / 0,
            Callable(),
            Callable().__call__,
            functools.partial(starred, 1),
        ],
        ids=range(6),
    )
    def test_is_known_by_the_frame_that_it_was_given(self, handler):
        assert thrown_in(by_signal(handler))

    def test_is_known_inside_code_of_the_users_too(self):
        class Slow:
            pass

        def opened(value):
            signal.raise_signal(signal.SIGUSR1)
            return []

        register_snapshot(Slow, opened)
        assert type(by_signal(named, lambda: snapshot([Slow()]))) is TimeLimit


class TestOtherExceptions:
    def test_of_our_own_code_are_ours(self):
        def ours():
            snapshot(1, limit="none")  # wrong use raises inside

        assert not thrown_in(caught(lambda: eval("1 / 0", {"__name__": "agenttrace.core.snapshot"})))
        assert not thrown_in(caught(ours))

    def test_of_the_users_code_are_the_users(self):
        def fails():
            raise TimeLimit

        assert not thrown_in(caught(fails))
        assert not thrown_in(caught(lambda: (_ for _ in ()).throw(TimeLimit())))
        assert not thrown_in(TimeLimit("never raised"))

    def test_of_a_handler_of_the_users_cost_the_value_alone(self):
        class Broken:
            pass

        def opened(value):
            raise TimeLimit("in the user's own code")

        register_snapshot(Broken, opened)
        kind = {"$type": f"{__name__}.{Broken.__qualname__}"}
        assert snapshot([1, Broken()])[0] == [1, kind]


def test_control_c_is_a_signal_on_the_main_thread_only():
    assert thrown_in(KeyboardInterrupt())
    answers = []
    thread = threading.Thread(target=lambda: answers.append(thrown_in(KeyboardInterrupt())))
    thread.start()
    thread.join()
    assert answers == [False]


def test_only_what_was_thrown_in_is_raised_again():
    pass_on_interruption(SystemExit(1))
    error = by_signal(named)
    with pytest.raises(TimeLimit):
        pass_on_interruption(error)


@pytest.fixture
def without_garbage_collection():
    """Python swallows what is thrown into the callbacks of its garbage collector."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def without_tracing():
    """An exception that is thrown into the measuring of coverage would leave its lock held."""
    own, threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    yield
    sys.settrace(own)
    threading.settrace(threads)


@pytest.mark.parametrize("kind", [TimeLimit, TimeoutError, KeyError, RuntimeError])
def test_what_another_thread_throws_in_reaches_the_user(kind, without_garbage_collection, without_tracing):
    """As time limits for threads do, which have no signals."""
    ready = threading.Event()
    outcome = []
    rows = [[{"n": n, "object": object()}] for n in range(2_000)]

    def work():
        try:
            ready.set()
            end = time.monotonic() + 5
            while time.monotonic() < end:
                snapshot(rows)
            outcome.append("lost")
        except kind:
            outcome.append("arrived")

    for _ in range(20):
        ready.clear()
        thread = threading.Thread(target=work)
        thread.start()
        assert ready.wait(60)
        time.sleep(0.003)
        throw = ctypes.pythonapi.PyThreadState_SetAsyncExc
        throw(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
        thread.join(60)
    assert outcome == ["arrived"] * 20


def test_what_recording_raises_itself_says_something():
    """An exception of Python's own that says nothing is taken for one that another thread threw in."""
    package = Path(agenttrace.__file__).parent
    bare = [
        f"{path.relative_to(package)}:{node.lineno}"
        for room in ("core", "tracing")
        for path in sorted((package / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Name)
        and isinstance(getattr(builtins, node.exc.id, None), type)
    ]
    assert bare == []
