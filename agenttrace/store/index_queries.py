"""Answers queries from the side index: a query's terms as conditions, and by which of them to begin.

Where a term leaves few traces, these are looked up and sorted; else the traces are walked in the order asked
for until the page is full.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.core.query import (
    Called,
    Compared,
    Holds,
    Identified,
    Labelled,
    Measure,
    Present,
    Query,
    Scored,
    Started,
    Term,
    Words,
)
from agenttrace.core.query_matching import fields_of
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.core.trace_reads import NEWEST_FIRST, Count, Cursor, Facet, Histogram, Page, Sort, SortKey
from agenttrace.core.trace_search import histogram_of, most_frequent, page_of
from agenttrace.core.words import words_of
from agenttrace.store.index_fields import known_from
from agenttrace.store.index_rows import IndexReader
from agenttrace.store.index_tables import (
    ALWAYS_PRESENT,
    FACTS,
    FEW,
    PRESENT,
    about,
    call_character,
    count_labels,
    field_digest,
    label_bytes,
)

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_COLUMN_OF: Mapping[Measure, str] = {
    "dur": "duration_ns",
    "cost": "cost",
    "spans": "spans",
    "tokens": "tokens",
    "calls": "call_count",
    "errors": "errors",
    "looped": "looped",
}
_INDEXED = {"duration_ns", "cost", "spans"}
_SORTED_BY: Mapping[SortKey, str] = {
    "time": "start_ns",
    "duration": "duration_ns",
    "cost": "cost",
    "spans": "spans",
    "score": "goodness",
}
_NEVER_MISSING = {"start_ns", "duration_ns", "spans"}
_ROWS_AT_ONCE = 2_000

_Sql = tuple[str, tuple[Any, ...]]


class _Condition(NamedTuple):
    """A term as SQL over ``traces t``, and a statement that gives the numbers of all traces that it leaves,
    where there may be few."""

    where: _Sql
    numbers: _Sql | None = None


def needs_fields(query: Query) -> bool:
    """Whether a query asks for values of fields."""
    return any(isinstance(term, Holds) for term in query)


class IndexQueries:
    """Answers queries from an open index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._reader = IndexReader(db)

    def search(
        self, query: Query, sort: Sort, limit: int, after: Cursor | None, before: Cursor | None
    ) -> Page:
        """A page of the matches; see `TraceReads`."""
        selection = Selection(self._db, query)
        backwards = after is None and before is not None
        place = before if backwards else after
        rows = selection.page(sort, limit + 1, place, backwards=backwards)
        has_more = len(rows) > limit
        facts = self._reader.facts(rows[:limit])
        if backwards:
            facts.reverse()
        has_before = has_more if backwards else place is not None
        return page_of(facts, sort, has_before=has_before, has_after=backwards or has_more)

    def count(self, query: Query, most: int) -> Count:
        """The number of matches up to `most`."""
        number = Selection(self._db, query).count(most + 1)
        return Count(min(number, most), number > most)

    def facets(self, query: Query, keys: Sequence[str], most: int) -> dict[str, Facet]:
        """The values of labels among the newest matches."""
        counted: dict[Query, tuple[Mapping[int, int], int]] = {}
        facets = {}
        for key in keys:
            narrowed = query.without(key)
            if narrowed not in counted:
                rows = Selection(self._db, narrowed).newest("labels", most + 1)
                packed = b"".join(labels for (labels,) in rows[:most])
                counted[narrowed] = count_labels(packed), len(rows)
            counts, traces = counted[narrowed]
            labels = self._reader.labels(counts)
            of_key = {labels[number][1]: n for number, n in counts.items() if labels[number][0] == key}
            facets[key] = Facet(most_frequent(of_key), min(traces, most), traces > most)
        return facets

    def histogram(self, query: Query, bars: int, most: int) -> Histogram:
        """The newest matches by time."""
        rows = Selection(self._db, query).newest("start_ns, labels", most + 1)
        failing = [
            label_bytes(number)
            for (number,) in self._db.execute(
                "SELECT id FROM labels WHERE key = 'status' AND value = 'error'"
                " OR key = 'verdict' AND value IN ('failed', 'errored')"
            )
        ]
        starts = [(start, any(label in labels for label in failing)) for start, labels in rows[:most]]
        return histogram_of(starts, bars, is_capped=len(rows) > most)

    def scored(self, query: Query, name: str, most: int) -> tuple[list[TraceFacts], bool]:
        """Those of the newest matches that have scores of a scorer, and whether there are more matches."""
        selection = Selection(self._db, query)
        is_capped = selection.count(most + 1) > most
        label = "SELECT id FROM labels WHERE key = 'scorer' AND value = ?"
        row = self._db.execute(label, (clean_text(name),)).fetchone()
        rows = [] if row is None else selection.newest_with(label_bytes(row[0]), most)
        return self._reader.facts(rows), is_capped

    def after(self, query: Query, cursor: Cursor | None) -> list[TraceFacts]:
        """The next ones of the newest matches, as many as are read at once."""
        rows = Selection(self._db, query).page(NEWEST_FIRST, _ROWS_AT_ONCE, cursor, backwards=False)
        return self._reader.facts(rows)


