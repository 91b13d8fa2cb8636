"""Secrets in brackets after their name, as code has them: ``auth=("ann", "…")``, ``api_keys = ["…"]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.brackets import end_of_brackets, is_code, mapping_at
from agenttrace.redaction.names_in_code import is_name_in_code
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.owners import says_whose
from agenttrace.redaction.values import (
    is_made_up,
    is_opaque,
    is_phrase,
    is_placeholder,
    is_schema,
    says_something,
)

_OPENING = re.compile(
    r"""(?<![\w.-])(?P<name>[^\W\d][\w.-]{0,60})["']?\s{0,3}"""
    r"""(?:(?<![=!<>])[=:]>?\s{0,3}(?=[\[({])|(?<=")[ ](?=\{\s))"""
)
_TEXT = re.compile(
    r"""[brfu]?(?P<quote>["'])(?P<value>(?:(?!(?P=quote))[^\n\\…]|\\[^\n]){0,300})(?:(?P=quote)|(?=…\[\+))(?P<key>\s*[:=])?"""
)
_ENTRY = re.compile(
    r"""(?<![\w.$])(?P<name>[A-Za-z_][\w-]{0,60})\s{0,9}[:=]\s{0,9}(?P<quote>["'`])"""
    r"""(?P<value>(?:(?!(?P=quote))[^\n\\]){4,300})(?P=quote)"""
)
"""As JavaScript and Terraform write them: ``{ prod = "…" }``."""
_IS_ITEM = re.compile(r"""(?:(?<![\w)\]])[\[({]|[,:=>])\s*\Z""")
"""What stands before an item: not what an index or a call has in brackets."""
_OF_LOGIN = re.compile(r"(?i)(?:auth|credentials?|creds?|login)\Z")
_LONGEST = 4_096
_WINDOW = 80


def without_lists(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in brackets after their name, and how many were found.

    What has a name of its own within them is left to that name; of two in ``auth=(…)`` the first is a user's.
    """
    pieces: list[str] = []
    done = looked_at = 0
    for opening in _OPENING.finditer(text):
        name, begin = opening["name"].strip(".-"), opening.end()
        if begin < looked_at or not names.is_secret(name):
            continue
        end = end_of_brackets(text, begin, min(len(text), begin + _LONGEST))
        looked_at = end
        if text[begin] == "{" and names.hides(name, {"": ""}):
            for first, last in _entries(text, begin, end):
                if _is_secret(name, text[first:last], names) and is_made_up(text[first:last]):
                    pieces += (text[done:first], REDACTED)
                    done = last
        if is_code(text, begin, end) or (text[begin] == "{" and is_schema(mapping_at(text, begin))):
            continue
        places = [
            item.span("value")
            for item in _TEXT.finditer(text, begin, end)
            if item["key"] is None
            and _IS_ITEM.search(text, max(begin, item.start() - _WINDOW), item.start()) is not None
        ]
        is_login = len(places) == 2 and text[begin] != "{" and _OF_LOGIN.search(name) is not None
        for first, last in places[1:] if is_login else places:
            if _is_secret(name, text[first:last], names):
                pieces += (text[done:first], REDACTED)
                done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _entries(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the texts stand that a mapping has under names without quotes, but for those that say whose."""
    for entry in _ENTRY.finditer(text, begin, end):
        if not says_whose(entry["name"]):
            yield entry.span("value")


def _is_secret(name: str, value: str, names: Names) -> bool:
    is_value = (
        (is_opaque(value) and not is_name_in_code(value))
        or is_phrase(value)
        or (may_be_word(name, names) and not says_something(value))
    )
    return (
        is_value and names.hides(name, value) and not value.startswith(REDACTED) and not is_placeholder(value)
    )
