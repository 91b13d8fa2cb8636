"""Passwords that a generator made: with brackets, commas and other signs, as no code has them."""

from __future__ import annotations

import re

from agenttrace.redaction.values import is_made_up

_WORD = re.compile(r"""(?:(?!&(?:amp;)?[\w.%\[\]-]*=)[^\s"'`\\]){8,100}""")
_AROUND = re.compile(r"[)\]},;.:>]+\Z")
_STOPS = re.compile(r"[&;,<>(){}\[\]|]")
"""The signs at which a word of code, of a shell or of an address may end."""
_NOT_ALONE = re.compile(
    r"[;,&|?](?:[A-Z]?[a-z]++|[A-Z]{2,40}+)(?:[_.%\[\]-]{0,9}+(?:[A-Z]?[a-z]++|[A-Z]{2,40}+|\d++))*+[=:]"
    r"|://|->|=>|::|\.\*|[*+]\)|\(\?|\[\^|\[\w-\w|</[A-Za-z]|<[A-Z][a-z]{2,20}[,<>]|\$[{(]|[#%@]\{\w*\}|\{\{|\}\}"
)
"""Further fields, addresses, expressions: what such a word has is no part of a password."""
_LIKE_CODE = re.compile(r"<[A-Za-z]|\{[\w.:!]*\}|\.\w+\(")
"""Tags, formats and calls: what has one has to be odder for a password."""
_IN_WORD = re.compile(
    r"(?<=[A-Za-z0-9])(?:\{[\w.:!]{0,9}\}|<(?![a-z]{1,20}>|h[1-6]>)\w{1,9}>)(?=[A-Za-z0-9])"
)
"""What would be a field of a format or a tag if it stood in words: no code goes on right behind one."""
_SIDE_BY_SIDE = re.compile(
    r"[)\]}](?=[A-Za-z0-9@#$])|[(\[{](?=[%^=+,;./|>])|[=^#!@&%$~](?=[)\]}(\[{])|[(\[{](?=[#@&!$^][A-Za-z0-9])"
    r"|[;,|<>](?=[^\w\s(\[{\"'=-])"
)
"""Signs beside brackets as they stand in no language: ``)n``, ``(%``, ``^)``."""
_BETWEEN = re.compile(r"[#^~@]|(?<=[A-Za-z0-9])[$%!](?=[A-Za-z0-9])")
_CAST = re.compile(r"(?:\A|(?<=[(=,]))(?:\([A-Za-z_][\w. ]*\**\)|\[[A-Za-z][\w.]*(?:\[\])?\])(?=[\w($])")
"""A type in brackets before a value, ``(uint32_t)x``, ``[string]$x``."""
_SIGN = re.compile(r"[^A-Za-z0-9_.)\]}]")
_MANY_SIGNS = 4
_PIECE = re.compile(r"[A-Za-z0-9]+")
_NUMBER_AND_UNIT = re.compile(
    r"0[xXbB][0-9A-Fa-f]+|\d+(?:[eE]\d+)?(?:[A-Za-z]|px|em|ms|ns|us|th|nd|rd|st|[KMGkmg]i?[Bb])?"
)
# Without a way back: of many capitals, or small letters, there are very many ways to be parted into words.
_NAME = re.compile(
    r"[a-z]*+(?>[A-Z][a-z]++|[A-Z]{1,8}(?![a-z]))*+\d{0,4}|[A-Z]++\d{0,3}[A-Z]*+"
    r"|[A-Z]?[a-z]++\d{1,3}(?:[A-Z]?[a-z]++)*+|[A-Za-z][A-Za-z0-9]{0,2}"
)
"""A part of an identifier: in camel case, with a number at its end or between words."""
_REGULAR = re.compile(r"(?:[A-Z]?[a-z]++)*+\d{0,4}|[A-Z]++\d{0,4}")
_BREAKS = ",;([{+-*/%|=<>.:"
_OPENED, _CLOSED = "([{", ")]}"
_LONGEST_LINE = 300
_ENOUGH, _ENOUGH_FOR_CODE = 2, 3
"""Measured on 21,500 files of code and prose: under a secret's name no word like code is as odd as 3."""


def end_of_generated(text: str, begin: int, end: int) -> int:
    """Where a password ends that stands before a blank or a quote, with signs at which a word would end.

    `begin` where there is none. `end` is that of the text.
    """
    match = _WORD.match(text, begin, end)
    if match is None or _STOPS.search(match[0]) is None:
        return begin
    word = _AROUND.sub("", match[0])
    if _STOPS.search(word) is None:
        return begin
    first = text.rfind("\n", max(0, begin - _LONGEST_LINE), begin) + 1
    stop = text.find("\n", match.end(), match.end() + _LONGEST_LINE)
    after = text[begin + len(word) : min(end, match.end() + _LONGEST_LINE) if stop < 0 else stop]
    before = text[max(first, begin - _LONGEST_LINE) : begin]
    # Code breaks its lines behind a comma or an operator.
    is_open = match[0][-1] not in _BREAKS and _is_left_open(word, before, after)
    is_one = is_generated(word) or (is_open and _looks_made_up(word))
    return begin + len(word) if is_one else begin


def is_generated(word: str, *, is_whole: bool = False) -> bool:
    """Returns True for letters and digits among signs, as names and operators do not stand in code.

    Of a value that `is_whole`, such as a cell of a table, a bracket of no pair tells.
    """
    if not _has_signs_of_both(word):
        return False
    is_code = _LIKE_CODE.search(word) is not None
    if is_whole and not is_code and _is_left_open(word, "", ""):
        return True
    is_odd = _SIDE_BY_SIDE.search(_CAST.sub("", word)) is not None or _has_brackets_in_word(word)
    oddness = 3 if is_odd else 0
    oddness += 2 if len(set(_SIGN.findall(word))) >= _MANY_SIGNS else 0
    oddness += len(_BETWEEN.findall(word)) + sum(map(_oddness, _PIECE.findall(word)))
    return oddness >= (_ENOUGH_FOR_CODE if is_code else _ENOUGH)


def _looks_made_up(word: str) -> bool:
    return _has_signs_of_both(word) and _LIKE_CODE.search(word) is None


def _has_signs_of_both(word: str) -> bool:
    has_both = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return has_both and _NOT_ALONE.search(word) is None and is_made_up(word)


def _has_brackets_in_word(word: str) -> bool:
    return _IN_WORD.search(word) is not None and not all(map(_REGULAR.fullmatch, _PIECE.findall(word)))


def _oddness(piece: str) -> int:
    """How little letters and digits look like a name or a number: 0 to 2."""
    if _NUMBER_AND_UNIT.fullmatch(piece) or _NAME.fullmatch(piece):
        return 0
    return 2 if piece[0].isdigit() else 1


def _is_left_open(word: str, before: str, after: str) -> bool:
    """Returns True if a bracket of a word is one of no pair on its line, of which the rest is there, too."""
    return any(
        word.count(opened) != word.count(closed)
        and not (opened in before if word.count(opened) < word.count(closed) else closed in after)
        for opened, closed in zip(_OPENED, _CLOSED, strict=True)
    )
