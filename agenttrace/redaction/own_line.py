"""A secret after its name where the two are a line: in ``.env``, ini and YAML, and as people write notes.

The end of the line, or the quotes, say where such a value ends; so it may have any sign in it.
"""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.values import is_measure, is_opaque, is_placeholder

_BEFORE = re.compile(
    r"""[ \t>*`_-]{0,40}(?:(?:export|set|setx|ENV|ARG|declare\s+-x|env)\s+)?"""
    r"""["'*`]{0,3}[\w.-]{1,80}["'*`:]{0,4}[ \t\u00a0]*"""
)
_AFTER = re.compile(
    r"""[ \t\u00a0*]*(?:(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote))[^\\]|\\.)+)(?P=quote)"""
    r"""|(?P<bare>[^\s"'`{}\[\]()#]\S*))[*]{0,2}(?P<end>[ \t]*(?:[,;][ \t]*)?(?:[ \t]#.*)?)"""
)
_MORE = re.compile(r"[&;,|][ \t]*[\w.%\[\]-]+=")
"""More fields on the line: its end is not the value's."""
_CODE = re.compile(
    r"""(?:await\s|new\s)?[\w.]*[A-Za-z_](?:[(\[{"']|\?\.|->|::).*|[A-Za-z_]+(?:\.[A-Za-z_]+)+|-?\d[\w.+-]*"""
)
"""A call, an index, a name in a module: what code has after ``=``; and a number."""
_SHORTEST = 8


def value_on_line(text: str, place: int, end: int) -> tuple[int, int] | None:
    """Where the value stands that a name before a separator at `place` has on a line of their own.

    None where they are no such line, or the value is read in the same way elsewhere. `end` is the text's.
    """
    # Not from the beginning of a long line: it may have very many names.
    begin = text.rfind("\n", max(0, place - _LONGEST_NAME - 1), place) + 1
    if place - begin > _LONGEST_NAME or _BEFORE.fullmatch(text, begin, place) is None:
        return None
    stop = text.find("\n", place, place + _LONGEST_LINE)
    if stop < 0 and end - place > _LONGEST_LINE:
        return None
    stop = end if stop < 0 or stop > end else stop
    if text[stop - 1 : stop] == "\r":
        stop -= 1
    after = _AFTER.fullmatch(text, place + 1 + (text[place + 1 : place + 2] == ">"), stop)
    if after is None:
        return None
    if after["quote"]:
        quoted = after["quoted"]
        is_value = _is_phrase(quoted) or (after["quote"] == "`" and is_opaque(quoted))
        return after.span("quoted") if is_value and REDACTED not in quoted else None
    bare = after["bare"].rstrip(",;")
    if len(bare) < _SHORTEST or _CODE.fullmatch(bare) or _MORE.search(bare) or is_placeholder(bare):
        return None
    first = after.start("bare")
    return (first, first + len(bare)) if is_opaque(bare) else None


_LONGEST_NAME = 160
_LONGEST_LINE = 4_096


def _is_phrase(text: str) -> bool:
    """Returns True for words with a blank between, of which one is letters and digits, and no measure."""
    return " " in text.strip() and any(
        any(map(str.isdigit, word)) and any(map(str.isalpha, word)) and not is_measure(word)
        for word in text.split()
    )
