"""A text in an expression of code that is assigned to a secret's name: a fallback, a default, a wrapper."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.values import is_made_up, is_measure, is_opaque, is_placeholder, says_something

_LONGEST = 300
"""Characters of an expression that are looked at."""
_LITERAL = re.compile(r"""(?P<quote>["'`])(?P<value>(?:(?!(?P=quote))[^\\\n…]|\\[^\n]){0,200})(?P=quote)""")
_FALLBACK = re.compile(r"(?:\bor|\|\||\?\?|\?:|\belse|\?[^?\n]{1,120}:)\s*\\?\s*[brf]?\Z")
"""``os.environ.get("DB_PASSWORD") or "…"``, ``process.env.DB_PASSWORD ?? "…"``, ``x ? y : "…"``."""
_WRAPPED = re.compile(
    r"(?:\A|[\s.:])(?:[Ff]ield|[Ss]ecret(?:Str|Bytes)?|str|[Ss]tring|bytes|Some|decouple|mapped_column)"
    r"(?:::from|\.valueOf)?\(\s*[brf]?\Z"
)
"""``Field("…")``, ``new String("…")``: what a text is put into and stays what it is."""
_DEFAULT = re.compile(
    r"(?:\bdefault(?:_value)?\s*[=:]|\b(?:unwrap_or|or_?[Ee]lse(?:Get)?|getOrElse|getOrDefault|fetch)\("
    r"|\bcast\([^()\n]{1,60},|\blambda\s*:"
    r"|\b(?:[Gg]et_?[Ee]nv|[Ll]ookup_?[Ee]nv|env|environ\.get|[Gg]et|fetch|config|[Gg]et_?[Pp]roperty)"
    r"\([^()\n]{1,100},|\{)\s*[brf]?\Z"
)
"""``config("X", default="…")``, ``getenv("X", "…")``, ``unwrap_or("…")``, ``ENV.fetch("X") { "…" }``."""
_PLACES = (_FALLBACK, _DEFAULT, _WRAPPED)


def text_in_expression(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Where a text stands in the expression that begins at a place, which is what its secret's name has then.

    None where there is none, or it is a name, a measure, a prompt. The expression ends with its line, but for
    one that goes on behind a fallback's word; `end` is the text's.
    """
    end = min(end, begin + _LONGEST)
    for literal in _LITERAL.finditer(text, begin, end):
        before = text[begin : literal.start()]
        if _has_ended(before):
            return None
        if is_literal(literal["value"]) and any(place.search(before) for place in _PLACES):
            return literal.span("value")
    return None


_ADDED = re.compile(r"""\s*[brf]?["'](?=[^"'\n]*\d)(?=[^"'\n]*[A-Za-z])[^"'\n]{6,}""")


def end_of_name(text: str, place: int) -> int:
    """Where the name ends before a separator: before ``+=``, too, if what is added may be a secret."""
    is_added = text[place - 1 : place + 1] == "+=" and _ADDED.match(text, place + 1) is not None
    return place - is_added


_JOINED = re.compile(
    r"""(?P<last>["'`])\s{0,99}(?:[+.&]|\.\.|\|\||\\\n)\s{0,99}[brf]?(?P<quote>["'`])(?!\[redacted\])"""
    r"""(?P<value>(?:(?!(?P=quote))[^\s\\=&/:,;{}()]){2,200})(?P=quote)"""
)


def joined_literal(text: str, place: int) -> tuple[int, int] | None:
    """Where a literal stands that code joins with the one that ends at a place."""
    joined = _JOINED.match(text, place)
    return None if joined is None else joined.span("value")


_TARGETS = re.compile(r"[ \t]*(?:(?:let|const|var)\s*)?(?:[^\W\d][\w.]*\s*,\s*){1,4}[^\W\d][\w.]*\s*:?")
_VALUE_BEFORE = re.compile(r"""\s*(?:"[^"\\\n]*"|'[^'\\\n]*'|[\w.]+)\s*,\s*""")
_LONGEST_TARGETS = 80


def value_among(text: str, place: int, begin: int) -> int:
    """Where the value begins that is a name's among several, ``user, password = "ann", "…"``.

    The name ends before the ``=`` at `place`, and the first value begins at `begin`.
    """
    line = max(text.rfind("\n", max(0, place - _LONGEST_TARGETS), place) + 1, place - _LONGEST_TARGETS)
    targets = _TARGETS.fullmatch(text, line, place)
    first = begin
    for _ in range(targets[0].count(",") if targets is not None else 0):
        value = _VALUE_BEFORE.match(text, begin)
        if value is None:
            return first
        begin = value.end()
    return begin


def _has_ended(before: str) -> bool:
    """Returns True where a line ended, unless a fallback's word stands before its end or after it."""
    whole = before.rstrip(" \t\r\n\\")
    last = whole.rfind("\n")
    return last >= 0 or ("\n" in before and _FALLBACK.search(before) is None)


def is_literal(value: str) -> bool:
    """Returns True for a text of code that is no name, measure, prompt or stand-in."""
    return (
        is_opaque(value)
        and not is_measure(value)
        and not is_placeholder(value)
        and not says_something(value)
        and not value.startswith(REDACTED)
        and (is_made_up(value) or value.isalnum())
    )
