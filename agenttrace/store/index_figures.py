"""Numbers over the newest matches of a query, from the columns that hold them: no trace's facts are made."""

from __future__ import annotations

import re
import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from agenttrace.core.jsonable import clean_text
from agenttrace.core.query import Query
from agenttrace.core.trace_facts import VERDICTS
from agenttrace.core.trace_figures import (
    GroupFigures,
    ScoreFigures,
    ToolFigures,
    ordered_groups,
    ordered_tools,
)
from agenttrace.core.trace_reads import Count
from agenttrace.store.index_queries import Selection
from agenttrace.store.index_rows import IndexReader
from agenttrace.store.index_tables import FAILED, SCORE, label_bytes, name_number

_FAILED_CALL = re.compile(f".(?={FAILED})", re.DOTALL)


class IndexFigures:
    """Numbers over the newest `most` matches, from an open index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._reader = IndexReader(db)

    def tools(self, query: Query, most: int) -> tuple[list[ToolFigures], Count]:
        """The figures of every tool that was called, the most called first."""
        rows = Selection(self._db, query).newest("start_ns, calls, durations", most + 1)
        count = _count(rows, most)
        rows = rows[:most]
        marked = "".join(calls for _, calls, _ in rows)
        calls = marked.replace(FAILED, "")
        durations: dict[str, list[float]] = {character: [] for character in set(calls)}
        for character, duration in zip(calls, array("f", b"".join(row[2] for row in rows)), strict=True):
            durations[character].append(duration)
        failed = Counter(_FAILED_CALL.findall(marked))
        traces = Counter(chain.from_iterable(set(of_trace) for _, of_trace, _ in rows))
        last = _firsts(rows, durations)
        names = self._reader.names(map(name_number, durations))
        figures: dict[str, ToolFigures] = {}
        for character, of_tool in durations.items():
            name = names.get(name_number(character), "…")
            tool = figures.setdefault(name, ToolFigures(name))
            tool.calls += len(of_tool)
            tool.failed += failed[character]
            tool.traces += traces[character]
            tool.durations += of_tool
            tool.last_ns = max(tool.last_ns, last[character])
        return ordered_tools(figures.values()), count

    def scorers(self, query: Query, most: int) -> tuple[list[ScoreFigures], Count]:
        """The figures of every scorer, by name."""
        rows = Selection(self._db, query).newest("start_ns, scores", most + 1)
        figures: dict[int, ScoreFigures] = {}
        for start, packed in rows[:most]:
            for number, outcome, value, _ in SCORE.iter_unpack(packed) if packed else ():
                scorer = figures.get(number)
                if scorer is None:
                    scorer = figures[number] = ScoreFigures("")
                scorer.add(None if value != value else value, VERDICTS[outcome], start)
        names = self._reader.names(figures)
        for number, scorer in figures.items():
            scorer.key = names[number]
        return sorted(figures.values(), key=lambda each: each.key), _count(rows, most)

    def groups(self, query: Query, key: str, most: int) -> tuple[list[GroupFigures], Count]:
        """The figures of every value of a label, the most frequent first."""
        rows = Selection(self._db, query).newest("start_ns, labels, duration_ns, cost", most + 1)
        values, verdicts = self._codes(key), self._codes("verdict")
        figures: dict[str, GroupFigures] = {}
        for start, packed, duration, cost in rows[:most]:
            codes = array("I", packed)
            of_key = [values[code] for code in codes if code in values]
            if of_key:
                verdict = next((verdicts[code] for code in codes if code in verdicts), "none")
                for value in of_key:
                    group = figures.get(value)
                    if group is None:
                        group = figures[value] = GroupFigures(value)
                    group.add(verdict, duration, cost, start)
        return ordered_groups(figures.values()), _count(rows, most)

    def _codes(self, key: str) -> dict[int, str]:
        """The values of a label by the codes that stand for them in the column `labels`, as machine words."""
        rows = self._db.execute("SELECT id, value FROM labels WHERE key = ?", (clean_text(key),))
        return {int.from_bytes(label_bytes(number), sys.byteorder): value for number, value in rows}


def _firsts(rows: Iterable[tuple[int, str, bytes]], characters: Iterable[str]) -> dict[str, int]:
    """The start of the first of some traces, the newest first, that has each character in its calls."""
    firsts: dict[str, int] = {}
    missing = set(characters)
    for start, calls, _ in rows:
        for character in missing.intersection(calls):
            firsts[character] = start
            missing.discard(character)
        if not missing:
            break
    return firsts


def _count(rows: Sequence[object], most: int) -> Count:
    return Count(min(len(rows), most), len(rows) > most)
