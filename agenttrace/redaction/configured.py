"""Passwords in files and answers of programs, where what stands around says it in that program's own way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenttrace.redaction.naming import Names
from agenttrace.redaction.taken_out import united, without_places
from agenttrace.redaction.values import is_made_up, is_placeholder

_WORD = r"(?!\[redacted\])(?P<value>[^\s\"'<>]{1,200})(?=[ \t]*(?:\r?\n|\Z))"
_ASKED = (
    r"""\bexpect(?:_exact)?[ \t(]{1,3}(?:-\w{1,9}[ \t]){0,2}\\?["'{][^"'\n}]{0,40}?"""
    r"""(?i:passw|passphrase|passcode|assword)[^"'\n}]{0,20}\\?["'}][^"'\n]{0,30}(?:\r?\n[ \t]{0,40})?"""
    r"""(?:\w{1,20}\.)?send(?:_?line)?[ \t(]{1,3}(?:--[ \t])?\\?["']"""
    r"""(?!\[redacted\])(?P<value>(?:[^"'\\\n$]|\\(?![rn"'])){1,200})(?P<enter>\\[rn])?"""
)
_LONG = r"(?=[0-9/+]{0,40}[A-Za-z])(?=[A-Za-z/+]{0,40}\d)[A-Za-z0-9+/]{32,200}={0,2}"
_FORMS = (
    ("key content", re.compile(rf"(?m)^[ \t]*Key Content[ \t]{{1,20}}:[ \t]{_WORD}")),
    ("<auth-user-pass>", re.compile(rf"<auth-user-pass>[ \t]*\r?\n[^\n]{{1,120}}\n[ \t]*{_WORD}")),
    ("expect", re.compile(_ASKED)),
    ("<keymaterial>", re.compile(r"<keyMaterial>(?!\[redacted\])(?P<value>[^<>]{1,200})</keyMaterial>")),
    (
        "stats auth",
        re.compile(r"\bstats auth[ \t]{1,9}[^\s:\"']{1,64}:(?!\[redacted\])(?P<value>[^\s\"'\\]{1,200})"),
    ),
    (
        "keyname:",
        re.compile(
            r"(?m)^[ \t-]{0,40}keyName: [\w .-]{1,60}\r?\n(?:[ \t]{1,40}permissions: \w{1,20}\r?\n)?"
            r"[ \t]{0,40}value: (?P<value>[A-Za-z0-9+/]{86}==)"
        ),
    ),
    ("key2: ", re.compile(rf"(?m)^key1: (?P<value>{_LONG})(?=\r?\nkey2: {_LONG}[ \t]*\r?$)")),
    (
        "key2: ",
        re.compile(rf"(?m)^key1: (?:{_LONG}|\[redacted\])\r?\nkey2: (?P<value>{_LONG})(?=[ \t]*\r?$)"),
    ),
    ("full", re.compile(r"\bkey[12][ \t]{1,9}F(?:ULL|ull)[ \t]{1,9}(?P<value>[A-Za-z0-9+/]{86}==)")),
    (
        "new value:",
        re.compile(rf"(?i:password for the \[[\w.-]{{1,60}}\] user[^\n]{{0,60}}\n)New value:[ \t]+{_WORD}"),
    ),
)
"""What netsh prints, a profile of Windows for a wireless net, HAProxy's page of figures, OpenVPN's file
within a file, a script that answers a question, a listing of the keys of an account of Azure, Elasticsearch's
tool."""
_LISTED = re.compile(
    r"(?m)^(?P<indent>[ \t]*)chpasswd:[ \t]*\r?\n(?:(?P=indent)[ \t]++(?!list:)[^\n]*\n){0,4}+"
    r"(?P=indent)[ \t]++list:[ \t]*+(?:[|>][+-]?[ \t]*+)?\r?\n(?P<lines>(?:[ \t][^\n]*+(?:\n|\Z)){1,100}+)"
)
_USER = re.compile(r"(?m)^[ \t]+(?:-[ \t]+)?[\"']?[\w.-]{1,64}:(?!RANDOM\b|R\b)(?P<value>[^\s\"']+)")
"""The passwords of users in cloud-init's ``chpasswd``, where *R* asks for a random one."""
SIGNS = ("chpasswd:", *(sign for sign, _ in _FORMS))
_SHORTEST_SENT = 6


def without_configured(text: str, lowered: str, names: Names) -> tuple[str, int]:
    """The text without passwords in these forms, and how many were found."""
    if not names.is_secret("password"):
        return text, 0
    places = united(list(_places(text, lowered)))
    return (without_places(text, places), len(places)) if places else (text, 0)


def _places(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    for sign, pattern in _FORMS:
        for match in pattern.finditer(text) if sign in lowered else ():
            if _is_password(match, may_be_other=sign == "expect"):
                yield match.span("value")
    for block in _LISTED.finditer(text) if SIGNS[0] in lowered else ():
        for user in _USER.finditer(text, *block.span("lines")):
            if _is_password(user):
                yield user.span("value")


def _is_password(match: re.Match[str], *, may_be_other: bool = False) -> bool:
    """Returns False for a stand-in, and for what a script may send after it was let in: no password."""
    value = match["value"]
    if is_placeholder(value):
        return False
    is_sent = may_be_other and match["enter"] is not None and len(value) >= _SHORTEST_SENT
    return not may_be_other or is_made_up(value) or (is_sent and " " not in value)
