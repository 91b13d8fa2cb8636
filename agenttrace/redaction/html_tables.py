"""Secrets in a table of HTML: below the head of their column."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_opaque, is_placeholder

SIGNS = ("</td", "</th")
"""One of these stands in each such text, in lower case."""
_LONGEST_TITLE = 64
_ROW = re.compile(r"(?is)<(?P<kind>tr|table)\b[^<>]{0,300}>(?P<cells>.*?)(?=</tr\s*>|<tr\b|<table\b|\Z)")
_CELL = re.compile(r"(?is)<(?P<kind>t[hd])\b[^<>]{0,300}>(?P<content>.*?)(?=</t[hd]\s*>|<t[hd]\b|\Z)")
_TEXT = re.compile(r"(?:\s|<[^<>]{0,300}>)*(?P<text>[^<>]{1,4096}?)(?:\s|<[^<>]{0,300}>)*")


def has_secret_head(text: str, names: Names) -> bool:
    """Returns True if a cell of a head has a secret's name."""
    return any(kind == "th" and _is_title(text[a:b], names) for kind, a, b in _texts(text, 0, len(text)))


def _is_title(title: str, names: Names) -> bool:
    return 0 < len(title) <= _LONGEST_TITLE and names.is_secret(title)


def without_html_columns(text: str, names: Names) -> tuple[str, int]:
    """The text without the values below secret heads, and how many were found."""
    pieces: list[str] = []
    done = 0
    secret: dict[int, str] = {}
    width = 0
    for row in _ROW.finditer(text):
        cells = list(_texts(text, *row.span("cells")))
        if row["kind"].lower() == "table":
            secret = {}
        elif cells and not secret and all(kind == "th" for kind, _, _ in cells):
            titles = [text[first:last] for _, first, last in cells]
            secret = {place: title for place, title in enumerate(titles) if _is_title(title, names)}
            width = len(cells)
        elif len(cells) == width:
            for place, name in secret.items():
                _, first, last = cells[place]
                value = text[first:last]
                if is_opaque(value) and names.hides(name, value) and not is_placeholder(value):
                    pieces += (text[done:first], REDACTED)
                    done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _texts(text: str, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The kind of each cell of a row, and where its text stands, without tags round it."""
    for cell in _CELL.finditer(text, begin, end):
        inner = _TEXT.fullmatch(text, *cell.span("content"))
        first, last = cell.span("content") if inner is None else inner.span("text")
        yield cell["kind"].lower(), first, last
