"""Connections to a side index that is written, whose errors are told from those of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from agenttrace.store.connection import trouble_of

SECONDS_TO_WAIT = 30.0
"""How long a reader waits for another process that brings the index up to date."""


class IndexTrouble(Exception):
    """SQLite cannot go on with the index; what it raises for the store is another error."""

    def __init__(self, error: sqlite3.Error) -> None:
        super().__init__(str(error))
        self.kind = trouble_of(error)


class _Cursor(sqlite3.Cursor):
    def execute(self, *arguments: Any) -> _Cursor:
        self._tried(super().execute, *arguments)
        return self

    def executemany(self, *arguments: Any) -> _Cursor:
        self._tried(super().executemany, *arguments)
        return self

    def fetchone(self) -> Any:
        return self._tried(super().fetchone)

    def fetchall(self) -> Any:
        return self._tried(super().fetchall)

    def __next__(self) -> Any:
        return self._tried(super().__next__)

    def _tried(self, step: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return step(*arguments)
        except sqlite3.DatabaseError as error:
            raise IndexTrouble(error) from error


class _Connection(sqlite3.Connection):
    """Raises `IndexTrouble`: while one reads the store and writes the index, that tells errors apart."""

    def execute(self, *arguments: Any) -> _Cursor:
        return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> _Cursor:
        return self.cursor(_Cursor).executemany(*arguments)


def connect(path: str) -> sqlite3.Connection:
    """Open an index for writing, in a file or in memory."""
    try:
        db = sqlite3.connect(
            path,
            timeout=SECONDS_TO_WAIT,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
    except sqlite3.DatabaseError as error:
        raise IndexTrouble(error) from error
    db.execute("PRAGMA cache_size = -32000")
    return db
