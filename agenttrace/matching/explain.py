"""`explain`: the aligned diff of a comparison as lines of text.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Literal

from agenttrace.core.marks import REDACTED, cause_of
from agenttrace.core.shown_text import ShownText
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ANY, ExpectedToolCall, ToolCall
from agenttrace.expectations.values import Difference
from agenttrace.matching.checks import Check
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.known_tools import UNKNOWN_TOOL
from agenttrace.matching.redacted_rows import Redacts, redacted_row
from agenttrace.matching.rows import Row
from agenttrace.matching.value_texts import MAX_VALUE_LENGTH, cut_value, text_of, value_text

Style = Literal["matched", "differs", "missing", "extra", "forbidden", "quiet"]

_MARKS = {"matched": "✓", "differs": "~", "missing": "-", "extra": "+", "forbidden": "!"}
_INDENT = "    "
_GAP = "   "
MAX_DIFFERENCES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the diff; `style` is its meaning, from which a colour can be chosen."""

    style: Style
    text: str


def explain(comparison: Comparison, *, width: int = 80, context: int = 2) -> str:
    """The diff as plain text, no line longer than `width` characters. Scores write it without secrets."""
    return _Diff.of(comparison, width, context).text()


def explain_lines(comparison: Comparison, *, width: int = 80, context: int = 2) -> list[Line]:
    """The diff as lines: the calls, then the constraints that did not hold or could not fail."""
    return _Diff.of(comparison, width, context).lines()


@dataclass(frozen=True, slots=True)
class _Diff:
    """What is shown: rows, with texts in the place of those that are folded, and the lines below them."""

    items: Sequence[Row | str]
    layout: _Layout
    below: Sequence[Line]
    is_redacted: bool = False

    @classmethod
    def of(cls, comparison: Comparison, width: int, context: int) -> _Diff:
        rows = comparison.rows
        layout = _Layout.of(rows, width, len(str(len(comparison.alignment.places))))
        why = "" if comparison.empty_scope else f", {UNKNOWN_TOOL}"
        checks = (check for check in comparison.checks if not check.held or check.vacuous)
        below = [_check_line(check, width, why) for check in checks]
        if comparison.empty_scope:
            below.append(Line("quiet", shorten(f"{_INDENT}? {comparison.empty_scope}", width)))
        return cls(list(_fold(rows, context)), layout, below)

    def lines(self) -> list[Line]:
        lines: list[Line] = []
        for item in self.items:
            if isinstance(item, Row):
                lines += _row_lines(item, self.layout)
            else:
                lines.append(Line("quiet", shorten(f"{_INDENT}… {item}", self.layout.width)))
        return [*lines, *self.below]

    def text(self) -> ShownText:
        text = "\n".join(line.text for line in self.lines())
        return ShownText(text, self._redacted, is_redacted=self.is_redacted or REDACTED in text)

    def _redacted(self, redaction: Redacts) -> ShownText:
        items = [redacted_row(item, redaction) if isinstance(item, Row) else item for item in self.items]
        if all(map(is_, items, self.items)) and not (self.is_redacted or REDACTED in self.text()):
            return self.text()
        below = [replace(line, text=redaction.text("diff", line.text)) for line in self.below]
        rows = [item for item in items if isinstance(item, Row)]
        layout = _Layout.of(rows, self.layout.width, self.layout.digits)
        return _Diff(items, layout, below, is_redacted=True).text()


