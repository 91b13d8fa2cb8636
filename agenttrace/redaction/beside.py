"""What stands beside a secret's name, with but a blank or a bar between: whether it reads as its value."""

from __future__ import annotations

import re

from agenttrace.redaction.names_in_code import is_class
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.unquoted import is_outcome
from agenttrace.redaction.values import is_made_up, is_opaque, is_phrase

BARS = ("|", "│", "┃")
_QUOTE = re.compile(r"[\"']")
"""A row may be all of a text in quotes."""
IN_STATEMENT = re.compile(r"(?i)\b(?:alter|create)\s+(?:user|role|login)\b")
_WINDOW = 80
_LOGIN = re.compile(r"(?i)\b(?:login|user|account)\s+\S+\s+\Z")
_OF_USER = re.compile(r"(?i)\b(?:user|username|login|account|as|id|uid|and)\b[ =:]{0,3}\S{0,40}[,;]?\s*\Z")
_DECLARED = re.compile(
    r"(?:^|\s)(?:ENV|ARG|setx?|(?P<quoted>\#[ \t]*define|proxy_set_header|add_header))\s+\Z"
)
_AS_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|-[A-Za-z]\w+")
"""``ENV API_KEY …``, ``-AccessToken …``."""
_AS_HEADER = re.compile(r"[A-Z][a-z]*(?:-[A-Z]\w+)+|Authorization")
"""``X-Api-Key`` and a tab, as in a row of a table that was copied."""
_WORD_AND_NUMBER = re.compile(r"[A-Za-z-]+\d{1,4}")
_TOLD_BEFORE = re.compile(
    r"(?i)\b(?:invalid|incorrect|wrong|bad|unknown|expired|revoked|using|used|generated|created|issued|received)\s+"
    r"(?:(?:the|a|an|new|old|access|refresh|api|auth|bearer|session)\s+){0,3}\Z"
)
_TOLD_AFTER = re.compile(
    r"""["'`]?\s+(?i:(?:is|was|has)\b|(?:not\s+found|does\s+not|expired|revoked|rejected|invalid)\b)"""
)
"""What errors and logs say of a key around it."""
_LONG_WORD = 12
_KEY_ALONE = re.compile(r"[A-Za-z0-9+/=-]{8,}|[\w+/=-]{24,}")
_MOST_DIGITS_OF_NAMES = 3


def is_judged(text: str, match: re.Match[str], value: str, before: str) -> bool:
    """Returns True for a key or token of which a log or an error tells: *Invalid API key '…'*, *token … has
    expired*; not for one of a language, *unexpected token …*."""
    if not reads_as_key(value) or value.isalpha() or before.lower().endswith("unexpected "):
        return False
    return (
        _TOLD_BEFORE.search(before) is not None
        or _TOLD_AFTER.match(text, match.start("value") + len(value)) is not None
    )


def is_of_variable(match: re.Match[str], word: str) -> bool:
    """Returns True for the name of a variable, or of a header in a table that was copied."""
    is_header = match["space"] == "\t" and _AS_HEADER.fullmatch(word) is not None
    return is_header or _AS_VARIABLE.fullmatch(word) is not None


def is_beside(match: re.Match[str], value: str, before: str, *, may_be: bool) -> bool:
    """Returns True for a secret that a space parts from its name; `may_be` says whether it has one."""
    if _LOGIN.search(before):
        return is_made_up(value)
    declared, is_quoted = _DECLARED.search(before), match["quote"] is not None
    is_apart = "  " in match["space"] or "\t" in match["space"]
    if (is_apart or len(value) >= _LONG_WORD) and _is_key_alone(value):
        return True
    if not may_be and (declared is None or not is_quoted):
        return False
    if match["quote"] is not None and IN_STATEMENT.search(before) is not None:
        return is_opaque(value) or is_phrase(value)
    is_numbered = value.isdigit() or _WORD_AND_NUMBER.fullmatch(value) is not None
    is_value = is_quoted or (declared is not None and declared["quoted"] is None)
    return is_made_up(value) and (is_value or not is_numbered)


def is_verb_or_outcome(match: re.Match[str], value: str, word: str, before: str) -> bool:
    """Returns True for *pass utf8mb4 here* and ``PASS src/Button2.test.tsx``."""
    if word == "PASS":
        return is_outcome(match.string, match.start("value"))
    if match["space"] and ("=" in value or "(" in value):
        return True
    if not match["space"] or match["quote"] is not None or _OF_USER.search(before) is not None:
        return False
    return not (len(value) >= _LONG_WORD and value.isalnum() and looks_random(value))


def is_row_of_two(text: str, name: int, end: int) -> bool:
    """Returns True for a row of a table that is a name and its value, which ends at `end`."""
    stop = text.find("\n", end, end + _WINDOW)
    if stop < 0:
        stop = min(len(text), end + _WINDOW)
    first = max(0, name - _WINDOW)
    before = _QUOTE.split(text[max(text.rfind("\n", first, name) + 1, first) : name])[-1]
    return not _QUOTE.split(text[end:stop])[0].strip(" \t\r`*|│┃.,;:?)]}") and not any(
        bar in before.strip(" \t`*|│┃") for bar in BARS
    )


def _is_key_alone(value: str) -> bool:
    """Returns True for letters and digits that are a key wherever they stand: no name of a type."""
    is_one = sum(map(str.isdigit, value)) >= _MOST_DIGITS_OF_NAMES and not value.islower()
    return is_one and _KEY_ALONE.fullmatch(value) is not None and reads_as_key(value) and not is_class(value)


def reads_as_key(value: str) -> bool:
    """Returns True for letters with digits as a key has them; without one, for mixed letters of no name."""
    has_digit = any(map(str.isdigit, value))
    is_one = has_digit or (value.isalpha() and len(value) >= _LONG_WORD and not is_class(value))
    return is_made_up(value) and not value.isdigit() and is_one and looks_random(value)
