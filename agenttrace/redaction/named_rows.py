"""Secrets in a table of names and values, ``Key   Value``, as Vault and PowerShell print one: row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.taken_out import without_places
from agenttrace.redaction.values import is_opaque, is_phrase, is_placeholder

SIGN = "---"
"""It is in every text with such a table: the rule below its head."""
_HEAD = re.compile(
    r"(?mi)^[ \t]{0,40}(?:key|name|field|property|variable|setting|parameter)[ \t]{1,80}value[ \t]{0,80}\r?\n"
    r"[ \t]{0,40}-{3,80}[ \t]{1,80}-{3,80}[ \t]{0,80}\r?\n"
)
_ROW = re.compile(
    r"[ \t]{0,40}(?P<name>[^\s:=]{1,80})"
    r"(?:[ \t]{1,80}(?P<value>\S[^\r\n]{0,4096}+))?+[ \t]{0,80}+(?:\r?\n|\Z)"
)
_LONGEST_NAME = 64


def without_named_rows(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in such tables, and how many were found."""
    places = list(_places(text, names))
    return (without_places(text, places), len(places)) if places else (text, 0)


def _places(text: str, names: Names) -> Iterator[tuple[int, int]]:
    head = _HEAD.search(text)
    while head is not None:
        end = head.end()
        while (row := _ROW.match(text, end)) is not None:
            end = row.end()
            value = (row["value"] or "").rstrip()
            if value and len(row["name"]) <= _LONGEST_NAME and _is_secret(row["name"], value, names):
                yield row.start("value"), row.start("value") + len(value)
        head = _HEAD.search(text, end)


def _is_secret(name: str, value: str, names: Names) -> bool:
    """Returns False for what Vault prints where there is nothing, ``<nil>`` and ``n/a``."""
    if not names.is_secret(name) or value.startswith((REDACTED, "<", "[", "n/a")) or is_placeholder(value):
        return False
    is_one = is_opaque(value) or is_phrase(value) or (may_be_word(name, names) and " " not in value)
    return is_one and names.hides(name, value)
