"""Which write-ahead log belongs to which database file, noted so that none is read into a replaced file.

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


class DatabaseFiles(NamedTuple):
    """The files of one database: itself, its log and the log's index, as in `files.SUFFIXES`."""

    database: files.Identity
    log: files.Identity | None
    log_index: files.Identity | None


def current_files(path: str, database: files.Identity) -> DatabaseFiles:
    """The files of a database: itself and what lies beside it now."""
    log, index = (files.identity(path + suffix) for suffix in files.SUFFIXES[1:])
    return DatabaseFiles(database, log, index)


def note_files(lock: FileLock, group: DatabaseFiles | None) -> None:
    """Note for later holders of the lock which files belong together; None notes that nothing is known.

    Raises:
        OSError: the lock's file cannot be written.
    """
    words = ("-" if file is None else f"{file[0]}:{file[1]}" for file in group or ())
    lock.write_note(" ".join(words))


def noted_files(lock: FileLock) -> DatabaseFiles | None:
    """The files that the last note says belong together, or None where it says nothing."""
    try:
        database, log, index = (None if word == "-" else _identity(word) for word in lock.read_note().split())
    except ValueError:
        return None
    return None if database is None else DatabaseFiles(database, log, index)


def _identity(word: str) -> files.Identity:
    device, number = word.split(":")
    return int(device), int(number)


def refuse_foreign_file(path: str, lock: FileLock, opened: DatabaseFiles | None = None) -> None:
    """Stop where a file of somebody else's stands: see `files.refuse_foreign_file`.

    `opened` is what the caller had open until now, for where nothing is noted.

    Raises:
        StoreError: it is no database, and was never the store.
        OSError: it cannot be read.
    """
    group = noted_files(lock) or opened
    files.refuse_foreign_file(path, None if group is None else group.database)


def orphan_suffixes(path: str, group: DatabaseFiles | None) -> list[str]:
    """The suffixes of the files beside a path that belong to a database which no longer stands there."""
    if group is None or files.identity(path) == group.database:
        return []
    pairs = zip(files.SUFFIXES[1:], group[1:], strict=True)
    return [suffix for suffix, file in pairs if file is not None and files.identity(path + suffix) == file]


def move_orphans(path: str, lock: FileLock, opened: DatabaseFiles | None = None) -> None:
    """Move aside the log of a database that no longer stands at the path.

    The caller holds the lock; `opened` is what it had open until now, for where nothing is noted.

    Raises:
        OSError: the log cannot be renamed.
    """
    group = noted_files(lock) or opened
    if group is None or files.identity(path) == group.database:
        return
    suffixes = orphan_suffixes(path, group)
    if suffixes:
        _log.info("the log of a replaced store is kept as %s", files.move_aside(path, "orphan", suffixes))
    note_files(lock, None)  # files that are made later may get the numbers of these