class Selection:
    """The traces that match a query, as SQL."""

    def __init__(self, db: sqlite3.Connection, query: Query) -> None:
        self._db = db
        conditions = [_Conditions(db).of(term) for term in query]
        self._where = [where for where, _ in conditions]
        if needs_fields(query):  # of other traces cannot be told what they hold, nor what they do not
            self._where.append(("t.trace >= ?", (known_from(db),)))
        self._source: _Sql = ("traces t", ())
        few = self._fewest([numbers for _, numbers in conditions if numbers is not None])
        self._is_few = few is not None
        if few is not None:
            self._source = (
                "(SELECT value AS number FROM json_each(?)) n CROSS JOIN traces t ON t.trace = n.number",
                (to_json(few),),
            )

    def _fewest(self, statements: Sequence[_Sql]) -> list[int] | None:
        """The numbers of the statement that gives the fewest, where these are few."""
        fewest: list[int] | None = None
        for statement, values in statements:
            most = FEW if fewest is None else len(fewest)
            numbers = [number for (number,) in self._db.execute(f"{statement} LIMIT {most + 1}", values)]
            if len(numbers) <= most:
                fewest = numbers
        return None if fewest is None else sorted(set(fewest))

    def _run(self, columns: str, more: Sequence[_Sql], rest: str, index: str) -> list[tuple[Any, ...]]:
        source, values = self._source
        if not self._is_few and index:
            source = f"traces t INDEXED BY {index}"
        conditions = [*self._where, *more]
        where = " AND ".join(condition for condition, _ in conditions) or "1"
        bound = [*values, *(value for _, of_one in conditions for value in of_one)]
        return self._db.execute(f"SELECT {columns} FROM {source} WHERE {where} {rest}", bound).fetchall()

    def count(self, most: int) -> int:
        """How many there are, counted up to `most`."""
        return len(self._run("1", (), f"LIMIT {most}", ""))

    def newest(self, columns: str, most: int) -> list[tuple[Any, ...]]:
        """Columns of the newest ones."""
        return self._run(columns, (), f"ORDER BY t.start_ns DESC, t.trace_id DESC LIMIT {most}", "by_start")

    def newest_with(self, label: bytes, most: int) -> list[tuple[Any, ...]]:
        """Rows of facts of those of the newest ones that have a label."""
        rows = self.newest(f"CASE WHEN instr(t.labels, x'{label.hex()}') THEN t.trace END", most)
        numbers = to_json([number for (number,) in rows if number is not None])
        return self._db.execute(
            f"SELECT {FACTS} FROM json_each(?) n CROSS JOIN traces ON trace = n.value ORDER BY n.key",
            (numbers,),
        ).fetchall()

    def page(self, sort: Sort, limit: int, place: Cursor | None, *, backwards: bool) -> list[tuple[Any, ...]]:
        """Rows of facts beyond a place, in the direction of the sort or against it."""
        column = f"t.{_SORTED_BY[sort.key]}"
        order, beyond = ("DESC", "<") if sort.descending != backwards else ("ASC", ">")
        value, place_id = (None, None) if place is None else (place.value, bytes.fromhex(place.trace_id))
        with_value: list[_Sql] = [(f"{column} IS NOT NULL", ())]
        without: list[_Sql] = [(f"{column} IS NULL", ())]
        if value is not None:
            with_value += [
                (f"{column} {beyond}= ?", (value,)),
                (f"({column}, t.trace_id) {beyond} (?, ?)", (value, place_id)),
            ]
        elif place is not None:
            without.append((f"t.trace_id {beyond} ?", (place_id,)))
        index = f"by_{_index_of(sort.key)}"
        parts = [(with_value, f"{column} {order}, t.trace_id {order}", index)]
        if column.removeprefix("t.") not in _NEVER_MISSING:  # those without a value stand last
            parts.append((without, f"t.trace_id {order}", ""))
        if place is not None:
            parts = parts[:1] if backwards and value is not None else parts
            parts = parts[1:] if not backwards and value is None else parts
        rows: list[tuple[Any, ...]] = []
        for conditions, ordering, by in reversed(parts) if backwards else parts:
            if len(rows) < limit:
                rows += self._run(FACTS, conditions, f"ORDER BY {ordering} LIMIT {limit - len(rows)}", by)
        return rows


def _index_of(key: SortKey) -> str:
    return {"time": "start", "score": "goodness"}.get(key, key)


