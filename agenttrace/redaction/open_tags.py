"""A secret behind a tag that nothing ends, ``<password>…``, as models write it and a cut leaves it."""

from __future__ import annotations

import re

from agenttrace.redaction.beside import reads_as_key
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.values import is_made_up, is_measure

_LONGEST_NAME = 60
_BEGINS = re.compile(r"(?:\A|(?<=[\s>\"'`(]))<[\w.:-]{0,60}\Z")
_BEHIND = re.compile(
    r"[\w.-]{0,20}>(?P<value>[A-Za-z0-9!#$%^*+][^\s<>\"'`…]{5,200}(?<![.,;:)]))[.,;:)]?(?=\s|\Z)"
)
"""One word: of a generic type, or a stand-in in an address, other things follow."""


def value_behind_tag(text: str, place: int, names: Names) -> tuple[int, int] | None:
    """Where the secret stands behind the tag that has a sign of a name at a place; None for none."""
    begin = text.rfind("<", max(0, place - _LONGEST_NAME), place)
    match = _BEHIND.match(text, place) if begin >= 0 else None
    if match is None or _BEGINS.search(text, max(0, begin - 1), place) is None:
        return None
    name = text[begin + 1 : match.start("value") - 1].rpartition(":")[2]
    value = match["value"]
    if not names.is_secret(name) or not names.hides(name, value) or is_measure(value):
        return None
    is_one = is_made_up(value) and not value.isdigit() if may_be_word(name, names) else reads_as_key(value)
    return match.span("value") if is_one else None
