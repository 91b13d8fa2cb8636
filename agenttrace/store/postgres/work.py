"""Queued evaluations on the server: claimed by any number of machines, each by one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.pending import Claim, WorkCounts, WorkItem
from agenttrace.store.postgres.evaluations import keep_scores

_HELD = "project = %s AND trace_id = %s AND rule = %s AND number = %s AND state = 'claimed'"
_ADD = """INSERT INTO work (project, trace_id, rule, due)
    VALUES (%s, %s, %s, now() + %s * interval '1 second')
    ON CONFLICT (project, trace_id, rule) DO UPDATE SET due = excluded.due, again = work.state = 'claimed',
    state = CASE WHEN work.state = 'claimed' THEN work.state ELSE 'waiting' END"""
# Rows that another claimant is just taking are passed over: nobody waits, and nobody gets what is taken.
_CLAIM = """UPDATE work SET state = 'claimed', again = false, owner = %(owner)s,
        until = clock_timestamp() + %(seconds)s * interval '1 second', number = number + 1, tries = tries + 1
    FROM (SELECT id AS due_id, due AS was_due FROM work
        WHERE (state = 'waiting' AND due <= clock_timestamp()
            OR state = 'claimed' AND until <= clock_timestamp())
        AND (%(rules)s::text[] IS NULL OR rule = ANY(%(rules)s))
        ORDER BY due LIMIT %(most)s FOR UPDATE SKIP LOCKED) AS overdue
    WHERE id = due_id RETURNING was_due, project, trace_id, rule, number, tries, seen"""
_COUNTS = """SELECT project, count(*) FILTER (WHERE state = 'waiting' AND due > now()),
        count(*) FILTER (WHERE state = 'waiting' AND due <= now()),
        count(*) FILTER (WHERE state = 'claimed'), count(*) FILTER (WHERE state = 'done')
    FROM work GROUP BY project"""
_FORGET = """DELETE FROM work WHERE id IN (SELECT id FROM work
    WHERE state = 'done' AND due < now() - interval '7 days'
    ORDER BY due LIMIT 1000 FOR UPDATE SKIP LOCKED)"""


def _key(claim: Claim) -> tuple[Any, ...]:
    return (*claim.item, claim.number)


def _change(db: Any, claim: Claim, change: str, *values: Any) -> bool:
    """Change the row of a claim; returns False where the claim was lost."""
    sql = f"UPDATE work SET {change} WHERE {_HELD}"  # noqa: S608 - texts of ours
    return bool(db.execute(sql, (*values, *_key(claim))).rowcount)


def add(db: Any, items: Sequence[WorkItem], seconds: float) -> None:
    """See `WorkQueue.add`."""
    with db.cursor() as cursor:
        cursor.executemany(_ADD, [(*item, seconds) for item in sorted(set(items))])


def claim(db: Any, owner: str, most: int, seconds: float, rules: Collection[str] | None) -> list[Claim]:
    """See `WorkQueue.claim`."""
    names = None if rules is None else list(rules)
    values = {"owner": owner, "most": most, "seconds": seconds, "rules": names}
    rows = sorted(db.execute(_CLAIM, values).fetchall())
    if not rows:
        db.execute(_FORGET)
    return [Claim(WorkItem(*row[1:4]), *row[4:]) for row in rows]


def renew(db: Any, claims: Sequence[Claim], seconds: float) -> list[Claim]:
    """See `WorkQueue.renew`."""
    change = "until = clock_timestamp() + %s * interval '1 second'"
    return [claim for claim in claims if _change(db, claim, change, seconds)]


def settle(db: Any, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
    """See `WorkQueue.settle`."""
    row = db.execute(f"SELECT scores FROM work WHERE {_HELD} FOR UPDATE", _key(claim)).fetchone()  # noqa: S608
    if row is None:
        return False
    numbers = row[0]
    if scores is not None:
        db.execute("DELETE FROM scores WHERE id = ANY(%s)", (numbers,))
        numbers = keep_scores(db, scores)
    change = "state = CASE WHEN again THEN 'waiting' ELSE 'done' END, tries = 0, seen = %s, scores = %s"
    return _change(db, claim, change, seen, numbers)


def give_back(db: Any, claims: Sequence[Claim], seconds: float) -> None:
    """See `WorkQueue.give_back`."""
    for one in claims:
        _change(db, one, "state = 'waiting', due = now() + %s * interval '1 second'", seconds)


def counts(db: Any) -> Mapping[str, WorkCounts]:
    """See `WorkQueue.counts`."""
    return {project: WorkCounts(*numbers) for project, *numbers in db.execute(_COUNTS)}
