"""What a text may hold: a quick look at its bytes, which most texts pass as harmless."""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from agenttrace.redaction.shape import RUN, Shape
from agenttrace.redaction.shape_search import pattern_in
from agenttrace.redaction.shapes import ENCODED_RUN, SHAPES

_OF_RUNS = (string.ascii_letters + string.digits + "_-").encode()
_OF_WORDS = _OF_RUNS + b".~+/=:%$?&@"
_OF_PLAIN_WORDS = (string.ascii_letters + " .!?").encode()
_MARKS = b":=<>/-,'\"%"
_TO_RUNS = bytes(120 if byte in _OF_RUNS else 32 for byte in range(256))
_TO_RUNS_AND_DIGITS = bytes(
    49 if byte in string.digits.encode() else 120 if byte in _OF_RUNS else 32 for byte in range(256)
)
"""Signs of a run to ``x``, digits to ``1``, the rest to spaces."""
_TO_WORDS = bytes(ord(chr(byte).lower()) if byte in _OF_WORDS else 32 for byte in range(256))
_NO_MARKS = bytes(byte for byte in range(256) if byte not in _MARKS)
_RUN, _LONG_RUN = b"x" * RUN, b"x" * ENCODED_RUN
_LONGEST_WORD = 10_000
_SHORT_TEXT = 500
_HEAD = 4_000
"""Of a longer word, which is a picture or a file, signs are looked for in its first letters only."""

_GRAM = 3
_IN_RUNS = [shape for shape in SHAPES if shape.run >= RUN]
_ANYWHERE = [
    ("".join(letter for letter in sign if letter.encode() in _MARKS), shape.needs, sign, shape)
    for shape in SHAPES
    if shape.run < RUN
    for sign in shape.signs
]
"""The signs of rows, with their punctuation, and what else a text of their row has."""
_SHORT = [(place, sign) for place, shape in enumerate(_IN_RUNS) for sign in shape.signs if len(sign) < _GRAM]
_BY_GRAM: dict[str, list[tuple[int, str]]] = {}
for _place, _shape in enumerate(_IN_RUNS):
    for _sign in _shape.signs:
        if len(_sign) >= _GRAM:
            _BY_GRAM.setdefault(_sign[:_GRAM], []).append((_place, _sign))


class Look(NamedTuple):
    """What a look at a text's bytes tells.

    `marks` is its punctuation, none of prose: a text, in which Python finds another ten times as fast as it
    finds bytes in bytes; `run` its longest run of letters and digits, which is
    `ENCODED_RUN`, `RUN` or 0. Also of prose: whether a digit stands beside a letter, digit, ``_`` or ``-``,
    and whether it has a hyphen. In a short text such a digit may be.
    """

    marks: str
    run: int
    has_digit_in_word: bool = False
    has_hyphen: bool = False


PROSE = Look("", 0)
"""Of a text in which nothing is looked for."""

LONGEST_ID = 36
_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.:+Z-]{0,16}"
)


def is_id(text: str) -> bool:
    """Returns True for a UUID, the id of a trace or a moment: no secret has such a shape."""
    return len(text) <= LONGEST_ID and _ID.fullmatch(text) is not None


def look_at(text: str) -> Look:
    """Look at a text. Python's own search of bytes looks through a long text a hundred times faster than a
    regular expression, which would hold up the traced threads meanwhile."""
    data = text.encode("utf-8", "surrogatepass")
    rest = data.translate(None, _OF_PLAIN_WORDS)
    if not rest.strip(b","):
        run = _longest_run(data.translate(_TO_RUNS))
        return Look("", run) if run else PROSE
    in_word = len(data) < _SHORT_TEXT  # which is looked through sooner than its digits are
    runs = data.translate(_TO_RUNS if in_word else _TO_RUNS_AND_DIGITS)
    if not in_word and _has_digit_in_word(runs):
        in_word, runs = True, runs.replace(b"1", b"x")
    run = _longest_run(runs)
    marks = rest.translate(None, _NO_MARKS).decode()
    if not marks.strip(",-'") and "--" not in marks and "'," not in marks:
        has_hyphen = "-" in marks
        return Look("", run, in_word, has_hyphen) if run or in_word or has_hyphen else PROSE
    return Look(marks, run, in_word, "-" in marks)


def _longest_run(runs: bytes) -> int:
    return (ENCODED_RUN if runs.find(_LONG_RUN) >= 0 else RUN) if runs.find(_RUN) >= 0 else 0


def _has_digit_in_word(runs: bytes) -> bool:
    find, size = runs.find, len(runs)
    place = find(b"1")
    while place >= 0:
        if runs[place - 1] != 32 or runs[place + 1 - size] != 32:  # what lies beyond one end is at the other
            return True
        place = find(b"1", place + 1)
    return False


def shapes_in(text: str, lowered: str, look: Look) -> list[Shape]:
    """The rows of which a sign stands in a text, in their order."""
    shapes: list[Shape] = []
    if look.run:
        words = text.encode("utf-8", "surrogatepass").translate(_TO_WORDS).split()
        long = " ".join(
            [
                word.decode("ascii") if len(word) < _LONGEST_WORD else word[:_HEAD].decode("ascii")
                for word in words
                if len(word) >= RUN
            ]
        )
        places = {place for place, sign in _SHORT if sign in long}
        grams = {long[begin : begin + _GRAM] for begin in range(len(long) - _GRAM + 1)}
        for gram in grams & _BY_GRAM.keys():
            places.update(place for place, sign in _BY_GRAM[gram] if sign in long)
        shapes = [_IN_RUNS[place] for place in sorted(places)]
    has_mark = ":" in look.marks or "---" in look.marks
    if has_mark or "bearer" in lowered or (look.run and "auth " in lowered):
        marks = look.marks
        for of_sign, needs, sign, shape in _ANYWHERE:
            if of_sign in marks and needs in text and sign in lowered and shape not in shapes:
                shapes.append(shape)
    return shapes


def may_hold_shape(text: str, lowered: str, look: Look) -> bool:
    """Returns False only if none of several texts, one after the other on lines of their own, has a shape."""
    shapes = shapes_in(text, lowered, look)
    has_escapes = "\\" in text
    return any(pattern_in(shape, has_escapes=has_escapes).search(text) is not None for shape in shapes)
