"""One statement for many rows."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import Any

# `executemany` gives the interpreter lock away for each row, and a busy traced thread then lets the writer
# through only every 5 ms. Beyond a few hundred rows a statement gets slower again. 20 rows of the widest
# table stay below the oldest limit of SQLite's, 999 values a statement.
_ROWS_PER_STATEMENT = (200, 20, 1)


def insert_many(db: sqlite3.Connection, statement: str, width: int, flat: list[Any]) -> None:
    """Run ``statement`` (up to its VALUES) for rows of `width` columns that lie end to end in `flat`."""
    most = db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
    done = 0
    for rows in _ROWS_PER_STATEMENT:
        size = rows * width
        if size > most:
            continue
        text = _statement(statement, rows, width)
        while len(flat) - done >= size:
            db.execute(text, flat[done : done + size])
            done += size


@lru_cache(maxsize=16)
def _statement(statement: str, rows: int, width: int) -> str:
    return statement + ", ".join([f"({marks(width)})"] * rows)


def marks(count: int) -> str:
    """Places for that many bound values."""
    return ", ".join("?" * count)
