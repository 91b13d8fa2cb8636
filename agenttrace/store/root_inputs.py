"""The input of the first root of some traces: what a list says beside the name of an agent."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import ReadsRootInputs, Store, optional
from agenttrace.store.connection import read
from agenttrace.store.rows import loaded
from agenttrace.store.sqlite import SQLiteStore

LONGEST = 20_000
"""Characters of an input that is read; a longer one is not shown in a list."""

_STATEMENT = """
    SELECT t.trace_id, (
        SELECT CASE WHEN length(s.input) <= ? THEN s.input END FROM all_span_rows s
        WHERE s.trace = t.id ORDER BY s.parent IS NOT NULL, s.start_ns, s.seq LIMIT 1
    ) FROM traces t WHERE t.trace_id IN (SELECT value FROM json_each(?))
"""


def root_inputs(store: Store, trace_ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The inputs by the ids of their traces; without those that have none.

    Raises:
        StoreError: the store cannot be read.
    """
    wanted = list(trace_ids)
    own = optional(store, ReadsRootInputs)
    if own is not None:
        return dict(own.root_inputs(wanted, LONGEST))
    if not isinstance(store, SQLiteStore):
        traces = {trace_id: store.trace(trace_id) for trace_id in wanted}
        return {key: trace.input for key, trace in traces.items() if trace is not None and trace.input}

    def query(db: sqlite3.Connection) -> list[tuple[str, str | None]]:
        return db.execute(_STATEMENT, (LONGEST, to_json(wanted))).fetchall()

    nothing: list[tuple[str, str | None]] = []
    rows = read(store.path, store.busy_timeout, query, nothing)
    inputs = {trace_id: loaded(text) for trace_id, text in rows if text is not None}
    return {key: value for key, value in inputs.items() if isinstance(value, dict)}
