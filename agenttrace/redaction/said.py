"""Secrets after their name as people say them, and as code sets them."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.names import rule_of
from agenttrace.redaction.naming import Names
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.unquoted import is_outcome
from agenttrace.redaction.values import is_made_up, is_measure, is_opaque, is_phrase, is_placeholder

SIGNS = ("pass", "secret", "token", "key", "identified ", "credential")
"""What stands in each such text, in lower case."""
SHORT_SIGNS = ("code is", "otp is", "pin is", "pw is")
"""The same for names that stand within many words."""

_VERB = (
    r"(?:is|was|are|were|be|becomes|ist|war|lautet|est|es|è|é)"
    r"(?:\s+(?:now|still|just|set\s+to|changed\s+to))?\s*:?|to"
    r"|ha(?:s|ve)\s+been\s+(?:set|changed|reset|updated|rotated)\s+to"
)
_OF = (
    r"""\s+(?:for|of)\s+(?:the\s+)?(?:["'][^"'\n]{1,80}["']|[^\s:="']{1,40}(?:\s[^\s:="']{1,20}){0,3}?)"""
    r"""|[ \t]{1,3}\([^()\n"']{1,40}\)"""
)
"""Whose it is: ``password for admin``, ``password (admin)``."""
_AFTER = re.compile(
    rf"""(?P<rest>\w{{0,20}})(?:
    (?P<of>{_OF})?(?:
      ["'`*]{{0,3}}\s+(?P<verb>{_VERB})\s+
      |\s*(?P<dash>->|→|-|–|—|\.{{3,}}|\|)\s+
      |[*`]{{0,3}}[ \t\u00a0]*(?P<sign>:=|=>|[:=](?!=))(?P<tag></\w{{1,8}}>)?[*`]{{0,3}}\s*)
    |\\?["']\]\s*(?P<key>:?=|:)\s*
    |(?P<call>\()(?=\\?["'])
    |[\w-]{{0,20}}\\?["'\]]{{1,4}}(?:\s?\}})?(?P<typed>\)?\s{{0,20}}\.\s?\w{{1,20}}\(|\)?\s?,)\s{{0,20}}(?=\\?["'`])
    |(?P<space>[ \t]{{1,9}}\(?))
    [*]{{0,2}}(?P<quote>\\{{0,20}}["'`“‘«])?(?P<value>(?:[^\s"'`“”‘’«»<>…\\]|\\(?![nrt"'\\])){{1,2048}})""",
    re.VERBOSE | re.IGNORECASE,
)
_IN_SQL = re.compile(
    r"""(?i)(?:identified(?:\s+with\s+[\w'"]+)?\s+by(?:\s+password)?\s+|password\s+for\s+[^\s=]{1,200}\s*=\s*)"""
    r"""[nN]?(?P<quote>["'])(?P<value>(?:(?!(?P=quote))[^\r\n])+)"""
)
_SPACED_NAME = re.compile(r"(?i)(?:[^\W_]\w{0,40}[ \t\u00a0]{1,3}){1,2}keys?\Z")
"""A name of several words on one line: those that end in *key* are found by no single word."""
_BETWEEN_WORDS = re.compile(r"[^\w.$-]+")
_MOST_WORDS = 3
_WINDOW = 80
_CHANGED = re.compile(r"(?i)\b(?:set|chang|reset|updat|rotat)\w*\s+(?:\S+\s+){0,3}\Z")
_IN_STATEMENT = re.compile(r"(?i)\b(?:alter|create)\s+(?:user|role|login)\b")
_LOGIN = re.compile(r"(?i)\b(?:login|user|account)\s+\S+\s+\Z")
_OF_USER = re.compile(r"(?i)\b(?:user|username|login|account|as|id|uid|and)\b[ =:]{0,3}\S{0,40}[,;]?\s*\Z")
_AS_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|-[A-Za-z]\w+")
"""``ENV API_KEY …``, ``-AccessToken …``."""
_COUNTED = re.compile(
    r"(?i)[^\S\n]+(?:bit|byte|char|digit|letter|symbol|word|second|minute|hour|day|week|month|year|time|or\b|of\b|and\b|to\b)"
)
_PASSWORD = re.compile(r"(?i)pass|pwd|otp|pin|code\b")
_WORD_AND_NUMBER = re.compile(r"[A-Za-z-]+\d{1,4}")
_SHORTEST_NUMBER = 4
_SQL_TYPE = re.compile(
    r"(?i)(?:n?(?:var)?(?:char|binary)2?|bit|text|blob|numeric|decimal|number|float|timestamp)\d{0,2}\("
)
"""The type of a column, ``password VARCHAR(255)``."""
_LONGEST_WORD = 24
_IN_CAPITALS = re.compile(r"[A-Z]+\d{0,2}[A-Z]*")
"""The name of a kind of token, ``Token("ATOM1")``."""
_LONG_WORD = 12
_LONGEST_QUOTED = 200


def without_said(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets that are said after their name, and how many were found."""
    pieces: list[str] = []
    done = 0
    for place in places_of_signs(text):
        match = _IN_SQL.match(text, place) or _AFTER.match(text, place)
        if match is None or place < done:
            continue
        begin = match.start("value")
        value = _literal(match) or _in_quotes(match) or match["value"].rstrip(".,;:?)*]}")
        if value.isalpha() and len(value) <= _LONGEST_WORD and value[1:].islower():
            continue
        if (
            text.startswith(REDACTED, begin)
            or is_placeholder(value)
            or is_placeholder(match["value"].rstrip(".,;:?"))
            or _SQL_TYPE.match(value)
            or not _is_secret(text, match, value, names)
        ):
            continue
        pieces += (text[done:begin], REDACTED)
        done = begin + len(value)
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _in_quotes(match: re.Match[str]) -> str:
    """What stands in the quotes that a value begins with, where it has no blank; an empty text for none."""
    quote, begin = match["quote"], match.start("value")
    if quote is None or quote not in "\"'`":
        return ""
    end = match.string.find(quote, begin, begin + _LONGEST_QUOTED)
    quoted = match.string[begin:end] if end > 0 else ""
    return "" if any(map(str.isspace, quoted)) or "\\" in quoted else quoted


_LITERAL = {
    quote: re.compile(rf"(?:[^{quote}\\\n]|\\[^\n]|{quote}{quote}){{1,{_LONGEST_QUOTED}}}(?={quote})")
    for quote in "\"'`"
}


def _literal(match: re.Match[str]) -> str:
    """The whole text in quotes that code types, or SQL sets, also with blanks and escapes; else nothing."""
    quote = match["quote"]
    is_typed = match.re is _AFTER and (match["typed"] or match["space"])
    literal = (
        _LITERAL[quote].match(match.string, match.start("value")) if is_typed and quote in _LITERAL else None
    )
    return literal[0] if literal is not None and (is_opaque(literal[0]) or is_phrase(literal[0])) else ""


def places_of_signs(text: str) -> list[int]:
    """Where signs stand in a text, in their order."""
    lowered = text.lower()
    if len(lowered) != len(text):  # of a few letters the small one is two
        lowered = "".join(letter.lower()[:1] for letter in text)
    places = set()
    for sign in (*SIGNS, *SHORT_SIGNS) if " is" in lowered else SIGNS:
        place = lowered.find(sign)
        while place >= 0:
            places.add(place)
            place = lowered.find(sign, place + 1)
    return sorted(places)


def _is_secret(text: str, match: re.Match[str], value: str, names: Names) -> bool:
    if match.re is _IN_SQL:
        return names.is_secret("password")
    before = text[max(0, match.start() - _WINDOW) : match.end("rest")]
    if match["typed"]:
        return _is_typed(text, match, value, names)
    if match["sign"] and (match["of"] or match["tag"]):
        name = _name([word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word], names)
        is_secret = is_made_up(value) if _PASSWORD.search(name) else _reads_as_key(value)
        return name != "" and is_secret and names.hides(name, value)
    if match["sign"]:
        spaced = _SPACED_NAME.search(before)
        name = _name(spaced[0].split(), names) if spaced else ""
        if name == "" and _PASSWORD.search(before):
            words = _BETWEEN_WORDS.split(before.rpartition("\n")[2])[-_MOST_WORDS:]
            words = [word for word in words if word]
            name = "" if not words or names.is_secret(words[-1]) else _name(words, names)
        return name != "" and names.hides(name, value) and _reads_as_key(value)
    words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
    if not _reads_as_secret(text, match, value, words[-1], before[: -len(words[-1])]):
        return False
    line = [word for word in _BETWEEN_WORDS.split(before.rpartition("\n")[2])[-_MOST_WORDS:] if word]
    name = _name(line, names) or _name(words, names)
    return name != "" and names.hides(name, value)


_IN_CALL = re.compile(r"""[\w)]\(\s*(?:[\w.]+\s*,\s*)?[brf]?\\?["'`][^\n]{0,60}\Z""")
"""The beginning of a call whose first text has a secret's name, ``fill("#password``."""


def _is_typed(text: str, match: re.Match[str], value: str, names: Names) -> bool:
    """Returns True for what code types into a field: ``fill("#password", "…")``,
    ``get("#password").type("…")``."""
    if match["quote"] is None or not (is_opaque(value) or is_phrase(value)):
        return False
    before = text[max(0, match.start() - _WINDOW) : match.end("rest")]
    if _IN_CALL.search(before) is None:
        return False
    words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
    name = _name(words, names)
    return name != "" and names.hides(name, value)


def _name(words: list[str], names: Names) -> str:
    """The name that some words end with; an empty one where it is that of no secret."""
    name = ""
    for word in reversed(words):
        name = f"{word}_{name}" if name else word
        if rule_of(name) is not None and not names.is_secret(name):  # it is left alone on request
            return ""
    return name if names.is_secret(name) else ""


def _reads_as_secret(text: str, match: re.Match[str], value: str, word: str, before: str) -> bool:
    """Returns True if a value is that of a secret by how it stands after `word`, before which is `before`."""
    if match["call"] or match["key"]:
        return match["quote"] is not None and is_opaque(value) and not _IN_CAPITALS.fullmatch(value)
    end = match.start("value") + len(value)
    if text[end : end + 1] in ("(", "[", "{") or (match["space"] and "(" in value):  # code
        return False
    if word in ("pass", "PASS") and _is_verb_or_outcome(match, value, word, before):
        return False
    if match["dash"] == "|" and not _is_row_of_two(text, match.start(), end):
        return False
    is_password = _PASSWORD.search(word) is not None
    if match["space"]:
        if _LOGIN.search(before):
            return is_made_up(value)
        if not is_password and not _AS_VARIABLE.fullmatch(word):
            return False
        if match["quote"] is not None and _IN_STATEMENT.search(before) is not None:
            return is_opaque(value) or is_phrase(value)
        is_numbered = value.isdigit() or _WORD_AND_NUMBER.fullmatch(value) is not None
        return is_made_up(value) and (match["quote"] is not None or not is_numbered)
    if match["verb"] and match["verb"].lower() == "to" and not _CHANGED.search(before):
        return False
    if is_password and match["quote"] and value == _in_quotes(match):
        return is_opaque(value) and not is_measure(value)
    if value.isdigit():
        return is_password and len(value) >= _SHORTEST_NUMBER and not _COUNTED.match(text, end)
    return is_made_up(value) if is_password else _reads_as_key(value)


def _is_verb_or_outcome(match: re.Match[str], value: str, word: str, before: str) -> bool:
    """Returns True for *pass utf8mb4 here* and ``PASS src/Button2.test.tsx``."""
    if word == "PASS":
        return is_outcome(match.string, match.start("value"))
    if match["space"] and ("=" in value or "(" in value):
        return True
    if not match["space"] or match["quote"] is not None or _OF_USER.search(before) is not None:
        return False
    return not (len(value) >= _LONG_WORD and value.isalnum() and looks_random(value))


def _is_row_of_two(text: str, name: int, end: int) -> bool:
    """Returns True for a row of a table that is a name and its value, which ends at `end`."""
    stop = text.find("\n", end, end + _WINDOW)
    if stop < 0:
        stop = min(len(text), end + _WINDOW)
    before = text[text.rfind("\n", max(0, name - _WINDOW), name) + 1 : name]
    return not text[end:stop].strip(" \t\r`*|") and "|" not in before.strip(" \t`*|")


def _reads_as_key(value: str) -> bool:
    return is_made_up(value) and not value.isdigit() and any(map(str.isdigit, value)) and looks_random(value)
