"""Secrets in quoted parts of a text with escapes, as JSON and `repr` write them: found in what they spell."""

from __future__ import annotations

import re
from collections.abc import Callable

from agenttrace.core.jsonable import to_json
from agenttrace.core.marks import REDACTED

Clean = Callable[[str], str]
"""Returns the text without secrets: the same object where there are none."""

_OPENS = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=\A[rbfuRBFULNEex])|(?<=[^A-Za-z0-9\\][rbfuRBFULNEex])"
    r"|(?<=[^A-Za-z0-9](?:rb|br|Rb|bR|fr|rf|u8)))"
)
"""What is before a quote that opens a part; that of *it's* does not."""
_QUOTED = {
    '"': re.compile(_OPENS + r'"((?>[^"\\\n]+|\\[\s\S])*)'),
    "'": re.compile(_OPENS + r"'((?>[^'\\\n]+|\\[\s\S])*)"),
}
"""A part up to the quote that ends it, or to the end of its line, or of a text that was cut."""
_WHOLE = {
    '"': re.compile(r"""(?<![A-Za-z0-9\\])'[^'"\\\n]{0,300}\\[^'\n]{0,300}'"""),
    "'": re.compile(r"""(?<![A-Za-z0-9\\])"[^'"\\\n]{0,300}\\[^"\n]{0,300}(?:\\"[^"\n]{0,300}){0,9}\""""),
}
"""A part in the other quotes, whose end is there, with an escape."""
_OTHER_ESCAPED = re.compile(r"""(?<!\\)(?:\\\\)*\\\"""")
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([\s\S]))"
)
_KEY_OF_LITERALS = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"""(?:[A-Za-z0-9+/=:,.()\s"']|-(?!----BEGIN)|(?>\\[nr\\]?)){1,20000}?"""
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)
"""A private key in one literal or several, one after the other as code joins them."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "a": "\a"}
_HALVES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")


def may_have_escaped(text: str) -> bool:
    """Returns True if a quoted part of a text, which has a backslash, may have an escape."""
    return '"' in text or "'" in text


def without_key_of_literals(text: str) -> tuple[str, int]:
    """The text without private keys that are one literal or several, and how many were found."""
    return _KEY_OF_LITERALS.subn(REDACTED, text) if "PRIVATE KEY" in text else (text, 0)


def without_escaped(text: str, clean: Clean) -> tuple[str, int]:
    """The text without secrets that only what its quoted parts spell shows, and how many parts held one.

    A token after ``\\n`` begins a line, and a table in a field of JSON has lines, once it is spelled out.
    """
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        if "\\" not in match[1]:
            return match[0]
        spelled = spelled_out(match[1])
        cleaned = clean(spelled)
        if cleaned is spelled:
            return match[0]
        quote = match[0][0]
        changed = with_places_of(match[1], spelled, cleaned, _places)
        if changed is None:
            if "\n" in match[1]:  # no literal, and what stands in it as it is has been found
                return match[0]
            changed = _escaped(cleaned, quote)
        count += 1
        return quote + changed

    for quote, pattern in _QUOTED.items():
        if quote in text:
            text = _sub(pattern, replace, text)
    return text, count


_ESCAPED_SPACE = re.compile(r"(?<!\\)\\++[nrt]")


def with_blanks(text: str) -> str:
    """The text, as long as it was, with blanks for the ends of lines that its quoted parts spell.

    What they spell is looked through by itself: as the text stands, ``\\n`` must not be letters of a word.
    """
    if "\\" not in text or not may_have_escaped(text):
        return text
    for quote, pattern in _QUOTED.items():
        if quote in text:
            text = _sub(pattern, _with_blanks, text)
    return text


def _with_blanks(part: re.Match[str]) -> str:
    return _ESCAPED_SPACE.sub(_blank, part[0]) if "\\" in part[0] else part[0]


def _blank(escape: re.Match[str]) -> str:
    return " " * len(escape[0])


def _is_stray(part: re.Match[str], text: str) -> bool:
    """Returns True for a quote without an end, in prose: behind it stands a whole part in other quotes. And
    for JSON as a shell has it, ``'{"a": "\\""}'``: Python does not escape the other quote."""
    end = part.end()
    if part[0][0] == "'" and _OTHER_ESCAPED.search(part[1]) is not None:
        return True
    is_open = end >= len(text) or text[end] == "\n"
    return is_open and not text.endswith("]", 0, end) and _WHOLE[part[0][0]].search(part[1]) is not None


def _sub(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Each part replaced. Behind it the quote that ends it is left out: it begins no other."""
    pieces: list[str] = []
    done = place = 0
    while (match := pattern.search(text, place)) is not None:
        if "\\" in match[1] and _is_stray(match, text):
            place = match.end()
            continue
        place = match.end() + 1
        replaced = replace(match)
        if replaced is not match[0] and replaced != match[0]:
            pieces += (text[done : match.start()], replaced)
            done = match.end()
    return "".join((*pieces, text[done:])) if pieces else text


def with_places_of(
    text: str, spelled: str, cleaned: str, places_in: Callable[[str], list[int]]
) -> str | None:
    """The text with only that replaced which was taken out of what it spells; None where more was changed.

    What looks like a literal may be none: a path between two apostrophes keeps its backslashes. `places_in`
    tells where in a text each letter of what it spells begins, and where the last one ends.
    """
    first, *pieces = cleaned.split(REDACTED)
    if not spelled.startswith(first) or not pieces:
        return None
    places = places_in(text)
    if len(places) != len(spelled) + 1:
        return None
    result, done = [text[: places[len(first)]]], len(first)
    for number, piece in enumerate(pieces, 1):
        is_last = number == len(pieces)
        begin = len(spelled) - len(piece) if is_last else spelled.find(piece, done)
        if begin < done or not spelled.startswith(piece, begin):
            return None
        done = begin + len(piece)
        result += (REDACTED, text[places[begin] : places[done]])
    return "".join(result)


def _places(text: str) -> list[int]:
    """Where each letter of what a text spells begins in it, and where the last one ends."""
    places: list[int] = []
    done, before = 0, ""
    for escape in _ESCAPE.finditer(text):
        places += range(done, escape.start())
        letter = _letter(escape)
        is_half = escape.start() == done and before != "" and _HALVES.fullmatch(before + letter) is not None
        if not is_half:
            places.append(escape.start())
        done, before = escape.end(), "" if is_half else letter
    return [*places, *range(done, len(text) + 1)]


def spelled_out(text: str) -> str:
    """What a text with escapes of JSON or Python spells. A backslash before another letter is left out."""
    spelled = _ESCAPE.sub(_letter, text)
    return _HALVES.sub(lambda halves: halves[0].encode("utf-16", "surrogatepass").decode("utf-16"), spelled)


def _letter(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    return chr(int(code, 16)) if code else _CONTROLS.get(escape[4], escape[4])


def _escaped(text: str, quote: str) -> str:
    if quote == '"':
        return to_json(text)[1:-1]
    return repr(f'"{text}')[2:-1]  # with a double quote in it, Python puts single ones around it
