"""A word after a password's name where the two are a line, as in YAML."""

from __future__ import annotations

import re

from agenttrace.redaction.names_in_code import is_class
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.values import says_something

_NAME = re.compile(
    r"""[ \t>-]{0,40}["']?(?:[\w.-]{1,80}|(?:\w{1,20}[ ])?[Mm]ot[ ]de[ ]passe)["']?[ \t\u00a0]*"""
)
_END = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_LONGEST_LINE = 200


def is_word_on_line(text: str, name: str, value: str, place: int, end: int, names: Names) -> bool:
    """Returns True if a line has this name before the separator at `place`, this value, which ends at `end`,
    and nothing else."""
    first = max(0, place - _LONGEST_LINE)
    before = text[max(text.rfind("\n", first, place) + 1, first) : place]
    return (
        _NAME.fullmatch(before) is not None
        and _END.match(text, end) is not None
        and may_be_word(name, names)
        and not says_something(value)
        and not (is_class(value) and names.is_secret(value))  # a type, SecretStr
    )


def is_quoted_word(text: str, name: str, opening: re.Match[str], place: int, names: Names) -> bool:
    """Returns True for a line of a name and a word in quotes; in capitals, also of several words.

    `opening` are the quotes: its first group is what escapes them, the third one of them.
    """
    begin = opening.end()
    end = text.find(opening[3], begin, begin + _LONGEST_LINE)
    value = text[begin : max(end, begin)]
    is_word = value != "" and not opening[1] and (" " not in value or name.isupper())
    return is_word and is_word_on_line(text, name, value, place, end + 1, names)
