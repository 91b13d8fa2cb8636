"""A text to which a query gives a secret's name: ``SELECT '…' AS password``."""

from __future__ import annotations

import re

from agenttrace.redaction.naming import Names, name_of_words
from agenttrace.redaction.values import is_made_up, is_opaque, is_placeholder

_WINDOW = 160
_LONGEST_NAME = 40
_TEXT = re.compile(r"(?i)'(?P<value>(?:[^'\n]|''){4,120})'\s{1,9}as\s{1,9}\Z")
_REST_OF_NAME = re.compile(r"\w{1,40}")
_QUOTED_NAME = re.compile(r"[\"`\[]?(?P<name>\w{1,40})")


_ASSERTED = re.compile(r"""["'](?P<value>[^"'\n\\]{4,120})["']\s?,\s?[\w.$>-]{0,60}\Z""")
_ASSERTS = ("equal", "equals", "equalto", "eq", "same", "compare_digest")


def _asserted_value(text: str, place: int) -> tuple[int, int] | None:
    """Where a text stands that a call compares with what begins so: ``assertEquals("…", user.getPass``."""
    opened = text.rfind("(", max(0, place - _WINDOW), place)
    if opened < 0 or not text[max(0, opened - 20) : opened].lower().endswith(_ASSERTS):
        return None
    literal = _ASSERTED.match(text, opened + 1, place) if text[opened + 1] in "\"'" else None
    return None if literal is None else literal.span("value")


_COMPARED = re.compile(
    r"""["'](?P<value>[^"'\n\\]{4,120})["']\s?(?:(?P<sign>[=!]==?)|=)\s?[\w.$>-]{0,60}\Z"""
)
_TYPED = re.compile(
    r"""(?i)\b(?:typed?|enter(?:ed)?|fill(?:ed)?|pasted?|wrote|write|put|sent|input)\s+["'`]?"""
    r"""(?P<value>[^\s"'`]{4,120})["'`]?\s+(?:in|into|to)\s(?:the\s)?[\w#.\s]{0,30}\Z"""
)
_REACH = 64


def _value_before(text: str, place: int) -> tuple[int, int] | None:
    """Where a text stands that is compared with what begins at a place, ``'…' == password``, or that was
    typed into it, *Typed … into password field*."""
    first, near = max(0, place - _WINDOW), max(0, place - _REACH)
    if text.rfind("=", near, place) >= 0:
        compared = _COMPARED.search(text, first, place)
        if compared is not None and (compared["sign"] or _IS_SHOWN.search(text, first, compared.start())):
            return compared.span("value")
    typed = _TYPED.search(text, first, place) if text.rfind(" in", near, place) >= 0 else None
    return typed.span("value") if typed is not None and is_made_up(typed["value"]) else None


_IS_SHOWN = re.compile(r"\bwhere\s{1,9}\Z")
"""As pytest shows it: ``+  where '…' = user.password``."""


def titled_value(text: str, place: int, names: Names) -> tuple[int, int] | None:
    """Where a text stands before ``AS`` and a name of which a sign stands at a place, or before it in a call
    that compares; None for none."""
    begin = text.rfind(" ", max(0, place - _LONGEST_NAME), place)
    asserted = _asserted_value(text, place) or _value_before(text, place)
    if asserted is not None:
        rest = _REST_OF_NAME.match(text, place)
        span = asserted
        name = "" if rest is None else rest[0]
        if not names.is_secret(name):  # of two words, *the api key*
            name = name_of_words(f"{text[span[1] : place]}{name}".split()[-2:], names)
    elif begin > 1 and text[begin - 2 : begin].lower() == "as":
        quoted = _QUOTED_NAME.match(text, begin + 1)
        first = max(0, begin - _WINDOW)
        literal = _TEXT.search(text[first : begin + 1])
        if literal is None or quoted is None:
            return None
        name, span = quoted["name"], (first + literal.start("value"), first + literal.end("value"))
    else:
        return None
    value = text[slice(*span)]
    is_one = names.is_secret(name) and is_opaque(value) and not is_placeholder(value)
    return span if is_one and names.hides(name, value) else None
