"""Whether a store's file is damaged where nobody has read yet."""

from __future__ import annotations

import os
import sqlite3

from agenttrace.store.connection import read

LARGEST = 512 * 1024 * 1024
"""Bytes of a file that is looked at: it is read as a whole, which takes a second or two."""


def damage_of(path: str, timeout: float, largest: int = LARGEST) -> str:
    """What SQLite finds wrong with a file of at most `largest` bytes; else an empty text.

    Raises:
        StoreError: it cannot be read at all.
    """
    if os.path.exists(path) and os.path.getsize(path) > largest:
        return ""
    return read(path, timeout, _first_error, "")


def _first_error(db: sqlite3.Connection) -> str:
    try:
        (text,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if text == "ok" else " ".join(str(text).split())
