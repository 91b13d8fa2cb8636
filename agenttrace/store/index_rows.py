"""Writes the facts of traces as rows of the side index, and reads them back."""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import repeat
from typing import Any, cast

from agenttrace.core.jsonable import to_json
from agenttrace.core.later import Later
from agenttrace.core.trace_facts import VERDICTS, CallFacts, ScoreFacts, TraceFacts
from agenttrace.store.facts import Outlined
from agenttrace.store.index_tables import (
    ALWAYS_PRESENT,
    DIGEST_BYTES,
    FAILED,
    FEW,
    PRESENT,
    SCORE,
    about,
    call_character,
    count_labels,
    label_bytes,
    label_numbers,
    name_number,
    note,
)

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608


_REMEMBERED = 20_000
"""Names, and labels, of which what stands for them is remembered."""


class Dictionary:
    """The numbers of names and labels; new ones are added to the index's tables at once.

    `name` gives the number of a tool's or a scorer's name, `label` that of a key and its value.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.name = lru_cache(_REMEMBERED)(self._name)
        self.label = lru_cache(_REMEMBERED)(self._label)
        self.character = lru_cache(_REMEMBERED)(lambda name: call_character(self._name(name)))

    def _name(self, name: str) -> int:
        return self._number(
            "SELECT id FROM names WHERE name = ?", "INSERT INTO names (name) VALUES (?)", (name,)
        )

    def _label(self, key: str, value: str) -> int:
        return self._number(
            "SELECT id FROM labels WHERE key = ? AND value = ?",
            "INSERT INTO labels (key, value) VALUES (?, ?)",
            (key, value),
        )

    def _number(self, select: str, insert: str, values: tuple[str, ...]) -> int:
        row = self._db.execute(select, values).fetchone()
        return int(row[0]) if row is not None else int(self._db.execute(insert, values).lastrowid or 0)


def packed_calls(calls: Iterable[CallFacts], dictionary: Dictionary) -> str:
    """The text of calls for the column `calls`."""
    character = dictionary.character
    return "".join([character(name) + FAILED if failed else character(name) for name, failed, _ in calls])


def packed_scores(scores: Iterable[ScoreFacts], dictionary: Dictionary) -> bytes:
    """The bytes of scores for the column `scores`."""
    rows = [
        SCORE.pack(
            dictionary.name(score.name),
            VERDICTS.index(score.outcome),
            float("nan") if score.value is None else score.value,
            score.threshold,
        )
        for score in scores
    ]
    return b"".join(rows)


_LONGEST_NS = (1 << 63) - 1
"""A damaged row may say that a trace began before all time, and has not ended."""


class _Rows:
    """Rows that are to be inserted; `labels` are those of all the traces, as often as they have them."""

    def __init__(self, first_words: int) -> None:
        self.first_words = first_words
        self.traces: list[tuple[Any, ...]] = []
        self.labels: list[int] = []
        self.labelled: list[tuple[int, int]] = []
        self.scored: list[tuple[int, float, int]] = []
        self.words: list[tuple[int | None, str]] = []


class IndexRows:
    """Writes the rows of traces; the caller has a transaction open."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._dictionary = Dictionary(db)
        self._frequent: set[int] = set()
        self._labels_of = lru_cache(_REMEMBERED)(self._numbered)

    def count(self) -> int:
        """How many traces there are."""
        return about(self._db, "count") or 0

    def numbers(self) -> set[int]:
        """The numbers of all traces."""
        return {number for (number,) in self._db.execute("SELECT trace FROM traces")}

    def replace(
        self,
        numbers: Iterable[int],
        traces: Iterable[tuple[int, Outlined]],
        *,
        expected: int | None = None,
    ) -> None:
        """Remove the traces of some numbers, and write traces by their numbers, none of which is there then.

        Each is packed as it comes: a slice of traces as objects would keep the garbage collector busy.
        `expected` is how many there will be when an index that is new is built.
        """
        earlier = self.remove(numbers)
        rows = _Rows((about(self._db, "words") or 0) + 1)
        for number, trace in traces:
            self._pack(number, trace, rows, earlier.get(number, (None, None)))
        self._insert(rows, expected or 0)
        note(self._db, words=rows.first_words - 1 + len(rows.words))
        note(self._db, count=self.count() + len(rows.traces))

    def _pack(
        self, number: int, trace: Outlined, rows: _Rows, earlier_words: tuple[int | None, bytes | None]
    ) -> None:
        facts, calls, scores = trace.facts, trace.facts.calls, trace.facts.scores
        name, labels_of = self._dictionary.name, self._labels_of
        packed: list[bytes] = []
        for key, values in facts.labels.items():
            labels, rare, label_codes = labels_of(key, values)
            rows.labels += labels
            packed.append(label_codes)
            if rare:
                rows.labelled += [(label, number) for label in rare]
        text = " ".join(trace.words())
        digest = blake2b(text.encode(), digest_size=DIGEST_BYTES).digest() if text else None
        words_row, earlier_digest = earlier_words
        if digest != earlier_digest:
            words_row = rows.first_words + len(rows.words) if text else None
            rows.words += [(words_row, text)] if text else ()
        lowest = highest = goodness = None
        if scores:
            lowest, highest, goodness = facts.lowest, facts.highest, facts.goodness
            rows.scored += [(name(s.name), s.value, number) for s in scores if s.value is not None]
        rows.traces.append((
            number, bytes.fromhex(facts.trace_id), facts.start_ns, min(facts.duration_ns, _LONGEST_NS),
            facts.spans, facts.errors, facts.looped, facts.tokens, facts.cost, lowest, highest, goodness,
            len(calls), words_row, digest, packed_calls(calls, self._dictionary),
            array("f", [duration for _, _, duration in calls]).tobytes(),
            packed_scores(scores, self._dictionary) if scores else b"",
            b"".join(packed),
        ))  # fmt: skip

    def _numbered(self, key: str, values: tuple[str, ...]) -> tuple[Sequence[int], Sequence[int], bytes]:
        """The labels that a trace has by the values of a key, those of them that are rare, all as bytes."""
        labels = [self._dictionary.label(key, value) for value in values]
        if key not in ALWAYS_PRESENT:
            labels.append(self._dictionary.label(PRESENT, key))
        rare = [label for label in labels if label not in self._frequent]
        return labels, rare, b"".join(map(label_bytes, labels))

    def _insert(self, rows: _Rows, expected: int) -> None:
        execute = self._db.executemany
        execute(f"INSERT INTO traces VALUES ({', '.join('?' * 19)})", rows.traces)
        counts = [(count, label) for label, count in Counter(rows.labels).items()]
        execute("UPDATE labels SET traces = traces + ? WHERE id = ?", counts)
        self._foresee_frequent(counts, len(rows.traces), expected)
        self._forget_frequent()
        execute(
            "INSERT INTO labelled VALUES (?, ?)",
            sorted(pair for pair in rows.labelled if pair[0] not in self._frequent),
        )
        execute("INSERT OR IGNORE INTO scored VALUES (?, ?, ?)", sorted(rows.scored))
        execute("INSERT INTO words (rowid, text) VALUES (?, ?)", rows.words)

    def _foresee_frequent(self, counts: Iterable[tuple[int, int]], traces: int, expected: int) -> None:
        """Do not even begin the lists of labels that, by these traces, will be frequent among all."""
        frequent = [
            (FEW + 1, label) for count, label in counts if count * expected > 2 * FEW * max(traces, 1)
        ]
        self._db.executemany("UPDATE labels SET traces = max(traces, ?) WHERE id = ?", frequent)

    def _forget_frequent(self) -> None:
        """Take labels that have become frequent out of `labelled`."""
        frequent = {
            number
            for (number,) in self._db.execute("SELECT id FROM labels WHERE traces > ?", (FEW,)).fetchall()
        }
        if frequent != self._frequent:
            for number in frequent - self._frequent:
                self._db.execute("DELETE FROM labelled WHERE label = ?", (number,))
            self._frequent = frequent
            self._labels_of.cache_clear()

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
            labelled += [(label, number) for label in label_numbers(labels)]
            scored += [(name, value, number) for name, _, value, _ in SCORE.iter_unpack(scores)]
        gone = [(number,) for number in words_rows]
        execute = self._db.executemany
        execute("UPDATE labels SET traces = traces - ? WHERE id = ? AND traces <= ?", _rarer(labelled))
        execute("DELETE FROM labelled WHERE label = ? AND trace = ?", labelled)
        execute("DELETE FROM scored WHERE name = ? AND value = ? AND trace = ?", scored)
        execute("DELETE FROM traces WHERE trace = ?", gone)
        note(self._db, count=self.count() - len(words_rows))
        return words_rows


