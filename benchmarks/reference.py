"""Fixed work without agenttrace, whose cost tells one build of Python from another.

The same code takes other numbers of instructions in a Python that was compiled with profiles, with another C
library or SQLite, or on a processor for which the C library has other routines. Figures hold for a build
whose reference loops cost the same. They are no unit for the paths: between two builds of 3.11 the loops got
3 to 12 % cheaper, a traced generator 20 % dearer. Whoever changes a loop accepts all figures anew.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator

_TEXT = "A town on a river, known for its bridges, its bread and the colour of its roofs. " * 12
_NEEDLES = [f"needle{number}" for number in range(5)]
_RECORD = {"title": "Result", "score": 0.25, "tags": ["travel", "city"], "text": _TEXT, "author": {"id": 7}}
_INSERT = "INSERT OR REPLACE INTO rows VALUES " + ", ".join(["(?, ?, ?)"] * 20)


class _Point:
    __slots__ = ("x", "y")

    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y


def _steps(count: int) -> Iterator[int]:
    yield from range(count)


def _failing(number: int) -> None:
    raise LookupError(number)


def bytecodes(turns: int) -> None:
    """Calls, attributes, generators, exceptions: the interpreter's loop."""
    for turn in range(turns):
        points = [_Point(turn, step) for step in _steps(10)]
        total = {point.y: point.x + point.y for point in points}
        try:
            _failing(len(total))
        except LookupError:
            pass


def texts(turns: int) -> None:
    """Searching, encoding, copying: Python's C code over texts."""
    for _ in range(turns):
        for needle in _NEEDLES:
            _ = needle in _TEXT
        json.loads(json.dumps(_RECORD))
        pickle.loads(pickle.dumps(_RECORD))


def rows(turns: int) -> None:
    """Rows into an SQLite database in memory."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, value TEXT)")
    for turn in range(turns):
        values: list[object] = []
        for row in range(20):
            values += (turn * 20 + row, "name", "a value of some length")
        database.execute(_INSERT, values)
    database.close()


LOOPS: dict[str, Callable[[int], None]] = {"bytecodes": bytecodes, "texts": texts, "rows": rows}
