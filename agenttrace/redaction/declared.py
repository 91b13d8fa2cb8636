"""Names before ``=`` that are not the last word before it: in typed declarations, and of fields of forms."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TYPE = r"(?:[\w.]*\[)?(?:str|string|String|Str|bytes|SecretStr|text|char)\]?(?:\s*\|\s*None|\?)?"
_FORMS = (
    re.compile(r"(?P<name>[^\W\d]\w{1,60})[ \t]+As[ \t]+String\s*(?==)"),
    re.compile(
        r"(?P<name>[^\W\d]\w{1,60})\??(?:\s*:\s*|[ \t]+)(?:Final\[|[&*]?'static\s+)?[&*]{0,2}"
        rf"{_TYPE}\s*(?==)"
    ),
    re.compile(r"(?P<name>[^\W\d]\w{1,60})\[\d*\]\s*(?==)"),
    re.compile(r"\[(?P<name>[^\W\d][\w.-]{1,60})\](?==)"),
    re.compile(r"%5[Bb](?P<name>[^\W\d]\w{1,60})%5[Dd](?==)"),
    re.compile(r"""\[(?P<quote>["'])(?P<name>[^\W\d][\w.-]{1,60})(?P=quote)\]\s*(?==)"""),
    re.compile(r"\[:(?P<name>[^\W\d]\w{1,60})\]\s*(?==)"),
    re.compile(
        r"""(?P<name>[^\W\d]\w{1,60})\??\s*:\s*["']?(?:[A-Za-z_]\w*\.){0,3}(?:[A-Z]\w*|str|string|bytes)"""
        r"""(?:\[[^=\n]{0,60}\])?["']?(?:\s*\|\s*None|[?!])?\s*(?==)"""
    ),
    re.compile(r"(?P<name>[^\W\d]\w{1,60})\s*\{\s*get;[^{}\n]{0,40}\}\s*(?==)"),
    re.compile(
        r"(?P<name>[^\W\d]\w{1,60})(?:\s*:[^=\n]{1,30})?\s*=\s*(?:\w+\.)?[Ff]ield\((?:[^()\n]{0,60},\s*)?default\s*(?==)"
    ),
)
"""``api_key: str =``, ``const API_KEY: &str =``; ``char password[] =``; ``user[password]=``;
``os.environ["DB_PASSWORD"] =``; ``password: Final =``; ``string Password { get; set; } =``;
``api_key: str = Field(default=``."""
_ENTRY_OF_ARRAY = re.compile(r"(?<![\w\])])\[(?P<name>[^\W\d][\w.-]{1,60})\][ \t]+\Z")
"""``[password] => …``, as PHP prints an array."""
LONGEST = 80
"""Letters before a separator among which its name is looked for."""
_ENDS = frozenset(")]tgrsSe?l}Dd\"'")
"""What stands at the end of such a name."""
_TYPES = frozenset({"str", "string", "bytes", "text", "char", "default", "5d", "5D"})
"""Words of the forms above that stand before ``=``, in small letters, and the end of ``%5D``."""


_IN_BRACKETS = re.compile(
    r"""\[(?:(?P<quote>["'])|:)(?P<name>[^\W\d][\w.-]{1,60})(?(quote)(?P=quote))\]\s*\Z"""
)


def name_in_brackets(text: str, begin: int, place: int) -> str:
    """The name of a field before a place, ``user["password"]``, ``params[:password]``; else an empty one."""
    field = _IN_BRACKETS.search(text[begin:place])
    return "" if field is None else field["name"]


def declared_name(text: str, begin: int, place: int) -> str:
    """The name before a ``=`` at a place, which stands behind `begin`; an empty one where there is none."""
    end = place
    while end > begin and text[end - 1].isspace():
        end -= 1
    if text[end - 1 : end] not in _ENDS:
        return ""
    if text[place + 1 : place + 2] == ">":
        entry = _ENTRY_OF_ARRAY.search(text[begin:place])
        return "" if entry is None else entry["name"]
    if text[end - 1].isalnum() and not _may_be_type(text, begin, end):
        return ""
    matches = (match for form in _FORMS for match in form.finditer(text, begin, place + 1))
    return next((match["name"] for match in matches if match.end() == place), "")


def _may_be_type(text: str, begin: int, end: int) -> bool:
    """Returns False for most words before a ``=``: they are names themselves, ``page=1``."""
    first = end
    while first > begin and (text[first - 1].isalnum() or text[first - 1] == "_"):
        first -= 1
    return text[first].isupper() or text[first:end] in _TYPES


def declared_names(text: str) -> Iterator[str]:
    """All names before a ``=`` that are not the last word before it."""
    place = text.find("=")
    while place >= 0:
        if name := declared_name(text, max(0, place - LONGEST), place):
            yield name
        place = text.find("=", place + 1)
