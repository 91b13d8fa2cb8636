"""Brings the side index up to date with its store: what is new, late, replaced or gone since the last time.

New rows have numbers beyond the last one that was read: spans always (AUTOINCREMENT); scores as long as the
last one is still there; runs as well. What is new names the traces whose facts are made anew, from all their
rows. Traces that are gone show in the store's count. An index that is new
is built from the newest trace to the oldest, in slices, each of which reads the store on its own: so no log
waits for it, it can be used meanwhile, and what a killed process leaves is gone on with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from agenttrace.core.jsonable import to_json
from agenttrace.core.trace_facts import ResultFacts, ScoreFacts
from agenttrace.store import queries
from agenttrace.store.facts import Kind, Outlined, SpanOutline, facts_of_outlines, outlined_of, value_of
from agenttrace.store.index_rows import IndexRows, NeedsRebuilding
from agenttrace.store.index_tables import about, note
from agenttrace.store.sound_rows import sound_number, sound_rest, sound_text

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

ROWS_AT_ONCE = 30_000
"""About how many spans a slice reads."""

FIRST_SLICE = 500

MOST_STALE_WORDS = 100_000
"""Rows of words beyond four for each trace that an index may hold."""

_OUTLINES = """SELECT s.trace, s.start_ns, s.seq, s.span, s.parent, s.end_ns, s.function,
        CASE WHEN s.parent IS NULL OR f.span_type = 'tool' THEN CAST(s.input AS BLOB) END,
        CASE WHEN s.parent IS NULL THEN CAST(s.output AS BLOB) END,
        CAST(s.rest AS BLOB)
    FROM all_span_rows s JOIN functions f ON f.id = s.function"""


class Fill:
    """Takes over from a store's database into an index's, a slice at a time, each in the caller's
    transaction."""

    def __init__(self, index: sqlite3.Connection) -> None:
        self._index = index
        self._rows = IndexRows(index)
        self._at_once = FIRST_SLICE
        self._is_new = False

    def begin(self, store: sqlite3.Connection) -> None:
        """Note where an empty index begins: what the store has now is built, what comes later is new."""
        self._is_new = True
        (highest,) = store.execute("SELECT coalesce(max(id), 0) FROM traces").fetchone()
        note(self._index, row=_last_row(store), score=None, scored_ns=None, run=0, built_from=highest + 1)
        self._take_results(store)
        self._note_scores(store)
        note(self._index, traces=store.execute("SELECT count(*) FROM traces").fetchone()[0])

    def fill_slice(self, store: sqlite3.Connection) -> bool:
        """Take over one slice; returns False when there is nothing more.

        Raises:
            NeedsRebuilding: what is new cannot be told from what was there.
        """
        if about(self._index, "built_from") > 1:
            self._build_slice(store)
            return True
        return self._update(store)

    def _build_slice(self, store: sqlite3.Connection) -> None:
        end = about(self._index, "built_from")
        start = max(end - self._at_once, 1)
        spans = self._replace(store, "{0} >= ? AND {0} < ?", (start, end), set())
        note(self._index, built_from=start)
        self._at_once = min(max(self._at_once * ROWS_AT_ONCE // max(spans, 1), 1), 20 * self._at_once)

    def _update(self, store: sqlite3.Connection) -> bool:
        traces = _numbers(
            store,
            "SELECT id FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))",
            to_json(sorted(self._take_results(store) | self._note_scores(store))),
        )
        first: int | None = about(self._index, "row")
        last = _last_row(store)
        if first is None or last is None or last < first:
            if self._is_new:  # a file of a version that did not number rows is read anew each time
                return False
            raise NeedsRebuilding
        end = min(last, first + ROWS_AT_ONCE)
        traces |= _numbers(store, "SELECT DISTINCT trace FROM span_rows WHERE id > ? AND id <= ?", first, end)
        note(self._index, row=end)
        if traces:
            self._replace(
                store, "{0} IN (SELECT value FROM json_each(?))", (to_json(sorted(traces)),), traces
            )
        if end == last:
            self._remove_gone(store)
            if not self._is_new and about(self._index, "words") > MOST_STALE_WORDS + 4 * self._rows.count():
                raise NeedsRebuilding
        return end < last

    def _take_results(self, store: sqlite3.Connection) -> set[str]:
        """Take over the results of new runs, also of such as were stored again; returns their traces."""
        last: int = about(self._index, "run")
        touched: set[str] = set()
        for number, run_id, name in store.execute(
            "SELECT rowid, run_id, name FROM runs WHERE rowid > ? ORDER BY rowid", (last,)
        ).fetchall():
            last = number
            touched.update(
                trace_id
                for (trace_id,) in self._index.execute(
                    "DELETE FROM results WHERE run_id = ? RETURNING trace_id", (run_id,)
                ).fetchall()
            )
            rows = store.execute(
                "SELECT trace_id, run_id, result, ?, name, outcome FROM results"
                " WHERE run_id = ? AND trace_id IS NOT NULL",
                (name, run_id),
            ).fetchall()
            touched.update(row[0] for row in rows)
            self._index.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)
        note(self._index, run=last)
        return touched

    def _note_scores(self, store: sqlite3.Connection) -> set[str]:
        """Note the last score; returns the traces of new ones.

        The numbers of scores that were deleted are used again, but only those above all that are left.
        """
        last = about(self._index, "score")
        if last is not None:
            row = store.execute("SELECT created_ns FROM scores WHERE id = ?", (last,)).fetchone()
            last = last if row == (about(self._index, "scored_ns"),) else None
        newest = store.execute("SELECT id, created_ns FROM scores ORDER BY id DESC LIMIT 1").fetchone()
        score, created = newest or (None, None)
        note(self._index, score=score, scored_ns=created)
        if score == last:
            return set()
        query = "SELECT DISTINCT trace_id FROM scores WHERE id > ? AND trace_id IS NOT NULL"
        return {trace_id for (trace_id,) in store.execute(query, (last or 0,))}

    def _remove_gone(self, store: sqlite3.Connection) -> None:
        """Remove the traces that the store no longer has, where their count says that there are any.

        What is new was taken over just before. So the counts differ by the traces without spans, as they did
        when all numbers were last compared, or something is gone; a number that is used again is a new
        trace's. SQLite counts without looking at the rows, which makes this cheap with any number of them.
        """
        (stored,) = store.execute("SELECT count(*) FROM traces").fetchone()
        if stored - self._rows.count() == (about(self._index, "without_spans") or 0):
            return
        self._rows.remove(self._rows.numbers() - _numbers(store, "SELECT id FROM traces"))
        note(self._index, without_spans=stored - self._rows.count())

    def _replace(self, store: sqlite3.Connection, where: str, values: Sequence[Any], traces: set[int]) -> int:
        """Make the facts of some traces anew; `traces` are those of which there may be facts already.

        Returns how many spans they have.
        """
        ids = dict(store.execute(f"SELECT id, trace_id FROM traces WHERE {where.format('id')}", values))
        scores = self._scores(store, list(ids.values()))
        results = self._results(list(ids.values()))
        kinds: dict[int, Kind] = {
            number: (sound_text(name), sound_text(span_type), sound_text(project))
            for number, name, span_type, project in store.execute(
                "SELECT id, name, span_type, project FROM functions"
            )
        }
        count = 0

        def outlined() -> Iterator[tuple[int, Outlined]]:
            nonlocal count
            for number, outlines in _traces(store, where.format("s.trace"), values, kinds):
                count += len(outlines)
                trace_id = ids.get(number)
                if trace_id is None:  # spans of a trace that is gone
                    continue
                of_trace = scores.get(trace_id, ()), results.get(trace_id, ())
                facts = facts_of_outlines(trace_id, outlines, *of_trace)
                if facts is None:
                    whole = queries.trace_of(trace_id, queries.span_rows(store, number), [])
                    facts = outlined_of(whole, *of_trace)
                if facts is not None:
                    yield number, facts

        expected = None if traces else about(self._index, "traces")
        self._rows.replace(traces, outlined(), expected=expected)
        return count

    def _scores(self, store: sqlite3.Connection, ids: Sequence[str]) -> dict[str, list[ScoreFacts]]:
        scores: dict[str, list[ScoreFacts]] = {}
        for trace_id, *fields in store.execute(
            "SELECT trace_id, name, value, threshold, outcome FROM scores"
            " WHERE trace_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (to_json(ids),),
        ):
            scores.setdefault(trace_id, []).append(ScoreFacts(*fields))
        return scores

    def _results(self, ids: Sequence[str]) -> dict[str, list[ResultFacts]]:
        results: dict[str, list[ResultFacts]] = {}
        for trace_id, *fields in self._index.execute(
            "SELECT trace_id, run_id, run_name, example, outcome FROM results"
            " WHERE trace_id IN (SELECT value FROM json_each(?)) ORDER BY run_id, result",
            (to_json(ids),),
        ).fetchall():
            results.setdefault(trace_id, []).append(ResultFacts(*fields))
        return results


def _traces(
    store: sqlite3.Connection, where: str, values: Sequence[Any], kinds: Mapping[int, Kind]
) -> Iterator[tuple[int, list[SpanOutline]]]:
    """The spans of traces, trace by trace, in the order of their places."""
    rows = store.execute(f"{_OUTLINES} WHERE {where} ORDER BY s.trace", values)
    for number, of_trace in groupby(rows, _TRACE):
        outlines: list[SpanOutline] = [
            (
                start, index, key, parent, end, kinds[function], arguments, output,
                None if rest is None else sound_rest(value_of(rest)),
            )
            for _, start, index, key, parent, end, function, arguments, output, rest in of_trace
        ]  # fmt: skip
        if not all(map(_has_numbers, outlines)):
            outlines = list(map(_with_numbers, outlines))
        outlines.sort()  # no two spans of a trace have the same id: what stands behind it is not compared
        yield number, outlines


_TRACE = itemgetter(0)


def _has_numbers(outline: SpanOutline) -> bool:
    start, index, key, parent, end, *_ = outline
    return type(start) is type(index) is type(key) is type(end) is int and (
        parent is None or type(parent) is int
    )


def _with_numbers(outline: SpanOutline) -> SpanOutline:
    """A span of a damaged row, as the store's other readers have it."""
    start, index, key, parent, end, kind, arguments, output, rest = outline
    start = sound_number(start)
    place = start, sound_number(index), sound_number(key), None if parent is None else sound_number(parent)
    return *place, sound_number(end, start), kind, arguments, output, rest


def _numbers(db: sqlite3.Connection, query: str, *values: Any) -> set[int]:
    return {number for (number,) in db.execute(query, values)}


def _last_row(store: sqlite3.Connection) -> int | None:
    """The highest number of a span's row, None in a file of a version that did not number them."""
    if not any(column == "id" for _, column, *_ in store.execute("PRAGMA table_info(span_rows)")):
        return None
    row = store.execute("SELECT seq FROM sqlite_sequence WHERE name = 'span_rows'").fetchone()
    return 0 if row is None else int(row[0])
