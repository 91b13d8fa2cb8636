"""The same as the pages, as JSON: pure functions from what is asked to data, and their addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any, TypeAlias

from agenttrace.core.errors import ConfigError, QueryError
from agenttrace.core.jsonable import clean_text, jsonable, readable_json
from agenttrace.core.query import Identified, Query
from agenttrace.core.span import Span
from agenttrace.core.trace_reads import Cursor
from agenttrace.core.trace_search import cursor_of
from agenttrace.reports.agreement import agreement_of
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_run
from agenttrace.runs.reference import find_run
from agenttrace.viewer.failure_page import named_state
from agenttrace.viewer.figures import by_day, days_data
from agenttrace.viewer.group_page import label_key
from agenttrace.viewer.health_page import problems, state_of
from agenttrace.viewer.people import MOST_WORDS
from agenttrace.viewer.query_line import QueryLine
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.review_page import queue_of
from agenttrace.viewer.trace_list import FACETS, newer_matches

Data: TypeAlias = Callable[[Reads, Asked], tuple[int, Any]]

MOST_ROWS = 200
_USUAL_ROWS = 50
_MOST_SPANS = 5_000


def body_of(content: Any) -> tuple[bytes, str]:
    """The bytes of an answer, and the tag by which a reader knows that it has them already."""
    body = (readable_json(jsonable(content)) + "\n").encode()
    return body, f'"{blake2b(body, digest_size=12).hexdigest()}"'


def _line(reads: Reads, asked: Asked) -> QueryLine:
    line = QueryLine.of(reads, asked)
    if line.error:
        raise QueryError(line.error, position=len(line.around[0]))
    return line


def _limit(asked: Asked) -> int:
    text = asked.get("limit", str(_USUAL_ROWS))
    if not text.isdecimal() or not 1 <= int(text[:9]) <= MOST_ROWS:
        raise ConfigError(f"got limit {text[:40]!r}, wanted a number from 1 to {MOST_ROWS}")
    return int(text)


def _start(asked: Asked) -> int:
    text = asked.get("from", "0")
    if not text.isdecimal() or len(text) > 8:
        raise ConfigError(f"got from {text[:40]!r}, wanted a number from 0")
    return int(text)


def _only(entry: Mapping[str, Any], asked: Asked) -> Mapping[str, Any]:
    """The fields that ``fields`` names, all without it."""
    names = [name for name in asked.get("fields", "").split(",") if name]
    unknown = [name for name in names if name not in entry]
    if unknown:
        raise ConfigError(f"got field {unknown[0][:40]!r}, wanted some of {', '.join(entry)}")
    return {name: entry[name] for name in names} if names else entry


def traces(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """The traces that match, a page of them."""
    line = _line(reads, asked)
    page = reads.traces.search(
        line.query, sort=line.sort, limit=_limit(asked), after=line.after, before=line.before
    )
    return 200, {
        "traces": [_only(facts.to_dict(), asked) for facts in page.traces],
        "before": None if page.before is None else str(page.before),
        "after": None if page.after is None else str(page.after),
    }


def trace(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """A trace with its scores and its spans, without their values, from the place ``from`` on."""
    start = _start(asked)
    whole = reads.store.trace(asked["id"])
    if whole is None:
        return _missing("trace", asked["id"])
    scores = reads.store.scores(whole.trace_id)
    return 200, {
        "trace_id": whole.trace_id,
        "spans": [_only(_light(span), asked) for span in whole.spans[start : start + _MOST_SPANS]],
        "left_out": max(len(whole.spans) - start - _MOST_SPANS, 0),
        "scores": [{"span_id": span_id, **score.to_dict()} for span_id, score in scores],
    }


def _light(span: Span) -> dict[str, Any]:
    data = span.to_dict()
    for name in ("trace_id", "input", "output", "attributes"):
        del data[name]
    return data


def span(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """One span with its values."""
    whole = reads.store.trace(asked["id"])
    for each in () if whole is None else whole.spans:
        if each.span_id == asked["span"]:
            return 200, _only(each.to_dict(), asked)
    return _missing("span", asked["span"])


def runs(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """The newest runs; ``from`` is the number of the first."""
    start, limit = _start(asked), _limit(asked)
    rows = reads.store.runs(project=clean_text(asked.get("project", "")) or None, limit=start + limit)
    return 200, {"runs": [_only(asdict(run), asked) for run in rows[start:]]}


def run(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """A run as its report is written."""
    data = find_run(reads.store, asked["id"])
    return _missing("run", asked["id"]) if data is None else (200, _only(data, asked))


def compare(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """The run ``b`` against ``a``."""
    records = []
    for name in ("a", "b"):
        data = find_run(reads.store, asked.get(name, ""))
        if data is None:
            return _missing("run", asked.get(name, ""))
        records.append(record_of_run(data))
    return 200, compare_runs(*records).to_dict()


def scores(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """Every scorer with its figures."""
    figures, count = reads.traces.score_figures(_line(reads, asked).query)
    rows = [
        {"name": each.key, "count": each.count, "mean": each.mean, "outcomes": each.outcomes}
        for each in figures
    ]
    return 200, {"scores": rows, "is_capped": count.is_capped}


def score_days(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """A scorer's figures for each day."""
    name = asked["name"]
    traces, is_capped = reads.traces.scored_matches(_line(reads, asked).query, name)
    return 200, {"days": days_data(by_day(traces, name)), "is_capped": is_capped}