class _Conditions:
    """Makes the condition of a term; what it asks for is looked up in the index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def of(self, term: Term) -> _Condition:
        condition = self._positive(term)
        if not term.negated:
            return condition
        text, values = condition.where
        return _Condition((f"NOT coalesce({text}, 0)", values))

    def _positive(self, term: Term) -> _Condition:
        match term:
            case Words():
                return self._words(term)
            case Labelled():
                return self._labelled(term)
            case Present():
                return self._present(term)
            case Identified():
                least, most = (bytes.fromhex(term.prefix.ljust(32, digit)) for digit in "0f")
                between = "trace_id BETWEEN ? AND ?"
                numbers = f"SELECT trace FROM traces WHERE {between}"
                return _Condition((f"t.{between}", (least, most)), (numbers, (least, most)))
            case Compared():
                return self._compared(_COLUMN_OF[term.measure], term.operator, term.number)
            case Scored():
                return self._scored(term)
            case Called():
                return self._called(term)
            case Holds():
                return self._holds(term)
            case Started():
                sign = ">=" if term.key == "since" else "<"
                moment = max(min(term.moment_ns, _LATEST), -_LATEST)
                return _Condition(
                    (f"t.start_ns {sign} ?", (moment,)),
                    (f"SELECT trace FROM traces INDEXED BY by_start WHERE start_ns {sign} ?", (moment,)),
                )

    def _words(self, term: Words) -> _Condition:
        phrase = f'"{" ".join(words_of(term.text))}" *'
        return _Condition(
            ("t.words IN (SELECT rowid FROM words WHERE words MATCH ?)", (phrase,)),
            (
                "SELECT t.trace FROM words w CROSS JOIN traces t INDEXED BY by_words"
                " ON t.words = w.rowid WHERE w.words MATCH ?",
                (phrase,),
            ),
        )

    def _labelled(self, term: Labelled) -> _Condition:
        labels = self._db.execute(
            "SELECT id, traces FROM labels WHERE key = ? AND value IN (SELECT value FROM json_each(?))",
            (term.key, to_json(term.values)),
        ).fetchall()
        if not labels:
            return _NOTHING
        any_of = " OR ".join(["instr(t.labels, ?)"] * len(labels))
        codes = tuple(label_bytes(number) for number, _ in labels)
        return _Condition((f"({any_of})", codes), self._rare(labels))

    def _rare(self, labels: Sequence[tuple[int, int]]) -> _Sql | None:
        """The traces that have one of these labels; None where they are not few."""
        if sum(traces for _, traces in labels) > FEW:
            return None
        numbers = to_json([number for number, _ in labels])
        return "SELECT trace FROM labelled WHERE label IN (SELECT value FROM json_each(?))", (numbers,)

    def _present(self, term: Present) -> _Condition:
        if term.key in ALWAYS_PRESENT:
            return _Condition(("1", ()))
        return self._labelled(Labelled(PRESENT, (term.key,)))

    def _compared(self, column: str, operator: str, number: float) -> _Condition:
        values = (number,)
        where = f"(t.{column} IS NOT NULL AND t.{column} {operator} ?)"
        few = None
        if column in _INDEXED:
            few = f"SELECT trace FROM traces WHERE {column} IS NOT NULL AND {column} {operator} ?"
        elif column == "looped" and operator in (">", ">=") and number >= 2:
            few = f"SELECT trace FROM traces INDEXED BY by_looped WHERE looped > 1 AND looped {operator} ?"
        return _Condition((where, values), None if few is None else (few, values))

    def _scored(self, term: Scored) -> _Condition:
        if term.name is None:
            if term.operator == "=":
                numbers = "SELECT trace FROM scored WHERE value = ?"
                return _Condition((f"t.trace IN ({numbers})", (term.number,)))
            column = "lowest" if term.operator in ("<", "<=") else "highest"
            return self._compared(column, term.operator, term.number)
        numbers = f"SELECT trace FROM scored WHERE name = ? AND value {term.operator} ?"
        values = (self._name(term.name), term.number)
        return _Condition((f"t.trace IN ({numbers})", values), (numbers, values))

    def _name(self, name: str) -> int:
        row = self._db.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()
        return -1 if row is None else row[0]

    def _called(self, term: Called) -> _Condition:
        names = [self._name(name) for name in term.names]
        if -1 in names:
            return _NOTHING
        pattern = "*".join(["", *map(call_character, names), ""])
        of_tools = [self._labelled(Labelled("tool", (name,))).numbers for name in set(term.names)]
        rare = next((numbers for numbers in of_tools if numbers is not None), None)
        return _Condition(("t.calls GLOB ?", (pattern,)), rare)

    def _holds(self, term: Holds) -> _Condition:
        salt: bytes = about(self._db, "salt")
        digests = tuple(field_digest(salt, field) for field in fields_of(term))
        any_of = " OR ".join(["instr(f.digests, ?)"] * len(digests))
        return _Condition(
            (f"EXISTS (SELECT 1 FROM fields f WHERE f.trace = t.trace AND ({any_of}))", digests),
            (f"SELECT trace FROM fields f WHERE {any_of}", digests),
        )


_LATEST = (1 << 63) - 1
_NOTHING = _Condition(("0", ()), ("SELECT trace FROM traces WHERE 0", ()))
