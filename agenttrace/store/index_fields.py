"""The part of a side index that finds values of fields, such as ``input.order_id:7``.

It costs as much as all the rest, and few ask for it: so it is filled when a query first needs it, and has a
position of its own. Of a trace that it does not know yet, nothing can be told by a field's value.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from itertools import groupby, starmap
from operator import itemgetter
from typing import Any

from agenttrace.core.jsonable import to_json
from agenttrace.core.trace_reads import IndexState
from agenttrace.store.facts import LONGEST_JSON, fields_of, text_of_field, value_of
from agenttrace.store.index_source import Numbers, StoreRows
from agenttrace.store.index_tables import about, field_digest, note
from agenttrace.store.sound_rows import sound_mapping

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

ROWS_AT_ONCE = 20_000
"""About how many spans of tools and roots a slice reads."""

FIRST_SLICE = 500

_REMEMBERED = 100_000
"""Fields of which the digest is remembered."""

_TRACE = itemgetter(0)


class FieldsFill:
    """Takes over the fields of traces whose facts are in the index, a slice at a time, in the caller's
    transaction."""

    def __init__(self, index: sqlite3.Connection) -> None:
        self._index = index
        self._salt: bytes = about(index, "salt")
        self._at_once = FIRST_SLICE
        self._digest = lru_cache(_REMEMBERED, typed=True)(self._digest_of)  # 1, 1.0 and True are equal

    def fill_slice(self, store: StoreRows) -> bool:
        """Take over one slice; returns False when there is nothing more."""
        if about(self._index, "fields_from") is None:
            (highest,) = self._index.execute("SELECT coalesce(max(trace), 0) FROM traces").fetchone()
            note(self._index, fields_row=about(self._index, "row"), fields_from=highest + 1)
        end = about(self._index, "fields_from")
        if end > 1:
            start = max(end - self._at_once, 1)
            spans = self._replace(store, range(start, end))
            note(self._index, fields_from=start)
            self._at_once = min(max(self._at_once * ROWS_AT_ONCE // max(spans, 1), 1), 20 * self._at_once)
        else:
            self._update(store)
        return not are_known(self._index)

    def _update(self, store: StoreRows) -> None:
        first, last = about(self._index, "fields_row"), about(self._index, "row")
        if first == last:
            return
        traces, end = store.new_spans(first, last)
        which = "IN (SELECT value FROM json_each(?))"
        self._index.execute(f"DELETE FROM fields WHERE trace {which}", (to_json(sorted(traces)),))
        self._replace(store, traces)
        note(self._index, fields_row=end)

    def _replace(self, store: StoreRows, numbers: Numbers) -> int:
        """Write the fields of some traces; returns how many spans they are of."""
        rows: list[tuple[int, bytes]] = []
        spans = 0
        for trace, of_trace in groupby(store.values(numbers), _TRACE):
            digests: set[bytes] = set()
            for _, arguments, output in of_trace:
                spans += 1
                fields = fields_of(
                    None if arguments is None else sound_mapping(value_of(arguments)),
                    None if output is None or not _may_have_fields(output) else value_of(output),
                )
                digests.update(starmap(self._digest, fields))
            if digests:
                rows.append((trace, b"".join(digests)))
        self._index.executemany("INSERT OR REPLACE INTO fields VALUES (?, ?)", rows)
        return spans

    def _digest_of(self, side: str, name: str, value: Any) -> bytes:
        text = text_of_field(side, name, value)
        return b"" if text is None else field_digest(self._salt, text)


def _may_have_fields(output: bytes) -> bool:
    """Whether an output's JSON text may be of a mapping, or of a text that is one's JSON text."""
    return output[:1] == b"{" or (output[:2] == b'"{' and len(output) <= 6 * LONGEST_JSON)


def are_known(index: sqlite3.Connection) -> bool:
    """Whether the fields of every trace in an index are known."""
    return [about(index, key) for key in ("fields_from", "fields_row")] == [1, about(index, "row")]


def state_of_fields(index: sqlite3.Connection) -> IndexState:
    """How many of the traces in an index have known fields."""
    start = known_from(index)
    done, total = index.execute(
        "SELECT count(*) FILTER (WHERE trace >= ?), count(*) FROM traces", (start,)
    ).fetchone()
    return IndexState(done, total if are_known(index) else max(total, done + 1))


def known_from(index: sqlite3.Connection) -> int:
    """The lowest number of a trace whose fields are known."""
    start = about(index, "fields_from")
    return (1 << 62) if start is None else start
