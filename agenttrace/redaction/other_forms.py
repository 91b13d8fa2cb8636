"""Secrets that stand neither after a ``:`` nor a ``=``: said, in columns, in commands, in lines below."""

from __future__ import annotations

from agenttrace.redaction.blocks import without_blocks
from agenttrace.redaction.columns import without_columns
from agenttrace.redaction.commands import may_have_command, without_arguments
from agenttrace.redaction.said import SHORT_SIGNS, SIGNS, places_of_signs, without_said
from agenttrace.redaction.texts import Names, end_before_cut, has_any

_DENSE = 50
"""Characters for each digit up to which it is quicker to look for signs than at each digit."""
_MARKS = b":=<>/-,'\"%"
_DIGITS = b"0123456789"
_OF_PASSWORDS = frozenset("!@#$%^&*")


def may_have_others(text: str, lowered: str, marks: bytes) -> bool:
    """Returns True if a text could have a secret in one of these forms.

    `marks` is its punctuation with its digits. Prose, which most texts are, has to pass for little: of what is not a command, only what has a digit in a
    word is looked at.
    """
    if not marks:
        return False
    if b"-" in marks and may_have_command(lowered):
        return True
    if not marks.strip(_MARKS) or not _has_digit_in_word(text, marks):
        return False
    return has_any(SIGNS, lowered) or (" is" in lowered and has_any(SHORT_SIGNS, lowered))


def _has_digit_in_word(text: str, marks: bytes) -> bool:
    """Returns True if a digit stands beside a letter, or four digits together, or there are many."""
    if (len(marks) - len(marks.translate(None, _DIGITS))) * _DENSE > len(text):
        return True
    for digit in "0123456789":
        place = text.find(digit)
        while place >= 0:
            for beside in (text[place - 1 : place], text[place + 1 : place + 2]):
                if beside.isalpha() or beside in _OF_PASSWORDS:
                    return True
            if text[place : place + 4].isdigit() and len(text) >= place + 4:
                return True
            place = text.find(digit, place + 1)
    return False


def without_others(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in these forms, and how many were found."""
    end = end_before_cut(text)
    text, mark = text[:end], text[end:]
    count = 0
    if may_have_command(text.lower()) and names.is_secret("password"):
        text, count = without_arguments(text)
    if "\n" in text:
        text, in_columns = without_columns(text, places_of_signs(text), names)
        text, in_blocks = without_blocks(text, names)
        count += in_columns + in_blocks
    text, more = without_said(text, names)
    return text + mark, count + more
