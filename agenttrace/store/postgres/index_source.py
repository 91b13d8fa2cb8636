"""What the side index of a store on a server is filled from; the index lies on the reader's own machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from agenttrace.core.trace import Trace
from agenttrace.store.facts import Kind
from agenttrace.store.index_source import NeedsRebuilding, Numbers, Position, StoreRows
from agenttrace.store.postgres import reads
from agenttrace.store.postgres.address import Address
from agenttrace.store.postgres.connection import Connection

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

T = TypeVar("T")

TRACES_AT_ONCE = 2_000

_OUTLINES = """SELECT s.trace, s.start_ns, s.seq, s.span, s.parent, s.end_ns, s.function,
        CASE WHEN s.parent IS NULL OR f.span_type = 'tool' THEN s.input END,
        CASE WHEN s.parent IS NULL THEN s.output END,
        s.rest
    FROM span_rows s JOIN functions f ON f.id = s.function WHERE {} ORDER BY s.trace"""
_VALUES = """SELECT s.trace, s.input, s.output
    FROM span_rows s JOIN functions f ON f.id = s.function
    WHERE (s.parent IS NULL OR f.span_type = 'tool') AND {} ORDER BY s.trace"""
_NEW = """written >= pg_snapshot_xmin(%(after)s::pg_snapshot)
    AND NOT pg_visible_in_snapshot(written, %(after)s::pg_snapshot)
    AND pg_visible_in_snapshot(written, %(until)s::pg_snapshot)"""
"""What was committed between two snapshots. Only rows of transactions that could be new are looked at."""


class ServerSource:
    """The store on a server; its index lies in the user's folder for caches, in a file of its own.

    A position is a snapshot of the server (``xmin:xmax:…``): what one does not show and a later one does is
    new, in whatever order transactions began and ended.
    """

    def __init__(self, address: Address) -> None:
        digest = blake2b(address.shown.encode(), digest_size=8).hexdigest()
        self.index_path = os.path.join(_cache_folder(), f"postgresql-{digest}-index")
        self.owned_as: str | None = None
        self._address = address
        self._connection = Connection(address)

    def is_there(self) -> bool:
        """Whether there is a server is known when it is asked."""
        return True

    def get_ready(self) -> None:
        """Make the folder."""
        os.makedirs(os.path.dirname(self.index_path), mode=0o700, exist_ok=True)

    def stamp(self) -> tuple[str, bool]:
        """A snapshot: it is another one after every transaction that wrote."""
        return self.read(lambda rows: str(rows.newest_span())), True

    def read(self, action: Callable[[StoreRows], T]) -> T:
        """Run an action on the rows, in one transaction. Raises StoreError."""
        return self._connection.read(lambda db: action(ServerRows(db)))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _cache_folder() -> str:
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "agenttrace")


class ServerRows:
    """The rows on a server, as `StoreRows`."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self._now: str | None = None

    def identity(self) -> str:
        """The store's own number, and its tables': one that was copied elsewhere is another store.

        So is one of which something was redacted: no reader keeps what it has read of it.
        """
        query = """SELECT concat_ws(' ', value, 'traces'::regclass::oid, 'scores'::regclass::oid,
            (SELECT value FROM about WHERE key = 'mended')) FROM about WHERE key = 'store'"""
        return str(self._db.execute(query).fetchone()[0])

    def trace_count(self) -> int:
        """As the server estimates it, for it counts by looking at every row."""
        query = "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'traces'::regclass"
        estimate = int(self._db.execute(query).fetchone()[0])
        return max(estimate, 1)

    def highest_trace(self) -> int:
        """See `StoreRows`."""
        return int(self._db.execute("SELECT coalesce(max(id), 0) FROM traces").fetchone()[0])

    def newest_span(self) -> str:
        """The snapshot of this read: the first one that it has asked for."""
        if self._now is None:
            self._now = str(self._db.execute("SELECT pg_current_snapshot()::text").fetchone()[0])
        return self._now

    def new_spans(self, after: Position, until: Position) -> tuple[set[int], Position]:
        """See `StoreRows`. A position with three parts is on the way: from, to, and the last trace so far."""
        since, to, last = (
            (*str(after).split(), str(until), "0") if " " not in str(after) else str(after).split()
        )
        self._check(since, to)
        rows = self._db.execute(
            f"SELECT DISTINCT trace FROM span_rows WHERE {_NEW} AND trace > %(last)s"
            " ORDER BY trace LIMIT %(most)s",
            {"after": since, "until": to, "last": int(last), "most": TRACES_AT_ONCE},
        )
        traces = {trace for (trace,) in rows}
        return traces, to if len(traces) < TRACES_AT_ONCE else f"{since} {to} {max(traces)}"

    def _check(self, after: str, until: str) -> None:
        """A server that was set back to an earlier state counts its transactions anew."""
        if int(after.split(":")[0]) > int(until.split(":")[1]):
            raise NeedsRebuilding

    def newest_score(self) -> str:
        """See `StoreRows`."""
        return self.newest_span()

    def newly_scored(self, after: Position) -> set[str]:
        """See `StoreRows`."""
        self._check(str(after), self.newest_span())
        query = f"SELECT DISTINCT trace_id FROM scores WHERE {_NEW} AND trace_id IS NOT NULL"
        return {trace for (trace,) in self._db.execute(query, self._between(after))}

    def new_runs(self, after: Position) -> tuple[list[tuple[str, str]], Position]:
        """See `StoreRows`."""
        if after is None:
            rows = self._db.execute("SELECT run_id, name FROM runs ORDER BY id").fetchall()
        else:
            self._check(str(after), self.newest_span())
            query = f"SELECT run_id, name FROM runs WHERE {_NEW} ORDER BY id"
            rows = self._db.execute(query, self._between(after)).fetchall()
        return rows, self.newest_span()

    def results(self, run_id: str) -> Iterable[tuple[str, int, str, str]]:
        """See `StoreRows`."""
        query = (
            "SELECT trace_id, result, name, outcome FROM results WHERE run_id = %s AND trace_id IS NOT NULL"
        )
        rows: list[tuple[str, int, str, str]] = self._db.execute(query, (run_id,)).fetchall()
        return rows

    def nothing_gone(self) -> Position:
        """See `StoreRows`."""
        return self.newest_span()

    def gone(self, after: Position, count: int, numbers: Callable[[], set[int]]) -> tuple[set[int], Position]:
        """See `StoreRows`: the server notes the numbers of traces that are deleted."""
        self._check(str(after), self.newest_span())
        forgotten = (
            "SELECT 1 FROM about WHERE key = 'forgotten' AND NOT pg_visible_in_snapshot(value::xid8, %s)"
        )
        if self._db.execute(forgotten, (str(after),)).fetchone():
            raise NeedsRebuilding
        query = f"SELECT trace FROM gone_traces WHERE {_NEW}"
        gone = {number for (number,) in self._db.execute(query, self._between(after))}
        return gone, self.newest_span()

    def _between(self, after: Position) -> dict[str, Any]:
        return {"after": str(after), "until": self.newest_span()}

    def numbers(self, trace_ids: Sequence[str]) -> set[int]:
        """See `StoreRows`."""
        rows = self._db.execute("SELECT id FROM traces WHERE trace_id = ANY(%s)", (list(trace_ids),))
        return {number for (number,) in rows}

    def ids(self, numbers: Numbers) -> dict[int, str]:
        """See `StoreRows`."""
        where, values = _among("id", numbers)
        return dict(self._db.execute(f"SELECT id, trace_id FROM traces WHERE {where}", values).fetchall())

    def kinds(self) -> dict[int, Kind]:
        """See `StoreRows`."""
        rows = self._db.execute("SELECT id, name, span_type, project FROM functions")
        return {number: (name, span_type, project) for number, name, span_type, project in rows}

    def outlines(self, numbers: Numbers) -> Iterator[Sequence[Any]]:
        """See `StoreRows`."""
        where, values = _among("s.trace", numbers)
        for row in self._db.execute(_OUTLINES.format(where), values):
            yield (*row[:7], *map(_bytes, row[7:]))

    def values(self, numbers: Numbers) -> Iterator[tuple[int, bytes | None, bytes | None]]:
        """See `StoreRows`."""
        where, values = _among("s.trace", numbers)
        for trace, arguments, output in self._db.execute(_VALUES.format(where), values):
            yield trace, _bytes(arguments), _bytes(output)

    def whole(self, number: int, trace_id: str) -> Trace:
        """See `StoreRows`."""
        return reads.numbered_trace(self._db, number, trace_id)

    def scores(self, trace_ids: Sequence[str]) -> Iterable[Sequence[Any]]:
        """See `StoreRows`."""
        rows: list[Sequence[Any]] = self._db.execute(
            "SELECT trace_id, name, value, threshold, outcome FROM scores"
            " WHERE trace_id = ANY(%s) ORDER BY id",
            (list(trace_ids),),
        ).fetchall()
        return rows


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _among(column: str, numbers: Numbers) -> tuple[str, tuple[Any, ...]]:
    """A condition for the numbers of traces, with its values."""
    if isinstance(numbers, range):
        return f"{column} >= %s AND {column} < %s", (numbers.start, numbers.stop)
    return f"{column} = ANY(%s)", (sorted(numbers),)
