"""Where a value ends that stands in no quotes of its own.

In a pair in quotes, in an address, as a word of a shell; and what stands there and is no value.
"""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.names_in_code import is_class, is_name_in_code
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.own_line import several_fields
from agenttrace.redaction.values import is_made_up, is_opaque, is_phrase, is_placeholder

_LONGEST_QUOTED = 300
_OF_ADDRESS = re.compile(r"""\{(?:[^}\n]|\}\}){0,300}+\}(?=[;"'\s]|\Z)|[^;\s"']+""")
_NEXT_FIELD = re.compile(r"&(?:amp;)?[\w.%\[\]-]*=|&&|&\s|&\Z")
_WITH_COMMAS = re.compile(
    r"""(?:,(?=[^\s,]{0,60}\d)(?=[^\s,]{0,60}[A-Za-z])[^\s"'`&;,<>(){}\[\]|=:]{4,})+(?=[\s"'`]|\Z)"""
)
"""A word that goes on behind a comma, which ends none in a shell; no field of its own."""
_TO_SPACE = re.compile(r"""[^\s"'`<>(){}]*[^\s"'`<>(){}.,;]""")


def end_of_word(text: str, end: int) -> int:
    """Where a word goes on to that seems to end before ``&`` or a comma; `end` where it does not."""
    pattern = _WITH_COMMAS if text[end] == "," else _TO_SPACE
    match = None if _NEXT_FIELD.match(text, end) else pattern.match(text, end)
    return end if match is None else match.end()


_NUMBER = re.compile(r"\d{1,4}|\d{1,9}\.\d{1,9}")
_RATIO = re.compile(r"\d{1,5}/\d{1,5}")
_PARTED = re.compile(r"\d{1,3}(?:_\d{3}){1,4}")
"""A number in code, ``10_000``."""
_OF_TESTS = re.compile(r"(?:[ \t]*---[ \t]+)?PASS:?[ \t]+")
_TESTED = re.compile(r"[A-Za-z][\w./:@\[\]-]*(?=\s|\Z)")
_AFTER_LITERAL = re.compile(r"""["'](?:\s*(?:[+,)\]};&%]|\.\w{1,30}\()|[ \t]*(?:\r?\n|\Z))""")
_LONGEST_LINE = 300


_FLOW = re.compile(r"""\[(?P<items>[^\[\]{}"'\n]{1,1000})\](?=[ \t]*(?:\#[^\n]*)?(?:\r?\n|\Z))""")


def flow_list(text: str, begin: int) -> tuple[int, int] | None:
    """Where the items of a list stand, ``passwords: [a1b2c3, …]``, of which one is no word."""
    flow = _FLOW.match(text, begin)
    if flow is None or not any(is_made_up(item.strip()) for item in flow["items"].split(",")):
        return None
    return flow.span("items")


def in_call(text: str, place: int) -> bool:
    """Returns True for a ``=`` among the arguments of a call that its line began: ``f(token=x)``."""
    line = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1
    opened, closed = text.rfind("(", line, place), text.rfind(")", line, place)
    return closed < opened and opened > 0 and _NAME_SIGN.match(text, opened - 1) is not None


_NAME_SIGN = re.compile(r"[\w\])]")


def is_outcome(text: str, begin: int) -> bool:
    """Returns True where after ``PASS`` stands what was tested: ``--- PASS: TestParse2 (0.00s)``,
    ``PASS src/Button2.test.tsx``."""
    line = text.rfind("\n", max(0, begin - _LONGEST_LINE), begin) + 1
    head, tested = _OF_TESTS.fullmatch(text, line, begin), _TESTED.match(text, begin)
    if head is None or tested is None:
        return False
    return "---" in head[0] or "test" in tested[0].lower() or not tested[0].isalnum()


def is_value(name: str, value: str, names: Names, separator: str, *, ends: bool) -> bool:
    """Returns True for what may be the value of a secret's name: no stand-in, no count, no name in code.

    Where a word `ends` as in no call, and is no attribute of what settings are called, it is no name in code.
    """
    if not names.hides(name, value) or is_placeholder(value) or is_variable(name, value, names):
        return False
    if _PARTED.fullmatch(value) or _RATIO.fullmatch(value):
        return False
    if _NUMBER.fullmatch(value):
        return names.hides(name, float(value) if "." in value else int(value))
    if is_name_in_code(value) and not (ends and is_dotted_password(name, value, names)):
        return False
    is_header = separator == ":" and "-" in name
    return separator == "=" or is_header or may_be_word(name, names) or not is_class(value)


