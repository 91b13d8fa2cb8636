"""The aligned diff as lines of text, each with a style.

::

      ✓ 1  lookup_order(id=7)
      ~ 2  refund(id=7, amount=12.0)   refund(id=7, amount=12.5)   amount: expected 12.0, got 12.5
      - 3  notify(to="ann")            missing
      +    delete_order(id=7)          extra

✓ matched, ~ called with other values, - missing, + extra, ! forbidden. Where the columns do not fit the
width, the actual call and the differences stand below. Long runs of matched and extra calls are folded:
`context` of them are kept on either side of every other row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agenttrace.expectations.checks import Check
from agenttrace.expectations.comparison import Comparison
from agenttrace.expectations.rows import Row
from agenttrace.expectations.wording import actual_text, difference_text, expected_text, shortened

Style = Literal["matched", "differs", "missing", "extra", "forbidden", "quiet"]

_MARKS = {"matched": "✓", "differs": "~", "missing": "-", "extra": "+", "forbidden": "!"}
_INDENT = "    "
_GAP = "   "
MOST_DIFFERENCES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the diff; `style` is what it tells, for whoever colours it."""

    style: Style
    text: str


def explain(comparison: Comparison, *, width: int = 80, context: int = 2) -> str:
    """The diff as plain text, no line longer than `width` characters."""
    return "\n".join(line.text for line in explain_lines(comparison, width=width, context=context))


def explain_lines(comparison: Comparison, *, width: int = 80, context: int = 2) -> list[Line]:
    """The diff as lines: the calls, then the constraints that did not hold or could not."""
    rows = comparison.rows
    digits = len(str(len(comparison.alignment.places)))
    lines: list[Line] = []
    column = _column(rows, width, digits)
    for item in _folded(rows, context):
        if isinstance(item, Row):
            lines += _row_lines(item, width, digits, column)
        else:
            lines.append(Line("quiet", shortened(f"{_INDENT}… {item}", width)))
    lines += [_check_line(check, width) for check in comparison.checks if not check.held or check.vacuous]
    return lines


def _column(rows: Sequence[Row], width: int, digits: int) -> int:
    """How wide the first column is: its longest text, at most half of what there is."""
    room = width - len(_INDENT) - digits - 4
    texts = [len(_first(row, room)) for row in rows if row.kind != "matched"]
    return min(max(texts, default=0), room // 2)


def _first(row: Row, room: int) -> str:
    if row.kind == "matched" and row.actual is not None:
        return actual_text(row.actual, room)
    if row.expected is not None:
        return expected_text(row.expected, room)
    assert row.actual is not None
    return actual_text(row.actual, room)


def _row_lines(row: Row, width: int, digits: int, column: int) -> Iterator[Line]:
    number = "" if row.number is None else str(row.number)
    head = f"{_INDENT}{_MARKS[row.kind]} {number:<{digits}}  "
    room = width - len(head)
    first = _first(row, room)
    rest = _rest(row)
    one_line = head + first.ljust(column) + "".join(_GAP + part for part in rest)
    if len(one_line.rstrip()) <= width:
        yield Line(row.kind, one_line.rstrip())
        return
    yield Line(row.kind, (head + first).rstrip())
    below = " " * len(head)
    for part in _below(row, room):
        yield Line(row.kind, shortened(below + part, width))


def _rest(row: Row) -> list[str]:
    """What stands right of the first column."""
    if row.kind == "differs" and row.actual is not None:
        told = [difference_text(difference) for difference in row.differences[:MOST_DIFFERENCES]]
        return [actual_text(row.actual, 400), "; ".join(told + _more(row) + _noted(row))]
    if row.kind in ("missing", "extra"):
        return [row.kind + (f", {row.note}" if row.note else "")]
    return _noted(row)


def _below(row: Row, room: int) -> Iterator[str]:
    """The same, one under the other."""
    if row.kind == "differs" and row.actual is not None:
        yield f"got {actual_text(row.actual, room - 4)}"
        for difference in row.differences[:MOST_DIFFERENCES]:
            yield difference_text(difference, room)
        yield from _more(row)
        yield from _noted(row)
    else:
        yield from _rest(row)


def _noted(row: Row) -> list[str]:
    return [row.note] if row.note else []


def _more(row: Row) -> list[str]:
    more = len(row.differences) - MOST_DIFFERENCES
    return [f"… {more} more difference{'s' if more > 1 else ''}"] if more > 0 else []


def _check_line(check: Check, width: int) -> Line:
    if check.held:
        text = f"? {check.name}: {check.wanted}: vacuous, no recorded tool has such a name"
        return Line("quiet", shortened(_INDENT + text, width))
    mark = "!" if check.severity == "fail" else "?"
    text = f"{mark} {check.name}: wanted {check.wanted}, {check.found}"
    return Line("forbidden" if check.severity == "fail" else "quiet", shortened(_INDENT + text, width))


def _folded(rows: Sequence[Row], context: int) -> Iterator[Row | str]:
    """The rows, with what is far from anything wrong folded into a count."""
    wrong = [at for at, row in enumerate(rows) if row.kind not in ("matched", "extra") or row.note]
    shown = {at for hit in wrong for at in range(hit - context, hit + context + 1)}
    shown.update(range(context), range(len(rows) - context, len(rows)))
    at = 0
    while at < len(rows):
        stop = at
        while stop < len(rows) and stop not in shown:
            stop += 1
        if stop - at > 2:
            yield _counted(rows[at:stop])
            at = stop
        else:
            yield rows[at]
            at += 1


def _counted(rows: Sequence[Row]) -> str:
    matched = sum(row.kind == "matched" for row in rows)
    extra = len(rows) - matched
    parts = [f"{count} {word} calls" if count > 1 else f"1 {word} call"
             for count, word in ((matched, "matching"), (extra, "extra")) if count]  # fmt: skip
    return " and ".join(parts) + " …"
