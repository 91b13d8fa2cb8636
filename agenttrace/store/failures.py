"""The failures of a store: noted as scores are written, listed with customers and costs, given states."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from agenttrace.core import semconv
from agenttrace.core.errors import StoreError
from agenttrace.core.failure import Failure, Fingerprint, State
from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.store.counts import trace_cost
from agenttrace.store.rows import loaded
from agenttrace.store.sound_rows import sound_rest

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

MOST_FAILURES = 10_000
"""Kinds of failure that a file keeps: beyond that those go that were not seen for longest."""

MOST_REVISIONS = 50
MOST_TRACES = 200
"""Traces of one failure, the newest, whose customers and costs are read."""

SHOWN_TRACES = 20
_LOOK_EVERY = 100
_SHORTEST = 4
_LONGEST_REVISION = 100


class Case(NamedTuple):
    """What was evaluated: a trace, or a result of a run."""

    trace_id: str | None
    run_id: str | None = None
    result: int | None = None


def note_failures(
    db: sqlite3.Connection,
    project: str | None,
    case: Case,
    fingerprints: Iterable[Fingerprint],
    revision: str | None = None,
) -> None:
    """Count a case under each of its failures, once. `project` None: that of the trace."""
    fingerprints = list(fingerprints)
    if not fingerprints:
        return
    now = time.time_ns()
    if project is None:
        project, revision = _of_trace(db, case.trace_id)
    for fingerprint in fingerprints:
        number = _number(db, project, fingerprint, now)
        if _is_counted(db, number, case):
            continue
        if case.trace_id is not None or case.run_id is not None:
            db.execute("INSERT INTO failure_cases VALUES (?, ?, ?, ?, ?)", (number, *case, now))
        _count(db, number, revision and clean_text(revision)[:_LONGEST_REVISION], now)


def _of_trace(db: sqlite3.Connection, trace_id: str | None) -> tuple[str, str | None]:
    """The project of a trace, and the revision that its root names in the metadata ``release``."""
    row = db.execute("SELECT id, project FROM traces WHERE trace_id = ?", (trace_id,)).fetchone()
    if row is None:
        return "", None
    root = db.execute(
        "SELECT rest FROM all_span_rows WHERE trace = ? AND parent IS NULL AND rest IS NOT NULL", (row[0],)
    ).fetchone()
    rest = sound_rest(loaded(root[0])) if root else {}
    metadata = rest.get("attributes", {}).get(semconv.METADATA)
    release = metadata.get("release") if isinstance(metadata, Mapping) else None
    return row[1], release if isinstance(release, str) and release else None


def _number(db: sqlite3.Connection, project: str, fingerprint: Fingerprint, now: int) -> int:
    """The number of a failure, which is made where it is new."""
    inserted = db.execute(
        "INSERT OR IGNORE INTO failures"
        " (project, fingerprint, scorer, title, state, first_ns, last_ns, count, revisions)"
        " VALUES (?, ?, ?, ?, 'open', ?, ?, 0, '[]')",
        (
            clean_text(project),
            fingerprint.key,
            clean_text(fingerprint.scorer),
            clean_text(fingerprint.title),
            now,
            now,
        ),
    )
    (number,) = db.execute(
        "SELECT id FROM failures WHERE project = ? AND fingerprint = ?",
        (clean_text(project), fingerprint.key),
    ).fetchone()
    if inserted.rowcount and number % _LOOK_EVERY == 0:
        _forget_beyond(db, MOST_FAILURES)
    return int(number)


def _forget_beyond(db: sqlite3.Connection, most: int) -> None:
    too_many = "SELECT id FROM failures ORDER BY last_ns DESC, id DESC LIMIT -1 OFFSET ?"
    db.execute(f"DELETE FROM failure_cases WHERE failure IN ({too_many})", (most,))
    db.execute(f"DELETE FROM failures WHERE id IN ({too_many})", (most,))


def _is_counted(db: sqlite3.Connection, number: int, case: Case) -> bool:
    if case.trace_id is not None:  # a trace of a run is one case with its result
        query = "SELECT 1 FROM failure_cases WHERE trace_id = ? AND failure = ?"
        return db.execute(query, (case.trace_id, number)).fetchone() is not None
    query = "SELECT 1 FROM failure_cases WHERE run_id IS ? AND result IS ? AND failure = ?"
    return case.run_id is not None and db.execute(query, (*case[1:], number)).fetchone() is not None


def _count(db: sqlite3.Connection, number: int, revision: str | None, now: int) -> None:
    """Count one more case. What was fixed is back, unless this revision had it before."""
    state, fixed_in, text = db.execute(
        "SELECT state, fixed_in, revisions FROM failures WHERE id = ?", (number,)
    ).fetchone()
    revisions = [one for one in loaded(text) if isinstance(one, str)]
    had_it = revision in revisions and not is_same_revision(revision, fixed_in)
    back = state == "fixed" and not had_it
    if revision is not None and revision not in revisions:
        revisions = [*revisions, revision][-MOST_REVISIONS:]
    db.execute(
        "UPDATE failures SET count = count + 1, last_ns = max(last_ns, ?), revisions = ?, state = ?,"
        " changed_ns = CASE WHEN ? THEN ? ELSE changed_ns END WHERE id = ?",
        (now, to_json(revisions), "back" if back else state, back, now, number),
    )


def is_same_revision(one: str | None, other: str | None) -> bool:
    """Whether two names are of one revision: equal, or the beginning of a commit's digits."""
    if not one or not other:
        return False
    return one == other or (
        min(len(one), len(other)) >= 7 and (one.startswith(other) or other.startswith(one))
    )


