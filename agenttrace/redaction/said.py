"""Secrets after their name as people say them, and as code sets them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.beside import (
    BARS,
    IN_STATEMENT,
    is_beside,
    is_judged,
    is_of_variable,
    is_row_of_two,
    is_verb_or_outcome,
    reads_as_key,
)
from agenttrace.redaction.expressions import is_literal
from agenttrace.redaction.generated import end_of_generated
from agenttrace.redaction.labels import value_below
from agenttrace.redaction.names import NAME_SIGNS, OTHER_SIGNS
from agenttrace.redaction.naming import Names, may_be_word, name_of_words
from agenttrace.redaction.open_tags import value_behind_tag
from agenttrace.redaction.sentences import value_in_sentence
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.titled import titled_value
from agenttrace.redaction.values import is_made_up, is_measure, is_opaque, is_phrase, is_placeholder

SIGNS = ("pass", "secret", "token", "key", "identified ", "cred")
"""What stands in most such texts, in lower case."""
_ALL = tuple(dict.fromkeys(sign for sign in (*SIGNS, *NAME_SIGNS[:-2], *OTHER_SIGNS) if sign != "bearer"))
MORE_SIGNS = tuple(sign for sign in _ALL if not any(part in sign for part in _ALL if part != sign))
"""The same in all, which are looked for where tables begin: so many take long in a long text. What stands
behind or below *bearer* is found by its shape."""

_VERB = (
    r"(?:is|was|are|were|be|becomes|ist|war|lautet|est|es|è|é)"
    r"(?:\s++(?:now|still|just|(?:set|changed|reset|updated|rotated)\s++(?:to|from)))?(?:\s*+:)?"
    r"|(?:will|should|must|shall|would)\s++be|to|with|of|from|(?:set|changed|reset|updated|rotated)\s++(?:to|from)"
    r"|ha(?:s|ve)\s++been\s++(?:set|changed|reset|updated|rotated)\s++(?:to|from)"
    r"|(?:appears|seems)\s++to\s++be"
)
_TO = re.compile(r"""["'`]?\s++to\s++["'`]?(?P<value>[^\s"'`]{4,200})""")
"""The other secret of *changed from … to …*."""
_OF = (
    r"""\s++(?:for|of|on|to)\s++(?:the\s++)?(?:key\s++)?(?:["'][^"'\n]{1,80}["']|(?:[^\s:="']|'s\b){1,40}"""
    r"""(?:\s[^\s:="']{1,20}){0,3}?)"""
    r"""|[ \t]{1,3}\([^()\n"']{1,40}\)|\s++(?:is|was)\s++generated\s++for\s++[^\s:="']{1,80}"""
    r"""|[ ](?:provided|supplied|specified|received|used|entered|created|generated|issued)(?=:)"""
    r"""|[ ](?:field|input|text\s?box|box)(?=[ ](?:with|to|is)\b)"""
    r"""|[ ](?:reset|updated)(?=:)|[ ]\d{1,2}(?=:)"""
    r"""|[ ](?:that[ ]|which[ ])?(?:you|we|they|I|he|she)(?:[ ](?:have|had|will|asked|are|were|'ve))?"""
    r"""[ ][a-z]{2,15}(?:[ ](?:for|to|with|in))?(?=[ ](?:is|was|-|–|—)[ :]|:)"""
)
"""Whose it is, and what became of it: ``password for admin``, ``password (admin)``, *key provided: …*."""
_EQUALS = r"(?:toBe|to(?:Strict)?Equal|equals?(?:IgnoreCase)?|eql?|isEqualTo|is_equal_to)"
_COLUMN = (
    r"(?:n?(?:var)?char2?|n?text|n?clob|string|(?:var)?binary)(?:\s?\((?:\d{1,5}|max)(?:\s(?:char|byte))?\))?"
    r"(?:\s(?:not\s)?null)?\s{0,9}(?::=|=|default\b)\s{0,9}"
)
"""The type of a column or variable of SQL, before its value: ``password VARCHAR(20) DEFAULT '…'``."""
_AFTER = re.compile(
    rf"""(?P<rest>\w{{0,20}})(?:
    \s?\|\s?(?P<filter>d(?:efault)?\(\s?)(?=["'])
    |(?P<of>{_OF})?(?:
      (?:["'`*]{{0,3}}\s++(?P<verb>{_VERB})|(?P<short>['’]s))\s++(?:<(?:code|kbd|b|strong|tt|em|samp|mark)>)?
      |["'`*]{{0,3}}:?["'`*]{{0,3}}\s*+(?P<dash>->|→|-|–|—|\.{{3,}}|[|│┃])\s++
      |(?P<closing></(?:strong|b|label|em|span|code)>)?[*`]{{0,3}}[ \t\u00a0]*(?P<sign>:=|=>|[:=](?!=))
        (?P<tag></\w{{1,8}}>|\s?<(?:code|kbd|b|strong|tt|em|samp)>)?[*`]{{0,3}}\s*+)
    |(?:\\?["']\s?[)\]])?\s{{1,3}}(?P<fallback>or|\|\||\?\?|<-|<>|in\s?\()\s{{0,3}}(?=\\?["'`])
    |\\?["']\s?,\s?(?P<default>default\s?=\s?)(?=\\?["'])
    |\\?["']\]\s*+(?P<key>=>|:?=|:)\s*+(?:string\(\d{{1,6}}\)\s)?
    |(?P<call>(?:\.(?:send_?keys|fill|type|val|set_?value|set_?text|press_?sequentially|input|clear_and_type))?\(|\{{)(?=\\?["'])
    |[\w-]{{0,20}}\\?["'\]]{{1,4}}(?:\s?\}})?(?P<typed>\){{0,3}}\s{{0,20}}\.\s?(?:\w{{1,20}}\(|value\s?=\s?)|\)?\s?,)\s{{0,20}}(?=\\?["'`])
    |(?:\(\))?\)?\s?(?P<asserted>,\s?|\.(?:(?:not|to|should)\.)?{_EQUALS}\(\s?)(?=\\?["'`])
    |["`\]]?\s{{1,9}}(?P<column>{_COLUMN})n?(?=')
    |(?P<space>(?:\s(?:that\s)?(?:you|we|they|I|he|she|the\suser)\s(?:provided|gave|sent|used|typed|entered))?
      [ \t]{{1,9}}\(?))
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
_CHANGED = re.compile(r"(?i)\b(?:set|chang|reset|updat|rotat)\w*\s+(?:\S+\s+){0,3}[\"'`*$]{0,3}\Z")
_ENDS = re.compile(r"""["'`*]{0,3}[.,;!]?["'`*]{0,3}[ \t]*(?:\r?\n|\Z)""")
_COUNTED = re.compile(
    r"(?i)[^\S\n]+(?:bit|byte|char|digit|letter|symbol|word|second|minute|hour|day|week|month|year|time|or\b|of\b|and\b|to\b)"
)
_FILLED = re.compile(r"(?i)\b(?:fill|typ|enter|populat)\w*\s+(?:\S+\s+){0,3}\S{0,20}\Z")
_PASSWORD = re.compile(r"(?i)pass|pwd|otp|pin|code\b|\bmasterauth\b")
_SHORTEST_NUMBER = 4
_NUMBER = re.compile(r"\d(?:[ -]?\d){2,39}")
"""A number as cards, codes and people have one."""
_SQL_TYPE = re.compile(
    r"(?i)(?:n?(?:var)?(?:char|binary)2?|bit|text|blob|numeric|decimal|number|float|timestamp)\d{0,2}\("
)
"""The type of a column, ``password VARCHAR(255)``."""
_LONGEST_WORD = 24
_ONES_KEY = re.compile(
    r"(?i)\b(?:(?P<own>my|your|here(?:['’]s| is) the)|this|(?:with|use|using|enter) the) key\Z"
)
"""What is said to be a key, *my key is …*, and is long."""
_SHORTEST_OWN_KEY, _SHORTEST_KEY = 12, 16
_OF_CALLS = ("auth", "cookie", "card", "conn", "code")
"""What calls are named whose argument is none: ``encode_auth("…")``."""
_STRONG = ("pass", "secret", "token", "key", "pwd", "credential")
"""What the argument of a call, ``set_secret("…")``, may have a simple one after."""
_IN_CAPITALS = re.compile(r"[A-Z]+\d{0,2}[A-Z]*")
"""The name of a kind of token, ``Token("ATOM1")``."""
_LONGEST_QUOTED = 200


def without_said(text: str, places: Sequence[int], names: Names) -> tuple[str, int]:
    """The text without secrets that are said after their name, and how many were found; `places` are those of
    the signs of names."""
    pieces: list[str] = []
    done = 0
    for place in places:
        if place < done:
            continue
        for begin, end in _places(text, place, names):
            if begin >= done:
                pieces += (text[done:begin], REDACTED)
                done = end
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _places(text: str, place: int, names: Names) -> Iterator[tuple[int, int]]:
    """Where secrets stand before, behind and below a name of which a sign stands at a place."""
    for find in (titled_value, value_in_sentence, value_behind_tag):
        span = find(text, place, names)
        if span is not None:
            yield span
            break
    match = _IN_SQL.match(text, place) or _BARE_IN_SQL.match(text, place) or _AFTER.match(text, place)
    if match is not None:
        yield from _places_behind(text, match, names)
    below = value_below(text, place, names)
    if below is not None:
        yield below


def _places_behind(text: str, match: re.Match[str], names: Names) -> Iterator[tuple[int, int]]:
    """Where the secret stands that a match tells of, and the one to which it is changed."""
    begin = match.start("value")
    value = _literal(match) or _in_quotes(match) or match["value"].rstrip(".,;:?)*]}")
    if match.re is not _AFTER:
        value = match["value"]
    elif match["quote"] is None and (match["verb"] or match["dash"]):
        value = text[begin : end_of_generated(text, begin, len(text))] or value
    if _may_be_secret(text, match, value, names) and _is_secret(text, match, value, names):
        yield begin, begin + len(value)
    if match.re is _AFTER and (match["verb"] or "")[-4:].lower() == "from":
        second = _TO.match(text, match.end())
        value = "" if second is None else second["value"].rstrip(".,;:?")
        if second is not None and is_made_up(value) and _is_secret(text, match, value, names):
            yield second.start("value"), second.start("value") + len(value)


def _may_be_secret(text: str, match: re.Match[str], value: str, names: Names) -> bool:
    """Returns False for a name, a stand-in, a type, and what is hidden already."""
    is_word = value.isalpha() and len(value) <= _LONGEST_WORD and value[1:].islower()
    if is_word and (names.is_secret(value) or not _is_in_statement(text, match)):
        return False
    is_stand_in = is_placeholder(match["value"].rstrip(".,;:?")) and len(value) <= len(match["value"])
    return not (
        text.startswith(REDACTED, match.start("value"))
        or is_placeholder(value)
        or is_stand_in
        or _SQL_TYPE.match(value)
    )


def _is_in_statement(text: str, match: re.Match[str]) -> bool:
    """Returns True for ``CREATE USER … IDENTIFIED BY '…'``, where nothing but a password stands."""
    before = text[max(0, match.start() - _WINDOW) : match.start()]
    return match.re is not _AFTER and IN_STATEMENT.search(before) is not None


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
    is_typed = match.re is _AFTER and (
        match["typed"] or match["space"] or match["call"] or match["key"] or match["column"]
    )
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
    if match["column"]:
        name = name_of_words(
            [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word][-1:], names
        )
        return name != "" and names.hides(name, value) and (is_opaque(value) or is_phrase(value))
    if match["asserted"]:
        return _is_asserted(match, value, before, names)
    if match["fallback"] or match["default"] or match["filter"]:
        words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
        name = name_of_words(_BETWEEN_DOTS.split(words[-1])[-1:], names) if words else ""
        return name != "" and names.hides(name, value) and is_literal(value)
    if match["sign"] and (match["of"] or match["tag"] or match["closing"]):
        name = name_of_words([word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word], names)
        name = name or _key_of_one(before, value)
        is_secret = is_made_up(value) if _PASSWORD.search(name) else reads_as_key(value)
        is_secret = is_secret or (match["of"] is not None and _is_code_of(name, value))
        return name != "" and is_secret and names.hides(name, value)
    if match["sign"]:
        spaced = _SPACED_NAME.search(before)
        name = name_of_words(spaced[0].split(), names) if spaced else ""
        if name == "" and _PASSWORD.search(before):
            words = _BETWEEN_WORDS.split(before.rpartition("\n")[2])[-_MOST_WORDS:]
            words = [word for word in words if word]
            name = "" if not words or names.is_secret(words[-1]) else name_of_words(words, names)
        name = name or _key_of_one(before, value)
        return name != "" and names.hides(name, value) and reads_as_key(value) and "(" not in value
    words = [word for word in _BETWEEN_WORDS.split(before)[-_MOST_WORDS:] if word]
    if not _reads_as_secret(text, match, value, words[-1], before[: -len(words[-1])]):
        return False
    line = [word for word in _BETWEEN_WORDS.split(before.rpartition("\n")[2])[-_MOST_WORDS:] if word]
    name = name_of_words(line, names) or name_of_words(words, names)
    name = name or _key_of_one(before, value)
    is_number = match["dash"] in BARS and value.isdecimal()
    return name != "" and names.hides(name, int(value) if is_number else value)


def _key_of_one(before: str, value: str) -> str:
    whose = _ONES_KEY.search(before)
    if whose is None:
        return ""
    return "api_key" if len(value) >= (_SHORTEST_OWN_KEY if whose["own"] else _SHORTEST_KEY) else ""


def _is_code_of(name: str, value: str) -> bool:
    """Returns True for the digits of a code: ``OTP for login: 482913``."""
    return value.isdecimal() and 4 <= len(value) <= 8 and name.lower().endswith(("otp", "pin", "code"))


_ASSERTS = re.compile(
    r"(?i)(?:\bassert\w{0,20}|\w{0,20}compare_digest|\w{0,20}equals?|\beq|timingSafeEqual|secure_compare)\(\s{0,20}"
    r"[\w.$>-]{0,60}\Z"
)


def _is_asserted(match: re.Match[str], value: str, before: str, names: Names) -> bool:
    """Returns True for a secret that a call compares: ``assertEqual(user.password, "…")``."""
    if match["asserted"][0] == "," and _ASSERTS.search(before) is None:
        return False
    name = _BETWEEN_DOTS.split(_BETWEEN_WORDS.split(before)[-1])[-1]
    is_value = may_be_word(name, names) or reads_as_key(value)
    return names.is_secret(name) and is_value and is_literal(value) and names.hides(name, value)


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
    name = name_of_words(words, names)
    return name != "" and names.hides(name, int(value) if value.isdecimal() else value)


def _reads_as_secret(text: str, match: re.Match[str], value: str, word: str, before: str) -> bool:
    """Returns True if a value is that of a secret by how it stands after `word`, before which is `before`."""
    if match["call"] and word.lower().endswith(_OF_CALLS) and word[:3].lower() != "set":
        return False
    if match["call"] or match["key"]:
        is_value = is_opaque(value) if any(sign in word.lower() for sign in _STRONG) else reads_as_key(value)
        return match["quote"] is not None and is_value and not _IN_CAPITALS.fullmatch(value)
    end = match.start("value") + len(value)
    if _is_code(text, match, value):
        return False
    if word in ("pass", "PASS") and is_verb_or_outcome(match, value, word, before):
        return False
    if match["dash"] in BARS:
        if not is_row_of_two(text, match.start(), end):
            return False
        if _NUMBER.fullmatch(value):
            return True
    is_password = _PASSWORD.search(word) is not None
    if match["space"]:
        return is_judged(text, match, value, before) or is_beside(
            match, value, before, may_be=is_password or is_of_variable(match, word)
        )
    verb = (match["verb"] or "").lower()
    if (
        (verb == "of" and not looks_random(value))
        or (match["short"] and value.islower() and not _ENDS.match(text, end))  # *the password's sha256sum*
        or (verb in ("to", "from") and not _CHANGED.search(before))
        or (verb == "with" and not _FILLED.search(before))
    ):
        return False
    if is_password and match["quote"] and value == _in_quotes(match):
        return is_opaque(value) and not is_measure(value)
    if value.isdigit():
        return is_password and len(value) >= _SHORTEST_NUMBER and not _COUNTED.match(text, end)
    return is_made_up(value) if is_password else reads_as_key(value)


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
