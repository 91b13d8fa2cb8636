"""Queued evaluations in the tables of a store's file, or of one in memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from agenttrace.core.batch import ScoreRow
from agenttrace.core.pending import Claim, WorkCounts, WorkItem
from agenttrace.store.evaluation_writes import keep_scores
from agenttrace.store.span_writes import marks

T = TypeVar("T")

Write = Callable[[Callable[[sqlite3.Connection], Any]], Any]
"""Runs a function in a transaction, and returns what it returns."""
Replace = Callable[[sqlite3.Connection, WorkItem, str | None, Sequence[ScoreRow]], str]
"""Puts scores of an item in the place of those that a text names; returns what names the new ones."""

_FORGOTTEN_SECONDS = 7 * 86_400
_MOST_FORGOTTEN = 1_000


class TableWorkQueue:
    """The queue in a table. What is done is forgotten a week after it was due."""

    def __init__(self, write: Write, replace: Replace) -> None:
        self._write = write
        self._replace = replace

    def add(self, items: Sequence[WorkItem], seconds: float) -> None:
        """See `WorkQueue.add`."""
        due = time.time_ns() + int(seconds * 1e9)
        rows = [(*item, due) for item in items]
        self._write(
            lambda db: db.executemany(
                "INSERT INTO work (project, trace_id, rule, due_ns) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (project, trace_id, rule) DO UPDATE SET due_ns = excluded.due_ns,"
                " again = state = 'claimed', state = iif(state = 'claimed', state, 'waiting')",
                rows,
            )
        )

    def claim(
        self, owner: str, most: int, seconds: float, *, rules: Collection[str] | None = None
    ) -> list[Claim]:
        """See `WorkQueue.claim`."""
        if rules is not None and not rules:
            return []
        claims: list[Claim] = self._write(lambda db: _claim(db, owner, most, seconds, rules))
        return claims

    def renew(self, claims: Sequence[Claim], seconds: float) -> list[Claim]:
        """See `WorkQueue.renew`."""
        until = time.time_ns() + int(seconds * 1e9)
        renewed: list[Claim] = self._write(
            lambda db: [claim for claim in claims if _change(db, claim, "until_ns = ?", until)]
        )
        return renewed

    def settle(self, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
        """See `WorkQueue.settle`."""

        def settle(db: sqlite3.Connection) -> bool:
            held = db.execute(_SCORES, _key(claim)).fetchone()
            if held is None:
                return False
            names = held[0] if scores is None else self._replace(db, claim.item, held[0], scores)
            state = "state = iif(again, 'waiting', 'done'), tries = 0, seen = ?, scores = ?"
            return _change(db, claim, state, seen, names)

        settled: bool = self._write(settle)
        return settled

    def give_back(self, claims: Sequence[Claim], seconds: float) -> None:
        """See `WorkQueue.give_back`."""
        due = time.time_ns() + int(seconds * 1e9)
        self._write(lambda db: [_change(db, claim, "state = 'waiting', due_ns = ?", due) for claim in claims])

    def counts(self) -> Mapping[str, WorkCounts]:
        """See `WorkQueue.counts`."""
        now = time.time_ns()
        rows = self._write(
            lambda db: db.execute(
                "SELECT project, sum(state = 'waiting' AND due_ns > ?),"
                " sum(state = 'waiting' AND due_ns <= ?),"
                " sum(state = 'claimed'), sum(state = 'done') FROM work GROUP BY project",
                (now, now),
            ).fetchall()
        )
        return {project: WorkCounts(*numbers) for project, *numbers in rows}


_HELD = "project = ? AND trace_id = ? AND rule = ? AND number = ? AND state = 'claimed'"
_SCORES = f"SELECT scores FROM work WHERE {_HELD}"  # noqa: S608 - a text of ours


def _key(claim: Claim) -> tuple[Any, ...]:
    return (*claim.item, claim.number)


def _change(db: sqlite3.Connection, claim: Claim, change: str, *values: Any) -> bool:
    """Change the row of a claim; returns False where the claim was lost."""
    sql = f"UPDATE work SET {change} WHERE {_HELD}"  # noqa: S608 - texts of ours
    return db.execute(sql, (*values, *_key(claim))).rowcount == 1


def _claim(
    db: sqlite3.Connection, owner: str, most: int, seconds: float, rules: Collection[str] | None
) -> list[Claim]:
    now = time.time_ns()
    wanted = "" if rules is None else f"AND rule IN ({marks(len(rules))})"
    due = "(state = 'waiting' AND due_ns <= ? OR state = 'claimed' AND until_ns <= ?)"
    rows = db.execute(
        f"SELECT id, project, trace_id, rule, number + 1, tries + 1, seen FROM work WHERE {due} {wanted}"  # noqa: S608
        " ORDER BY due_ns LIMIT ?",
        (now, now, *(rules or ()), most),
    ).fetchall()
    until = now + int(seconds * 1e9)
    db.executemany(
        "UPDATE work SET state = 'claimed', again = 0, owner = ?, until_ns = ?, number = number + 1,"
        " tries = tries + 1 WHERE id = ?",
        [(owner, until, row[0]) for row in rows],
    )
    if not rows:
        db.execute(
            "DELETE FROM work WHERE id IN"
            " (SELECT id FROM work WHERE state = 'done' AND due_ns < ? ORDER BY due_ns LIMIT ?)",
            (now - _FORGOTTEN_SECONDS * 1_000_000_000, _MOST_FORGOTTEN),
        )
    return [Claim(WorkItem(*row[1:4]), *row[4:]) for row in rows]


def replace_scores(
    db: sqlite3.Connection, item: WorkItem, names: str | None, scores: Sequence[ScoreRow]
) -> str:
    """Put scores in the place of those of the last settlement: `names` are the numbers of their rows."""
    if names:
        first, last = map(int, names.split("-"))
        # A number is used again once its score is deleted with its trace: then by one of another trace.
        db.execute(
            "DELETE FROM scores WHERE id BETWEEN ? AND ? AND trace_id = ?", (first, last, item.trace_id)
        )
    if not scores:
        return ""
    keep_scores(db, scores)
    (highest,) = db.execute("SELECT max(id) FROM scores").fetchone()
    return f"{highest - len(scores) + 1}-{highest}"
