"""Queued evaluations in the tables of a store's file, or of one in memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.pending import FAILED, Claim, WorkCounts, WorkItem
from agenttrace.store.evaluation_writes import keep_scores
from agenttrace.store.failures import forget_case

Ask = Callable[[Callable[[sqlite3.Connection], Any], Any], Any]
"""Runs a query, and returns what it returns, or the second argument where nothing was ever stored."""
Write = Callable[[Callable[[sqlite3.Connection], Any]], Any]
"""Runs a function in a transaction, and returns what it returns."""
Replace = Callable[[sqlite3.Connection, WorkItem, str | None, Sequence[ScoreRow]], str]
"""Puts scores of an item in the place of those that a text names; returns what names the new ones."""

_FORGOTTEN_SECONDS = 7 * 86_400
_MOST_FORGOTTEN = 1_000


class TableWorkQueue:
    """The queue in a table. What is done is forgotten a week after it was due."""

    def __init__(self, write: Write, ask: Ask, replace: Replace) -> None:
        self._write = write
        self._ask = ask
        self._replace = replace

    def add(self, items: Sequence[WorkItem], seconds: float) -> None:
        """See `WorkQueue.add`."""
        due = time.time_ns() + int(seconds * 1e9)
        rows = [(*item, due) for item in items]
        self._write(
            lambda db: db.executemany(
                "INSERT INTO work (project, trace_id, rule, due_ns) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (project, trace_id, rule) DO UPDATE SET"
                " due_ns = iif(state = 'claimed', due_ns, excluded.due_ns),"
                " again_ns = iif(state = 'claimed', excluded.due_ns, NULL),"
                " state = iif(state = 'claimed', state, 'waiting')",
                rows,
            )
        )

    def claim(
        self, owner: str, most: int, seconds: float, *, rules: Collection[str] | None = None
    ) -> list[Claim]:
        """See `WorkQueue.claim`."""
        # Workers ask often, and mostly in vain: a look takes no lock.
        if not self._ask(lambda db: _is_due(db, rules), False):
            return []
        claims: list[Claim] = self._write(lambda db: _claim(db, owner, most, seconds, rules))
        return claims

    def renew(self, claims: Sequence[Claim], seconds: float) -> list[Claim]:
        """See `WorkQueue.renew`."""
        until = time.time_ns() + int(seconds * 1e9)
        renewed: list[Claim] = self._write(
            lambda db: [claim for claim in claims if _change(db, claim, "due_ns = ?", until)]
        )
        return renewed

    def settle(self, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
        """See `WorkQueue.settle`."""

        def settle(db: sqlite3.Connection) -> bool:
            held = db.execute(_SCORES, _key(claim)).fetchone()
            if held is None:
                return False
            names = held[0] if scores is None else self._replace(db, claim.item, held[0], scores)
            state = (
                "state = iif(again_ns IS NULL, 'done', 'waiting'), due_ns = coalesce(again_ns, ?),"
                " again_ns = NULL, tries = 0, seen = ?, scores = ?"
            )
            return _change(db, claim, state, time.time_ns(), seen, names)

        settled: bool = self._write(settle)
        return settled

    def give_back(self, claims: Sequence[Claim], seconds: float) -> None:
        """See `WorkQueue.give_back`."""
        due = time.time_ns() + int(seconds * 1e9)
        change = (
            "state = 'waiting', due_ns = max(?, coalesce(again_ns, 0)), again_ns = NULL, tries = tries - 1"
        )
        self._write(lambda db: [_change(db, claim, change, due) for claim in claims])

    def counts(self) -> Mapping[str, WorkCounts]:
        """See `WorkQueue.counts`."""
        now = time.time_ns()
        failed = f"state = 'done' AND seen LIKE '{FAILED}%'"
        rows = self._ask(
            lambda db: db.execute(
                "SELECT project, sum(state = 'waiting' AND due_ns > ?),"  # noqa: S608 - texts of ours
                " sum(state = 'waiting' AND due_ns <= ?), sum(state = 'claimed'),"
                f" sum(state = 'done' AND NOT ({failed})), sum({failed}) FROM work GROUP BY project",
                (now, now),
            ).fetchall(),
            [],
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


def _groups(
    db: sqlite3.Connection, now: int, rules: Collection[str] | None
) -> Iterator[tuple[str, str, str, int]]:
    """State, rule, project and first moment of each group that has something due: one look into the index."""
    state = rule = project = ""
    query = (
        "SELECT state, rule, project, due_ns FROM work WHERE state IN ('claimed', 'waiting')"
        " AND (state, rule, project) > (?, ?, ?) ORDER BY state, rule, project, due_ns LIMIT 1"
    )
    while row := db.execute(query, (state, rule, project)).fetchone():
        state, rule, project, due = row
        if due <= now and (rules is None or rule in rules):
            yield state, rule, project, due


def _is_due(db: sqlite3.Connection, rules: Collection[str] | None) -> bool:
    return next(_groups(db, time.time_ns(), rules), None) is not None


def _claim(
    db: sqlite3.Connection, owner: str, most: int, seconds: float, rules: Collection[str] | None
) -> list[Claim]:
    now = time.time_ns()
    by_project: dict[str, list[tuple[int, int]]] = {}
    for state, rule, project, _ in list(_groups(db, now, rules)):
        by_project.setdefault(project, []).extend(
            db.execute(
                "SELECT due_ns, id FROM work WHERE state = ? AND rule = ? AND project = ? AND due_ns <= ?"
                " ORDER BY due_ns LIMIT ?",
                (state, rule, project, now, most),
            )
        )
    lines = sorted(sorted(items) for items in by_project.values())  # who waits for longest has the first turn
    turns = chain.from_iterable(zip_longest(*lines))
    numbers = islice((item[1] for item in turns if item is not None), most)
    claims = [_hold(db, number, owner, now + int(seconds * 1e9)) for number in numbers]
    if not claims:
        db.execute(
            "DELETE FROM work WHERE id IN"
            " (SELECT id FROM work WHERE state = 'done' AND due_ns < ? ORDER BY due_ns LIMIT ?)",
            (now - _FORGOTTEN_SECONDS * 1_000_000_000, _MOST_FORGOTTEN),
        )
    return claims


def _hold(db: sqlite3.Connection, number: int, owner: str, until: int) -> Claim:
    db.execute(
        "UPDATE work SET state = 'claimed', owner = ?, due_ns = ?, number = number + 1, tries = tries + 1,"
        " again_ns = iif(again_ns > ?, again_ns, NULL) WHERE id = ?",
        (owner, until, time.time_ns(), number),
    )
    *item, held, tries, seen = db.execute(
        "SELECT project, trace_id, rule, number, tries, seen FROM work WHERE id = ?", (number,)
    ).fetchone()
    return Claim(WorkItem(*item), held, tries, seen)


def replace_scores(
    db: sqlite3.Connection, item: WorkItem, names: str | None, scores: Sequence[ScoreRow]
) -> str:
    """Put scores in the place of those of the last settlement: `names` are the numbers of their rows."""
    if names:
        first, last = map(int, names.split("-"))
        # A number is used again once its score is deleted with its trace: then by one of another trace.
        mine = "id BETWEEN ? AND ? AND trace_id = ?"
        numbers = (first, last, item.trace_id)
        for (name,) in db.execute(f"SELECT name FROM scores WHERE {mine}", numbers).fetchall():  # noqa: S608
            forget_case(db, item.trace_id, name)
        db.execute(f"DELETE FROM scores WHERE {mine}", numbers)  # noqa: S608 - a text of ours
    if not scores:
        return ""
    before = _last_score(db)
    keep_scores(db, scores)
    highest = _last_score(db)
    return f"{before + 1}-{highest}" if highest > before else ""  # some may be in quarantine


def _last_score(db: sqlite3.Connection) -> int:
    (highest,) = db.execute("SELECT coalesce(max(id), 0) FROM scores").fetchone()
    return int(highest)
