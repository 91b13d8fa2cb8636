"""Brings the side index up to date with its store: what is new, late, replaced or gone since the last time.

What is new names the traces whose facts are made anew, from all their rows. How that is known, and which
traces are gone, the store's own rows say (`StoreRows`). An index that is new is built from the newest trace
to the oldest, in slices, each of which reads the store on its own: so no log waits for it, it can be used
meanwhile, and what a killed process leaves is gone on with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from agenttrace.core.jsonable import to_json
from agenttrace.core.trace_facts import ResultFacts, ScoreFacts
from agenttrace.store.facts import Kind, Outlined, SpanOutline, facts_of_outlines, outlined_of, value_of
from agenttrace.store.index_rows import IndexRows
from agenttrace.store.index_source import NeedsRebuilding, Numbers, StoreRows
from agenttrace.store.index_tables import about, note
from agenttrace.store.sound_rows import sound_number, sound_rest, sound_score

ROWS_AT_ONCE = 30_000
"""About how many spans a slice reads."""

FIRST_SLICE = 500

MOST_STALE_WORDS = 100_000
"""Rows of words beyond four for each trace that an index may hold."""


class Fill:
    """Takes over from a store's rows into an index, a slice at a time, each in the caller's transaction."""

    def __init__(self, index: sqlite3.Connection) -> None:
        self._index = index
        self._rows = IndexRows(index)
        self._at_once = FIRST_SLICE
        self._is_new = False

    def begin(self, store: StoreRows) -> None:
        """Note where an empty index begins: what the store has now is built, what comes later is new."""
        self._is_new = True
        note(
            self._index,
            row=store.newest_span(),
            score=store.newest_score(),
            run=None,
            gone=store.nothing_gone(),
            built_from=store.highest_trace() + 1,
        )
        self._take_results(store)
        note(self._index, traces=store.trace_count())

    def fill_slice(self, store: StoreRows) -> bool:
        """Take over one slice; returns False when there is nothing more.

        Raises:
            NeedsRebuilding: what is new cannot be told from what was there.
        """
        if about(self._index, "built_from") > 1:
            self._build_slice(store)
            return True
        return self._update(store)

    def _build_slice(self, store: StoreRows) -> None:
        end = about(self._index, "built_from")
        start = max(end - self._at_once, 1)
        spans = self._replace(store, range(start, end), set())
        note(self._index, built_from=start)
        self._at_once = min(max(self._at_once * ROWS_AT_ONCE // max(spans, 1), 1), 20 * self._at_once)

    def _update(self, store: StoreRows) -> bool:
        traces = store.numbers(sorted(self._take_results(store) | self._note_scores(store)))
        first, last = about(self._index, "row"), store.newest_span()
        try:
            of_spans, end = store.new_spans(first, last)
        except NeedsRebuilding:
            if self._is_new:  # a file of a version that did not number rows is read anew each time
                return False
            raise
        traces |= of_spans
        note(self._index, row=end)
        if traces:
            self._replace(store, traces, traces)
        if end == last:
            self._remove_gone(store)
            if not self._is_new and about(self._index, "words") > MOST_STALE_WORDS + 4 * self._rows.count():
                raise NeedsRebuilding
        return end != last

    def _take_results(self, store: StoreRows) -> set[str]:
        """Take over the results of new runs, also of such as were stored again; returns their traces."""
        runs, position = store.new_runs(about(self._index, "run"))
        touched: set[str] = set()
        for run_id, name in runs:
            touched.update(
                trace_id
                for (trace_id,) in self._index.execute(
                    "DELETE FROM results WHERE run_id = ? RETURNING trace_id", (run_id,)
                ).fetchall()
            )
            rows = [
                (trace_id, run_id, place, name, example, outcome)
                for trace_id, place, example, outcome in store.results(run_id)
            ]
            touched.update(row[0] for row in rows)
            self._index.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)
        note(self._index, run=position)
        return touched

    def _note_scores(self, store: StoreRows) -> set[str]:
        """Note the last score; returns the traces of new ones."""
        last, newest = about(self._index, "score"), store.newest_score()
        note(self._index, score=newest)
        return set() if newest == last else store.newly_scored(last)

    def _remove_gone(self, store: StoreRows) -> None:
        """Remove the traces that the store no longer has."""
        gone, position = store.gone(about(self._index, "gone"), self._rows.count(), self._rows.numbers)
        self._rows.remove(gone)
        note(self._index, gone=position)

    def _replace(self, store: StoreRows, numbers: Numbers, traces: set[int]) -> int:
        """Make the facts of some traces anew; `traces` are those of which there may be facts already.

        Returns how many spans they have.
        """
        ids = store.ids(numbers)
        scores = self._scores(store, list(ids.values()))
        results = self._results(list(ids.values()))
        kinds = store.kinds()
        count = 0

        def outlined() -> Iterator[tuple[int, Outlined]]:
            nonlocal count
            for number, outlines in _traces(store, numbers, kinds):
                count += len(outlines)
                trace_id = ids.get(number)
                if trace_id is None:  # spans of a trace that is gone
                    continue
                of_trace = scores.get(trace_id, ()), results.get(trace_id, ())
                facts = facts_of_outlines(trace_id, outlines, *of_trace)
                if facts is None:
                    facts = outlined_of(store.whole(number, trace_id), *of_trace)
                if facts is not None:
                    yield number, facts

        expected = None if traces else about(self._index, "traces")
        self._rows.replace(traces, outlined(), expected=expected)
        return count

    def _scores(self, store: StoreRows, ids: Sequence[str]) -> dict[str, list[ScoreFacts]]:
        scores: dict[str, list[ScoreFacts]] = {}
        for trace_id, *fields in store.scores(ids):
            scores.setdefault(trace_id, []).append(sound_score(*fields))
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
    store: StoreRows, numbers: Numbers, kinds: Mapping[int, Kind]
) -> Iterator[tuple[int, list[SpanOutline]]]:
    """The spans of traces, trace by trace, in the order of their places."""
    rows = store.outlines(numbers)
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
