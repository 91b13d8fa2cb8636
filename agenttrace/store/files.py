"""The files of a store on disk: made for their owner only, recognised by identity, moved aside."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agenttrace.core.errors import StoreError

SUFFIXES = ("", "-wal", "-shm")
"""The endings of the files of one SQLite database: itself, its log, the index of the log."""

HEADER = b"SQLite format 3\0"
"""How every SQLite database begins."""

Identity = tuple[int, int]


def identity(path: str) -> Identity | None:
    """Which file stands at a path now, or None where there is none."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def kept_under_another_name(path: str) -> Iterator[None]:
    """Put a file, if there is one, back to its path at the end, should it be removed meanwhile."""
    other = f"{path}.{os.getpid()}"
    try:
        os.link(path, other)
    except OSError:  # none is there, or the file system has no second names
        yield
        return
    try:
        yield
    finally:
        if os.path.lexists(path):
            os.unlink(other)
        else:
            os.rename(other, path)


def absolute(path: str | Path) -> str:
    """A path from the root; as it is where the working directory is gone, so that memory takes over."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        return os.fspath(path)


def is_empty(path: str) -> bool:
    """Whether a file without a single byte stands at a path."""
    try:
        return os.stat(path, follow_symlinks=False).st_size == 0
    except FileNotFoundError:
        return False


_LOG_BEGINS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""The first bytes of a write-ahead log (SQLite's file format, 4.1)."""


def is_emptied_log(path: str) -> bool:
    """Whether a log was cut to nothing while it was written: what came later stands behind a gap.

    SQLite holds no locks on a log, so that it may be opened here.
    """
    try:
        with open(path, "rb") as log:
            beginning = log.read(4)
    except OSError:
        return False
    return beginning != b"" and beginning not in _LOG_BEGINS


def is_plain(path: str) -> bool:
    """Whether a file stands at a path: no link, no pipe, no directory."""
    try:
        return stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode)
    except OSError:
        return False


def refuse_links(path: str) -> None:
    """Stop where somebody could make us write into a file of their choice.

    Raises:
        StoreError: a symbolic link, or something that is not a plain file, stands where the store goes.
    """
    for suffix in SUFFIXES:
        try:
            mode = os.stat(path + suffix, follow_symlinks=False).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            raise StoreError(
                f"{path + suffix} is a symbolic link, which the store does not follow; "
                "give the path of the file itself"
            )
        if not stat.S_ISREG(mode):
            kind = "a directory" if stat.S_ISDIR(mode) else "not a plain file"
            raise StoreError(f"{path + suffix} is {kind}; the store needs the path of a file")


def refuse_foreign_file(path: str, owner: Identity | None = None) -> None:
    """Stop where a file of somebody else's stands, as after a mistyped path.

    A database, an empty file, and a damaged file with our lock or its log beside it are taken for a store.
    `owner` is the file that the lock and the log belong to, where that is known: they say nothing about
    another file.

    Raises:
        StoreError: neither its content nor what lies beside it says that it was ever a store.
        OSError: it cannot be read.
    """
    is_replaced = owner is not None and identity(path) != owner
    if not is_replaced and (os.path.lexists(path + ".lock") or os.path.lexists(path + "-wal")):
        return
    try:
        with open(path, "rb") as file:
            start = file.read(len(HEADER))
    except FileNotFoundError:
        return
    if start not in (b"", HEADER):
        raise StoreError(
            f"{path} is no trace store but a file of another kind, which is left alone; "
            "give the store a path of its own"
        )


def make_directory(path: str) -> None:
    """Make the directory of a file where it is missing, for its owner only.

    A directory that is named ``.agenttrace`` gets a ``.gitignore``, since it holds nothing but stores.

    Raises:
        OSError: it cannot be made.
    """
    directory = Path(path).parent
    if directory.exists() and not directory.is_dir():
        raise FileExistsError(errno.EEXIST, "a file stands where a directory is wanted", str(directory))
    missing = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    for parent in reversed(missing):  # `mkdir(parents=True)` would make those above for everybody to read
        try:
            parent.mkdir(mode=0o700)
        except OSError:
            if not parent.is_dir():
                raise
            missing.remove(parent)  # another process was quicker
    if directory not in missing:
        return
    if directory.name == ".agenttrace":
        try:
            with (directory / ".gitignore").open("x", newline="\n") as file:
                file.write("*\n")
        except OSError:  # the store works without it
            pass


def create_private(path: str) -> None:
    """Make the file where it is missing, for its owner only.

    A log without its database (somebody deleted the file alone) would be read into the new one: it is
    moved aside first.
    """
    if os.path.lexists(path):
        return
    move_aside(path, "orphan", SUFFIXES[1:])
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:  # another process made it just now, on a system without locks
        pass


def close_to_others(path: str) -> None:
    """Take from everybody else the right to read or write a store that was copied or restored with it.

    The owner's and the group's rights stay: a team may share a file through its group. No file is opened for
    this: closing one ends all locks that SQLite has on it in this process, for other connections too, and the
    next process to come cuts off the memory that they share with it.
    """
    for suffix in SUFFIXES:
        try:
            status = os.stat(path + suffix, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IRWXO:
                os.chmod(path + suffix, stat.S_IMODE(status.st_mode) & ~stat.S_IRWXO)
        except OSError:  # not there, or another user's
            continue


def move_aside(path: str, why: str, suffixes: Sequence[str] = SUFFIXES) -> str | None:
    """Rename a database and what belongs to it to ``<path>.<why>-<UTC time>``; nothing is ever deleted.

    Returns the new name, or None where there was nothing to move. The parts keep their endings, so that
    the copy opens as it was.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = f"{path}.{why}-{stamp}"
    count = 1
    while any(os.path.lexists(target + suffix) for suffix in SUFFIXES):
        count += 1
        target = f"{path}.{why}-{stamp}-{count}"
    any_moved = False
    for suffix in suffixes:
        try:
            os.rename(path + suffix, target + suffix)
            any_moved = True
        except FileNotFoundError:
            continue
    return target if any_moved else None
