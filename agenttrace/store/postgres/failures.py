"""The failures on the server: noted as scores are written, listed with customers and costs, given states."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core import semconv
from agenttrace.core.annotation import is_word
from agenttrace.core.batch import ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.failure import Failure, Fingerprint, State, fingerprints_of
from agenttrace.core.jsonable import to_json
from agenttrace.store.failures import MOST_REVISIONS, MOST_TRACES, SHOWN_TRACES, Case, is_same_revision
from agenttrace.store.human_scores import about_of
from agenttrace.store.postgres.counts import trace_costs
from agenttrace.store.postgres.spans import stored_text
from agenttrace.store.rows import loaded
from agenttrace.store.sound_rows import sound_rest

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_SHORTEST = 4
_LONGEST_REVISION = 100
_WORD = "run_id IS NULL AND rest IS NOT NULL AND rest::json #> '{metadata,annotation}' IS NOT NULL"
"""The scores that are made of annotations, of which each has the id in its metadata."""


def note_failures(
    db: Any,
    project: str | None,
    case: Case,
    fingerprints: Iterable[Fingerprint],
    revision: str | None = None,
) -> None:
    """Count a case under each of its failures, once. `project` None: that of the trace."""
    fingerprints = sorted(fingerprints, key=lambda one: one.key)  # no two writers lock crosswise
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
            db.execute("INSERT INTO failure_cases VALUES (%s, %s, %s, %s, %s)", (number, *case, now))
        _count(db, number, revision and stored_text(revision)[:_LONGEST_REVISION], now)


def _of_trace(db: Any, trace_id: str | None) -> tuple[str, str | None]:
    """The project of a trace, and the revision that its root names in the metadata ``release``."""
    row = db.execute("SELECT id, project FROM traces WHERE trace_id = %s", (trace_id,)).fetchone()
    if row is None:
        return "", None
    root = db.execute(
        "SELECT rest FROM span_rows WHERE trace = %s AND parent IS NULL AND rest IS NOT NULL LIMIT 1",
        (row[0],),
    ).fetchone()
    rest = sound_rest(loaded(root[0])) if root else {}
    metadata = rest.get("attributes", {}).get(semconv.METADATA)
    release = metadata.get("release") if isinstance(metadata, Mapping) else None
    return row[1], release if isinstance(release, str) and release else None


def _number(db: Any, project: str, fingerprint: Fingerprint, now: int) -> int:
    """The number of a failure, which is made where it is new; its row is this transaction's until the end."""
    texts = (
        stored_text(project),
        fingerprint.key,
        stored_text(fingerprint.scorer),
        stored_text(fingerprint.title),
    )
    db.execute(
        "INSERT INTO failures"
        " (project, fingerprint, scorer, title, state, first_ns, last_ns, count, revisions)"
        " VALUES (%s, %s, %s, %s, 'open', %s, %s, 0, '[]') ON CONFLICT DO NOTHING",
        (*texts, now, now),
    )
    (number,) = db.execute(
        "SELECT id FROM failures WHERE project = %s AND fingerprint = %s FOR UPDATE", texts[:2]
    ).fetchone()
    return int(number)


def _is_counted(db: Any, number: int, case: Case) -> bool:
    if case.trace_id is not None:  # a trace of a run is one case with its result
        query = "SELECT 1 FROM failure_cases WHERE trace_id = %s AND failure = %s"
        return db.execute(query, (case.trace_id, number)).fetchone() is not None
    query = (
        "SELECT 1 FROM failure_cases WHERE run_id = %s AND result IS NOT DISTINCT FROM %s AND failure = %s"
    )
    return case.run_id is not None and db.execute(query, (*case[1:], number)).fetchone() is not None


def _count(db: Any, number: int, revision: str | None, now: int) -> None:
    """Count one more case. What was fixed is back, unless this revision had it before."""
    state, fixed_in, text = db.execute(
        "SELECT state, fixed_in, revisions FROM failures WHERE id = %s", (number,)
    ).fetchone()
    revisions = [one for one in loaded(text) if isinstance(one, str)]
    had_it = revision in revisions and not is_same_revision(revision, fixed_in)
    back = state == "fixed" and not had_it
    if revision is not None and revision not in revisions:
        revisions = [*revisions, revision][-MOST_REVISIONS:]
    db.execute(
        "UPDATE failures SET count = count + 1, last_ns = greatest(last_ns, %s), revisions = %s, state = %s,"
        " changed_ns = CASE WHEN %s THEN %s ELSE changed_ns END WHERE id = %s",
        (now, to_json(revisions), "back" if back else state, back, now, number),
    )


