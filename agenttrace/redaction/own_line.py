"""A secret after its name where the two are a line: in ``.env``, ini and YAML, and as people write notes.

The end of the line, or the quotes, say where such a value ends; so it may have any sign in it.
"""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.grouped import is_card_in_groups
from agenttrace.redaction.names_in_code import is_name_in_code
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.values import (
    is_app_password,
    is_made_up,
    is_mixed,
    is_opaque,
    is_phrase,
    is_placeholder,
    says_something,
)

_BEFORE = re.compile(
    r"""(?:[ \t]{0,9}\d{1,7}[ \t]{0,3}[\t→:|]|[\w./-]{1,160}:\d{1,7}[:-]|[+-]"""
    r"""|[A-Za-z][\w.-]{0,60}[ ]{1,20}\|[ ]{1,4}|[ \t]{0,40}(?:\#|//)[ \t])?[ \t>*`_-]{0,40}"""
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
    r"""|"[^"]*"|'[^']*')(?:\.[A-Za-z_]\w*)*)+[;,]?|[\w.]*[A-Za-z_][(\[{]{1,3}(?:[brfu]?["']{3}.*)?|[A-Za-z_]+(?:\.[A-Za-z_]+)+|-?\d[\w.+-]*"""
    r"""|[A-Za-z_.]+(?:\|[A-Za-z_.]+)+|(?:''|"")\.\w+\(.*\)|[A-Za-z_]\w*<[\w:*&, ]{1,60}>\(.*\)[;,]?"""
)
"""A call, an index, a name in a module, a type: what code has after ``=`` and ``:``; and a number."""
_OTHER = re.compile(
    r"""\(.*\)|\[.*\]|\{.*\}|[(\[{]+|[)\]}]+|[(\[{]["'].*|(?P<quote>["'`]).*(?P=quote)[)\]},;]*|["'`]{1,3}"""
)
"""What is data in brackets, or a text, that is read elsewhere."""
_LIKE_CALL = re.compile(r"(?=[A-Za-z0]*[A-Za-z][01345][a-z])[A-Z][A-Za-z0-9]+\(\d{1,4}\)")
"""A password such as ``Passw0rd(1)``: no function is named with digits for letters."""
_SHORTEST = 8
_TYPE = re.compile(r"[A-Z]+\d{0,5}(?:[A-Z][a-z]{2,}){2,6}")
"""The name of a type, ``PKCS7PrivateKeyTypes``: in random letters capitals do not stand three apart."""


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
        return _words_on_line(text, place + 1, stop)
    if after["quote"]:
        quoted, quote = after["quoted"], after["quote"]
        # A quote within, doubled as in YAML and SQL, or as in a shell: '\'' .
        is_value = is_phrase(quoted) or ((quote == "`" or quote in quoted) and is_opaque(quoted))
        return after.span("quoted") if is_value and REDACTED not in quoted else None
    bare = after["bare"].rstrip(",;")
    code = bare.rstrip(")]},;:") if bare.count("{") != 1 else bare
    is_list = "," in bare and bare.islower()  # of words: ``auth: oauth2,jwt``
    if random and (
        _TYPE.fullmatch(bare) or not (_looks_generated(bare) or (is_made_up(bare) and not is_list))
    ):
        return None
    if (
        (len(bare) < _SHORTEST and not is_made_up(bare))
        or (_CODE.fullmatch(bare) and not _LIKE_CALL.fullmatch(bare))
        or _OTHER.fullmatch(bare)
        or _CODE.fullmatch(code)
        or (bare[-1] == "\\" and _CODE.fullmatch(bare[:-1].removesuffix(".")))
        or is_name_in_code(code)
        or _MORE.search(bare)
        or is_placeholder(bare)
    ):
        return None
    first = after.start("bare")
    return (first, first + len(bare)) if is_opaque(bare) else None


_WORDS = re.compile(
    r"""[ \t]*(?P<words>(?![-/$])[^\s"'`=()\[\]{}<>,]+(?:[ ](?![-/$])[^\s"'`=()\[\]{}<>,]+){1,5})[ \t]*"""
)


def _words_on_line(text: str, begin: int, stop: int) -> tuple[int, int] | None:
    """Where a password of several words stands, of which the first two are of letters and digits, or a card's
    number."""
    match = _WORDS.fullmatch(text, begin, stop)
    if match is None:
        return None
    words = match["words"].split()
    is_number = is_app_password(match["words"]) or is_card_in_groups(match["words"])
    is_one = is_number or (is_mixed(words[0]) and is_mixed(words[1]) and words[0][-1] not in ".:;")
    return match.span("words") if is_one else None


_ENV = re.compile(r"[ \t]*(?:(?:export|set|ENV|ARG)[ ])?[A-Z][A-Z0-9_]*")
_DOTTED = re.compile(r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)+(?=[ \t]*(?:\r?\n|\Z))")


def dotted_value(text: str, place: int) -> tuple[int, int] | None:
    """Where a value of words and dots stands on a line of ``.env``, without code: ``DB_PASSWORD=a.b``."""
    begin = text.rfind("\n", max(0, place - _LONGEST_NAME), place) + 1
    if _ENV.fullmatch(text, begin, place) is None:
        return None
    value = _DOTTED.match(text, place + 1)
    return None if value is None else value.span()


_WORD = re.compile(r"[ \t]*=[ \t]*(?P<word>[a-z]{4,32})[ \t]*(?=\r?\n|\Z)")
_SETTING = re.compile(r"[ \t]*(?:[\w.-]+[ \t]*=[ \t]*[^\s()'\"\[\]{},]*|\[[\w.: -]+\]|[#;][^\n]*)[ \t]*\r?")


def word_of_settings(text: str, place: int) -> tuple[int, int] | None:
    """Where a word stands that an INI file sets, ``password = swordfish``: the lines next to it are settings,
    and the word stands nowhere else, as a variable would."""
    word = _WORD.match(text, place)
    if word is None or len(text) > _LONGEST_SETTINGS:
        return None
    begin = text.rfind("\n", 0, place) + 1
    before = text[text.rfind("\n", 0, max(begin - 1, 0)) + 1 : max(begin - 1, 0)]
    stop = text.find("\n", word.end() + 1)
    after = text[word.end() + 1 : len(text) if stop < 0 else stop].lstrip("\n")
    are_settings = all(not line.strip() or _SETTING.fullmatch(line) for line in (before, after))
    return word.span("word") if are_settings and text.count(word["word"]) == 1 else None


_LONGEST_SETTINGS = 100_000


def setting(text: str, name: str, place: int, names: Names) -> tuple[int, int] | None:
    """Where a value stands that code has not: in a file of settings, or of an environment."""
    value = dotted_value(text, place)
    if value is None and may_be_word(name, names):
        value = word_of_settings(text, place)
        word = "" if value is None else text[value[0] : value[1]]
        return None if not word or says_something(word) or names.is_secret(word) else value
    return value


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
