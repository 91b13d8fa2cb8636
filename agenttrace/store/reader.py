"""Short reads of a file, each through a connection of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from agenttrace.core.errors import StoreError
from agenttrace.store import files, migrations, sides
from agenttrace.store.connection import open_for_reading, trouble_of
from agenttrace.store.lock import FileLock

T = TypeVar("T")


def read(path: str, timeout: float, query: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    """Run a query in one read transaction, or return `nothing` where there is no file yet.

    The connection lives as long as the query: no reader of ours ever keeps the log from being folded into
    the database.

    Raises:
        StoreError: the file cannot be read; what it is and what to do is in the text.
    """
    for _ in range(_ATTEMPTS):
        file = _identity(path)
        if file is None:
            return nothing
        try:
            value = _read_once(path, timeout, query, nothing)
        except Exception:  # choke-point: a database read with the log of another may break anything
            if _identity(path) == file:
                raise
            continue
        if _identity(path) == file:
            return value
    raise StoreError(f"{path} cannot be read{_ADVICE['moved']}")


def _identity(path: str) -> files.Identity | None:
    try:
        return files.identity(path)
    except OSError:  # something on the way there is no directory, or may not be entered
        return None


def _read_once(path: str, timeout: float, query: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    files.refuse_links(path)
    state: migrations.SchemaState | None = None
    try:
        _look_beside(path, timeout)
        db = open_for_reading(path, timeout)
        try:
            db.execute("BEGIN")
            state = migrations.state(db)
            match state:
                case "empty":
                    return nothing
                case "foreign":
                    raise StoreError(f"{path} is another application's database, not a trace store")
                case "newer":
                    raise StoreError(
                        f"{path} was written by a newer version of agenttrace; upgrade to read it"
                    )
                case "older" | "current":
                    pass
            return query(db)
        finally:
            db.close()
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror or error}{_ADVICE['unavailable']}"
        ) from error
    except sqlite3.DatabaseError as error:
        trouble = trouble_of(error)
        if trouble == "damaged" and state == "older":
            raise StoreError(
                f"{path} was written by an older version of agenttrace and lacks what is asked for; "
                "the next write brings it up to date, and keeps what it holds"
            ) from error
        raise StoreError(f"{path} cannot be read: {error}{_ADVICE[trouble]}") from error


def _look_beside(path: str, timeout: float) -> None:
    """Stop at a file of another kind; move the log of a file that was replaced out of the way of this one."""
    lock = FileLock(path)
    sides.refuse_strangers(path, lock)
    if not sides.strays(path, sides.noted(lock)):
        return
    if not lock.acquire(timeout):
        raise StoreError(f"{path} cannot be read{_ADVICE['busy']}")
    try:
        sides.move_strays(path, lock)
    finally:
        lock.release()


_ATTEMPTS = 3

_ADVICE = {
    "busy": "; another process holds it, try again",
    "damaged": "; the next write moves it aside, and `sqlite3 FILE .recover` saves what is left",
    "moved": "; it was replaced while it was read, try again",
    "unavailable": "; check that the file and its directory may be read",
}
