"""Secrets after their name without ``:`` and ``=``: after options of commands, in lists, in markup."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.calls import (
    BOUND,
    CHECKED,
    CONNECTED,
    CONNECTED_AT_PORT,
    CONNECTED_TO_HOST,
    CONNECTED_TO_ORACLE,
    CONNECTED_TO_VARIABLE,
    CREATED,
    HASHED,
    KEYED,
    LOGGED_IN,
    OF_ONE_TEXT,
    OF_VALUES,
    OPTION_SET,
    PASSWORD_SET,
    SIGNED,
    USER_IN_VARIABLE,
)
from agenttrace.redaction.commands import JOINED
from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.markup import (
    BROKEN_LINE,
    CELL,
    FLOW,
    MARKUP,
    NAMED_ELEMENT,
    NESTED,
    SERIALIZED,
    SNAPSHOT,
)
from agenttrace.redaction.names_in_code import is_class
from agenttrace.redaction.naming import Names, hides_all, may_be_word
from agenttrace.redaction.values import (
    ends_opaque,
    is_made_up,
    is_measure,
    is_name,
    is_opaque,
    is_phrase,
    is_placeholder,
    says_something,
)

_OPTION = re.compile(
    r"""(?<![^\s"'`(])--?(?P<name>[^\W\d_][\w-]{1,60})(?:[ \t]+|[ \t]*\\\r?\n[ \t]*)(?![-\\])"""
    rf"""(?:(?P<quote>["'])(?=[^\s"'](?>{JOINED}|(?!(?P=quote))[^\n]){{0,200}}(?P=quote)(?:[\s;|&)\\]|\Z))|["']?)"""
    rf"""(?P<value>(?(quote)(?>{JOINED}|(?!(?P=quote))[^\n])+|[^\s"']*[^\s"'`]))"""
)
_LISTED = re.compile(
    r"""(?<![\w"'\\])\\{0,20}b?(["'])-{0,2}(?P<name>[^\W\d_][\w.-]{1,60})\\{0,20}\1\s*,\s*(?:\\{0,20}["'](?:[Vv]alue|val|content)\\{0,20}["']\s*:\s*)?"""
    r"""\\{0,20}[brfu]?(?P<quote>["'])(?!\[redacted\])(?P<value>(?:(?!(?P=quote)|\\["'])[\s\S])+)"""
)

LISTED_SIGNS = ('",', "',")
_ENTRY = re.compile(
    r"""(?<!\w)(?:[Nn]ame|[Kk]ey)["']?[ ]{0,20}[:=][ \t]*["']?(?P<name>[\w.-]{2,60})["']?[ \t]*"""
    r"""(?:#[^\n]{0,200})?\r?\n"""
    r"""(?:[ \t]*+(?:#|(?:description|type|secret|sensitive|required|masked|protected):)"""
    r"""[^\n]{0,200}\n){0,4}"""
    r"""[ \t]*["']?[Vv]alue["']?[ ]{0,20}[:=][ \t]*(?:[|>][+-]?[ \t]*\r?\n[ \t]*)?(?P<quote>["'])?"""
    r"""(?P<value>(?(quote)(?>''|(?!(?P=quote))[^\\\n]|\\.){1,4096}(?=(?P=quote))|[^\s"'{}\[\]…][^\s"'…]*))"""
    r"""["']?[ \t]*(?=\r?\n|\Z|…\[\+)"""
)
"""An entry of YAML on two lines, as a container's environment is written; comments may be between."""
_INVALID = re.compile(
    r"""(?m)^[ \t]{0,40}(?P<name>[\w.-]{1,200})\r?\n[ \t]+[^\n]{1,1000}?, input_value=(?P<quote>["'])?"""
    r"""(?P<value>(?(quote)(?:(?!(?P=quote))[^\\\n…]|\\.){1,1000}|[^\s,\]{\['"][^,\]\n]{0,200}))"""
)
"""A field's error as pydantic writes it: the name on a line, the value below."""
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{3,10}\d{1,3}")
_ENTRY_BACKWARDS = re.compile(
    r"""(?<!\w)[Vv]alue["']?[:=][ \t]*(?P<quote>["'])?"""
    r"""(?P<value>(?(quote)(?:(?!(?P=quote))[^\\\n]|\\.){1,4096}|[^\s"'{}\[\]][^\s"']{0,2048}+))"""
    r"""["']?[ \t]*\r?\n"""
    r"""[ \t]*["']?(?:[Nn]ame|[Kk]ey)["']?:[ \t]*["']?(?P<name>[\w.-]{2,60})["']?[ \t]*(?=\r?\n|\Z)"""
)
_DEFAULT = re.compile(
    r"""(["'])--?(?P<name>[^\W\d_][\w-]{1,60})\1,[^\n()]{0,120}?\bdefault=(?P<quote>["'])(?P<value>(?:(?!(?P=quote))[^\\\n…]|\\.){1,1000})"""
)
"""The default of an option, ``add_argument("--password", default="…")``."""
_VARIABLE = re.compile(
    r"""\bvariable[ \t]+"(?P<name>[\w-]{2,60})"\s*\{[^{}]{0,400}?\bdefault\s*=\s*"""
    r""""(?P<value>(?:[^"\\\n…]|\\.){1,1000})"""
)
"""The default of a variable of Terraform."""
_HEADER_OF_SWIFT = re.compile(
    r"""@?"(?:(?i:basic|bearer|token)[ ])?(?P<value>[^"\\\s]{4,4096})"[\s,]{1,20}forHTTPHeaderField:\s{0,9}"""
    r"""@?"(?P<name>[\w-]{2,60})\""""
)
"""``request.setValue("…", forHTTPHeaderField: "X-Api-Key")``."""
_IN_LUA = re.compile(
    r"""(?<![\w.])(?:\w{1,30}\.){0,3}(?P<name>[A-Za-z]\w{1,60})\s{0,9}=\s{0,9}\[\[(?P<value>[^\[\]\s,"']{4,4096})\]\]"""
)
"""A text in long brackets, ``api_token = [[…]]``."""
_IN_SQL = re.compile(
    r"""(?i)(?<![\w.])(?P<name>\w{2,60})["`\]]?\s{0,9}=\s{0,9}(?:crypt|md5|sha\d{0,3}|(?:old_)?password|(?:\w{1,20}_)?encrypt"""
    r"""|hash\w{0,20}|digest|encode)\(\s{0,9}n?'(?P<value>(?:[^'\n]|''){4,300})'"""
)
"""What a statement of SQL hands to a function: ``password = crypt('…', password)``."""
FORMS = (
    ("=", ("('",), _IN_SQL),
    ("=", ("[[",), _IN_LUA),
    (":", ("forHTTPHeaderField",), _HEADER_OF_SWIFT),
    ("--", ("--",), _OPTION),
    *MARKUP,
    (":", ("alue",), _ENTRY),
    ("=", ("alue",), _ENTRY),
    (":", ("alue:",), _ENTRY_BACKWARDS),
    ("=", ("input_value=",), _INVALID),
    ("=", ("default=",), _DEFAULT),
    ("=", ('variable "',), _VARIABLE),
    (",", LISTED_SIGNS, _LISTED),
    *((",", signs, pattern) for signs, pattern in (*OF_VALUES, *OF_ONE_TEXT)),
)
"""The forms, each with punctuation, and signs of which one, that are in every text that has it."""
MARKED_FORMS = {mark: [form for form in FORMS if form[0] == mark] for mark, _, _ in FORMS if mark != ","}
"""All but those in lists, by their punctuation."""


_OF_CALLS = (
    *(LOGGED_IN, PASSWORD_SET, CONNECTED, CONNECTED_TO_VARIABLE, CONNECTED_TO_HOST),
    *(USER_IN_VARIABLE, CONNECTED_AT_PORT, CONNECTED_TO_ORACLE, BOUND),
)
_AMONG_OTHERS = (CREATED, SIGNED, OPTION_SET, KEYED, HASHED, CHECKED)
"""Calls where an e-mail, a host or a word may stand in the place of the secret."""
_OF_TABLES = ("td", "th", "dt")


def without_form(text: str, pattern: re.Pattern[str], names: Names) -> tuple[str, int]:
    """The text without secrets in one of the forms, and how many were found."""
    pieces: list[str] = []
    done = place = 0
    while (match := pattern.search(text, place)) is not None:
        if not _is_secret(match, pattern, names):
            place = match.end("name")  # what looks like its value may be the next name, as in a list
            continue
        begin, place = match.span("value")
        pieces += (text[done:begin], REDACTED)
        done = place
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _is_secret(match: re.Match[str], pattern: re.Pattern[str], names: Names) -> bool:
    value = match["value"]
    if value.startswith(REDACTED) or is_placeholder(value):
        return False
    if (
        pattern is _OPTION and value.startswith(("<", "[", "&lt;")) and not match["quote"]
    ):  # ``--otp <one-time password>``
        return False
    if pattern is SNAPSHOT:
        name = name_of_field(match["name"], names)
        return name is not None and names.hides(name, value) and not says_something(value)
    if pattern in _OF_CALLS or pattern in _AMONG_OTHERS:
        is_value = is_made_up(value) if pattern in _AMONG_OTHERS else is_opaque(value) or is_phrase(value)
        return names.is_secret("password") and is_value
    if not _hides(names, last_name(match["name"]), value):
        return False
    if pattern in (_DEFAULT, _VARIABLE, FLOW, _IN_SQL):
        return is_opaque(value) and not (pattern is FLOW and is_name(value))
    if pattern in (_ENTRY, _ENTRY_BACKWARDS):
        return not says_something(value) and (" " not in value or is_phrase(value))
    if pattern in (CELL, NAMED_ELEMENT, BROKEN_LINE, NESTED, SERIALIZED, _HEADER_OF_SWIFT, _IN_LUA):
        return _is_shown(match, pattern, names)
    if pattern not in (_OPTION, _LISTED):
        return True
    if pattern is _LISTED and _is_another_name(last_name(match["name"]), value, names):
        return False
    if pattern is _OPTION and hides_all(match["name"], names):
        return True
    is_word = is_name(value) or not ends_opaque(value)
    return not is_word or _is_word_of_option(match, value, names)


def _is_shown(match: re.Match[str], pattern: re.Pattern[str], names: Names) -> bool:
    """Returns True for a secret beside its name in a page: outside of tables words may stand there."""
    value = match["value"]
    if pattern in (NESTED, SERIALIZED):
        return is_opaque(value) or may_be_word(last_name(match["name"]), names)
    if pattern is NAMED_ELEMENT or (pattern is CELL and match["cell"] in _OF_TABLES):
        return is_opaque(value)
    return is_made_up(value) and not is_measure(value.lstrip("@"))


def _is_another_name(name: str, value: str, names: Names) -> bool:
    """Returns True in a list of names of code: of classes, of constants, of what has several words."""
    if is_measure(value):
        return True
    if is_class(value):
        return is_class(name) or names.is_secret(value)
    if _CONSTANT.fullmatch(value):
        return (
            names.is_secret(value)
            or _CONSTANT.fullmatch(name) is not None
            or (name.isupper() and not may_be_word(name, names))
        )
    return _SEVERAL_WORDS.fullmatch(value) is not None and _SEVERAL_WORDS.fullmatch(name) is not None


_SEVERAL_WORDS = re.compile(r"[a-z]{2,}\d{0,2}(?:_[a-z]{1,20}\d{0,2})+")
_END_OF_VALUE = re.compile(r"""\s*(?:\Z|[\r\n"'`|&;>)\]]|\\)|[ \t]+-""")


def _is_word_of_option(match: re.Match[str], value: str, names: Names) -> bool:
    """Returns True for a word after a command's option, ``--password …``, with which no sentence goes on."""
    begin = match.start("name")
    return (
        match.string[max(begin - 2, 0) : begin] == "--"
        and may_be_word(match["name"], names)
        and not says_something(value)
        and value[-1] not in ".,:;!?"
        and (
            _END_OF_VALUE.match(match.string, match.end()) is not None
            or _is_among_options(match.string, begin - 2)
        )
    )


_OPTION_BEFORE = re.compile(r"(?:\A|\s)--?[A-Za-z][\w-]*[ =](?P<value>[^\s-]\S*)[ \t]+\Z")
_WINDOW = 80


def _is_among_options(text: str, place: int) -> bool:
    """Returns True for an option after another one with its value, as in a command."""
    before = _OPTION_BEFORE.search(text[max(0, place - _WINDOW) : place])
    return before is not None and not says_something(before["value"])


def _hides(names: Names, name: str, value: str) -> bool:
    return names.is_secret(name) and names.hides(name, value)


def last_name(name: str) -> str:
    """The name without what stands before a colon, as of an element of XML."""
    return name.rpartition(":")[2]
