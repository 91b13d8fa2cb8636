"""Secrets in a column with their name at its head: CSV, a table of Markdown, what a database prints."""

from __future__ import annotations

import re
from typing import NamedTuple

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.said import SIGNS
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.texts import has_any
from agenttrace.redaction.values import is_made_up, is_opaque, is_placeholder

_CELL = {
    sign: re.compile(rf'[ ]*"(?:[^"]|"")*"[ ]*(?={re.escape(sign)}|\Z)|[^{re.escape(sign)}]*')
    for sign in "|│\t;,"
}
"""The signs that part columns, and what stands between them."""
_SPACED = re.compile(r"\S+(?: \S+)*")
"""What stands between two spaces or more: as ``pandas``, ``kubectl`` and others print columns."""
_TITLE = re.compile(r"[\w .()/#-]{0,40}")
_RULE = re.compile(r"[-:=|+ \t\r─│┼├┤┬┴┌┐└┘═║╪╞╡]+")
_AROUND = " \t\r`*\"'"


def without_columns(text: str, places: list[int], names: Names) -> tuple[str, int]:
    """The text without the values of secret columns, and how many were found.

    `places` are those of signs of names, in their order.
    """
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
            secrets, read = _secrets(text, read + 1, head, names)
            for first, last in secrets:
                pieces += (text[done:first], REDACTED)
                done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


class _Head(NamedTuple):
    """A line of names: the sign between them, the secret ones by their place, and whether prose is before."""

    sign: str
    width: int
    secret: dict[int, str]
    in_prose: bool


def _head(line: str, names: Names) -> _Head | None:
    sign = next((sign for sign in _CELL if sign in line), "  " if "  " in line.strip() else None)
    if sign is None:
        return None
    titles = [line[first:last].strip(_AROUND) for first, last in _cells(line, sign)]
    in_prose = sign not in "|│" and any(" " in title for title in titles)
    titles[0] = titles[0].rpartition(" ")[2].strip(_AROUND) if in_prose else titles[0]
    if not all(map(_TITLE.fullmatch, titles)):
        return None
    secret = {place: title for place, title in enumerate(titles) if title and names.is_secret(title)}
    return _Head(sign, len(titles), secret, in_prose) if secret else None


def _secrets(text: str, start: int, head: _Head, names: Names) -> tuple[list[tuple[int, int]], int]:
    """Where the values stand in the lines from `start` on, and where these lines end."""
    places: list[tuple[int, int]] = []
    while start < len(text):
        stop = text.find("\n", start)
        line = text[start : len(text) if stop < 0 else stop]
        if not _RULE.fullmatch(line):
            if has_any(SIGNS, line.lower()) and _head(line, names) is not None:
                break  # another table
            cells = _cells(line, head.sign)
            if head.sign == "  " and len(cells) == head.width + 1:  # the first is the number of the row
                del cells[0]
            if len(cells) != head.width:
                break
            for place, name in head.secret.items():
                first, last = cells[place]
                value = line[first:last].strip(_AROUND)
                if (
                    _is_secret(name, value, names)
                    and (not head.in_prose or looks_random(value.split()[0]))
                    and (head.sign != "  " or is_made_up(value))
                ):
                    first = start + line.index(value, first)
                    places.append((first, first + len(value)))
        start += len(line) + 1
    return places, start


def _cells(line: str, sign: str) -> list[tuple[int, int]]:
    if sign == "  ":
        return [cell.span() for cell in _SPACED.finditer(line)]
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
    return is_opaque(text.rpartition(" ")[2]) and names.hides(name, value)
