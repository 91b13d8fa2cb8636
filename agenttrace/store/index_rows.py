"""The facts of a trace as a row of the side index, there and back: names and labels as numbers, packed."""

from __future__ import annotations

import sqlite3
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from agenttrace.core.jsonable import to_json
from agenttrace.core.score import Outcome
from agenttrace.core.trace_facts import VERDICTS, CallFacts, Field, ScoreFacts, SearchedTrace, TraceFacts

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE labels (id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL,
        UNIQUE (key, value))""",
    """CREATE TABLE traces (
        trace INTEGER PRIMARY KEY,
        trace_id BLOB NOT NULL,
        start_ns INTEGER NOT NULL,
        duration_ns INTEGER NOT NULL,
        spans INTEGER NOT NULL,
        errors INTEGER NOT NULL,
        looped INTEGER NOT NULL,
        tokens REAL,
        cost REAL,
        lowest REAL,
        highest REAL,
        goodness REAL,
        call_count INTEGER NOT NULL,
        words INTEGER,
        words_digest BLOB,
        calls TEXT NOT NULL,
        durations BLOB NOT NULL,
        scores BLOB NOT NULL,
        labels BLOB NOT NULL
    )""",
    "CREATE INDEX by_start ON traces (start_ns)",
    "CREATE INDEX by_duration ON traces (duration_ns)",
    "CREATE INDEX by_spans ON traces (spans)",
    "CREATE INDEX by_cost ON traces (cost) WHERE cost IS NOT NULL",
    "CREATE INDEX by_goodness ON traces (goodness) WHERE goodness IS NOT NULL",
    "CREATE INDEX by_words ON traces (words) WHERE words IS NOT NULL",
    "CREATE INDEX by_looped ON traces (looped) WHERE looped > 1",
    "CREATE TABLE labelled (label INTEGER, trace INTEGER, PRIMARY KEY (label, trace)) WITHOUT ROWID",
    """CREATE TABLE scored (name INTEGER, value REAL, trace INTEGER, PRIMARY KEY (name, value, trace))
        WITHOUT ROWID""",
    "CREATE TABLE fields (trace INTEGER PRIMARY KEY, digests BLOB NOT NULL)",
    """CREATE TABLE results (trace_id TEXT, run_id TEXT, result INTEGER, run_name TEXT, example TEXT,
        outcome TEXT NOT NULL, PRIMARY KEY (trace_id, run_id, result)) WITHOUT ROWID""",
    "CREATE INDEX results_by_run ON results (run_id)",
    """CREATE VIRTUAL TABLE words USING fts5(text, content = '', tokenize = "ascii tokenchars '_'")""",
)
"""The tables of an index.

In `traces`, `calls` has a character for each call, and ``!`` after a failed one; `labels` the number of each
label; `scores` what lists show of them. `words` is the row of its words, NULL without any. The rows of words
that have changed stay, and are no trace's.
"""

FACTS = (
    "trace_id, start_ns, duration_ns, spans, errors, looped, tokens, cost, calls, durations, scores, labels"
)
"""The columns of `traces` that `IndexReader.facts` reads."""

LABEL_NUMBERS = "I"
_FAILED = "!"
_FIRST_CHARACTER = 0x100
_SURROGATES = range(0xD800, 0xE000)
_SCORE = struct.Struct("<IBdd")
_OUTCOMES: tuple[Outcome, ...] = ("failed", "errored", "passed", "skipped")
_DIGEST_BYTES = 8


class Dictionary:
    """The numbers of names and labels; new ones are added to the index's tables at once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._names: dict[str, int] = {}
        self._labels: dict[tuple[str, str], int] = {}

    def name(self, name: str) -> int:
        """The number of a tool's or a scorer's name."""
        number = self._names.get(name)
        if number is None:
            number = self._names[name] = self._number(
                "SELECT id FROM names WHERE name = ?", "INSERT INTO names (name) VALUES (?)", (name,)
            )
        return number

    def label(self, key: str, value: str) -> int:
        """The number of a label."""
        number = self._labels.get((key, value))
        if number is None:
            number = self._labels[key, value] = self._number(
                "SELECT id FROM labels WHERE key = ? AND value = ?",
                "INSERT INTO labels (key, value) VALUES (?, ?)",
                (key, value),
            )
        return number

    def _number(self, select: str, insert: str, values: tuple[str, ...]) -> int:
        row = self._db.execute(select, values).fetchone()
        return int(row[0]) if row is not None else int(self._db.execute(insert, values).lastrowid or 0)