def first_tellings(db: Any, project: str, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
    """Of these failures those that nobody was alerted of yet, or not since they are back, by their keys."""
    now = time.time_ns()
    tellings: dict[str, str] = {}
    for fingerprint in sorted(fingerprints, key=lambda one: one.key):
        number = _number(db, project, fingerprint, now)
        state, changed, alerted = db.execute(
            "SELECT state, changed_ns, alerted_ns FROM failures WHERE id = %s", (number,)
        ).fetchone()
        if alerted is None:
            tellings[fingerprint.key] = "new"
        elif state == "back" and alerted < changed:
            tellings[fingerprint.key] = "back again"
        else:
            continue
        db.execute("UPDATE failures SET alerted_ns = %s WHERE id = %s", (now, number))
    return tellings


def find_failure(db: Any, prefix: str, project: str | None) -> int:
    """The number of the one failure whose fingerprint begins so.

    Raises:
        StoreError: there is none, or several.
    """
    prefix = prefix.strip().lower()
    if len(prefix) < _SHORTEST:
        raise StoreError(f"give at least {_SHORTEST} digits of a failure, got {prefix!r}")
    rows = db.execute(
        "SELECT id, fingerprint, project FROM failures WHERE fingerprint ^@ %s"
        " AND count > 0 AND project = coalesce(%s, project) LIMIT 3",
        (stored_text(prefix), project and stored_text(project)),
    ).fetchall()
    if not rows:
        raise StoreError(f"no failure begins with {prefix!r}; `agenttrace failures` lists them")
    if len(rows) > 1:
        several = ", ".join(f"{key} in {of_project}" for _, key, of_project in rows)
        raise StoreError(f"{prefix!r} begins several failures ({several}); give more digits, or the project")
    return int(rows[0][0])


def set_state(db: Any, number: int, state: State, fixed_in: str | None) -> Failure:
    """Give a failure a state."""
    db.execute(
        "UPDATE failures SET state = %s, fixed_in = %s, changed_ns = %s WHERE id = %s",
        (state, fixed_in and stored_text(fixed_in)[:_LONGEST_REVISION], time.time_ns(), number),
    )
    return failures(db, where="f.id = %s", values=(number,))[0]


def forget_cases(db: Any, *, trace_ids: Sequence[str] = (), run_id: str | None = None) -> None:
    """Forget the cases of deleted traces, or of a deleted run; the counts stay."""
    if trace_ids:
        db.execute(
            "DELETE FROM failure_cases WHERE trace_id = ANY(%s) AND run_id IS NULL", (list(trace_ids),)
        )
    if run_id is not None:
        db.execute("DELETE FROM failure_cases WHERE run_id = %s", (run_id,))


def failure_counts(db: Any) -> dict[tuple[str, State], int]:
    """How many failures there are, by project and state."""
    rows = db.execute("SELECT project, state, count(*) FROM failures WHERE count > 0 GROUP BY project, state")
    return {(project, state): number for project, state, number in rows}


_COLUMNS = (
    "f.id, f.fingerprint, f.project, f.scorer, f.title, f.state, f.fixed_in, f.changed_ns, f.first_ns,"
    " f.last_ns, f.count, f.revisions"
)


def failures(
    db: Any,
    *,
    project: str | None = None,
    state: State | None = None,
    limit: int = 100,
    where: str = "true",
    values: Sequence[int] = (),
) -> list[Failure]:
    """The failures, those that are back first, then the open ones, in each group the newest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM failures f WHERE f.count > 0 AND f.project = coalesce(%s, f.project)"
        f" AND f.state = coalesce(%s, f.state) AND {where}"
        " ORDER BY CASE f.state WHEN 'back' THEN 0 WHEN 'open' THEN 1 ELSE 2 END, f.last_ns DESC, f.id"
        " LIMIT %s",
        (project and stored_text(project), state, *values, max(limit, 0)),
    ).fetchall()
    cases: dict[int, list[_Case]] = {number: [] for number, *_ in rows}
    for failure, *case in db.execute(_NEWEST_CASES, (list(cases), MOST_TRACES)):
        cases[failure].append(_Case(*case))
    costs = trace_costs(db, list({case.number for each in cases.values() for case in each}))
    return [_failure(fields, cases[number], costs) for number, *fields in rows]


_NEWEST_CASES = """SELECT f.failure, t.id, t.trace_id, t.customer FROM unnest(%s::bigint[]) f(failure)
    CROSS JOIN LATERAL (
        SELECT t.id, t.trace_id, t.customer, max(c.seen_ns) AS seen_ns
        FROM failure_cases c JOIN traces t ON t.trace_id = c.trace_id
        WHERE c.failure = f.failure GROUP BY t.id ORDER BY max(c.seen_ns) DESC, t.id DESC LIMIT %s
    ) t ORDER BY f.failure, t.seen_ns DESC, t.id DESC"""


class _Case(NamedTuple):
    """A trace in which a failure was seen."""

    number: int
    trace_id: str
    customer: str | None


def _failure(fields: Sequence[object], cases: Sequence[_Case], costs: Mapping[int, float]) -> Failure:
    names = _COLUMNS.replace("f.", "").split(", ")[1:]
    entry = dict(zip(names, fields, strict=True))
    entry["revisions"] = tuple(loaded(str(entry["revisions"])))
    of_cases = [costs[case.number] for case in cases if case.number in costs]
    return Failure(
        **entry,  # type: ignore[arg-type]  # columns of these types
        traces=tuple(case.trace_id for case in cases[:SHOWN_TRACES]),
        customers=tuple(sorted({case.customer for case in cases if case.customer})),
        cost=sum(of_cases) if of_cases else None,
    )


def forget_replaced(db: Any, rows: Sequence[ScoreRow]) -> None:
    """Delete the stored scores that people's words replace, and their cases of failures."""
    for row in rows:
        about = about_of(row)
        if about is None:
            continue
        trace_id, span_id, name, by = about
        name = stored_text(name)
        replaced = db.execute(
            "DELETE FROM scores WHERE trace_id = %s AND span_id IS NOT DISTINCT FROM %s AND name = %s"
            f" AND rest::json #>> '{{metadata,by}}' IS NOT DISTINCT FROM %s AND {_WORD}",
            (trace_id, span_id, name, by and stored_text(by)),
        )
        if replaced.rowcount and row.score.outcome == "passed":
            _take_back(db, trace_id, name)


def _take_back(db: Any, trace_id: str | None, name: str) -> None:
    """Count a trace no more under the failure of a human scorer that nobody says of it any more."""
    query = f"SELECT 1 FROM scores WHERE trace_id = %s AND name = %s AND outcome = 'failed' AND {_WORD}"
    if trace_id is not None and not db.execute(query, (trace_id, name)).fetchone():
        forget_case(db, trace_id, name)


def forget_case(db: Any, trace_id: str, scorer: str) -> None:
    """Count a trace no more under the failures of a scorer."""
    for (number,) in db.execute(
        "DELETE FROM failure_cases c USING failures f WHERE f.id = c.failure AND c.trace_id = %s"
        " AND c.run_id IS NULL AND f.scorer = %s RETURNING c.failure",
        (trace_id, scorer),
    ).fetchall():
        db.execute("UPDATE failures SET count = greatest(count - 1, 0) WHERE id = %s", (number,))


def failures_of_row(db: Any, row: ScoreRow) -> tuple[Fingerprint, ...]:
    """The failures of a score; of a person's "bad" as the store in a file has it."""
    fingerprints = fingerprints_of(row.score)
    if not fingerprints or not is_word(row.score):
        return fingerprints
    label = stored_text(row.score.name.partition(": ")[2])
    about_scorer = db.execute(
        "SELECT 1 FROM scores WHERE trace_id = %s AND name = %s", (row.trace_id, label)
    ).fetchone()
    other = db.execute(
        "SELECT 1 FROM failure_cases c JOIN failures f ON f.id = c.failure"
        " WHERE c.trace_id = %s AND f.scorer <> %s",
        (row.trace_id, stored_text(row.score.name)),
    ).fetchone()
    return () if about_scorer or other else fingerprints
