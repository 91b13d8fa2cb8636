"""Secrets that stand neither after a ``:`` nor a ``=``: said, in columns, in commands, in lines below."""

from __future__ import annotations

from agenttrace.redaction.blocks import without_blocks
from agenttrace.redaction.columns import without_columns
from agenttrace.redaction.commands import may_have_command, without_arguments
from agenttrace.redaction.said import SHORT_SIGNS, SIGNS, places_of_signs, without_said
from agenttrace.redaction.signs import Look
from agenttrace.redaction.texts import Names, end_before_cut, has_any


def may_have_others(lowered: str, look: Look) -> bool:
    """Returns True if a text could have a secret in one of these forms.

    Prose, which most texts are, has to pass for little: of what is no command, only what has a digit in a
    word is looked at.
    """
    if look.has_hyphen and may_have_command(lowered):
        return True
    return look.has_digit_in_word and (
        has_any(SIGNS, lowered) or (" is" in lowered and has_any(SHORT_SIGNS, lowered))
    )


def without_others(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in these forms, and how many were found: the same text, if none."""
    whole, end = text, end_before_cut(text)
    text, mark = text[:end], text[end:]
    count = 0
    if may_have_command(text.lower()) and names.is_secret("password"):
        text, count = without_arguments(text)
    if "\n" in text:
        text, in_columns = without_columns(text, places_of_signs(text), names)
        text, in_blocks = without_blocks(text, names)
        count += in_columns + in_blocks
    text, more = without_said(text, names)
    count += more
    return (text + mark, count) if count else (whole, 0)