def first_tellings(
    db: sqlite3.Connection, project: str, fingerprints: Sequence[Fingerprint]
) -> dict[str, str]:
    """Of these failures those that nobody was alerted of yet, or not since they are back, by their keys.

    Whoever asks is expected to alert: of several processes that ask at once, one is told.
    """
    now = time.time_ns()
    tellings: dict[str, str] = {}
    for fingerprint in fingerprints:
        number = _number(db, project, fingerprint, now)
        state, changed, alerted = db.execute(
            "SELECT state, changed_ns, alerted_ns FROM failures WHERE id = ?", (number,)
        ).fetchone()
        if alerted is None:
            tellings[fingerprint.key] = "new"
        elif state == "back" and alerted < changed:
            tellings[fingerprint.key] = "back again"
        else:
            continue
        db.execute("UPDATE failures SET alerted_ns = ? WHERE id = ?", (now, number))
    return tellings


def find_failure(db: sqlite3.Connection, prefix: str, project: str | None) -> int:
    """The number of the one failure whose fingerprint begins so.

    Raises:
        StoreError: there is none, or several.
    """
    prefix = prefix.strip().lower()
    if len(prefix) < _SHORTEST:
        raise StoreError(f"give at least {_SHORTEST} digits of a failure, got {prefix!r}")
    rows = db.execute(
        "SELECT id, fingerprint, project FROM failures WHERE substr(fingerprint, 1, ?) = ?"
        " AND count > 0 AND project = coalesce(?, project) LIMIT 3",
        (len(prefix), clean_text(prefix), project and clean_text(project)),
    ).fetchall()
    if not rows:
        raise StoreError(f"no failure begins with {prefix!r}; `agenttrace failures` lists them")
    if len(rows) > 1:
        several = ", ".join(f"{key} in {of_project}" for _, key, of_project in rows)
        raise StoreError(f"{prefix!r} begins several failures ({several}); give more digits, or the project")
    return int(rows[0][0])


