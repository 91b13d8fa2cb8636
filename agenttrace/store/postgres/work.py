"""Queued evaluations on the server: claimed by any number of machines, each by one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from agenttrace.core.batch import ScoreRow
from agenttrace.core.pending import FAILED, Claim, WorkCounts, WorkItem
from agenttrace.store.postgres.evaluations import keep_scores
from agenttrace.store.postgres.failures import forget_case
from agenttrace.store.postgres.spans import stored_text

_HELD = "project = %s AND trace_id = %s AND rule = %s AND number = %s AND state = 'claimed'"
_ADD = """INSERT INTO work (project, trace_id, rule, due)
    VALUES (%s, %s, %s, clock_timestamp() + %s * interval '1 second')
    ON CONFLICT (project, trace_id, rule) DO UPDATE SET
    due = CASE WHEN work.state = 'claimed' THEN work.due ELSE excluded.due END,
    again = CASE WHEN work.state = 'claimed' THEN excluded.due END,
    state = CASE WHEN work.state = 'claimed' THEN work.state ELSE 'waiting' END"""
# Each group that has something due is one look into the index. Rows that another claimant is just taking are
# passed over: nobody waits, and nobody gets what is taken.
_DUE = """WITH RECURSIVE groups AS (
        (SELECT state, rule, project FROM work WHERE state <> 'done' ORDER BY state, rule, project LIMIT 1)
        UNION ALL
        SELECT next.state, next.rule, next.project FROM groups, LATERAL (
            SELECT w.state, w.rule, w.project FROM work w WHERE w.state <> 'done'
            AND (w.state, w.rule, w.project) > (groups.state, groups.rule, groups.project)
            ORDER BY w.state, w.rule, w.project LIMIT 1) AS next)
    SELECT groups.project, overdue.due, overdue.id FROM groups, LATERAL (
        SELECT w.due, w.id FROM work w
        WHERE w.state = groups.state AND w.rule = groups.rule AND w.project = groups.project
        AND w.state <> 'done' AND w.due <= clock_timestamp()
        ORDER BY w.due LIMIT %(most)s FOR UPDATE SKIP LOCKED) AS overdue
    WHERE %(rules)s::text[] IS NULL OR groups.rule = ANY(%(rules)s)"""
_CLAIM = """UPDATE work SET state = 'claimed', owner = %s,
        due = clock_timestamp() + %s * interval '1 second', number = number + 1, tries = tries + 1,
        again = CASE WHEN again > clock_timestamp() THEN again END
    WHERE id = ANY(%s) RETURNING id, project, trace_id, rule, number, tries, seen"""
_SETTLED = """state = CASE WHEN again IS NULL THEN 'done' ELSE 'waiting' END,
    due = coalesce(again, clock_timestamp()), again = NULL, tries = 0, seen = %s, scores = %s"""
_GIVEN_BACK = """state = 'waiting', again = NULL, tries = tries - 1,
    due = greatest(clock_timestamp() + %s * interval '1 second', again)"""
_COUNTS = """SELECT project, count(*) FILTER (WHERE state = 'waiting' AND due > now()),
        count(*) FILTER (WHERE state = 'waiting' AND due <= now()),
        count(*) FILTER (WHERE state = 'claimed'),
        count(*) FILTER (WHERE state = 'done' AND NOT seen ^@ %(failed)s),
        count(*) FILTER (WHERE state = 'done' AND seen ^@ %(failed)s)
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
    by_project: dict[str, list[tuple[Any, int]]] = {}
    for project, due, number in db.execute(_DUE, {"most": most, "rules": names}):
        by_project.setdefault(project, []).append((due, number))
    lines = sorted(sorted(items) for items in by_project.values())  # who waits for longest has the first turn
    turns = chain.from_iterable(zip_longest(*lines))
    numbers = list(islice((item[1] for item in turns if item is not None), most))
    if not numbers:
        db.execute(_FORGET)
        return []
    held = {number: row for number, *row in db.execute(_CLAIM, (owner, seconds, numbers))}
    return [Claim(WorkItem(*row[:3]), *row[3:]) for number in numbers for row in [held[number]]]


def renew(db: Any, claims: Sequence[Claim], seconds: float) -> list[Claim]:
    """See `WorkQueue.renew`."""
    change = "due = clock_timestamp() + %s * interval '1 second'"
    return [claim for claim in claims if _change(db, claim, change, seconds)]


def settle(db: Any, claim: Claim, seen: str, scores: Sequence[ScoreRow] | None) -> bool:
    """See `WorkQueue.settle`."""
    row = db.execute(f"SELECT scores FROM work WHERE {_HELD} FOR UPDATE", _key(claim)).fetchone()  # noqa: S608
    if row is None:
        return False
    numbers = row[0]
    if scores is not None:
        for (name,) in db.execute(
            "DELETE FROM scores WHERE id = ANY(%s) RETURNING name", (numbers,)
        ).fetchall():
            forget_case(db, claim.item.trace_id, name)
        numbers = keep_scores(db, scores)
    return _change(db, claim, _SETTLED, stored_text(seen), numbers)


def give_back(db: Any, claims: Sequence[Claim], seconds: float) -> None:
    """See `WorkQueue.give_back`."""
    for one in claims:
        _change(db, one, _GIVEN_BACK, seconds)


def counts(db: Any) -> Mapping[str, WorkCounts]:
    """See `WorkQueue.counts`."""
    rows = db.execute(_COUNTS, {"failed": FAILED})
    return {project: WorkCounts(*numbers) for project, *numbers in rows}