def call_character(number: int) -> str:
    """The character that stands for a tool: one for each, none of them a sign of GLOB."""
    code = _FIRST_CHARACTER + number
    return chr(code if code < _SURROGATES.start else code + len(_SURROGATES))


def _name_number(character: str) -> int:
    code = ord(character)
    return (code if code < _SURROGATES.start else code - len(_SURROGATES)) - _FIRST_CHARACTER


def packed_calls(calls: Iterable[CallFacts], dictionary: Dictionary) -> str:
    """The text of calls for the column `calls`."""
    return "".join(
        call_character(dictionary.name(call.name)) + (_FAILED if call.failed else "") for call in calls
    )


def packed_scores(scores: Iterable[ScoreFacts], dictionary: Dictionary) -> bytes:
    """The bytes of scores for the column `scores`."""
    rows = [
        _SCORE.pack(
            dictionary.name(score.name),
            _OUTCOMES.index(score.outcome),
            float("nan") if score.value is None else score.value,
            score.threshold,
        )
        for score in scores
    ]
    return b"".join(rows)


def field_digest(salt: bytes, field: Field) -> bytes:
    """Eight bytes that stand for a field: two fields have the same once in 10^19 times."""
    text = f"{field.side}\0{field.name}\0{field.value}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES, key=salt).digest()


class NeedsRebuilding(Exception):
    """The index cannot be brought up to date: it has to be made anew."""


def about(db: sqlite3.Connection, key: str) -> Any:
    """What an index has noted of itself, None where it has noted nothing."""
    row = db.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def note(db: sqlite3.Connection, **facts: Any) -> None:
    """Note something of an index."""
    db.executemany(
        "INSERT INTO about VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        " WHERE value IS NOT excluded.value",
        list(facts.items()),
    )


