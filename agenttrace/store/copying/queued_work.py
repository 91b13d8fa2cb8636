"""Queued evaluations: what waits goes on waiting in the other store, what is done stays done there.

What a worker has claimed waits again, from the end of its lease on: the worker settles it in its own store.
An item that the other store has already is left as it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.rows import SCORE_COLUMNS
from agenttrace.store.table_rows import Row, TableRows, Transaction, places

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_AT_ONCE = 200
_KEY = "project, trace_id, rule"
_NS = "CAST(extract(epoch FROM {0}) * 1000000000 AS bigint)"
_COLUMNS = {
    "file": f"{_KEY}, due_ns, state, again_ns, tries, seen, scores",
    "server": f"{_KEY}, {_NS.format('due')}, state, {_NS.format('again')}, tries, seen, scores",
}
_MOMENT = "to_timestamp(? / 1000000000.0)"
_INSERT = {
    "file": f"INSERT INTO work ({_KEY}, due_ns, state, tries, seen, scores) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "server": f"INSERT INTO work ({_KEY}, due, state, tries, seen, scores)"
    f" VALUES (?, ?, ?, {_MOMENT}, ?, ?, ?, ?)",
}
_SCORES = f"id, trace_id, span_id, {SCORE_COLUMNS}, created_ns"


def copy_all_work(source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    """Copy the whole queue."""
    for part in _parts(source):
        _copy(part, source, target, counts)


def copy_work(traces: Sequence[Row], source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    """Copy what is queued of some traces, each named by its project and its id."""
    values = ", ".join([places(2)] * len(traces))
    query = f"SELECT {_COLUMNS[source.kind]} FROM work WHERE (project, trace_id) IN (VALUES {values})"
    rows = source.select(query, [value for trace in traces for value in trace])
    for at in range(0, len(rows), _AT_ONCE):
        _copy(rows[at : at + _AT_ONCE], source, target, counts)


def _parts(source: TableRows) -> Iterator[list[Row]]:
    query = f"SELECT {_COLUMNS[source.kind]} FROM work"
    end = f"ORDER BY {_KEY} LIMIT {_AT_ONCE}"
    part = source.select(f"{query} {end}")
    while part:
        yield part
        part = source.select(f"{query} WHERE ({_KEY}) > (?, ?, ?) {end}", part[-1][:3])


def _copy(rows: Sequence[Row], source: TableRows, target: TableRows, counts: CopiedKinds) -> None:
    names = _numbers_there(rows, source, target)
    new = target.storable(
        (*row[:3], *_waiting(*row[3:6]), *row[6:8], name) for row, name in zip(rows, names, strict=True)
    )

    def put(transaction: Transaction) -> int:
        stored = _stored(new, transaction)
        lacking = [row for row in new if row[:3] not in stored]
        transaction.change(f"{_INSERT[target.kind]} ON CONFLICT ({_KEY}) DO NOTHING", lacking)
        return len(lacking)

    written = target.write(put)
    stored = _stored(new, target)
    counts.add("work", looked_at=len(new), written=written, there=sum(row[:3] in stored for row in new))


def _waiting(due_ns: int, state: str, again_ns: int | None) -> tuple[int, str]:
    """When an item is due and in which state, where nobody has claimed it."""
    return (again_ns or due_ns, "waiting") if state == "claimed" else (due_ns, state)


def _stored(rows: Sequence[Row], where: TableRows | Transaction) -> set[Row]:
    values = ", ".join([places(3)] * len(rows))
    query = f"SELECT {_KEY} FROM work WHERE ({_KEY}) IN (VALUES {values})"
    return set(where.select(query, [value for row in rows for value in row[:3]]))


def _numbers_there(rows: Sequence[Row], source: TableRows, target: TableRows) -> list[Any]:
    """What names the scores of each item in the other store, which has them already under its own numbers.

    Names nothing where one of them is not there: then a later settlement leaves the old ones beside its own.
    """
    ids = sorted({row[1] for row in rows if row[8]})
    if not ids:
        return [None if target.kind == "file" else [] for _ in rows]
    ours = {number: score for number, *score in _scores(ids, source)}
    theirs: dict[Row, list[int]] = {}
    for number, *score in _scores(ids, target):
        theirs.setdefault(tuple(score), []).append(number)
    names = []
    for row in rows:
        wanted = target.storable(
            tuple(ours[number]) for number in _numbers(row[8]) if number in ours and ours[number][0] == row[1]
        )
        numbers = [theirs[score].pop(0) for score in wanted if theirs.get(score)]
        names.append(_name(numbers if len(numbers) == len(wanted) else [], target))
    return names


def _scores(trace_ids: Sequence[str], where: TableRows) -> list[Row]:
    condition = f"run_id IS NULL AND trace_id IN {places(len(trace_ids))}"
    return where.select(f"SELECT {_SCORES} FROM scores WHERE {condition} ORDER BY id", trace_ids)


def _numbers(name: Any) -> Sequence[int]:
    """The numbers that an item names: a list on a server, ``3-5`` in a file."""
    if not isinstance(name, str):
        return name or ()
    first, _, last = name.partition("-")
    return range(int(first), int(last) + 1) if last else ()


def _name(numbers: Sequence[int], target: TableRows) -> Any:
    if target.kind == "server":
        return list(numbers)
    is_one_range = numbers and numbers[-1] - numbers[0] == len(numbers) - 1
    return f"{numbers[0]}-{numbers[-1]}" if is_one_range else ""
