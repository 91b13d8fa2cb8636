"""Secrets after their name as people say them, and as code sets them."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.expressions import is_literal
from agenttrace.redaction.generated import end_of_generated
from agenttrace.redaction.names import NAME_SIGNS, OTHER_SIGNS, rule_of
from agenttrace.redaction.naming import Names
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.unquoted import is_outcome
from agenttrace.redaction.values import is_made_up, is_measure, is_opaque, is_phrase, is_placeholder

SIGNS = ("pass", "secret", "token", "key", "identified ", "credential")
"""What stands in most such texts, in lower case."""
_ALL = tuple(dict.fromkeys(sign for sign in (*SIGNS, *NAME_SIGNS[:-2], *OTHER_SIGNS) if sign != "bearer"))
MORE_SIGNS = tuple(sign for sign in _ALL if not any(part in sign for part in _ALL if part != sign))
"""The same in all, which are looked for where tables begin: so many take long in a long text. What stands
behind or below *bearer* is found by its shape."""

_VERB = (
    r"(?:is|was|are|were|be|becomes|ist|war|lautet|est|es|è|é)"
    r"(?:\s++(?:now|still|just|set\s++to|changed\s++to))?(?:\s*+:)?"
    r"|to|(?:set|changed|reset|updated|rotated)\s++to"
    r"|ha(?:s|ve)\s++been\s++(?:set|changed|reset|updated|rotated)\s++to"
)
_OF = (
    r"""\s++(?:for|of)\s++(?:the\s++)?(?:["'][^"'\n]{1,80}["']|[^\s:="']{1,40}(?:\s[^\s:="']{1,20}){0,3}?)"""
    r"""|[ \t]{1,3}\([^()\n"']{1,40}\)|\s++(?:is|was)\s++generated\s++for\s++[^\s:="']{1,80}"""
)
"""Whose it is: ``password for admin``, ``password (admin)``."""
_AFTER = re.compile(
    rf"""(?P<rest>\w{{0,20}})(?:
    (?P<of>{_OF})?(?:
      ["'`*]{{0,3}}\s++(?P<verb>{_VERB})\s++(?:<(?:code|kbd|b|strong|tt|em|samp|mark)>)?
      |["'`*]{{0,3}}:?["'`*]{{0,3}}\s*+(?P<dash>->|→|-|–|—|\.{{3,}}|[|│┃])\s++
      |(?P<closing></(?:strong|b|label|em|span|code)>)?[*`]{{0,3}}[ \t\u00a0]*(?P<sign>:=|=>|[:=](?!=))
        (?P<tag></\w{{1,8}}>|\s?<(?:code|kbd|b|strong|tt|em|samp)>)?[*`]{{0,3}}\s*+)
    |(?:\\?["']\s?[)\]])?\s{{1,3}}(?P<fallback>or|\|\||\?\?|<-|in\s?\()\s{{0,3}}(?=\\?["'`])
    |\\?["']\s?,\s?(?P<default>default\s?=\s?)(?=\\?["'])
    |\\?["']\]\s*+(?P<key>=>|:?=|:)\s*+(?:string\(\d{{1,6}}\)\s)?
    |(?P<call>(?:\.(?:send_?keys|fill|type|val|set_?value|set_?text|press_?sequentially|input|clear_and_type))?\()(?=\\?["'])
    |[\w-]{{0,20}}\\?["'\]]{{1,4}}(?:\s?\}})?(?P<typed>\){{0,3}}\s{{0,20}}\.\s?(?:\w{{1,20}}\(|value\s?=\s?)|\)?\s?,)\s{{0,20}}(?=\\?["'`])
    |(?P<space>[ \t]{{1,9}}\(?))
    (?:(?:basic|bearer|token)[ ]{{1,3}})?
    [*]{{0,2}}(?P<quote>\\{{0,20}}["'`“‘«])?(?:(?:basic|bearer|token)[ ]{{1,3}})?
    (?P<value>(?(quote)[<`]?)(?:[^\s"'`“”‘’«»<>…\\]|\\(?![nrt"'\\])){{1,2048}})""",
    re.VERBOSE | re.IGNORECASE,
)
_IN_SQL = re.compile(
    r"""(?i)(?:identified(?:\s+with\s+[\w'"]+)?\s+by(?:\s+password)?\s+|password\s+for\s+[^\s=]{1,200}\s*=\s*)"""
    r"""[nN]?(?P<quote>["'])(?P<value>(?:(?!(?P=quote))[^\r\n]|(?P=quote){2})+)"""
)
_BARE_IN_SQL = re.compile(
    r"""(?i)identified\s+by\s+(?P<quote>["'])?(?(quote)(?!))(?P<value>(?=[^\s"';]*\d)[^\s"';=]{6,128})"""
)
"""As Oracle has it: ``IDENTIFIED BY …``."""
_SPACED_NAME = re.compile(r"(?i)(?:[^\W_]\w{0,40}[ \t\u00a0]{1,3}){1,2}keys?\Z")
"""A name of several words on one line: those that end in *key* are found by no single word."""
_BETWEEN_WORDS = re.compile(r"[^\w.$-]+")
_BETWEEN_DOTS = re.compile(r"[.$]")
_MOST_WORDS = 3
_WINDOW = 80
_CHANGED = re.compile(r"(?i)\b(?:set|chang|reset|updat|rotat)\w*\s+(?:\S+\s+){0,3}\Z")
_IN_STATEMENT = re.compile(r"(?i)\b(?:alter|create)\s+(?:user|role|login)\b")
_LOGIN = re.compile(r"(?i)\b(?:login|user|account)\s+\S+\s+\Z")
_OF_USER = re.compile(r"(?i)\b(?:user|username|login|account|as|id|uid|and)\b[ =:]{0,3}\S{0,40}[,;]?\s*\Z")
_DECLARED = re.compile(
    r"(?:^|\s)(?:ENV|ARG|setx?|(?P<quoted>\#[ \t]*define|proxy_set_header|add_header))\s+\Z"
)
_AS_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|-[A-Za-z]\w+")
"""``ENV API_KEY …``, ``-AccessToken …``."""
_AS_HEADER = re.compile(r"[A-Z][a-z]*(?:-[A-Z]\w+)+|Authorization")
"""``X-Api-Key`` and a tab, as in a row of a table that was copied."""
_COUNTED = re.compile(
    r"(?i)[^\S\n]+(?:bit|byte|char|digit|letter|symbol|word|second|minute|hour|day|week|month|year|time|or\b|of\b|and\b|to\b)"
)
_PASSWORD = re.compile(r"(?i)pass|pwd|otp|pin|code\b")
_WORD_AND_NUMBER = re.compile(r"[A-Za-z-]+\d{1,4}")
_SHORTEST_NUMBER = 4
_NUMBER = re.compile(r"\d(?:[ -]?\d){2,39}")
"""A number as cards, codes and people have one."""
_SQL_TYPE = re.compile(
    r"(?i)(?:n?(?:var)?(?:char|binary)2?|bit|text|blob|numeric|decimal|number|float|timestamp)\d{0,2}\("
)
"""The type of a column, ``password VARCHAR(255)``."""
_LONGEST_WORD = 24
_OF_CALLS = ("auth", "cookie", "card", "conn", "code")
"""What calls are named whose argument is none: ``encode_auth("…")``."""
_STRONG = ("pass", "secret", "token", "key", "pwd", "credential")
"""What the argument of a call, ``set_secret("…")``, may have a simple one after."""
_IN_CAPITALS = re.compile(r"[A-Z]+\d{0,2}[A-Z]*")
"""The name of a kind of token, ``Token("ATOM1")``."""
_LONG_WORD = 12
_LONGEST_QUOTED = 200


def without_said(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets that are said after their name, and how many were found."""
    pieces: list[str] = []
    done = 0
    for place in places_of_signs(text):
        match = _IN_SQL.match(text, place) or _BARE_IN_SQL.match(text, place) or _AFTER.match(text, place)
        if match is None or place < done:
            continue
        begin = match.start("value")
        value = _literal(match) or _in_quotes(match) or match["value"].rstrip(".,;:?)*]}")
        if match.re is not _AFTER:
            value = match["value"]
        elif match["quote"] is None and (match["verb"] or match["dash"]):
            value = text[begin : end_of_generated(text, begin, len(text))] or value
        is_word = value.isalpha() and len(value) <= _LONGEST_WORD and value[1:].islower()
        if is_word and (names.is_secret(value) or not _is_in_statement(text, match)):
            continue
        if (
            text.startswith(REDACTED, begin)
            or is_placeholder(value)
            or (is_placeholder(match["value"].rstrip(".,;:?")) and len(value) <= len(match["value"]))
            or _SQL_TYPE.match(value)
            or not _is_secret(text, match, value, names)
        ):
            continue
        pieces += (text[done:begin], REDACTED)
        done = begin + len(value)
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _is_in_statement(text: str, match: re.Match[str]) -> bool:
    """Returns True for ``CREATE USER … IDENTIFIED BY '…'``, where nothing but a password stands."""
    before = text[max(0, match.start() - _WINDOW) : match.start()]
    return match.re is not _AFTER and _IN_STATEMENT.search(before) is not None


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
    is_typed = match.re is _AFTER and (match["typed"] or match["space"] or match["call"] or match["key"])
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
    for sign in MORE_SIGNS:
        place = lowered.find(sign)
        while place >= 0:
            places.add(place)
            place = lowered.find(sign, place + 1)
    return sorted(places)


def _is_secret(text: str, match: re.Match[str], value: str, names: Names) -> bool:
    if match.re is not _AFTER:
        is_one = match.re is _IN_SQL or (is_made_up(value) and _is_in_statement(text, match))
        return is_one and names.is_secret("password")
    before = text[max(0, match.start() - _WINDOW) : match.end("rest")]
    if match["typed"]:
        return _is_typed(text, match, value, names)
    if match["fallback"] or match["default"]:
        words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
        name = _name(_BETWEEN_DOTS.split(words[-1])[-1:], names) if words else ""
        return name != "" and names.hides(name, value) and is_literal(value)
    if match["sign"] and (match["of"] or match["tag"] or match["closing"]):
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
        return name != "" and names.hides(name, value) and _reads_as_key(value) and "(" not in value
    words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
    if not _reads_as_secret(text, match, value, words[-1], before[: -len(words[-1])]):
        return False
    line = [word for word in _BETWEEN_WORDS.split(before.rpartition("\n")[2])[-_MOST_WORDS:] if word]
    name = _name(line, names) or _name(words, names)
    is_number = match["dash"] in _BARS and value.isdecimal()
    return name != "" and names.hides(name, int(value) if is_number else value)


_IN_CALL = re.compile(r"""[\w)$]\(\s*(?:[\w.]+\s*,\s*)?[brf]?\\?["'`][^\n]{0,60}\Z""")
"""The beginning of a call whose first text has a secret's name, ``fill("#password``."""


def _is_typed(text: str, match: re.Match[str], value: str, names: Names) -> bool:
    """Returns True for what code types into a field: ``fill("#password", "…")``,
    ``get("#password").type("…")``."""
    if match["quote"] is None or is_measure(value):
        return False
    if not (is_opaque(value) or is_phrase(value) or _NUMBER.fullmatch(value)):
        return False
    before = text[max(0, match.start() - _WINDOW) : match.end("rest")]
    if _IN_CALL.search(before) is None:
        return False
    words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
    name = _name(words, names)
    return name != "" and names.hides(name, int(value) if value.isdecimal() else value)


def _name(words: list[str], names: Names) -> str:
    """The name that some words end with; an empty one where it is that of no secret."""
    name = ""
    for word in reversed(words):
        name = f"{word}_{name}" if name else word
        if rule_of(name) is not None and not names.is_secret(name):  # it is left alone on request
            return ""
    if names.is_secret(name):
        return name
    rule = rule_of(words[-1]) if words else None
    return words[-1] if rule is not None and rule.place in ("whole", "any word") else ""


def _reads_as_secret(text: str, match: re.Match[str], value: str, word: str, before: str) -> bool:
    """Returns True if a value is that of a secret by how it stands after `word`, before which is `before`."""
    if match["call"] and word.lower().endswith(_OF_CALLS) and word[:3].lower() != "set":
        return False
    if match["call"] or match["key"]:
        is_value = is_opaque(value) if any(sign in word.lower() for sign in _STRONG) else _reads_as_key(value)
        return match["quote"] is not None and is_value and not _IN_CAPITALS.fullmatch(value)
    end = match.start("value") + len(value)
    if _is_code(text, match, value):
        return False
    if word in ("pass", "PASS") and _is_verb_or_outcome(match, value, word, before):
        return False
    if match["dash"] in _BARS:
        if not _is_row_of_two(text, match.start(), end):
            return False
        if _NUMBER.fullmatch(value):
            return True
    is_password = _PASSWORD.search(word) is not None
    if match["space"]:
        return _is_beside(match, value, before, may_be=is_password or _is_of_variable(match, word))
    if match["verb"] and match["verb"].lower() == "to" and not _CHANGED.search(before):
        return False
    if is_password and match["quote"] and value == _in_quotes(match):
        return is_opaque(value) and not is_measure(value)
    if value.isdigit():
        return is_password and len(value) >= _SHORTEST_NUMBER and not _COUNTED.match(text, end)
    return is_made_up(value) if is_password else _reads_as_key(value)


def _is_code(text: str, match: re.Match[str], value: str) -> bool:
    """Returns True for a value that goes on with a bracket, or begins with one where nothing is quoted."""
    end = match.start("value") + len(value)
    begins = match["quote"] is None and value[:1] in ("[", "{", "<")
    is_call = "(" in value and value != _in_quotes(match) and not _is_generated(match)
    return text[end : end + 1] in ("(", "[", "{") or (match["space"] is not None and (is_call or begins))


def _is_generated(match: re.Match[str]) -> bool:
    begin, text = match.start("value"), match.string
    end = end_of_generated(text, begin, len(text))
    stop = text.find("\n", end)
    return end > begin and "," not in text[end : len(text) if stop < 0 else stop]  # further arguments


def _is_of_variable(match: re.Match[str], word: str) -> bool:
    is_header = match["space"] == "\t" and _AS_HEADER.fullmatch(word) is not None
    return is_header or _AS_VARIABLE.fullmatch(word) is not None


def _is_beside(match: re.Match[str], value: str, before: str, *, may_be: bool) -> bool:
    """Returns True for a secret that a space parts from its name; `may_be` says whether it has one."""
    if _LOGIN.search(before):
        return is_made_up(value)
    declared, is_quoted = _DECLARED.search(before), match["quote"] is not None
    if not may_be and (declared is None or not is_quoted):
        return False
    if match["quote"] is not None and _IN_STATEMENT.search(before) is not None:
        return is_opaque(value) or is_phrase(value)
    is_numbered = value.isdigit() or _WORD_AND_NUMBER.fullmatch(value) is not None
    is_value = is_quoted or (declared is not None and declared["quoted"] is None)
    return is_made_up(value) and (is_value or not is_numbered)


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
    before = _QUOTE.split(text[text.rfind("\n", max(0, name - _WINDOW), name) + 1 : name])[-1]
    return not _QUOTE.split(text[end:stop])[0].strip(" \t\r`*|│┃.,;:?)]}") and not any(
        bar in before.strip(" \t`*|│┃") for bar in _BARS
    )


_BARS = ("|", "│", "┃")
_QUOTE = re.compile(r"[\"']")
"""A row may be all of a text in quotes."""


def _reads_as_key(value: str) -> bool:
    return is_made_up(value) and not value.isdigit() and any(map(str.isdigit, value)) and looks_random(value)
