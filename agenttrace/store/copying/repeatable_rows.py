"""Rows without a key, of which equal ones may repeat: as many are put into a store as it lacks.

They are copied in groups, all rows about some traces at a time: of equal rows, the other store is to have as
many as this one. So a copy that was interrupted may be begun again, and no row is there twice by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.evaluation_writes import next_score_number
from agenttrace.store.rows import SCORE_COLUMNS
from agenttrace.store.table_rows import Row, TableRows, Transaction, places

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_AT_ONCE = 200
"""Groups that are copied together."""


@dataclass(frozen=True, slots=True)
class Repeatable:
    """Rows of a kind: their columns, where they are, what makes a group of them, and how one is inserted.

    `insert` has a place for each column, in their order.
    """

    kind: str
    columns: str
    rows: str
    group: str
    order: str
    insert: str


_SCORES = f"trace_id, span_id, {SCORE_COLUMNS}, created_ns"
_SCORE = f"INSERT INTO scores ({_SCORES}) VALUES {places(13)}"
_CASES = "c.trace_id, c.run_id, c.result, c.seen_ns, f.project, f.fingerprint"
_CASE = (
    "INSERT INTO failure_cases (failure, trace_id, run_id, result, seen_ns) SELECT id, CAST(? AS text),"
    " CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint) FROM failures"
    " WHERE project = ? AND fingerprint = ?"
)
_OF_FAILURES = "failure_cases c JOIN failures f ON f.id = c.failure WHERE"

SCORES = Repeatable(
    "scores", _SCORES, "scores WHERE run_id IS NULL AND trace_id IS NOT NULL", "trace_id", "id", _SCORE
)
SCORES_OF_NOTHING_RECORDED = Repeatable(
    "scores", _SCORES, "scores WHERE run_id IS NULL AND trace_id IS NULL", "created_ns", "id", _SCORE
)
CASES_OF_TRACES = Repeatable(
    "cases", _CASES, f"{_OF_FAILURES} c.trace_id IS NOT NULL", "c.trace_id", "c.seen_ns", _CASE
)
CASES_OF_RUNS = Repeatable(
    "cases", _CASES, f"{_OF_FAILURES} c.trace_id IS NULL", "c.run_id", "c.seen_ns", _CASE
)


def copy_all(rows: Repeatable, source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    """Copy all groups."""
    for groups in _groups(rows, source):
        copy_groups(rows, groups, source, target, counts)


def copy_groups(
    rows: Repeatable, groups: Sequence[Row], source: TableRows, target: TableRows, counts: CopiedKinds
) -> None:
    """Copy the rows of some groups, each named by a row of one value."""
    wanted = target.storable(_of_groups(rows, groups, source))
    groups = target.storable(groups)

    def put(transaction: Transaction) -> int:
        new = lacking(wanted, _of_groups(rows, groups, transaction))
        insert(rows, transaction, new)
        return len(new)

    if not wanted:
        return
    written = target.write(put)
    there = Counter(wanted) & Counter(_of_groups(rows, groups, target))
    counts.add(rows.kind, looked_at=len(wanted), written=written, there=there.total())


def lacking(wanted: Sequence[Row], there: Sequence[Row]) -> list[Row]:
    """Those of some rows that are not among others, each as often as it lacks there; in their order."""
    left = Counter(there)
    new: list[Row] = []
    for row in wanted:
        if left[row] > 0:
            left[row] -= 1
        else:
            new.append(row)
    return new


def insert(rows: Repeatable, transaction: Transaction, new: Sequence[Row]) -> None:
    """Insert rows; scores in a file get numbers that none had which still waits to be sent."""
    statement = rows.insert
    if rows.insert == _SCORE and transaction.kind == "file" and new:
        statement = f"INSERT INTO scores (id, {_SCORES}) VALUES {places(14)}"
        first = transaction.select(next_score_number())[0][0]
        new = [(number, *row) for number, row in enumerate(new, first)]
    transaction.change(statement, new)


def _groups(rows: Repeatable, source: TableRows) -> Iterator[list[Row]]:
    """The groups that there are, in parts."""
    query = f"SELECT DISTINCT {rows.group} FROM {rows.rows}"
    order = f"ORDER BY {rows.group} LIMIT {_AT_ONCE}"
    part = source.select(f"{query} AND {rows.group} IS NOT NULL {order}")
    while part:
        yield part
        part = source.select(f"{query} AND {rows.group} > ? {order}", part[-1])


def _of_groups(rows: Repeatable, groups: Sequence[Row], where: TableRows | Transaction) -> list[Row]:
    query = f"SELECT {rows.columns} FROM {rows.rows} AND {rows.group} IN {places(len(groups))}"
    return where.select(f"{query} ORDER BY {rows.order}", [group for (group,) in groups])
