"""Gives back to the disk what deleted traces took in a store's file."""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

from agenttrace.core.errors import ExportError, StoreError
from agenttrace.store import files
from agenttrace.store.damage import damage_of
from agenttrace.store.function_ids import FunctionIds
from agenttrace.store.health import StoreHealth
from agenttrace.store.writer import Unavailable, Writer


class Vacuumed(NamedTuple):
    """How many bytes a store's files had before and after."""

    before: int
    after: int


def vacuum(path: str, timeout: float) -> Vacuumed:
    """Write the file anew without what is free in it. Others wait meanwhile; the disk needs room for a copy.

    Raises:
        StoreError: the file cannot be written, or others hold it for longer than `timeout` seconds.
    """
    writer = Writer(path, timeout, StoreHealth(path=path))
    before = _size(path)
    if damage := damage_of(path, timeout, largest=before):
        raise StoreError(f"{path} is damaged: {damage}")  # a writer would begin a new file
    try:
        writer.write(_vacuum)
    except (Unavailable, ExportError) as cause:
        raise StoreError(f"{path} cannot be written: {cause}") from cause
    finally:
        writer.close()
    return Vacuumed(before, _size(path))


def _vacuum(db: sqlite3.Connection, _: FunctionIds) -> None:
    db.execute("COMMIT")  # no transaction may be open; the lock among processes is held all the same
    try:
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        db.execute("BEGIN IMMEDIATE")


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in files.SUFFIXES[:2] if os.path.lexists(path + end))
