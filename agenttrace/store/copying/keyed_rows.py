"""Rows with a key: annotations, datasets, failures, evaluations that are pending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.table_rows import Row, TableRows, Transaction, places

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608


@dataclass(frozen=True, slots=True)
class Keyed:
    """A table whose rows have a key.

    `columns` begin with those of the key, of which there are `keys`. `compared` are the columns, the key's
    aside, that make a row the same. `conflict` is what becomes of a row with the same key that is there: the
    end of a statement. `order` is the columns by which the table is gone through, the key's by default.
    """

    table: str
    columns: tuple[str, ...]
    keys: int
    compared: tuple[str, ...]
    conflict: str = ""
    order: tuple[str, ...] = ()
    at_once: int = 500
    _places: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", tuple(map(self.columns.index, self.compared)))

    def key_of(self, row: Row) -> Row:
        """The key of a row."""
        return row[: self.keys]

    def same_of(self, row: Row) -> Row:
        """What makes a row the same as one that has its key."""
        return tuple(row[place] for place in self._places)


def _replacing(columns: Sequence[str], keys: int) -> str:
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns[keys:])
    return f"DO UPDATE SET {changed}"


_OF_ANNOTATIONS = (
    *("id", "project", "trace_id", "span_id", "run_id", "result", "label", "thumbs", "score", "note"),
    *("expected", "author", "created_ns"),
)
ANNOTATIONS = Keyed("annotations", _OF_ANNOTATIONS, 1, _OF_ANNOTATIONS, _replacing(_OF_ANNOTATIONS, 1))

DATASETS = Keyed(
    "datasets",
    ("project", "alias", "version", "created_ns", "content"),
    3,
    ("content",),
    "DO NOTHING",  # what is there under the same number is somebody's, too: it is said that they differ
    at_once=1,  # one may be large
)

_OF_FAILURES = (
    *("project", "fingerprint", "scorer", "title", "state", "fixed_in", "changed_ns", "first_ns", "last_ns"),
    *("count", "revisions", "alerted_ns"),
)
FAILURES = Keyed(
    "failures",
    _OF_FAILURES,
    2,
    (),  # where the other store has seen it since, its own word stays
    f"{_replacing(_OF_FAILURES, 2)} WHERE excluded.last_ns >= failures.last_ns",
)

_OF_PENDING = ("key", "project", "request", "created_ns")
PENDING = Keyed(
    "pending_evaluations", _OF_PENDING, 1, _OF_PENDING, _replacing(_OF_PENDING, 1), order=("id",), at_once=200
)
_OWNERS = "UPDATE pending_evaluations SET owner = request::json ->> 'owner' WHERE key = ?"


def copy_table(table: Keyed, source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    """Copy all rows of a table."""
    for part in _parts(table, source):
        copy_rows(table, part, target, counts)


def copy_annotations(
    trace_ids: Sequence[str], source: TableRows, target: TableRows, counts: CopiedKinds
) -> None:
    """Copy what people said of some traces."""
    columns = ", ".join(ANNOTATIONS.columns)
    query = f"SELECT {columns} FROM annotations WHERE trace_id IN {places(len(trace_ids))}"
    copy_rows(ANNOTATIONS, source.select(query, trace_ids), target, counts)


def copy_rows(table: Keyed, rows: Sequence[Row], target: TableRows, counts: CopiedKinds) -> None:
    """Write those of some rows that the target has otherwise, or not; then count what it has."""
    if not rows:
        return
    rows = target.storable(rows)

    def put(transaction: Transaction) -> int:
        stored = _stored(table, rows, transaction)
        new = [row for row in rows if stored.get(table.key_of(row)) != row]
        key = ", ".join(table.columns[: table.keys])
        transaction.change(
            f"INSERT INTO {table.table} ({', '.join(table.columns)}) VALUES {places(len(table.columns))}"
            f" ON CONFLICT ({key}) {table.conflict}",
            new,
        )
        if table is PENDING and transaction.kind == "server":
            transaction.change(_OWNERS, [row[:1] for row in new])
        return len(new)

    written = target.write(put)
    stored = {key: table.same_of(row) for key, row in _stored(table, rows, target).items()}
    there = sum(stored.get(table.key_of(row)) == table.same_of(row) for row in rows)
    counts.add(_KINDS.get(table.table, table.table), looked_at=len(rows), written=written, there=there)


_KINDS = {"pending_evaluations": "pending"}


def _parts(table: Keyed, source: TableRows) -> Iterator[list[Row]]:
    """All rows of a table, in parts."""
    order = table.order or table.columns[: table.keys]
    names, width = ", ".join(order), len(order)
    query = f"SELECT {names}, {', '.join(table.columns)} FROM {table.table}"
    end = f"ORDER BY {names} LIMIT {table.at_once}"
    part = source.select(f"{query} {end}")
    while part:
        yield [row[width:] for row in part]
        part = source.select(f"{query} WHERE ({names}) > {places(width)} {end}", part[-1][:width])


def _stored(table: Keyed, rows: Sequence[Row], where: TableRows | Transaction) -> dict[Row, Row]:
    """The rows that have the keys of some rows, by key."""
    key = ", ".join(table.columns[: table.keys])
    keys = ", ".join([places(table.keys)] * len(rows))
    query = f"SELECT {', '.join(table.columns)} FROM {table.table} WHERE ({key}) IN (VALUES {keys})"
    values = [value for row in rows for value in table.key_of(row)]
    return {table.key_of(row): row for row in where.select(query, values)}
