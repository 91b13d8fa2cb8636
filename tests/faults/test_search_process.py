"""The child process that searches with `re`: forks, kills, signals, ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from agenttrace.process import killable_child
from agenttrace.process import search_process as module
from agenttrace.process.search_process import SearchProcess

pytestmark = pytest.mark.faults

EVIL = re.compile("(a+)+$")
EVIL_TEXT = "a" * 40 + "!"
FINE = re.compile("(b+)")


@pytest.fixture
def process():
    process = SearchProcess()
    yield process
    process.end()


def child_of(process):
    """The id of its child."""
    return process._child._process.pid


def run(code, *options):
    """What a program prints; it may write no word on its standard error."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", *options, "-c", code],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def is_gone(pid):
    """Whether a process has ended, within a generous time; a zombie has."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_no_process_is_started_before_it_is_needed():
    code = (
        "import os, agenttrace, agenttrace.scorers\n"
        "from agenttrace import re_\n"
        "from agenttrace.core.example import Example\n"
        "from agenttrace.expectations.matcher import PLAIN\n"
        "from agenttrace.scorers import RegexScorer\n"
        "from agenttrace.process.search_process import search_process\n"
        "assert re_(r'^A\\d+$').agree('A7', PLAIN) == 1.0\n"
        "assert RegexScorer('[A-Z]+').score(Example(actual_output='AB')).passed\n"
        "print(search_process._child)"
    )
    assert run(code) == ["None"]


def test_one_child_serves_all_searches_until_one_takes_too_long(process):
    assert process.find("search", FINE, "abba", 5.0) == (1, 3)
    first = child_of(process)
    assert process.find("fullmatch", FINE, "abba", 5.0) is None
    assert child_of(process) == first
    with pytest.raises(TimeoutError):
        process.find("search", EVIL, EVIL_TEXT, 0.1)
    assert is_gone(first)
    assert process.find("search", FINE, "abba", 5.0) == (1, 3)
    assert child_of(process) != first


def test_a_child_that_was_killed_between_two_searches_is_replaced(process):
    process.find("search", FINE, "abba", 5.0)
    os.kill(child_of(process), signal.SIGKILL)
    assert process.find("search", FINE, "abba", 5.0) == (1, 3)


def test_a_child_that_is_killed_again_and_again_is_an_error(process, monkeypatch):
    monkeypatch.setattr(module, "_CODE", "open(0, 'wb', 0).write(b'ready\\n'); input()")
    with pytest.raises(ChildProcessError, match=r"the process that worked on it ended \(exit code"):
        process.find("search", FINE, "abba", 5.0)


def test_a_child_that_was_stopped_is_given_up_by_the_clock(process, monkeypatch):
    process.find("search", FINE, "abba", 5.0)
    stopped = child_of(process)
    os.kill(stopped, signal.SIGSTOP)
    monkeypatch.setattr(killable_child, "PATIENCE", 0.2)
    with pytest.raises(TimeoutError):
        process.find("search", FINE, "b" * 10_000_000, 0.1)
    assert is_gone(stopped)


def test_an_interrupted_search_leaves_no_answer_behind_for_the_next_one(process):
    process.find("search", FINE, "abba", 5.0)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            process.find("search", EVIL, EVIL_TEXT, 30.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert process.find("search", FINE, "abba", 5.0) == (1, 3)


def test_eight_threads_each_get_their_own_answers(process):
    wrong = []

    def search(number):
        for size in range(1, 60):
            found = process.find("search", FINE, "a" * number + "b" * size, 5.0)
            wrong.extend([] if found == (number, number + size) else [(number, size, found)])
        if number < 2:
            try:
                wrong.append(process.find("search", EVIL, EVIL_TEXT, 0.1))
            except TimeoutError:
                pass

    threads = [threading.Thread(target=search, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


@pytest.mark.parametrize("moment", ["between searches", "while another thread searches"])
def test_a_fork_has_a_child_of_its_own(moment):
    code = f"""
