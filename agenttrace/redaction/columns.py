"""Secrets in a column with their name at its head: CSV, a table of Markdown, what a database prints."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.said import SIGNS
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.texts import has_any
from agenttrace.redaction.values import ends_opaque, is_made_up, is_phrase, is_placeholder

_CELL = {
    sign: re.compile(rf'[ ]*"(?:[^"]|"")*"[ ]*(?={re.escape(sign)}|\Z)|[^{re.escape(sign)}]*')
    for sign in "|│\t;,"
}
"""The signs that part columns, and what stands between them."""
_SPACED = re.compile(r"\S+(?: \S+)*")
"""What stands between two spaces or more: as ``pandas``, ``kubectl`` and others print columns."""
_SPACED_VALUE = re.compile(r"""[^\s"'`()\[\]{},;:]*[^\s"'`()\[\]{},;:.]""")
"""No value of code: it has neither quotes nor brackets."""
_ONE_ROW = re.compile(r"[ \t]*(?:\d{1,7}[ \t]{1,9})?(?P<cell>\S+)[ \t\r]*")
_ONE_COLUMN = re.compile(
    r"[ \t]*[\w.-]{1,40}[ \t]*\r?\n(?:[ \t]*-{3,}[ \t]*\r?\n|0[ \t]{2,}\S+[ \t]*(?:\r?\n|\Z))"
)
_WHOLE_COLUMN = re.compile(r"(?:[ \t]*[^\s:=]+[ \t]*(?:\r?\n|\Z)){2,10000}")
"""The head of a table of one column: a rule below it, numbers of rows, or a text that is nothing else."""
_WORD = re.compile(r"\S+")
_LINES = str.maketrans("┃║┆┇┊", "│││││")
"""The other signs that part columns, as ``rich`` and ``polars`` draw them."""
_TITLE = re.compile(r"[\w .()/#-]{0,40}")
_RULE = re.compile(r"[-:=|+ \t\r─│┼├┤┬┴┌┐└┘═║╪╞╡━┏┓┗┛┡┩┇┳┻╇╈╂╋┠┨╄╃┍┑┕┙]+")
_AROUND = " \t\r`*\"'"


def without_columns(text: str, places: list[int], names: Names, *, is_cut: bool = False) -> tuple[str, int]:
    """The text without the values of secret columns, and how many were found.

    `places` are those of signs of names, in their order. The last row of a text that is cut may be shorter.
    """
    whole, text = text, text.translate(_LINES) if not text.isascii() else text
    pieces: list[str] = []
    done = read = 0
    for place in places:
        if place < read:
            continue
        read = text.find("\n", place)
        if read < 0:
            break
        head = _head(text[text.rfind("\n", 0, place) + 1 : read], names)
        if head is not None:
            secrets, read = _secrets(text, read + 1, head, names, is_cut)
            for first, last in secrets:
                pieces += (whole[done:first], REDACTED)
                done = last
    return ("".join((*pieces, whole[done:])), len(pieces) // 2) if pieces else (whole, 0)


class _Head(NamedTuple):
    """A line of names: the sign between them, where they stand, the secret ones by their place, and whether
    prose is before."""

    sign: str
    places: list[tuple[int, int]]
    secret: dict[int, str]
    in_prose: bool


def _head(line: str, names: Names) -> _Head | None:
    sign = next((sign for sign in _CELL if sign in line), "  " if "  " in line.strip() else " ")
    places = _cells(line, sign)
    titles = [line[first:last].strip(_AROUND) for first, last in places]
    in_prose = sign not in "|│ " and any(" " in title for title in titles)
    titles[:1] = [titles[0].rpartition(" ")[2].strip(_AROUND)] if in_prose else titles[:1]
    if not all(map(_TITLE.fullmatch, titles)) or (sign.strip(" ") and not _are_several(line, sign, titles)):
        return None
    secret = {place: title for place, title in enumerate(titles) if title and names.is_secret(title)}
    return _Head(sign, places, secret, in_prose) if secret else None


def _secrets(
    text: str, start: int, head: _Head, names: Names, is_cut: bool
) -> tuple[list[tuple[int, int]], int]:
    """Where the values stand in the lines from `start` on, and where these lines end."""
    places: list[tuple[int, int]] = []
    begin = text.rfind("\n", 0, start - 1) + 1
    is_one = len(head.places) == 1 and (
        _ONE_COLUMN.match(text, begin) is not None
        or (not begin and _WHOLE_COLUMN.fullmatch(text) is not None)
    )
    while start < len(text):
        stop = text.find("\n", start)
        line = text[start : len(text) if stop < 0 else stop]
        if not _RULE.fullmatch(line):
            if has_any(SIGNS, line.lower()) and _head(line, names) is not None:
                break  # another table
            cells = _one_cell(line) if is_one else _row(line, head, is_cut and stop < 0)
            if cells is None:
                break
            for place, name in head.secret.items():
                if place >= len(cells):
                    continue
                first, last = cells[place]
                value = line[first:last].strip(_AROUND)
                if (
                    _is_secret(name, value, names)
                    and (not head.in_prose or looks_random(value.split()[0]))
                    and (head.sign.strip(" ") or _SPACED_VALUE.fullmatch(value) is not None)
                    and (head.sign.strip(" ") or is_made_up(value) or _is_mixed(value))
                ):
                    first = start + line.index(value, first)
                    places.append((first, first + len(value)))
        start += len(line) + 1
    return places, start


def _are_several(line: str, sign: str, titles: list[str]) -> bool:
    """Returns True for the head of a table: code ends lines with a comma, and types begin with ``|``."""
    line = line.strip()
    return sum(map(bool, titles)) > 1 or (line[:1] == sign == line[-1:] and len(line) > 1)


def _one_cell(line: str) -> list[tuple[int, int]] | None:
    """The one word of a row, behind its number if it has one."""
    row = _ONE_ROW.fullmatch(line)
    return None if row is None else [row.span("cell")]


def _row(line: str, head: _Head, is_cut: bool) -> list[tuple[int, int]] | None:
    """Where the cells of a line stand; None for one that is no row below this head."""
    width = len(head.places)
    if head.sign != " ":
        cells = _cells(line, head.sign)
        if head.sign == "  " and len(cells) == width + 1:  # the first is the number of the row
            del cells[0]
        if len(cells) == width or (is_cut and 1 < len(cells) < width):
            return cells
    if head.sign.strip(" "):
        return None
    return _ending_below(line, head.places, is_cut) or _beginning_below(line, head.places)


def _ending_below(line: str, titles: list[tuple[int, int]], is_cut: bool) -> list[tuple[int, int]] | None:
    """The cells of a line of which each ends below the end of its title: ``DataFrame.to_string``."""
    ends = [last for _, last in titles]
    if is_cut and len(line) < ends[-1]:
        ends = [*(end for end in ends if end < len(line)), len(line)]
    if len(line.rstrip()) != ends[-1]:
        return None
    if len(titles) == 1 and len(line) - len(line.lstrip()) == titles[0][0]:
        return None  # any word below another of its length
    if any(line[end - 1].isspace() or line[end : end + 1].strip() for end in ends):
        return None
    return list(pairwise((0, *ends)))


def _beginning_below(line: str, titles: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The cells of a line of which each begins below its title, with one space or more before it."""
    starts = [first for first, _ in titles]
    if len(titles) == 1 or len(line) <= starts[-1]:
        return None
    if any(line[start].isspace() or line[:start][-1:].strip() for start in starts):
        return None
    return list(pairwise((*starts, len(line))))


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _cells(line: str, sign: str) -> list[tuple[int, int]]:
    if sign[0] == " ":
        return [cell.span() for cell in (_SPACED if sign == "  " else _WORD).finditer(line)]
    cells: list[tuple[int, int]] = []
    place = 0
    while place <= len(line):
        cell = _CELL[sign].match(line, place)
        end = place if cell is None else cell.end()
        cells.append((place, end))
        place = end + 1
    return cells


def _is_secret(name: str, text: str, names: Names) -> bool:
    if not text or text.startswith(REDACTED) or is_placeholder(text):
        return False
    value = int(text) if text.isdecimal() and len(text) < 40 else text
    return (ends_opaque(text) or is_phrase(text)) and names.hides(name, value)