def _counted(labelled: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(count, label) for label, count in Counter(label for label, _ in labelled).items()]


def _rarer(labelled: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    return [(count, label, FEW) for count, label in _counted(labelled)]


_CALL = re.compile(f".{FAILED}?", re.DOTALL)


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

    def names(self, numbers: Iterable[int]) -> Mapping[int, str]:
        """The names of tools and scorers by their numbers."""
        self._look_up(set(numbers) - self._names.keys(), "names", "id, name")
        return self._names

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
        labels = set(count_labels(b"".join([row[-1] for row in rows])))
        names: set[int] = set()
        for *_, calls, _, scores, _ in rows:
            names.update(name_number(character) for character in set(calls) - {FAILED})
            names.update(row[0] for row in SCORE.iter_unpack(scores))
        self.labels(labels)
        self.names(names)
        return [self._facts(row) for row in rows]

    def _facts(self, row: Sequence[Any]) -> TraceFacts:
        trace_id, start, duration, spans, errors, looped, tokens, cost, calls, durations, scores, numbers = (
            row
        )
        labels: dict[str, list[str]] = {}
        for number in label_numbers(numbers):
            key, value = self._labels[number]
            if key != PRESENT:
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
            # Lists show the first few, and figures of scores none: a run may have made a hundred thousand.
            calls=cast(Any, Later(partial(_calls, self._names, calls, durations))),
            scores=tuple(self._scores(scores)),
            labels={key: tuple(values) for key, values in labels.items()},
        )

    def _scores(self, packed: bytes) -> Iterable[ScoreFacts]:
        for name, outcome, value, threshold in SCORE.iter_unpack(packed):
            yield ScoreFacts(
                self._names[name], None if value != value else value, threshold, VERDICTS[outcome]
            )


def _calls(by_number: Mapping[int, str], calls: str, durations: bytes) -> tuple[CallFacts, ...]:
    marked = _CALL.findall(calls)
    names = {each: by_number.get(name_number(each[0]), "…") for each in set(marked)}
    failed = {each: len(each) > 1 for each in names}
    rows = zip(map(names.get, marked), map(failed.get, marked), array("f", durations), strict=True)
    return tuple(map(tuple.__new__, repeat(CallFacts), rows))