def set_state(db: sqlite3.Connection, number: int, state: State, fixed_in: str | None) -> Failure:
    """Give a failure a state."""
    db.execute(
        "UPDATE failures SET state = ?, fixed_in = ?, changed_ns = ? WHERE id = ?",
        (state, fixed_in and clean_text(fixed_in)[:_LONGEST_REVISION], time.time_ns(), number),
    )
    return failures(db, where="f.id = ?", values=(number,))[0]


def forget_cases(db: sqlite3.Connection, *, trace_id: str | None = None, run_id: str | None = None) -> None:
    """Forget the cases of a deleted trace, or of a deleted run; the counts stay."""
    if trace_id is not None:
        db.execute("DELETE FROM failure_cases WHERE trace_id = ? AND run_id IS NULL", (trace_id,))
    if run_id is not None:
        db.execute("DELETE FROM failure_cases WHERE run_id = ?", (run_id,))


def forget_case(db: sqlite3.Connection, trace_id: str | None, scorer: str) -> None:
    """Count a trace no more under the failures of a scorer whose word about it was taken back."""
    numbers = db.execute(
        "SELECT failure FROM failure_cases c JOIN failures f ON f.id = c.failure"
        " WHERE c.trace_id = ? AND c.run_id IS NULL AND f.scorer = ?",
        (trace_id, scorer),
    ).fetchall()
    for (number,) in numbers:
        db.execute(
            "DELETE FROM failure_cases WHERE failure = ? AND trace_id = ? AND run_id IS NULL",
            (number, trace_id),
        )
        db.execute("UPDATE failures SET count = max(count - 1, 0) WHERE id = ?", (number,))


def failure_counts(db: sqlite3.Connection) -> dict[tuple[str, State], int]:
    """How many failures there are, by project and state."""
    rows = db.execute("SELECT project, state, count(*) FROM failures WHERE count > 0 GROUP BY project, state")
    return {(project, state): number for project, state, number in rows}


_COLUMNS = (
    "f.id, f.fingerprint, f.project, f.scorer, f.title, f.state, f.fixed_in, f.changed_ns, f.first_ns,"
    " f.last_ns, f.count, f.revisions"
)


def failures(
    db: sqlite3.Connection,
    *,
    project: str | None = None,
    state: State | None = None,
    limit: int = 100,
    where: str = "1",
    values: Sequence[int] = (),
) -> list[Failure]:
    """The failures, those that are back first, then the open ones, in each group the newest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM failures f WHERE f.count > 0 AND f.project = coalesce(?, f.project)"
        f" AND f.state = coalesce(?, f.state) AND {where}"
        " ORDER BY CASE f.state WHEN 'back' THEN 0 WHEN 'open' THEN 1 ELSE 2 END, f.last_ns DESC, f.id"
        " LIMIT ?",
        (project and clean_text(project), state, *values, limit),
    ).fetchall()
    cost_of = cache(partial(trace_cost, db))  # a trace may have several failures
    return [_failure(db, cost_of, *row) for row in rows]


def _failure(
    db: sqlite3.Connection, cost_of: Callable[[int], float | None], number: int, *fields: object
) -> Failure:
    traces = db.execute(
        "SELECT t.id, t.trace_id, t.customer FROM failure_cases c JOIN traces t ON t.trace_id = c.trace_id"
        " WHERE c.failure = ? GROUP BY t.id ORDER BY max(c.seen_ns) DESC, t.id DESC LIMIT ?",
        (number, MOST_TRACES),
    ).fetchall()
    costs = [cost for trace, _, _ in traces if (cost := cost_of(trace)) is not None]
    names = _COLUMNS.replace("f.", "").split(", ")[1:]
    entry = dict(zip(names, fields, strict=True))
    entry["revisions"] = tuple(loaded(str(entry["revisions"])))
    return Failure(
        **entry,  # type: ignore[arg-type]  # columns of these types
        traces=tuple(trace_id for _, trace_id, _ in traces[:SHOWN_TRACES]),
        customers=tuple(sorted({customer for _, _, customer in traces if customer})),
        cost=sum(costs) if costs else None,
    )
