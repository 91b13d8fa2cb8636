"""`TableRows`: the rows of a store's tables as they lie there, in a file or on a server alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]
Kind = Literal["file", "server"]
"""What has the tables: SQLite or PostgreSQL. They have the same names and columns, but for a few."""

_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('agenttrace store copy'))"


class Transaction:
    """Statements in one transaction; a value's place is a question mark."""

    def __init__(self, db: Any, kind: Kind) -> None:
        self._db = db
        self.kind: Kind = kind

    def select(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows that a statement gives."""
        return [tuple(row) for row in self._db.execute(self._statement(sql), tuple(values)).fetchall()]

    def change(self, sql: str, rows: Iterable[Row]) -> None:
        """Run a statement once for each of some rows of values."""
        self._db.cursor().executemany(self._statement(sql), list(rows))

    def _statement(self, sql: str) -> str:
        return sql if self.kind == "file" else sql.replace("?", "%s")


class TableRows:
    """Reads and writes rows of one store's tables.

    Args:
        kind: What has the tables.
        identity: A text that no other store has; asked for when it is needed.
        read: Runs a function with a connection, in a transaction that reads; returns the second argument
            where nothing was ever stored.
        write: Runs a function with a connection, in a transaction that writes.
        text: A text as it can be stored there; None where any can.

    Raises:
        StoreError: from every method, where the store cannot be used.
    """

    def __init__(
        self,
        kind: Kind,
        identity: Callable[[], str],
        read: Callable[[Callable[[Any], Any], Any], Any],
        write: Callable[[Callable[[Any], Any]], Any],
        text: Callable[[str], str] | None = None,
    ) -> None:
        self.kind: Kind = kind
        self.identity = identity
        self._read = read
        self._write = write
        self._text = text

    def select(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows that a statement gives, in a transaction of its own."""
        rows: list[Row] = self._read(lambda db: Transaction(db, self.kind).select(sql, values), [])
        return rows

    def write(self, do: Callable[[Transaction], T]) -> T:
        """Run a function in one transaction; of several such ones at once, one after the other."""

        def alone(db: Any) -> T:
            transaction = Transaction(db, self.kind)
            if self.kind == "server":  # a file has one writer anyway
                transaction.select(_ONE_AT_A_TIME)
            return do(transaction)

        value: T = self._write(alone)
        return value

    def storable(self, rows: Iterable[Row]) -> list[Row]:
        """Rows of another store as they would lie in this one: a server takes no zero character in a text."""
        text = self._text
        if text is None:
            return list(rows)
        return [tuple(text(value) if isinstance(value, str) else value for value in row) for row in rows]


def places(count: int) -> str:
    """That many places of values, in brackets."""
    return f"({', '.join('?' * count)})"