def tools(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """Every tool that was called; durations in nanoseconds."""
    figures, count = reads.traces.tool_figures(_line(reads, asked).query)
    rows = [
        {
            "name": each.name,
            "calls": each.calls,
            "failed": each.failed,
            "traces": each.traces,
            "p50_ns": each.middle,
            "p95_ns": each.slow,
            "last_ns": each.last_ns,
        }
        for each in figures
    ]
    return 200, {"tools": rows, "is_capped": count.is_capped}


def groups(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """What the traces with each value of the label ``by`` come to; durations in nanoseconds."""
    figures, count = reads.traces.group_figures(_line(reads, asked).query, label_key(asked.get("by", "")))
    rows = [
        {
            "value": each.value,
            "traces": each.traces,
            "passed": each.passed,
            "judged": each.judged,
            "p50_ns": each.middle,
            "p95_ns": each.slow,
            "cost": each.cost,
            "last_ns": each.last_ns,
        }
        for each in figures
    ]
    return 200, {"groups": rows, "traces": count.number, "is_capped": count.is_capped}


def facets(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """The values of labels among the matches; ``keys`` names the labels."""
    usual = ",".join(key for key, _ in FACETS)
    keys: Sequence[str] = [key for key in asked.get("keys", usual).split(",") if key][:20]
    views = reads.traces.facets(_line(reads, asked).query, keys)
    return 200, {
        key: {"values": dict(facet.values), "traces": facet.traces, "is_capped": facet.is_capped}
        for key, facet in views.items()
    }


def changes(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """What is new: of a list since a place in it, of a ``trace`` how many spans and scores it has."""
    if "trace" in asked:
        query = Query((Identified(asked["trace"].lower()),))
        rows = reads.traces.search(query, limit=1).traces if _is_hex(asked["trace"]) else ()
        counts = (rows[0].spans, len(rows[0].scores)) if rows else (None, None)
        return 200, {"spans": counts[0], "scores": counts[1]}
    line = _line(reads, asked)
    since = Cursor.of(asked["since"]) if asked.get("since") else None
    is_indexing = reads.index_state(line.query) is not None
    if since is None:
        page = reads.traces.search(line.query, sort=line.sort, limit=1)
        newest = str(cursor_of(page.traces[0], line.sort)) if page.traces else None
        return 200, {
            "newer": len(page.traces),
            "more": page.after is not None,
            "newest": newest,
            "indexing": is_indexing,
        }
    newer, more = newer_matches(reads, line, since)
    return 200, {"newer": newer, "more": more, "newest": None, "indexing": is_indexing}


def _is_hex(text: str) -> bool:
    return bool(text) and len(text) <= 32 and set(text.lower()) <= set("0123456789abcdef")


def failures(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """What goes wrong, each failure once, from the place ``from`` on."""
    start, limit = _start(asked), _limit(asked)
    rows = reads.watch.failures(
        project=asked.get("project") or None, state=named_state(asked.get("state", "")), limit=start + limit
    )
    return 200, {"failures": [_only(each.to_dict(), asked) for each in rows[start:]]}


def words(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """What people said, the newest first, from the place ``from`` on."""
    start, limit = _start(asked), _limit(asked)
    rows = reads.watch.annotations(
        trace_id=asked.get("trace") or None, project=asked.get("project") or None, limit=start + limit
    )
    return 200, {"annotations": [_only(each.to_dict(), asked) for each in rows[start:]]}


def review(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """What people should look at, the most telling first."""
    project = asked.get("project") or None
    words = reads.watch.annotations(project=project, limit=MOST_WORDS)
    queue = queue_of(reads, project, words, _limit(asked))
    return 200, {"review": [_only(each.to_dict(), asked) for each in queue]}


def score_agreement(reads: Reads, asked: Asked) -> tuple[int, Any]:
    """How far a scorer agrees with people."""
    return 200, agreement_of(reads.watch, asked["name"], asked.get("project") or None)


def health(reads: Reads, _asked: Asked) -> tuple[int, Any]:
    """What the store's file says of itself."""
    state = state_of(reads)
    if state is None:
        return 200, {"path": reads.path, "state": None, "problems": []}
    data = asdict(state)
    del data["read_in_ns"]
    data["waiting"] = [each._asdict() for each in state.waiting]
    return 200, {"path": reads.path, "state": data, "problems": problems(state)}


def _missing(what: str, wanted: str) -> tuple[int, Any]:
    return 404, {"error": f"there is no {what} {wanted[:80]!r}"}


ROUTES: Mapping[str, Data] = {
    "/traces": traces,
    "/traces/{id}": trace,
    "/traces/{id}/spans/{span}": span,
    "/runs": runs,
    "/runs/{id}": run,
    "/compare": compare,
    "/scores": scores,
    "/scores/{name:path}/days": score_days,
    "/scores/{name:path}/agreement": score_agreement,
    "/tools": tools,
    "/failures": failures,
    "/annotations": words,
    "/review": review,
    "/facets": facets,
    "/groups": groups,
    "/changes": changes,
    "/health": health,
}
"""Below ``/api/v1``; described in ``openapi.json``."""
