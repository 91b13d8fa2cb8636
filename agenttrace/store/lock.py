"""The two locks of a store: one among all processes that write its file, one among threads and forks.

SQLite before 3.51.3 can damage a database in WAL mode when two connections write or checkpoint in the same
instant (the WAL-reset bug), and its own busy handler lets a writer starve for seconds. So each write
transaction, together with the checkpoint after it, holds an advisory lock on a file beside the database.
The lock is the kernel's: it ends with the process that holds it, however that ends. The lock's file also
carries a note, which each holder can leave to later ones.
"""

from __future__ import annotations

import errno
import os
import random
import stat
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # Windows: SQLite's own locks alone
    _fcntl = None  # type: ignore[assignment] # the absence of a module is a value here

fcntl: Any = _fcntl

_NOT_SUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_HELD_BY_OTHERS = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}

_MARK = b"agenttrace "
_NOTE_BYTES = 200
_RANGE = "hhqqi0q"  # struct flock: kind, whence, start, length (0: all), process (0: the handle's own)

_FORK_TIMEOUT = 3.0
_IMPORT_TIMEOUT = 10.0


class FileLock:
    """An advisory lock on ``<path>.lock``, opened afresh each time so that a deleted file cannot split it."""

    def __init__(self, path: str) -> None:
        self.path = path + ".lock"
        self._handle: int | None = None

    def acquire(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds; returns True if the lock is held.

        Where the system has no locks, neither of whole files nor of ranges, the answer is always True.

        Raises:
            OSError: the lock's file cannot be opened.
        """
        if fcntl is None:
            return True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags, 0o600)
        try:
            is_held = _wait(handle, timeout)
        except BaseException:
            os.close(handle)
            raise
        if is_held:
            self._handle = handle
        else:
            os.close(handle)
        return is_held

    def release(self) -> None:
        """Let the next writer in."""
        handle, self._handle = self._handle, None
        if handle is not None:
            try:
                _change(handle, fcntl.LOCK_UN, fcntl.F_UNLCK)
            except OSError:  # a system without locks: there was none to give back
                pass
            finally:
                os.close(handle)

    def is_refused(self) -> bool:
        """Whether the file system has none of the locks that SQLite needs: SQLite says "locked" then.

        Asked of the lock's file, not of the database: closing that here would end SQLite's own locks on it.
        """
        if fcntl is None:
            return False
        try:
            handle = os.open(self.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return False
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno in _NOT_SUPPORTED
        finally:
            os.close(handle)
        return False

    def read_note(self) -> str:
        """The last note; empty where there is none that can be read. Needs no lock."""
        if fcntl is None:
            return ""
        try:
            handle = os.open(
                self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            )
            try:
                text = os.pread(handle, _NOTE_BYTES, 0)
            finally:
                os.close(handle)
        except OSError:
            return ""
        return text[len(_MARK) :].decode("ascii", "replace").strip() if text.startswith(_MARK) else ""

    def write_note(self, note: str) -> None:
        """Replace the note, while the lock is held. A file with other content is not ours and stays as it is.

        Raises:
            OSError: the lock's file cannot be written.
        """
        if self._handle is None or not stat.S_ISREG(os.fstat(self._handle).st_mode):
            return
        if os.pread(self._handle, len(_MARK), 0) in (b"", _MARK):
            # One write of ever the same length: who reads it meanwhile finds the old note or the new one.
            os.pwrite(self._handle, (_MARK + note.encode("ascii")).ljust(_NOTE_BYTES - 1) + b"\n", 0)

    def forget(self) -> None:
        """In a forked child: drop the inherited descriptor; the parent's lock stays the parent's."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def _change(handle: int, whole: int, of_range: int) -> None:
    """Lock or unlock the whole file, or where a file system has no such locks, a range of this handle's own.

    Without either, two writers that make the same store at once stand in each other's way: SQLite gives up at
    once where two connections change the kind of journal.
    """
    try:
        fcntl.flock(handle, whole)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED or not hasattr(fcntl, "F_OFD_SETLK"):
            raise
        fcntl.fcntl(handle, fcntl.F_OFD_SETLK, struct.pack(_RANGE, of_range, os.SEEK_SET, 0, 0, 0))


def _wait(handle: int, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    pause = 0.0005
    while True:
        try:
            _change(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.F_WRLCK)
            return True
        except OSError as error:
            if error.errno in _NOT_SUPPORTED:
                return True
            if error.errno not in _HELD_BY_OTHERS:
                raise
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return False
        # Jitter keeps many processes from asking in step.
        time.sleep(min(remaining, pause * (0.5 + random.random())))  # noqa: S311 - no secret
        pause = min(pause * 1.6, 0.01)


class ForkLock:
    """Held by one thread at a time, and by a thread while it forks, so that no other thread is at work then.

    A fork waits for it for three seconds at most, since a file may hang. A child that is forked within a
    write can write that file no more: its SQLite takes the parent's lock for one of its own. A fork waits
    longer while its holder imports a module: a child that inherits the lock of a half imported module would
    wait for that for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fork_first = threading.Lock()
        self._importing = False
        self._forking = False
        self.release = self._lock.release

    def acquire(self, timeout: float = -1.0) -> bool:
        """Wait up to `timeout` seconds, or until it is free; returns True if the lock is held.

        A fork that waits goes first: a writer that lets go and takes it again at once would leave it no
        moment to come in.
        """
        if self._fork_first.locked():
            if not self._fork_first.acquire(timeout=timeout):
                return False
            self._fork_first.release()
        return self._lock.acquire(timeout=timeout)

    @contextmanager
    def for_an_import(self) -> Iterator[None]:
        """Hold it for an import."""
        self._importing = True
        try:
            with self._lock:
                yield
        finally:
            self._importing = False

    def before_fork(self) -> bool:
        """Take it for the fork; returns True if that was possible in time."""
        with self._fork_first:
            self._forking = self._lock.acquire(timeout=_IMPORT_TIMEOUT if self._importing else _FORK_TIMEOUT)
        return self._forking

    @property
    def is_held_by_another(self) -> bool:
        """In a forked child: whether another thread of its parent held it at the fork."""
        return not self._forking and self._lock.locked()

    def after_fork_in_parent(self) -> None:
        """Let others go on."""
        if self._forking:
            self._forking = False
            self._lock.release()
