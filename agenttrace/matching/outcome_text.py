"""`outcome_lines`: the diff of a state as lines of text, in the look of the diff of calls.

::

    ✓ changed  db.orders.7.status   "open" → "refunded"
    ~ added    db.refunds.r1        {"amount": 125.0}   amount: expected 12.5, got 125.0
    - removed  db.carts.7           missing: is still there
    ! changed  db.users.3.email     "a@x" → "b@x"       forbidden

✓ as expected, ~ another value, - missing, + also changed, ! not allowed to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.marks import without_digests
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.state_changes import NOWHERE
from agenttrace.expectations.values import Difference
from agenttrace.matching.explain import change_text, difference_text
from agenttrace.matching.outcome import UNCHANGED, StateComparison, StateRow
from agenttrace.matching.rows import ROWS_SIZE
from agenttrace.matching.value_texts import value_text

_MARKS = {"matched": "✓", "differs": "~", "missing": "-", "extra": "+", "forbidden": "!"}
_INDENT = "    "
_GAP = "   "
_MOST_LINES = 60
_MOST_DIFFERENCES = 6
_PLACE = 36
"""Characters of a place in its column; a longer one pushes what follows aside."""


def outcome_diff(states: Sequence[StateComparison], width: int = 80) -> str:
    """The diff as plain text, no line longer than `width` characters."""
    rows = [(_place(state.name, row.path), row) for state in states for row in state.rows]
    rows.sort(key=lambda one: one[1].kind == "extra")
    column = min(max((len(place) for place, _ in rows), default=0), _PLACE)
    lines: list[str] = []
    for place, row in rows:
        lines += _lines(place, row, column, width)
        if len(lines) > _MOST_LINES:
            break
    shown = lines[:_MOST_LINES]
    if len(lines) > len(shown) or len(rows) > _MOST_LINES:
        shown.append(f"{_INDENT}… {len(rows)} rows in all")
    return "\n".join(shown)


def _place(name: str, path: str) -> str:
    return f"{name}{'.' if path and not path.startswith('[') else ''}{path}"


def _lines(place: str, row: StateRow, column: int, width: int) -> Iterator[str]:
    head = f"{_INDENT}{_MARKS[row.kind]} {row.word:<7}  {place:<{column}}"
    below = " " * (len(_INDENT) + 2)
    room = max(width - len(head) - len(_GAP), 24)
    line = f"{head}{_GAP}{_GAP.join(_texts(row, room))}".rstrip()
    if len(line) <= width and not _is_cut(row, room):
        yield line
        return
    yield shorten(head.rstrip(), width)
    for text in _texts(row, width - len(below)):
        yield shorten(below + text, width)


def _texts(row: StateRow, room: int) -> list[str]:
    """What is said of a row, each in its room: the change, how it differs, why it is none."""
    texts = [_change_text(row, room)] if row.kind != "missing" else []
    texts += [difference_text(one, room) for one in row.differences[:_MOST_DIFFERENCES]]
    if row.kind == "missing":
        silent = row.expected is NOWHERE or row.expected is ANY
        expected = "" if silent else f", expected {value_text(row.expected)}"
        note = f"still {value_text(row.after)}" if row.note == UNCHANGED else row.note
        texts.append(f"missing{f': {note}' if note else ''}{expected}")
    elif row.kind == "forbidden":
        texts.append(f"forbidden{f': {row.note}' if row.note else ''}")
    elif row.note:
        texts.append(row.note)
    return [text for text in texts if text]


def _is_cut(row: StateRow, room: int) -> bool:
    """Whether a line of its own shows more of the change."""
    return row.kind != "missing" and _change_text(row, room) != _change_text(row, 2 * room)


def _change_text(row: StateRow, room: int) -> str:
    if row.word == "removed":
        return value_text(row.before, room) if row.before is not NOWHERE else ""
    if row.before is NOWHERE or row.word in ("added", "end"):
        return value_text(row.after, room) if row.after is not NOWHERE else ""
    if row.after is NOWHERE:
        return value_text(row.before, room)
    return change_text(row.before, row.after, room)


_VALUE_SIZE = 1_024


def outcome_rows(states: Sequence[StateComparison]) -> dict[str, Any]:
    """The rows as JSON-safe data: ``rows``, and ``rows_left_out`` where not all have room."""
    room, rows = ROWS_SIZE, [(state.name, row) for state in states for row in state.rows]
    chosen: dict[int, Any] = {}
    for at, (name, row) in sorted(enumerate(rows), key=lambda one: one[1][1].kind in ("matched", "extra")):
        data = _row_data(name, row)
        room -= len(to_json(data))
        if room < 0:
            break
        chosen[at] = data
    facts: dict[str, Any] = {"rows": [chosen[at] for at in sorted(chosen)]}
    if len(chosen) < len(rows):
        facts["rows_left_out"] = len(rows) - len(chosen)
    return facts


def _row_data(name: str, row: StateRow) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": row.kind, "state": name, "change": row.word, "path": row.path}
    if row.expected is not NOWHERE:
        data["expected"] = _cut(Difference("", row.expected, None).to_dict()["expected"])
    for key, value in (("before", row.before), ("after", row.after)):
        if value is not NOWHERE:
            data[key] = _cut(value)
    data["differences"] = [
        {**one, "expected": _cut(one["expected"]), "got": _cut(one["got"])}
        for one in (difference.to_dict() for difference in row.differences[:_MOST_DIFFERENCES])
    ]
    data["note"] = row.note
    return data


def _cut(value: Any) -> Any:
    return without_digests(jsonable(value, limit=_VALUE_SIZE))
