"""What a signal handler raised goes on to the user; what the code that we call raised does not."""

import functools
import os
import signal
import threading

import pytest

from agenttrace.core.interruptions import pass_on_signals, raised_by_a_signal


class TimeLimit(Exception):
    pass


def limit(*_):
    raise TimeLimit


class Limits:
    def method(self, *_):
        raise TimeLimit

    def __call__(self, *_):
        raise TimeLimit


HANDLERS = {
    "function": limit,
    "method": Limits().method,
    "object": Limits(),
    "partial": functools.partial(limit, 1),
}


@pytest.fixture
def handled():
    """Set a handler of SIGUSR1 for one test."""
    before = signal.getsignal(signal.SIGUSR1)
    yield lambda handler: signal.signal(signal.SIGUSR1, handler)
    signal.signal(signal.SIGUSR1, before)


def raised(number=None, error=None):
    """What comes out of code that a signal interrupts, or that raises by itself."""
    try:
        if error is not None:
            raise error
        os.kill(os.getpid(), number)
        for _ in range(10_000):
            pass
    except BaseException as caught:
        return caught


@pytest.mark.parametrize("kind", HANDLERS)
def test_what_a_handler_raised_is_told_from_what_was_raised_without_it(handled, kind):
    handled(HANDLERS[kind])
    assert raised_by_a_signal(raised(signal.SIGUSR1))
    assert not raised_by_a_signal(raised(error=TimeLimit()))
    assert not raised_by_a_signal(raised(error=SystemExit(1)))


def test_control_c_is_a_signal_on_the_main_thread_only():
    assert raised_by_a_signal(raised(error=KeyboardInterrupt()))
    answers = []
    thread = threading.Thread(target=lambda: answers.append(raised_by_a_signal(KeyboardInterrupt())))
    thread.start()
    thread.join()
    assert answers == [False]


def test_only_what_came_from_a_signal_is_raised_again(handled):
    pass_on_signals(SystemExit(1))
    handled(limit)
    error = raised(signal.SIGUSR1)
    with pytest.raises(TimeLimit):
        pass_on_signals(error)
