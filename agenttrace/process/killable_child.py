"""A child process that does one bounded thing after the other, and that can be killed.

What holds the interpreter's lock cannot be ended in the same process, nor can what takes all memory. The
child is started by the first request and answers all later ones, one at a time. It limits each itself, by a
timer of processor time whose signal kills it: a busy machine makes none fail, and a child whose parent was
killed does not work on. Between requests it ends when its parent goes away, for then it reads the end of its
input.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agenttrace.process.fork_and_exit import at_exit, at_fork

if TYPE_CHECKING:
    import subprocess

SUPPORTED = all(hasattr(signal, name) for name in ("SIGPROF", "setitimer", "pthread_sigmask"))
"""True if a child can limit its own work: Windows has no timer of processor time."""

PATIENCE = 10.0
"""Seconds by the clock that a child may take beyond the processor time of a request."""

START_PATIENCE = 60.0
"""Seconds by the clock that a child may take to start: on a machine that is overloaded this takes long."""

_READY = b"ready\n"

PREPARED = """
import signal, sys
signal.signal(signal.SIGPROF, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
requests, answers = sys.stdin.buffer, open(0, "wb", 0, closefd=False)
"""
"""How the code of a child begins. Standard input is a socket, which takes the answers too. Signals that the
parent blocks or ignores are so in the child as well, and the timer would do nothing."""


class KillableChild:
    """The child of this process for one kind of request, started when needed, and again after it was killed.

    `code` gives its Python, which begins with `PREPARED`, writes ``ready`` as a line, then answers each
    request with one line. A fork of this process has a child of its own.
    """

    def __init__(self, code: Callable[[], str]) -> None:
        self._code = code
        self._begin()
        at_fork("searches", in_child=self.after_fork)
        at_exit("searches", self.end)

    def _begin(self) -> None:
        self._child: _Child | None = None
        self._turn = threading.Lock()
        self._ending = False

    def ask(self, request: bytes, seconds: float) -> bytes:
        """The line that answers a request. Each request waits for its turn.

        Raises:
            TimeoutError: the answer took more than `seconds` of processor time, as the child measures it.
            ChildProcessError: there is no child, or it was killed; the message says why.
        """
        with self._turn:
            try:
                return self._ask(request, seconds)
            except ConnectionError:  # killed by somebody else, perhaps long ago
                if self._ending:
                    raise ChildProcessError("this process is ending") from None
                try:
                    return self._ask(request, seconds)
                except ConnectionError as error:
                    raise ChildProcessError(f"the process that worked on it ended ({error})") from None

    def _ask(self, request: bytes, seconds: float) -> bytes:
        child = self._child = self._child or _Child(self._code())
        try:
            return child.ask(request, seconds)
        except BaseException:  # also KeyboardInterrupt: the next request would read the answer of this one
            self._child = None
            child.end()
            raise

    def end(self) -> None:
        """End the child at the exit of this process. Waits for no answer: the request that runs fails."""
        self._ending = True
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def after_fork(self) -> None:
        """In a fork of this process: close the connection to the child, which belongs to the parent."""
        if self._child is not None:
            self._child.leave()
        self._begin()


class _Child:
    """One started child process and the socket to it.

    Raises:
        ChildProcessError: it cannot be started.
    """

    def __init__(self, code: str) -> None:
        import socket
        import subprocess

        command = [_interpreter(), "-I", "-S", "-c", code]
        null = subprocess.DEVNULL
        # Without this flag, a process that has SIGPIPE at its default dies when it writes to a dead child.
        self._no_signal: int = getattr(socket, "MSG_NOSIGNAL", 0)
        self._ready = False
        ours = None
        try:
            ours, theirs = socket.socketpair()
            with theirs:  # a session of its own: Ctrl-C is for the parent
                self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - our own interpreter
                    command, stdin=theirs.fileno(), stdout=null, stderr=null, start_new_session=True
                )
        except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
            if ours is not None:
                ours.close()
            raise ChildProcessError(f"no process could be started: {error}") from None
        self._socket = ours

    def ask(self, request: bytes, seconds: float) -> bytes:
        """The answer to a request.

        Raises:
            TimeoutError: there was none in time.
            ConnectionError: the child was killed, but not by its timer.
            ChildProcessError: it never got ready.
        """
        if not self._ready:
            self._await_ready()
        began = time.monotonic()
        self._socket.settimeout(seconds + PATIENCE)
        try:
            self._socket.sendall(request, self._no_signal)
            return self._line()
        except TimeoutError:
            raise
        except OSError:
            self._process.kill()  # if it is not dead yet
            code = self._process.wait()
            # Where this process ignores SIGCHLD, nobody is told how a child ended: 0 is all that is known.
            if code == -signal.SIGPROF or (code == 0 and time.monotonic() - began >= seconds):
                raise TimeoutError from None
            raise ConnectionError(f"exit code {code}") from None

    def _await_ready(self) -> None:
        """Wait until it runs, so that the time of the first request does not include the start."""
        self._socket.settimeout(START_PATIENCE)
        try:
            self._ready = self._line() == _READY
        except OSError:
            pass
        if not self._ready:
            raise ChildProcessError(f"no process could be started: {sys.executable} began to run no Python")

    def _line(self) -> bytes:
        line = bytearray()
        while not line.endswith(b"\n"):
            received = self._socket.recv(65_536)
            if not received:
                raise ConnectionResetError
            line += received
        return bytes(line)

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        self._socket.close()

    def leave(self) -> None:
        """Close this copy of its socket, so that it ends with its own parent."""
        self._socket.close()
        self._process.returncode = 0  # or `Popen` warns that it still runs


def _interpreter() -> str:
    """The path of Python.

    Raises:
        ChildProcessError: it is another application that has Python built in, and would start once more.
    """
    path = sys.executable or ""
    name = os.path.basename(path).lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        raise ChildProcessError(
            f"no process could be started: sys.executable is {path!r}, which is no Python"
        )
    return path
