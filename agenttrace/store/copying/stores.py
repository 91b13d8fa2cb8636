"""`copy_store`: everything in a store, or the traces that match a query, into another one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Store
from agenttrace.core.query import Query
from agenttrace.core.trace_reading import ReadSpans
from agenttrace.store.copying import keyed_rows, queued_work, repeatable_rows, runs, traces
from agenttrace.store.copying.copied import CopiedKinds
from agenttrace.store.table_rows import TableRows


class _OfTables(Store, Protocol):
    """A store whose tables can be read: a file, or one on a server."""

    reading: ReadSpans | None

    def table_rows(self) -> TableRows:
        """The rows of its tables."""
        ...


def copy_store(
    source: Store,
    target: Store,
    query: Query | str = "",
    *,
    progress: Callable[[str, int], None] | None = None,
) -> CopiedKinds:
    """Copy what a store holds to another one, and count what that then has.

    With a `query`: the traces that match, with their scores, annotations and queued evaluations. Without:
    also runs, datasets, tools, failures and pending evaluations, with the times at which they were stored.
    What the target has already is not written again, so a copy that was interrupted is begun again by the
    same call; nothing is there twice. Nothing is deleted. Little is held in memory at a time: a part of the
    traces, or one run.

    Args:
        source: What to copy; it may be in use. What comes to it meanwhile may be missing.
        target: Where to; it may hold other things.
        query: Which traces.
        progress: Told of each part that is done: the kind, and how many of it were looked at so far.

    Raises:
        ConfigError: one of them is in memory or of the user's own, or they are the same store.
        QueryError: the query cannot be read.
        StoreError: one of them cannot be used; what was copied until then stays.
    """
    old, new = _tables(source), _tables(target)
    if old.kind == new.kind and old.identity() == new.identity():
        raise ConfigError("a store cannot be copied to itself; give two different ones")
    counts = CopiedKinds(progress)
    with _as_they_lie(source), _as_they_lie(target):
        if query:
            for part in traces.parts(source.iter_traces(query)):
                traces.copy_part(part, old, target, new, counts)
                ids = [trace.trace_id for trace in part]
                groups = [(trace_id,) for trace_id in ids]
                repeatable_rows.copy_groups(repeatable_rows.SCORES, groups, old, new, counts)
                keyed_rows.copy_annotations(ids, old, new, counts)
                works = [
                    (name, one.trace_id) for one in part for name in {span.project for span in one.spans}
                ]
                queued_work.copy_work(works, old, new, counts)
        else:
            _copy_everything(source, target, old, new, counts)
    return counts


def _copy_everything(
    source: Store, target: Store, old: TableRows, new: TableRows, counts: CopiedKinds
) -> None:
    traces.copy_tools(old, target, new, counts)
    for part in traces.parts(source.iter_traces()):
        traces.copy_part(part, old, target, new, counts)
    keyed_rows.copy_table(keyed_rows.FAILURES, old, new, counts)
    for rows in (
        repeatable_rows.SCORES,
        repeatable_rows.SCORES_OF_NOTHING_RECORDED,
        repeatable_rows.CASES_OF_TRACES,
        repeatable_rows.CASES_OF_RUNS,
    ):
        repeatable_rows.copy_all(rows, old, new, counts)
    runs.copy_runs(old, new, counts)
    for table in (keyed_rows.ANNOTATIONS, keyed_rows.DATASETS, keyed_rows.PENDING):
        keyed_rows.copy_table(table, old, new, counts)
    queued_work.copy_all_work(old, new, counts)


def _tables(store: Any) -> TableRows:
    if not hasattr(type(store), "table_rows"):  # not of the store beside one that is only read
        raise ConfigError(
            "a store in a file or on a PostgreSQL server can be copied, and be copied to; "
            f"{store!r} is copied where it is: name the file or the server"
        )
    rows: TableRows = store.table_rows()
    return rows


@contextmanager
def _as_they_lie(store: Any) -> Iterator[None]:
    """Let a store give spans as they are stored, and delete none for want of room."""
    before = {name: getattr(store, name) for name in ("reading", "max_bytes") if hasattr(store, name)}
    store.reading = None
    if "max_bytes" in before:
        store.max_bytes = sys.maxsize
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(store, name, value)
