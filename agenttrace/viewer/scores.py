"""Scores as they are shown: the value in its scale, the aligned diff, the verdicts on items, the votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.store.light_traces import LightTrace
from agenttrace.viewer.values import ValueView, arguments_text, short_value, view_of

_MARKS = {"✓": "matched", "~": "differs", "-": "missing", "+": "extra", "!": "forbidden", "?": "unknown"}
_ROW_MARKS = {kind: mark for mark, kind in _MARKS.items()}
_OWN_PLACE = {
    "rows", "verdicts", "votes", "raw", "pairs", "expected", "actual", "missing", "extra", "mode",
    "required", "matched", "indexes", "calls",
}  # fmt: skip
"""What of a score's details is shown in a way of its own, or in the diff."""
_MOST_LINES = 300


class Change(NamedTuple):
    """A text in three parts: what is the same in another one before and after what differs, and that."""

    before: str
    differs: str
    after: str


@dataclass(frozen=True)
class DiffRow:
    """A row of the aligned diff: an expected call, the one that was made, and what differs between them.

    `call` is the made call's number from 1; `span_id` leads to it.
    """

    kind: str
    mark: str
    number: int | None
    expected: str
    made: Change
    call: int | None
    span_id: str | None
    differs: Sequence[str]


@dataclass(frozen=True)
class ScoreView:
    """A score with all that explains it."""

    score: Score
    span_id: str | None
    rows: Sequence[DiffRow]
    lines: Sequence[tuple[str, str]]
    verdicts: Sequence[Mapping[str, Any]]
    votes: Mapping[str, Any] | None
    details: ValueView | None
    evidence: ValueView | None

    @property
    def is_open(self) -> bool:
        """Whether it is unfolded at first: what failed is."""
        return self.score.outcome in ("failed", "errored")


def score_views(
    scores: Sequence[tuple[str | None, Score]], trace: Trace | LightTrace | None
) -> list[ScoreView]:
    """Scores as they are shown, those that failed first."""
    order = {"failed": 0, "errored": 1, "passed": 2, "skipped": 3}
    views = [score_view(score, trace, span_id) for span_id, score in scores]
    return sorted(views, key=lambda view: order[view.score.outcome])


def score_view(score: Score, trace: Trace | LightTrace | None, span_id: str | None = None) -> ScoreView:
    """A score as it is shown; with its trace, rows of the diff lead to spans."""
    details = dict(score.details)
    rows = (
        ()
        if _are_of_states(details.get("rows"))
        else _rows(details.get("rows") or _rows_of_calls(details.get("calls")), trace)
    )
    verdicts = details.get("verdicts")
    votes = details.get("votes")
    rest = {key: value for key, value in details.items() if key not in _OWN_PLACE}
    evidence = dict(score.evidence)
    if details.get("raw"):
        evidence["raw replies"] = details["raw"]
    return ScoreView(
        score=score,
        span_id=span_id,
        rows=rows,
        lines=() if rows or not score.diff else _lines(score.diff),
        verdicts=[entry for entry in verdicts if isinstance(entry, Mapping)]
        if isinstance(verdicts, list)
        else (),
        votes=votes if isinstance(votes, Mapping) else None,
        details=view_of(rest) if rest else None,
        evidence=view_of(evidence) if evidence else None,
    )


def in_short(view: ScoreView) -> ScoreView:
    """The view with the diff as the text that a terminal prints, in place of its rows; half as long."""
    return replace(view, rows=(), lines=_lines(view.score.diff)) if view.rows and view.score.diff else view


def _lines(diff: str) -> list[tuple[str, str]]:
    """The lines of a diff's text, each with what its mark means."""
    lines = diff.strip("\n").split("\n")[:_MOST_LINES]
    return [(_MARKS.get(line.strip()[:1], "same") if line[:6].strip() else "same", line) for line in lines]


def _rows(rows: Any, trace: Trace | LightTrace | None) -> list[DiffRow]:
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return []
    spans = {} if trace is None else {call.index: call.span_id for call in trace.tool_calls}
    return [_row(row, spans) for row in rows[:_MOST_LINES]]


def _rows_of_calls(calls: Any) -> Any:
    """Rows of the expected calls alone, as scorers of arguments and of outputs have them in their details."""
    if not isinstance(calls, list) or not all(isinstance(c, Mapping) and "matched" in c for c in calls):
        return None
    return [
        {
            **entry,
            "kind": "matched" if entry["matched"] else "differs" if entry.get("call") else "missing",
            "actual": entry.get("call"),
        }
        for entry in calls
    ]


def _row(row: Mapping[str, Any], spans: Mapping[int, str]) -> DiffRow:
    actual, expected = row.get("actual"), row.get("expected")
    index = actual.get("index") if isinstance(actual, Mapping) else None
    expected_text = call_text(expected)
    made_text = call_text(actual)
    kind = str(row.get("kind", "matched"))
    differences = row.get("differences")
    words = [_difference(each) for each in differences] if isinstance(differences, list) else []
    note = str(row.get("note") or "")
    if kind == "extra" and not note:
        note = "extra"
    return DiffRow(
        kind=kind,
        mark=_ROW_MARKS.get(kind, "✓"),
        number=row.get("number"),
        expected=expected_text,
        made=changed_part(expected_text, made_text) if kind == "differs" else Change(made_text, "", ""),
        call=None if not isinstance(index, int) else index + 1,
        span_id=None if not isinstance(index, int) else spans.get(index),
        differs=[
            *words,
            *([note] if note else []),
            *(["not made"] if kind == "missing" and not note else []),
        ],
    )


def _difference(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    path, kind, note = (str(entry.get(key) or "") for key in ("path", "kind", "note"))
    expected, got = (short_value(entry.get(key), 120) for key in ("expected", "got"))
    words = {"missing": f"expected {expected}, not there", "unexpected": f"got {got}, not expected"}
    text = words.get(kind, f"expected {expected}, got {got}")
    return f"{f'{path}: ' if path else ''}{text}{f' ({note})' if note else ''}"


def call_text(call: Any) -> str:
    """A call on one line, from the data that a row of a diff has."""
    if call is None:
        return ""
    if isinstance(call, str):
        return call
    if not isinstance(call, Mapping):
        return short_value(call, 200)
    if "name" in call and isinstance(call.get("arguments"), Mapping):
        return f"{call['name']}({arguments_text(call['arguments'], 400)})"
    if "tool_name" in call:
        parameters = call.get("parameters")
        arguments = arguments_text(parameters, 400) if isinstance(parameters, Mapping) else ""
        return f"{call['tool_name']}({arguments})" if arguments else str(call["tool_name"])
    if len(call) == 1:
        ((name, arguments),) = call.items()
        if isinstance(arguments, Mapping):
            return f"{name}({arguments_text(arguments, 400)})"
    return short_value(dict(call), 400)


def changed_part(one: str, other: str) -> Change:
    """The other text, parted where it differs from the one."""
    least = min(len(one), len(other))
    head = next((n for n in range(least) if one[n] != other[n]), least)
    rest = least - head
    tail = next((n for n in range(rest) if one[-1 - n] != other[-1 - n]), rest)
    end = len(other) - tail
    return Change(other[:head], other[head:end], other[end:])


def _are_of_states(rows: Any) -> bool:
    """Whether rows tell of places in states, which the diff as text shows, and not of calls."""
    return isinstance(rows, list) and any(isinstance(row, dict) and "state" in row for row in rows)
