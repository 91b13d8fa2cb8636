"""Changes what the server has stored of traces, and leaves nothing of the old in its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agenttrace.core.errors import StoreError
from agenttrace.store.mending import Clean, Which, new_texts
from agenttrace.store.postgres.address import Address
from agenttrace.store.postgres.connection import CONNECT_SECONDS, driver

# Every statement here is put together from constants of this package; values are always bound.
# ruff: noqa: S608

_NAMED = "trace_id = ANY(%(traces)s)"
_OF_RUNS = "run_id = ANY(%(runs)s)"
_NUMBERS = f"SELECT id FROM traces WHERE {_NAMED}"
_RESULTS = f"SELECT run_id, result FROM results WHERE {_NAMED} OR {_OF_RUNS}"
_NAMED_OR_OF_RESULTS = f"({_NAMED} OR (run_id, result) IN ({_RESULTS}))"
_FUNCTIONS = f"""(id IN (SELECT function FROM span_rows WHERE trace IN ({_NUMBERS}))
    OR (definition <> '' AND project IN (SELECT project FROM traces WHERE {_NAMED})))"""


class _Texts(NamedTuple):
    """The key and the texts of a table, and which of its rows are those of some traces."""

    key: tuple[str, ...]
    columns: tuple[str, ...]
    where: str


_TABLES = {
    "functions": _Texts(("id",), ("name", "span_type", "definition"), _FUNCTIONS),
    "traces": _Texts(("id",), ("name", "customer"), _NAMED),
    "scores": _Texts(("id",), ("name", "reason", "error", "rest"), _NAMED_OR_OF_RESULTS),
    "annotations": _Texts(("id",), ("label", "note", "expected", "author"), _NAMED_OR_OF_RESULTS),
    "runs": _Texts(
        ("id",),
        ("name", "model", "metadata"),
        f"({_OF_RUNS} OR run_id IN (SELECT run_id FROM ({_RESULTS}) r))",
    ),
    "results": _Texts(
        ("run_id", "result"), ("name", "error", "source", "example"), f"({_NAMED} OR {_OF_RUNS})"
    ),
    "datasets": _Texts(("project", "alias", "version"), ("content",), "alias = ANY(%(datasets)s)"),
    "quarantine": _Texts(("id",), ("name", "reason"), _NAMED),
    "work": _Texts(("id",), ("seen",), _NAMED),
    "failures": _Texts(
        ("id",), ("scorer", "title"), f"id IN (SELECT failure FROM failure_cases WHERE {_NAMED})"
    ),
    "pending_evaluations": _Texts(
        ("id",),
        ("request",),
        "EXISTS (SELECT 1 FROM unnest(%(traces)s::text[]) j(id) WHERE strpos(request, j.id) > 0)",
    ),
}
_OF_SPANS = _Texts(("trace", "span", "month"), ("input", "output", "rest"), "trace = %(trace)s")
_NOTE = """INSERT INTO about VALUES ('mended', '1')
    ON CONFLICT (key) DO UPDATE SET value = (about.value::bigint + 1)::text"""


def mend(db: Any, which: Which, clean: Clean) -> tuple[int, list[str]]:
    """Put what `clean` returns in the place of each text of `which`; see `store.mending.mend`.

    Returns how many values changed, and the tables that hold the old ones until they are written anew. The
    indexes of readers, wherever they are, are made anew at the next read.
    """
    ids: dict[str, Any] = {name: list(those) for name, those in which._asdict().items()}
    changed: dict[str, int] = {}
    for (number,) in db.execute(_NUMBERS, ids).fetchall():
        count, months = _mend_spans(db, number, clean)
        changed.update(dict.fromkeys(months, 0))
        changed["spans"] = changed.get("spans", 0) + count
    for table, texts in _TABLES.items():
        changed[table] = _mend_rows(db, table, texts, ids, clean)
    values = sum(changed.values())
    if values:
        db.execute(_NOTE)
    partitions = [name for name in changed if name not in {"spans", *_TABLES}]
    return values, [*partitions, *(name for name in _TABLES if changed[name])]


def _mend_spans(db: Any, number: int, clean: Clean) -> tuple[int, list[str]]:
    """How many values of a trace's spans changed, and in which partitions."""
    partitions = "SELECT DISTINCT tableoid::regclass::text FROM span_rows WHERE trace = %s"
    months = [name for (name,) in db.execute(partitions, (number,)).fetchall()]
    changed = _mend_rows(db, "span_rows", _OF_SPANS, {"trace": number}, clean)
    return changed, months if changed else []


def _mend_rows(db: Any, table: str, texts: _Texts, values: dict[str, Any], clean: Clean) -> int:
    names = ", ".join((*texts.key, *texts.columns))
    rows = db.execute(f"SELECT {names} FROM {table} WHERE {texts.where} FOR UPDATE", values).fetchall()
    count = len(texts.key)
    before = [dict(zip(texts.columns, row[count:], strict=True)) for row in rows]
    same = " AND ".join(f"{name} = %s" for name in texts.key)
    changed = 0
    for row, after in zip(rows, new_texts(table, before, clean), strict=True):
        changed += len(after)
        if after:
            places = ", ".join(f"{name} = %s" for name in after)
            db.execute(f"UPDATE {table} SET {places} WHERE {same}", (*after.values(), *row[:count]))
    return changed


def write_anew(address: Address, tables: Sequence[str]) -> bool:
    """Write tables anew, without the rows that are there no more, one after the other; others wait meanwhile.

    Returns whether the server also wrote a checkpoint, which it may only be asked for by who has the right.

    Raises:
        StoreError: the server cannot be asked, or does not let this user: then old bytes may be left.
    """
    psycopg = driver()
    try:
        with psycopg.connect(address.dsn, autocommit=True, connect_timeout=CONNECT_SECONDS) as db:
            schema = psycopg.sql.Identifier(address.schema)
            db.execute(psycopg.sql.SQL("SET search_path TO {}").format(schema))
            for table in tables:
                db.execute(f"VACUUM FULL {table}")
            try:
                db.execute("CHECKPOINT")
            except psycopg.errors.InsufficientPrivilege:
                return False
            return True
    except psycopg.Error as error:
        text = str(error).strip().partition("\n")[0]
        raise StoreError(
            f"what was redacted in {address.shown} still lies in the free space of its tables: they could not"
            f" be written anew ({text}); run VACUUM FULL on {', '.join(tables)}"
        ) from error
