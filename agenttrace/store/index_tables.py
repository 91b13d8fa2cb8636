"""The tables of the side index, what it notes of itself, how lists of things are packed in columns."""

from __future__ import annotations

import sqlite3
import struct
import sys
from collections import Counter
from hashlib import blake2b
from typing import Any

TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE labels (id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL,
        traces INTEGER NOT NULL DEFAULT 0, UNIQUE (key, value))""",
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
    "CREATE INDEX frequent_labels ON labels (traces) WHERE traces > 10000",
    "CREATE INDEX by_id ON traces (trace_id)",
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
    """CREATE VIRTUAL TABLE words
        USING fts5(text, content = '', columnsize = 0, tokenize = "ascii tokenchars '_'")""",
)
"""The tables of an index.

In `traces`, `calls` has a character for each call, and ``!`` after a failed one; `labels` the number of each
label, as `label_bytes` packs them; `scores` what lists show of them. `labelled` has the traces of labels that
few have. `words` is the row of its words, NULL without any. The rows of words that have changed stay, and are
no trace's.
"""

FACTS = (
    "trace_id, start_ns, duration_ns, spans, errors, looped, tokens, cost, calls, durations, scores, labels"
)
"""The columns of `traces` that `IndexReader.facts` reads."""

PRESENT = "*"
"""The key of labels that say of which keys a trace has labels."""

ALWAYS_PRESENT = frozenset({"name", "project", "status", "verdict"})
"""Keys of which every trace has a label."""

FEW = 10_000
"""Traces that are looked up one by one rather than walking all. A label that more traces have is frequent for
good, and no longer in `labelled`."""
FAILED = "!"
_FIRST_CHARACTER = 0x100
_SURROGATES = range(0xD800, 0xE000)
SCORE = struct.Struct("<IBdd")
_FOUR_BYTES = struct.Struct("4B")
DIGEST_BYTES = 8


def label_bytes(number: int) -> bytes:
    """The four bytes of a label, the first of which alone is above 127: so none is found across two."""
    return bytes((128 | number >> 21, number >> 14 & 127, number >> 7 & 127, number & 127))


def label_numbers(packed: bytes) -> list[int]:
    """The numbers of labels in bytes that `label_bytes` made."""
    return [
        (first & 127) << 21 | second << 14 | third << 7 | last
        for first, second, third, last in _FOUR_BYTES.iter_unpack(packed)
    ]


def count_labels(packed: bytes) -> dict[int, int]:
    """How often each number stands in such bytes, in a fifth of the time that `label_numbers` takes."""
    counts = Counter(memoryview(packed).cast("I"))
    return {label_numbers(each.to_bytes(4, sys.byteorder))[0]: count for each, count in counts.items()}


def call_character(number: int) -> str:
    """The character that stands for a tool: one for each of the first million, none a sign of GLOB."""
    code = _FIRST_CHARACTER + number
    return chr(min(code if code < _SURROGATES.start else code + len(_SURROGATES), sys.maxunicode))


def name_number(character: str) -> int:
    """The number of the name that a character stands for."""
    code = ord(character)
    return (code if code < _SURROGATES.start else code - len(_SURROGATES)) - _FIRST_CHARACTER


def field_digest(salt: bytes, field: str) -> bytes:
    """Eight bytes that stand for a field: two fields have the same once in 10^19 times."""
    return blake2b(field.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, key=salt).digest()


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
