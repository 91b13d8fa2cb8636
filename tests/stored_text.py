"""What a SQLite store holds, whatever the table: for tests of what must stand in none."""

import sqlite3
from pathlib import Path


def everything_in(path: Path) -> str:
    """All that any table of a store holds, as one text."""
    with sqlite3.connect(path) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in db.execute(f"SELECT * FROM {table}")]
    db.close()
    return repr(rows)
