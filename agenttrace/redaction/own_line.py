"""A secret after its name where the two are a line: in ``.env``, ini and YAML, and as people write notes.

The end of the line, or the quotes, say where such a value ends; so it may have any sign in it.
"""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.values import is_name_in_code, is_opaque, is_phrase, is_placeholder

_BEFORE = re.compile(
    r"""(?:[ \t]{0,9}\d{1,7}[ \t]{0,3}[\t→:|]|[\w./-]{1,160}:\d{1,7}[:-]|[+-]"""
    r"""|[A-Za-z][\w.-]{0,60}[ ]{1,20}\|[ ]{1,4})?[ \t>*`_-]{0,40}"""
    r"""(?:(?:export|set|setx|ENV|ARG|declare\s+-x|env)\s+)?["'*`]{0,3}[\w.-]{1,80}["'*`:]{0,4}[ \t\u00a0]*"""
)
"""Also after the number of a line, a place that ``grep`` found, the sign of a diff."""
_AFTER = re.compile(
    r"""[ \t\u00a0*]*(?:(?P<quote>["'`])(?!(?P=quote))"""
    r"""(?P<quoted>(?:(?!(?P=quote))[^\\]|\\.|(?P=quote)(?:\\(?P=quote))?(?P=quote)(?!\s))+)(?P=quote)"""
    r"""|(?P<bare>(?:(?<=[=:])\#)?[^\s\#]\S*))[*]{0,2}(?P<end>[ \t]*(?:[,;][ \t]*)?(?:[ \t]#.*)?)"""
)
_MORE = re.compile(
    r"[&;,|][ \t]*(?:[a-z][a-z_.%\[\]-]+(?:[A-Z][a-z]+)*|[A-Z][A-Z_]+|[A-Z][a-z]+(?: ?[A-Z][a-z]+)*)="
)
"""More fields on the line: its end is not the value's."""
_CODE = re.compile(
    r"""(?:await\s|new\s)?[A-Za-z_][\w.]*(?:(?:\?\.|->|::)[\w.]*|(?:\([^()]*(?:\([^()]*\)[^()]*){0,5}\)|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*){0,5}\]|\{[^{}]*\}"""
    r"""|"[^"]*"|'[^']*')(?:\.[A-Za-z_]\w*)*)+[;,]?|[\w.]*[A-Za-z_][(\[{]{1,3}|[A-Za-z_]+(?:\.[A-Za-z_]+)+|-?\d[\w.+-]*"""
    r"""|[A-Za-z_.]+(?:\|[A-Za-z_.]+)+"""
)
"""A call, an index, a name in a module, a type: what code has after ``=`` and ``:``; and a number."""
_OTHER = re.compile(
    r"""\(.*\)|\[.*\]|\{.*\}|[(\[{]+|[)\]}]+|[(\[{]["'].*|(?P<quote>["'`]).*(?P=quote)[)\]},;]*|["'`]{1,3}"""
)
"""What is data in brackets, or a text, that is read elsewhere."""
_SHORTEST = 8


def value_on_line(text: str, place: int, end: int, *, random: bool = False) -> tuple[int, int] | None:
    """Where the value stands that a name before a separator at `place` has on a line of their own.

    None where they are no such line, or the value is read in the same way elsewhere. `end` is the text's.
    With `random` it has to be one that nothing else looks like.
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
        quoted, quote = after["quoted"], after["quote"]
        # A quote within, doubled as in YAML and SQL, or as in a shell: '\'' .
        is_value = is_phrase(quoted) or ((quote == "`" or quote in quoted) and is_opaque(quoted))
        return after.span("quoted") if is_value and REDACTED not in quoted else None
    bare = after["bare"].rstrip(",;")
    code = bare.rstrip(")]},;:")
    if random and not _looks_generated(bare):
        return None
    if (
        len(bare) < _SHORTEST
        or _CODE.fullmatch(bare)
        or _OTHER.fullmatch(bare)
        or _CODE.fullmatch(code)
        or is_name_in_code(code)
        or _MORE.search(bare)
        or is_placeholder(bare)
    ):
        return None
    first = after.start("bare")
    return (first, first + len(bare)) if is_opaque(bare) else None


_LONGEST_NAME = 300
_LONGEST_LINE = 4_096


_SIGN = re.compile(r"[!#$%^&*=~?;|{}\[\]<>()]")
_SHORTEST_GENERATED = 12


def _looks_generated(text: str) -> bool:
    """Returns True for letters, digits and signs as no list and no address has them."""
    return (
        len(text) >= _SHORTEST_GENERATED
        and "," not in text
        and _SIGN.search(text) is not None
        and any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
    )


def several_fields(text: str) -> bool:
    """Returns True if a text goes on with another name and its value: ``…&user=ann``."""
    return _MORE.search(text) is not None