import os, re, sys, threading, time
from agenttrace.process.bounded_search import bounded_search
from agenttrace.core.errors import ScorerError
from agenttrace.process.search_process import search_process
parent = search_process
def evil():
    try:
        bounded_search(re.compile("(a+)+$"), "a" * 40 + "!", seconds=1.5)
    except ScorerError:
        pass
fine = re.compile("(b+)")
parent.find("search", fine, "abba", 5.0)
child = parent._child._process.pid
other = threading.Thread(target=evil)
if {moment!r} != "between searches":
    other.start()
    time.sleep(0.2)
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside a thread
pid = os.fork()
if pid == 0:
    found = search_process.find("search", fine, "abbba", 5.0)
    shared = parent._child._process.pid == child
    os._exit(0 if (found, shared) == ((1, 4), False) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
if other.is_alive():
    other.join()
print(parent.find("search", fine, "abba", 5.0))
"""
    assert run(code) == ["0", "(1,", "3)"]


PARENT = """
import os, re, signal, sys, threading, time
from agenttrace.process.search_process import search_process
process = search_process
process.find("search", re.compile("(b+)"), "abba", 5.0)
if {forks}:
    if os.fork() == 0:
        time.sleep(60)
print(process._child._process.pid, flush=True)
if {searches}:
    process.find("search", re.compile("(a+)+$"), "a" * 40 + "!", 2.0)
time.sleep(60)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
@pytest.mark.parametrize("searches", [False, True], ids=["idle", "searching"])
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "with a fork that lives on"])
def test_a_child_ends_after_its_parent_was_killed(searches, forks):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(searches=searches, forks=forks)],
        stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        pid = int(parent.stdout.readline())
        time.sleep(0.3)
        os.kill(parent.pid, signal.SIGKILL)
        assert is_gone(pid)
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
@pytest.mark.parametrize(
    "ending",
    [
        "",
        "raise SystemExit",
        "threading.Thread(target=evil, daemon=True).start(); time.sleep(0.2)",
        "import atexit; atexit.register(lambda: process.find('search', fine, 'abba', 5.0))",
    ],
    ids=["plain", "SystemExit", "while a daemon thread searches", "before a last search"],
)
def test_a_child_ends_with_its_process_without_a_word(ending):
    code = f"""
import re, threading, time
from agenttrace.process.search_process import search_process
process, fine = search_process, re.compile("(b+)")
process.find("search", fine, "abba", 5.0)
print(process._child._process.pid, flush=True)
def evil():
    try:
        process.find("search", re.compile("(a+)+$"), "a" * 40 + "!", 20.0)
    except (ChildProcessError, TimeoutError):
        pass
{ending}
"""
    began = time.monotonic()
    (pid,) = run(code)
    assert is_gone(pid)
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    "setting",
    [
        "signal.signal(signal.SIGPROF, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})",
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)",
    ],
)
def test_the_signals_of_the_process_change_nothing(setting):
    code = f"""
import os, re, signal
{setting}
from agenttrace.process.search_process import search_process
process, fine = search_process, re.compile("(b+)")
for _ in range(2):
    try:
        process.find("search", re.compile("(a+)+$"), "a" * 40 + "!", 0.1)
    except TimeoutError:
        print("late")
print(process.find("search", fine, "abba", 5.0))
os.kill(process._child._process.pid, signal.SIGKILL)
print(process.find("search", fine, "abba" + "a" * 1_000_000, 5.0))
"""
    assert run(code) == ["late", "late", "(1,", "3)", "(1,", "3)"]


def test_a_pattern_with_the_debug_flag_says_nothing_to_the_child(process, capsys):
    loud = re.compile("(b+)", re.DEBUG)
    capsys.readouterr()
    assert process.find("search", loud, "abba", 5.0) == (1, 3)


@pytest.mark.parametrize(
    ("owner", "name"), [(subprocess, "Popen"), (socket, "socketpair")], ids=["processes", "sockets"]
)
def test_where_no_more_processes_or_sockets_may_be_made_the_error_says_so(monkeypatch, owner, name):
    def refuse(*args, **kwargs):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(owner, name, refuse)
    with pytest.raises(ChildProcessError, match=r"no process could be started:.*temporarily unavailable"):
        SearchProcess().find("search", FINE, "abba", 5.0)