@dataclass(frozen=True, slots=True)
class _Layout:
    """Widths in characters: `digits` for the numbers, `room` right of them, `column` for the first call."""

    width: int
    digits: int
    room: int
    column: int

    @classmethod
    def of(cls, rows: Sequence[Row], width: int, digits: int) -> _Layout:
        room = max(width - len(_INDENT) - digits - 4, 20)
        lengths = [len(_remark(row)) for row in rows if row.kind != "differs"]
        # A note that would take more than half of the room goes below; it does not push the calls aside.
        words = max((length for length in lengths if length <= room // 2), default=0)
        most = room - words - len(_GAP) if words else room
        texts = [len(_first_column(row, most)) for row in rows if row.kind != "matched" or row.note]
        return cls(width, digits, room, min(max(texts, default=0), most))


def _first_column(row: Row, most: int) -> str:
    """The call in the first column: the actual one for a match or an extra call, else the expected one."""
    if row.expected is not None and (row.kind != "matched" or row.actual is None):
        return expected_text(row.expected, most)
    assert row.actual is not None
    return actual_text(row.actual, most)


def _kind_word(row: Row) -> str:
    """The word for a call without a partner: ``missing``, ``extra`` or none."""
    return row.kind if row.kind in ("missing", "extra") else ""


def _remark(row: Row) -> str:
    """The text beside a call that needs no second column: its kind and its note."""
    return ", ".join(filter(None, (_kind_word(row), row.note)))


def _row_lines(row: Row, layout: _Layout) -> Iterator[Line]:
    number = "" if row.number is None else str(row.number)
    head = f"{_INDENT}{_MARKS[row.kind]} {number:<{layout.digits}}  "
    if row.kind == "differs" and row.actual is not None:
        yield from _differing_lines(row, row.actual, head, layout)
        return
    word = _remark(row)
    first = _first_column(row, layout.column if word else layout.room)
    one_line = f"{head}{first:<{layout.column}}{_GAP}{word}".rstrip()
    if len(one_line) <= layout.width:
        yield Line(row.kind, one_line)
        return
    yield Line(row.kind, f"{head}{first:<{layout.column}}{_GAP}{_kind_word(row)}".rstrip())
    yield Line(row.kind, shorten(" " * len(head) + row.note, layout.width))


def _differing_lines(row: Row, actual: ToolCall, head: str, layout: _Layout) -> Iterator[Line]:
    """Expected call, actual call and differences in one line where that fits, else in one line each."""
    differences = [difference_text(difference) for difference in row.differences[:MAX_DIFFERENCES]]
    more = len(row.differences) - MAX_DIFFERENCES
    notes = [f"… {more} more difference{'s' if more > 1 else ''}"] if more > 0 else []
    notes += [row.note] if row.note else []
    expected_side, actual_side = _first_column(row, layout.room), actual_text(actual, 10 * layout.room)
    one_line = (
        f"{head}{expected_side:<{layout.column}}{_GAP}{actual_side}{_GAP}{'; '.join(differences + notes)}"
    )
    if len(one_line) <= layout.width:
        yield Line(row.kind, one_line)
        return
    yield Line(row.kind, head + expected_side)
    below = " " * len(head)
    yield Line(row.kind, f"{below}got {actual_text(actual, layout.room - 4)}")
    for difference in row.differences[:MAX_DIFFERENCES]:
        for text in _difference_lines(difference, layout.room):
            yield Line(row.kind, shorten(below + text, layout.width))
    for text in notes:
        yield Line(row.kind, shorten(below + text, layout.width))


def _difference_lines(difference: Difference, room: int) -> list[str]:
    """A difference with its note beside it, or below where it would be cut."""
    whole = difference_text(difference, room)
    if not difference.note or len(whole) <= room:
        return [whole]
    return [difference_text(replace(difference, note=""), room), f"({difference.note})"]


def _check_line(check: Check, width: int, why_vacuous: str) -> Line:
    if check.held:
        text = f"? {check.name}: {check.wanted}: vacuous{why_vacuous}"
        return Line("quiet", shorten(_INDENT + text, width))
    mark = "!" if check.severity == "fail" else "?"
    text = f"{mark} {check.name}: wanted {check.wanted}, {check.found}"
    return Line("forbidden" if check.severity == "fail" else "quiet", shorten(_INDENT + text, width))


def _fold(rows: Sequence[Row], context: int) -> Iterator[Row | str]:
    """The rows, where runs of good rows far from any bad one are replaced by a text with their count."""
    wrong = [at for at, row in enumerate(rows) if row.kind not in ("matched", "extra") or row.note]
    visible = {at for center in wrong for at in range(center - context, center + context + 1)}
    visible.update(range(context), range(len(rows) - context, len(rows)))
    at = 0
    while at < len(rows):
        stop = at
        while stop < len(rows) and stop not in visible:
            stop += 1
        if stop - at > 2:
            yield _count_text(rows[at:stop])
            at = stop
        else:
            yield rows[at]
            at += 1


def _count_text(rows: Sequence[Row]) -> str:
    matches = sum(row.kind == "matched" for row in rows)
    extra = len(rows) - matches
    parts = [f"{count} {word} calls" if count > 1 else f"1 {word} call"
             for count, word in ((matches, "matching"), (extra, "extra")) if count]  # fmt: skip
    return " and ".join(parts) + " …"


_CUTS = (40, 24, 16, 10)
"""Lengths in characters that values are shortened to, tried in this order until a call fits."""


def expected_text(expected: ExpectedToolCall, most: int) -> str:
    """An expected call as ``refund(id=7, amount=approx(12, abs=1))``; without arguments only its name."""
    rest = "" if expected.output is ANY else f" → {value_text(expected.output)}"
    rest += "" if expected.agent is None else f" by {expected.agent}"
    rest += "" if expected.turn is None else f" in turn {expected.turn}"
    if not isinstance(expected.arguments, Mapping):
        return shorten(expected.name + rest, most)
    return shorten(_call_text(expected.name, expected.arguments, most - len(rest)) + rest, most)


def actual_text(call: ToolCall, most: int) -> str:
    """An actual call as ``refund(id=7, amount=12.5)``."""
    if cause_of(call.arguments) == "not recorded":
        return shorten(f"{call.name}(…)", most)
    return _call_text(call.name, call.arguments, most)


def _call_text(name: str, arguments: Mapping[str, Any], most: int) -> str:
    """A call in at most `most` characters: with its values in full, or shortened until they fit."""
    texts = {key: text_of(value) for key, value in arguments.items()}
    listing = ""
    for each in (most, *_CUTS):
        listing = ", ".join(f"{key}={cut_value(text, each)}" for key, text in texts.items())
        if len(name) + len(listing) + 2 <= most:
            break
    return shorten(f"{name}({listing})", most)


def difference_text(difference: Difference, most: int = 3 * MAX_VALUE_LENGTH) -> str:
    """A difference as ``amount: expected 12.0, got 12.5``; long texts begin near where they differ."""
    place = f"{difference.path}: " if difference.path else ""
    each = min(max((most - len(place) - 15) // 2, 12), MAX_VALUE_LENGTH)
    expected, actual = text_of(difference.expected), text_of(difference.got)
    if difference.kind == "missing":
        text = f"{place}expected {shorten(expected, each)}, not given"
    elif difference.kind == "unexpected":
        text = f"{place}not expected, got {shorten(actual, each)}"
    else:
        expected, actual = excerpts(expected, actual, each)
        text = f"{place}expected {expected}, got {actual}"
    return f"{text} ({difference.note})" if difference.note else text


def change_text(before: Any, after: Any, most: int) -> str:
    """A change as ``"open" → "refunded"``; long texts begin near where they differ."""
    return " → ".join(excerpts(text_of(before), text_of(after), max((most - 3) // 2, 12)))


def excerpts(one: str, other: str, each: int) -> tuple[str, str]:
    """Both texts in at most `each` characters, so that their first difference shows."""
    if one == other and REDACTED in one:  # they differ there, and nobody is told how
        start = max(one.index(REDACTED) - each // 3, 0)
    else:
        start = _first_difference(one, other, each)
    return _excerpt(one, start, each), _excerpt(other, start, each)


def _first_difference(one: str, other: str, each: int) -> int:
    """Where an excerpt of `each` characters must begin to show the first difference; 0 where that does."""
    same = _common_length(one, other)
    return 0 if same < each - 4 else same - each // 3


def _common_length(one: str, other: str) -> int:
    """How many characters two texts begin with in common. Slices are compared at once, where states are
    texts of millions of characters."""
    same, end = 0, min(len(one), len(other))
    while same < end:
        middle = (same + end + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same


def _excerpt(text: str, start: int, most: int) -> str:
    return shorten(text if start == 0 else "…" + text[start:], most)