_OF_SETTINGS = frozenset(
    {
        *(
            "self",
            "cls",
            "this",
            "settings",
            "config",
            "cfg",
            "conf",
            "env",
            "environ",
            "process",
            "os",
            "app",
        ),
        *("ctx", "context", "request", "req", "res", "response", "resp", "props", "state", "data", "args"),
        *("opts", "options", "params", "module", "exports", "user", "account", "session", "client", "event"),
        *("form", "body", "payload", "secrets", "credentials", "vault", "keyring", "import", "window"),
        *("document",),
    }
)
"""What stands before a dot in code."""


def is_dotted_password(name: str, value: str, names: Names) -> bool:
    """Returns True for two words with a dot and digits, ``Summer2024.ab``, under a password's name."""
    first, _, rest = value.partition(".")
    return (
        may_be_word(name, names)
        and "." not in rest
        and rest.isalnum()
        and first.isalnum()
        and any(map(str.isdigit, value))
        and first.rstrip("0123456789").lower() not in _OF_SETTINGS
    )


_NUMBERED = re.compile(r"_?v?\d{0,2}")
_LONGEST_NAME = 80
_LIKE_VARIABLE = re.compile(r"[a-z_]+(?:\d{1,2}[a-z]?)?(?:_[a-z]+)*")
_WORDS = re.compile(r"(?=[a-z_]*\d)[a-z]{2,20}(?:\d{1,2}[a-z]?)?(?:_[a-z]{2,20}(?:\d{1,2}[a-z]?)?){2,8}")


def is_variable(name: str, value: str, names: Names) -> bool:
    """Returns True for a variable that is named as what it is assigned to, ``session = session2``.

    Also of several words, ``signature = filter1d_signature_of``, where no password is asked for.
    """
    last = name.rpartition(".")[2]
    if value in (last, name):
        return value.isidentifier()
    if may_be_word(name, names):
        return False
    bare = last.rstrip("0123456789")
    is_same = bare != "" and value.startswith(bare) and _NUMBERED.fullmatch(value, len(bare)) is not None
    ends_alike = (
        "_" in value and len(value) <= _LONGEST_NAME and value.endswith(f"_{last.rpartition('_')[2]}")
    )
    return (
        is_same
        or _WORDS.fullmatch(value) is not None
        or (ends_alike and _LIKE_VARIABLE.fullmatch(value) is not None)
    )


def ends_literal(text: str, place: int, quote: int) -> bool:
    """Returns True for a quote that ends a literal which began before, as in code: ``"token=" + token``.

    `place` is that of the separator before it.
    """
    if _AFTER_LITERAL.match(text, quote) is None:
        return False
    line = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1
    return text.count(text[quote], max(line, place - _LONGEST_LINE), place) % 2 == 1


_COMPARED = re.compile(
    r"""[=!]==?[ ]{0,3}(?P<quote>["'])(?P<value>(?:(?!(?P=quote))[^\\\n]|\\.){4,300})(?P=quote)"""
)
_NEW_VALUE = re.compile(r'''"[ ]{1,3}->[ ]{1,3}"([^"\n]{1,1000})"''')


def compared_value(text: str, place: int) -> tuple[int, int] | None:
    """Where a text stands that is compared at a place: ``user.password == "…"``."""
    literal = _COMPARED.match(text, place)
    return literal.span("value") if literal is not None and is_opaque(literal["value"]) else None


def new_value(text: str, place: int) -> tuple[int, int] | None:
    """Where a value stands to which a plan of Terraform changes the one that ends at a place."""
    change = _NEW_VALUE.match(text, place)
    return None if change is None else change.span(1)


def value_of_pair(text: str, name: str, place: int, begin: int, end: int) -> tuple[int, int] | None:
    """Where the value stands of a pair in quotes, ``-e 'DB_PASSWORD=…'``, or of an address, ``;PWD=…;``.

    None where it is no such pair, or what stands there are several.
    """
    first = place - len(name)
    before = text[first - 1 : first]
    if not before or begin > place + 2 or text[first:place] != name:
        return None
    if begin != place + 1 and (text[place] != ":" or before not in "\"'"):
        return None
    if before == ";" or (before == " " and text[first - 2 : first - 1] == ";"):
        match = _OF_ADDRESS.match(text, begin, end)
        last = begin if match is None else match.end()
        if text[begin : begin + 1] == "{" and text[last - 1 : last] == "}":
            begin, last = begin + 1, last - 1
    elif before in "\"'":
        last = text.find(before, begin, min(end, begin + _LONGEST_QUOTED))
    else:
        return None
    value = text[begin:last]
    is_secret = is_opaque(value) or is_phrase(value)
    is_one = (
        last > begin
        and value[-1] != "\\"  # the quote is one within a text
        and is_secret
        and not several_fields(value)
        and not is_placeholder(value)
    )
    return (begin, last) if is_one and REDACTED not in value else None
