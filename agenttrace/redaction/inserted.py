"""Secrets in the rows of an ``INSERT``: what stands where its columns have a secret's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.taken_out import without_places
from agenttrace.redaction.values import is_opaque, is_placeholder

_SPACES = r"(?:\s|\\[nrt])*"
"""Also as JSON has them within a text."""
_INSERT = re.compile(
    rf"(?i)(?:\binto[\s\\][^();]{{1,200}}\((?P<columns>[^()]{{1,4000}})\)[^();']{{0,200}}?values?"
    rf"|\bset\s{{0,9}}\((?P<assigned>[^()]{{1,400}})\)\s{{0,9}}=(?:\s{{0,9}}row)?){_SPACES}(?=\()"
)
"""Also ``SET (name, password) = (…)``."""
_SELECT = re.compile(
    rf"(?i)\binto\s[^();]{{1,200}}\((?P<columns>[^()]{{1,4000}})\){_SPACES}select\s"
    r"(?P<items>(?:'(?:[^']|'')*+'|[^();']){1,4000}+)"
)
_ITEM = re.compile(r"(?:'(?:[^']|'')*+'|[^,'])++")
_NEXT_ROW = re.compile(rf"{_SPACES},{_SPACES}(?=\()")
_TOKEN = re.compile(r"""(?<!\\)(?P<slashes>\\*)(?P<quote>["'])|[(),]""")
_TO_QUOTE = {quote: re.compile(rf"(?:[^{quote}\\]|{quote}{quote}|\\[\s\S])*") for quote in "\"'"}
_PREFIX = re.compile(rf"{_SPACES}\w{{0,9}}")
"""What may stand before a text that is a whole value: ``N'…'``, ``_utf8'…'``."""
_AROUND = " \t\r\n\\\"'`[]"


class _Cell(NamedTuple):
    """Where the value of a column stands, and where in it the texts between quotes."""

    begin: int
    end: int
    texts: list[tuple[int, int]]


def may_have_rows(lowered: str, marks: str = "=") -> bool:
    """Returns True if a text with this punctuation could have rows that are put into a table."""
    if "into" in lowered:
        return "value" in lowered or "select" in lowered
    if "=" in marks and (") = " in lowered or ("where" in lowered and "set " in lowered)):
        return True
    return "copy" in lowered and "stdin" in lowered


def has_secret_column(text: str, lowered: str, names: Names) -> bool:
    """Returns True if an ``INSERT`` in a text has a column with a secret's name."""
    return may_have_rows(lowered) and any(
        _secret_columns(head, names)
        for pattern in (_INSERT, _COPY, _SELECT)
        for head in pattern.finditer(text)
    )


def without_inserted(text: str, names: Names) -> tuple[str, int]:
    """The text without values of secret columns of each ``INSERT`` and ``COPY``, and how many were found."""
    whole = text
    text, copied = _without_copied(text, names)
    text, selected = _without_selected(text, names)
    text, updated = _without_updated(text, names)
    pieces: list[str] = []
    done = 0
    head = _INSERT.search(text)
    while head is not None:
        place = head.end()
        columns = _secret_columns(head, names)
        for cells, end in _rows(text, place) if columns else ():
            place = end
            for column, name in columns.items():
                for first, last in _secrets(text, cells[column], name, names) if column < len(cells) else ():
                    pieces += (text[done:first], REDACTED)
                    done = last
        head = _INSERT.search(text, place)
    count = copied + selected + updated + len(pieces) // 2
    return ("".join((*pieces, text[done:])), count) if count else (whole, 0)


_UPDATED = re.compile(
    r"""(?i)\bset\s{1,9}["`\[]?(?:\w{0,20}value|val|content|data)["`\]]?\s{0,9}=\s{0,9}'(?P<value>(?:[^'\n]|''){1,1000})'"""
    r"""[^';]{0,200}\bwhere\s[^';]{0,100}=\s{0,9}'(?P<name>[\w.:/-]{1,80})'"""
)
"""A value in a table of settings: ``UPDATE settings SET value = '…' WHERE name = 'smtp_password'``."""


def _without_updated(text: str, names: Names) -> tuple[str, int]:
    places = [
        update.span("value")
        for update in _UPDATED.finditer(text)
        if names.is_secret(update["name"]) and names.hides(update["name"], update["value"])
    ]
    return (without_places(text, places), len(places)) if places else (text, 0)


_COPY = re.compile(
    r"(?i)\bcopy\s+[\w.\"]{1,200}\s*\((?P<columns>[^()]{1,4000})\)\s*from\s+stdin\b(?P<csv>[^;\n]{0,200}\bcsv\b)?[^;\n]{0,200};?\r?\n"
)
_LONGEST_COPIED = 100_000


def _without_copied(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in the rows below ``COPY … FROM stdin``, as ``pg_dump`` writes them."""
    places: list[tuple[int, int]] = []
    heads = list(_COPY.finditer(text))
    for head, following in zip_longest(heads, heads[1:]):
        columns, place = _secret_columns(head, names), head.end()
        last = len(text) if following is None else following.start()
        sign = "," if head["csv"] else "\t"
        for _ in range(_LONGEST_COPIED if columns else 0):
            stop = text.find("\n", place)
            line = text[place : len(text) if stop < 0 else stop].rstrip("\r")
            if line in ("\\.", "") or place + len(line) > last:
                break
            begin = place
            for column, value in enumerate(line.split(sign)):
                bare = value.strip('"')
                if column in columns and bare not in ("", "\\N") and names.hides(columns[column], bare):
                    first = begin + value.index(bare)
                    places.append((first, first + len(bare)))
                begin += len(value) + 1
            if stop < 0:
                break
            place = stop + 1
    return (without_places(text, places), len(places)) if places else (text, 0)


def _without_selected(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets that an ``INSERT`` selects as they are: ``SELECT 'ann', '…'``."""
    places: list[tuple[int, int]] = []
    for head in _SELECT.finditer(text):
        columns = _secret_columns(head, names)
        for column, item in enumerate(_ITEM.finditer(text, *head.span("items")) if columns else ()):
            quoted = _QUOTED_ITEM.match(text, *item.span())
            if column in columns and quoted is not None and names.hides(columns[column], quoted["value"]):
                places.append(quoted.span("value"))
    return (without_places(text, places), len(places)) if places else (text, 0)


_QUOTED_ITEM = re.compile(r"\s*[nN]?'(?P<value>(?!\[redacted\])(?:[^']|'')+)'")


def _secret_columns(head: re.Match[str], names: Names) -> dict[int, str]:
    """The names of secret columns, by their place."""
    titles = head["columns"] or head["assigned"]
    columns = [re.sub(r"\\[nrt]", " ", title).strip(_AROUND) for title in titles.split(",")]
    return {place: title for place, title in enumerate(columns) if title and names.is_secret(title)}


def _rows(text: str, place: int) -> Iterator[tuple[list[_Cell], int]]:
    """The rows from a place on, each with the place at which it ends."""
    while True:
        cells, place = _cells(text, place)
        yield cells, place
        following = _NEXT_ROW.match(text, place)
        if following is None:
            return
        place = following.end()


def _cells(text: str, place: int) -> tuple[list[_Cell], int]:
    """The values of the row that is opened at a place, and where it ends."""
    cells: list[_Cell] = []
    begin, depth, texts = place + 1, 0, []
    while (token := _TOKEN.search(text, place)) is not None:
        place = token.end()
        if token["quote"]:
            end = _end_of_text(text, token)
            texts.append((place, end))
            place = min(end + len(token[0]), len(text))
            continue
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 or (depth == 1 and token[0] == ","):
            cells.append(_Cell(begin, token.start(), texts))
            begin, texts = place, []
            if depth == 0:
                return cells, place
    return [*cells, _Cell(begin, len(text), texts)], len(text)


def _end_of_text(text: str, opening: re.Match[str]) -> int:
    """Where the text ends that is opened by a quote, which has slashes before it within JSON."""
    place = opening.end()
    if opening["slashes"]:
        end = text.find(opening[0], place)
        return len(text) if end < 0 else end
    closing = _TO_QUOTE[opening["quote"]].match(text, place)
    return place if closing is None else closing.end()


def _secrets(text: str, cell: _Cell, name: str, names: Names) -> list[tuple[int, int]]:
    """Where secrets stand in the value of a secret column: a text, a number, or a function's arguments."""
    if not cell.texts:
        bare = text[cell.begin : cell.end].strip()
        value = int(bare) if bare.isdecimal() and len(bare) < 40 else bare
        first = cell.begin + text[cell.begin : cell.end].find(bare)
        is_secret = bare[:1].isdecimal() and names.hides(name, value)
        return [(first, first + len(bare))] if is_secret else []
    is_whole = len(cell.texts) == 1 and _PREFIX.fullmatch(text[cell.begin : cell.texts[0][0]].rstrip("\\\"'"))
    secrets = []
    for first, last in cell.texts:
        value = text[first:last]
        if not value or value.startswith(REDACTED) or is_placeholder(value) or not names.hides(name, value):
            continue
        if is_whole or is_opaque(value):
            secrets.append((first, last))
    return secrets