class IndexRows:
    """Writes the rows of traces; the caller has a transaction open."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._dictionary = Dictionary(db)
        self._salt: bytes = about(db, "salt")

    def sums(self) -> tuple[int, int]:
        """How many traces there are, and the sum of their numbers."""
        row = self._db.execute("SELECT count(*), coalesce(sum(trace), 0) FROM traces").fetchone()
        return row[0], row[1]

    def numbers(self) -> set[int]:
        """The numbers of all traces."""
        return {number for (number,) in self._db.execute("SELECT trace FROM traces")}

    def replace(self, traces: Mapping[int, SearchedTrace], others: Iterable[int] = ()) -> None:
        """Write traces by their numbers in place of what was there; the other numbers are removed."""
        words_rows = self.remove({*traces, *others})
        last_words = about(self._db, "words") or 0
        rows, labelled, scored, fields = [], [], [], []
        words: list[tuple[int | None, str]] = []
        for number, trace in traces.items():
            facts = trace.facts
            labels = [
                self._dictionary.label(key, value) for key, values in facts.labels.items() for value in values
            ]
            text = " ".join(trace.words)
            digest = blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest() if text else None
            words_row, earlier_digest = words_rows.get(number, (None, None))
            if digest != earlier_digest:
                words_row = None if digest is None else last_words + len(words) + 1
                words += [(words_row, text)] if text else []
            labelled += [(label, number) for label in labels]
            scored += [
                (self._dictionary.name(score.name), score.value, number)
                for score in facts.scores
                if score.value is not None
            ]
            if trace.fields:
                fields.append((number, b"".join(field_digest(self._salt, field) for field in trace.fields)))
            rows.append((
                number, bytes.fromhex(facts.trace_id), facts.start_ns, facts.duration_ns, facts.spans,
                facts.errors, facts.looped, facts.tokens, facts.cost, facts.lowest, facts.highest,
                facts.goodness, len(facts.calls), words_row, digest,
                packed_calls(facts.calls, self._dictionary),
                array("f", [call.duration_ns for call in facts.calls]).tobytes(),
                packed_scores(facts.scores, self._dictionary),
                array(LABEL_NUMBERS, labels).tobytes(),
            ))  # fmt: skip
        execute = self._db.executemany
        execute(f"INSERT INTO traces VALUES ({', '.join('?' * 19)})", rows)
        execute("INSERT INTO labelled VALUES (?, ?)", sorted(labelled))
        execute("INSERT OR IGNORE INTO scored VALUES (?, ?, ?)", sorted(scored))
        execute("INSERT INTO fields VALUES (?, ?)", fields)
        execute("INSERT INTO words (rowid, text) VALUES (?, ?)", words)
        note(self._db, words=last_words + len(words))

    def remove(self, numbers: Iterable[int]) -> dict[int, tuple[int | None, bytes | None]]:
        """Remove the rows of traces; returns the rows of their words, with the digests of these."""
        words_rows: dict[int, tuple[int | None, bytes | None]] = {}
        labelled, scored = [], []
        for number, words_row, digest, scores, labels in self._db.execute(
            "SELECT trace, words, words_digest, scores, labels FROM traces"
            " WHERE trace IN (SELECT value FROM json_each(?))",
            (to_json(sorted(numbers)),),
        ):
            words_rows[number] = words_row, digest
            labelled += [(label, number) for label in array(LABEL_NUMBERS, labels)]
            scored += [(name, value, number) for name, _, value, _ in _SCORE.iter_unpack(scores)]
        gone = [(number,) for number in words_rows]
        execute = self._db.executemany
        execute("DELETE FROM labelled WHERE label = ? AND trace = ?", labelled)
        execute("DELETE FROM scored WHERE name = ? AND value = ? AND trace = ?", scored)
        execute("DELETE FROM fields WHERE trace = ?", gone)
        execute("DELETE FROM traces WHERE trace = ?", gone)
        return words_rows


class IndexReader:
    """Makes facts of rows, and remembers the names and labels that it has looked up."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._names: dict[int, str] = {}
        self._labels: dict[int, tuple[str, str]] = {}

    def labels(self, numbers: Iterable[int]) -> Mapping[int, tuple[str, str]]:
        """Key and value of labels by their numbers."""
        self._look_up(set(numbers) - self._labels.keys(), "labels", "id, key, value")
        return self._labels

    def _look_up(self, numbers: set[int], table: str, columns: str) -> None:
        if numbers:
            marks = ",".join(map(str, sorted(numbers)))
            query = f"SELECT {columns} FROM {table} WHERE id IN ({marks})"
            for number, *values in self._db.execute(query):
                if table == "labels":
                    self._labels[number] = (values[0], values[1])
                else:
                    self._names[number] = values[0]

    def facts(self, rows: Sequence[Sequence[Any]]) -> list[TraceFacts]:
        """The facts of rows of `FACTS`."""
        labels: set[int] = set()
        names: set[int] = set()
        for *_, calls, _, scores, label_bytes in rows:
            labels.update(array(LABEL_NUMBERS, label_bytes))
            names.update(_name_number(character) for character in set(calls) - {_FAILED})
            names.update(row[0] for row in _SCORE.iter_unpack(scores))
        self.labels(labels)
        self._look_up(names - self._names.keys(), "names", "id, name")
        return [self._facts(row) for row in rows]

    def _facts(self, row: Sequence[Any]) -> TraceFacts:
        trace_id, start, duration, spans, errors, looped, tokens, cost, calls, durations, scores, numbers = (
            row
        )
        labels: dict[str, list[str]] = {}
        for number in array(LABEL_NUMBERS, numbers):
            key, value = self._labels[number]
            labels.setdefault(key, []).append(value)
        return TraceFacts(
            trace_id=trace_id.hex(),
            start_ns=start,
            duration_ns=duration,
            spans=spans,
            errors=errors,
            looped=looped,
            tokens=tokens,
            cost=cost,
            calls=tuple(self._calls(calls, durations)),
            scores=tuple(self._scores(scores)),
            labels={key: tuple(values) for key, values in labels.items()},
        )

    def _calls(self, calls: str, durations: bytes) -> Iterable[CallFacts]:
        at = 0
        for duration in array("f", durations):
            failed = calls[at + 1 : at + 2] == _FAILED
            yield CallFacts(self._names[_name_number(calls[at])], failed, duration)
            at += 2 if failed else 1

    def _scores(self, packed: bytes) -> Iterable[ScoreFacts]:
        for name, outcome, value, threshold in _SCORE.iter_unpack(packed):
            yield ScoreFacts(
                self._names[name], None if value != value else value, threshold, _OUTCOMES[outcome]
            )


assert _OUTCOMES == VERDICTS
