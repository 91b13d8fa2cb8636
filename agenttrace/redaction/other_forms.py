"""Secrets that stand neither after ``:`` nor ``=``: said, in columns, in commands, in SQL, in lines below."""

from __future__ import annotations

import re

from agenttrace.redaction.blocks import without_blocks, without_tables
from agenttrace.redaction.calls import CHECKED, SIGNS_OF_CHECKS
from agenttrace.redaction.columns import without_columns, without_series
from agenttrace.redaction.commands import may_have_command, without_arguments
from agenttrace.redaction.configured import SIGNS as CONFIGURED_SIGNS
from agenttrace.redaction.configured import without_configured
from agenttrace.redaction.html_tables import SIGNS as HTML_SIGNS
from agenttrace.redaction.html_tables import has_secret_head, without_html_columns
from agenttrace.redaction.inserted import has_secret_column, may_have_rows, without_inserted
from agenttrace.redaction.listed import without_form
from agenttrace.redaction.logins import may_have_logins, without_logins
from agenttrace.redaction.manifests import SIGN, without_manifests
from agenttrace.redaction.named_rows import SIGN as RULE
from agenttrace.redaction.named_rows import without_named_rows
from agenttrace.redaction.names import OF_OTHER_ALPHABETS
from agenttrace.redaction.naming import Names
from agenttrace.redaction.one_time_codes import may_have_codes, without_codes
from agenttrace.redaction.said import MORE_SIGNS, SIGNS, places_of_signs, without_said
from agenttrace.redaction.signs import Look
from agenttrace.redaction.sql_parameters import OF_STATEMENTS, without_sql_parameters
from agenttrace.redaction.sql_parameters import SIGNS as SQL_SIGNS
from agenttrace.redaction.texts import end_before_cut, has_any


def may_have_others(lowered: str, look: Look, *, has_lines: bool) -> bool:
    """Returns True if a text could have a secret in one of these forms; `has_lines`: it is of several lines.

    Prose, which most texts are, has to pass for little: of what is no command, only what has a digit in a
    word is looked at.
    """
    if may_have_command(lowered, look.has_hyphen):
        return True
    if look.has_digit_in_word and (
        has_any(SIGNS, lowered)
        or (" is" in lowered and has_any(_SHORT, lowered))
        or may_have_codes(lowered)
        or may_have_logins(lowered)
        or (has_lines and ", dtype: " in lowered)
        or ("expect" in lowered and "assword" in lowered)
        or ("auth" in lowered and has_any(_AUTHORIZATION, lowered))
        or (has_lines and _has_head(lowered))
        or (not lowered.isascii() and _is_in_other_letters(lowered))
        or ("|" in lowered and has_any(MORE_SIGNS, lowered))
        or ("(" in lowered and _is_in_call(lowered))
    ):
        return True
    if may_have_rows(lowered, look.marks) or (has_lines and SIGN in lowered):
        return True
    return look.marks != "" and (
        ("=" in look.marks and ")=(" in lowered)
        or ("]" in lowered and has_any(SQL_SIGNS[1:], lowered))
        or ("</" in look.marks and has_any(HTML_SIGNS, lowered))
    )


_AUTHORIZATION = ("authorization\t", 'authorization "', "masterauth ", "stats auth")
_SHORT = ("code is", "otp is", "pin is", "pw is", "pwd is", "jwt is")
"""What is said of names that have none of `SIGNS`: each takes as long as a look through the whole text."""


def _is_in_other_letters(lowered: str) -> bool:
    """Returns True for a word for a secret of another alphabet, and for a sign in a table that is drawn."""
    is_drawn = has_any(_LINES, lowered)
    return has_any(OF_OTHER_ALPHABETS, lowered) or (is_drawn and has_any(MORE_SIGNS, lowered))


_LINES = ("│", "┃")


def _has_head(text: str) -> bool:
    """Returns True for a sign in a first line of a paragraph of several, where the head of a table stands."""
    heads = "\n".join(_HEAD.findall(text))
    return heads != "" and has_any(MORE_SIGNS, heads)


_HEAD = re.compile(r"(?:\A|\n\n)\n?([^\n]{1,120})[^\n]*\n(?=[^\n])")


def _is_in_call(lowered: str) -> bool:
    """Returns True for a sign in a text that is an argument, and for a call that checks a password."""
    is_argument = has_any(_IN_CALLS, lowered) and has_any(MORE_SIGNS, lowered)
    return is_argument or has_any(SIGNS_OF_CHECKS, lowered)


_IN_CALLS = ('", ', "', ", '").', "').", '("', "('")


def may_hold_others(text: str, lowered: str, names: Names) -> bool:
    """Returns False only if none of several texts, each on lines of its own, has a secret in these forms."""
    # A quote that one of them leaves open would hide the rows of the next.
    if has_secret_column(text, lowered, names) or (
        has_any(HTML_SIGNS, lowered) and has_secret_head(text, names)
    ):
        return True
    return without_others(text, names)[1] > 0


def without_others(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in these forms, and how many were found: the same text, if none."""
    whole, end = text, end_before_cut(text)
    text, mark = text[:end], text[end:]
    count = 0
    lowered = text.lower()
    if may_have_command(lowered) and names.is_secret("password"):
        text, count = without_arguments(text)
    if has_any(SQL_SIGNS, lowered) or has_any(OF_STATEMENTS, lowered):
        text, in_errors = without_sql_parameters(text, names)
        count += in_errors
    if has_any(HTML_SIGNS, lowered):
        text, in_html = without_html_columns(text, names)
        count += in_html
    if may_have_codes(lowered):
        text, of_codes = without_codes(text, names)
        count += of_codes
    if "cred" in lowered or may_have_logins(lowered):
        text, of_logins = without_logins(text, names)
        count += of_logins
    if may_have_rows(lowered):
        text, in_rows = without_inserted(text, names)
        count += in_rows
    if has_any(CONFIGURED_SIGNS, lowered):
        text, in_configured = without_configured(text, lowered, names)
        count += in_configured
    if "(" in lowered and has_any(SIGNS_OF_CHECKS, lowered):
        text, in_checks = without_form(text, CHECKED, names)
        count += in_checks
    text, in_printed = _without_printed(text, lowered, names)
    count += in_printed
    places = places_of_signs(text)
    before = text
    if "\n" in text:
        text, in_columns = without_columns(text, places, names, is_cut=bool(mark))
        if SIGN in lowered and names.is_secret("secret"):
            text, in_manifests = without_manifests(text)
            count += in_manifests
        text, in_blocks = without_blocks(text, names)
        text, in_tables = without_tables(text, names)
        count += in_columns + in_blocks + in_tables
    text, more = without_said(text, places if text is before else places_of_signs(text), names)
    count += more
    return (text + mark, count) if count else (whole, 0)


def _without_printed(text: str, lowered: str, names: Names) -> tuple[str, int]:
    """The text without secrets in a `Series` and in a table of names and values, and how many were found."""
    count = 0
    if ", dtype: " in lowered:
        text, count = without_series(text, names)
    if RULE in lowered:
        text, more = without_named_rows(text, names)
        count += more
    return text, count
