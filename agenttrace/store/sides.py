"""Which log belongs to which database.

SQLite joins a database to its log by nothing but their names. Where another file is put in the place of a
database that is in use, the old log still lies beside it, and SQLite would read it into the new file. So
whoever opens a database for writing notes in the lock's file which files belong together, and whoever opens
what stands there later first moves a log aside that was noted with another database.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from agenttrace.store import files
from agenttrace.store.lock import FileLock

_log = logging.getLogger("agenttrace")


class Group(NamedTuple):
    """The files of one database: itself, its log and the log's index, as in `files.SIDES`."""

    database: files.Identity
    log: files.Identity | None
    log_index: files.Identity | None


def group(path: str, database: files.Identity) -> Group:
    """A database with what lies beside it now."""
    log, index = (files.identity(path + side) for side in files.SIDES[1:])
    return Group(database, log, index)


def note(lock: FileLock, belonging: Group | None) -> None:
    """Note for later holders of the lock which files belong together (None: nothing is known).

    Raises:
        OSError: the lock's file cannot be written.
    """
    lock.write_note(" ".join("-" if one is None else f"{one[0]}:{one[1]}" for one in belonging or ()))


def noted(lock: FileLock) -> Group | None:
    """What was noted last, or None."""
    try:
        database, log, index = (None if word == "-" else _identity(word) for word in lock.read_note().split())
    except ValueError:
        return None
    return None if database is None else Group(database, log, index)


def _identity(word: str) -> files.Identity:
    device, number = word.split(":")
    return int(device), int(number)


def refuse_foreign_file(path: str, lock: FileLock, remembered: Group | None = None) -> None:
    """Stop where a file of somebody else's stands: see `files.refuse_foreign_file`.

    Raises:
        StoreError: it is no database, and was never the store.
        OSError: it cannot be read.
    """
    belonging = noted(lock) or remembered
    files.refuse_foreign_file(path, None if belonging is None else belonging.database)


def strays(path: str, belonging: Group | None) -> list[str]:
    """Which sides at a path belong to a database that no longer stands there."""
    if belonging is None or files.identity(path) == belonging.database:
        return []
    pairs = zip(files.SIDES[1:], belonging[1:], strict=True)
    return [side for side, known in pairs if known is not None and files.identity(path + side) == known]


def move_strays(path: str, lock: FileLock, remembered: Group | None = None) -> None:
    """Move aside the log of a database that no longer stands at the path.

    The caller holds the lock; `remembered` is what it had open until now, for where nothing is noted.

    Raises:
        OSError: the log cannot be renamed.
    """
    belonging = noted(lock) or remembered
    if belonging is None or files.identity(path) == belonging.database:
        return
    moved = strays(path, belonging)
    if moved:
        _log.info("the log of a replaced store is kept as %s", files.move_aside(path, "orphan", moved))
    note(lock, None)  # files that are made later may get the numbers of these
