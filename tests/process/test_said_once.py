"""Each cause is logged once, and logging hurts nobody."""

import logging
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agenttrace.process import said_once
from agenttrace.process.said_once import SaidOnce

LOG = logging.getLogger("agenttrace")


class Raising(logging.Handler):
    """A log handler of the user's, with a bug."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def emit(self, record):
        raise self.error


@pytest.fixture
def log_handler():
    handlers = []

    def add(handler):
        handlers.append(handler)
        LOG.addHandler(handler)

    yield add
    for handler in handlers:
        LOG.removeHandler(handler)


def test_each_cause_is_logged_once(caplog):
    warnings = SaidOnce()
    for text in ("full", "still full"):
        warnings.warn("disk", f"the disk is {text}")
    warnings.warn("network", "no network")
    assert caplog.messages == ["the disk is full (said once)", "no network (said once)"]


def test_an_error_is_told_by_its_type_and_text(caplog):
    SaidOnce().warn("disk", "nothing is stored", OSError("disk full"))
    assert caplog.messages == ["nothing is stored: OSError: disk full (said once)"]
    assert caplog.records[0].exc_info is None


def test_many_threads_log_a_cause_once(caplog):
    warnings, together = SaidOnce(), threading.Barrier(8)

    def warn(_):
        together.wait(60)
        warnings.warn("disk", "full")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(warn, range(8)))
    assert len(caplog.messages) == 1


def test_the_log_is_not_flooded_by_ever_new_causes(caplog, monkeypatch):
    monkeypatch.setattr(said_once, "MOST_CAUSES", 3)
    warnings = SaidOnce()
    for number in range(10):
        warnings.warn(str(number), f"cause {number}")
    assert len(caplog.messages) == 3


@pytest.mark.parametrize("error", [OSError("disk full"), SystemExit(1)])
def test_what_a_log_handler_raises_stays_there(log_handler, error):
    log_handler(Raising(error))
    SaidOnce().warn("disk", "full")


def test_a_time_limit_that_arrives_while_it_logs_is_passed_on(log_handler):
    class TimeLimit(Exception):
        pass

    def limit(signum, frame):
        raise TimeLimit

    class Interrupting(logging.Handler):
        def emit(self, record):
            signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, limit)
    log_handler(Interrupting())
    try:
        with pytest.raises(TimeLimit):
            SaidOnce().warn("disk", "full")
    finally:
        signal.signal(signal.SIGUSR1, before)
