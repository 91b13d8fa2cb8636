"""One writer at a time among all processes that use a file.

SQLite before 3.51.3 can damage a database in WAL mode when two connections write or checkpoint in the same
instant (the WAL-reset bug), and its own busy handler lets a writer starve for seconds. So each write
transaction, together with the checkpoint after it, holds an advisory lock on a file beside the database.
The lock is the kernel's: it ends with the process that holds it, however that ends. The file also carries a
note, from who held the lock to who holds it next.
"""

from __future__ import annotations

import errno
import os
import random
import stat
import time
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


class FileLock:
    """An advisory lock on ``<path>.lock``, opened afresh each time so that a deleted file cannot split it."""

    def __init__(self, path: str) -> None:
        self.path = path + ".lock"
        self._held: int | None = None

    def acquire(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds; whether the lock is held (always, where the system has no locks).

        Raises:
            OSError: the lock's file cannot be opened.
        """
        if fcntl is None:
            return True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags, 0o600)
        try:
            held = _wait(handle, timeout)
        except BaseException:
            os.close(handle)
            raise
        if held:
            self._held = handle
        else:
            os.close(handle)
        return held

    def release(self) -> None:
        """Let the next writer in."""
        handle, self._held = self._held, None
        if handle is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_UN)
            except OSError:  # a system without locks: there was none to give back
                pass
            finally:
                os.close(handle)

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
        if self._held is None or not stat.S_ISREG(os.fstat(self._held).st_mode):
            return
        if os.pread(self._held, len(_MARK), 0) in (b"", _MARK):
            # One write of ever the same length: who reads it meanwhile finds the old note or the new one.
            os.pwrite(self._held, (_MARK + note.encode("ascii")).ljust(_NOTE_BYTES - 1) + b"\n", 0)

    def forget(self) -> None:
        """In a forked child: drop the inherited descriptor; the parent's lock stays the parent's."""
        handle, self._held = self._held, None
        if handle is not None:
            os.close(handle)


def _wait(handle: int, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    pause = 0.0005
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno in _NOT_SUPPORTED:
                return True
            if error.errno not in _HELD_BY_OTHERS:
                raise
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        # Jitter keeps many processes from asking in step.
        time.sleep(min(left, pause * (0.5 + random.random())))  # noqa: S311 - no secret
        pause = min(pause * 1.6, 0.01)
