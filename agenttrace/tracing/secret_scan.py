"""`SecretScan`: whether a JSON text may hold a secret, by one look at its bytes.

It stands before the rules of `secrets`, which look closely, string by string, and take thirty times as long.
What it needs is derived from their table, so a shape that is added there cannot be missed here: each shape
has *signs*, in lower case, of which one stands in whatever has that shape; and it may promise that its sign
stands in a *run* of so many letters, digits, ``_`` and ``-``. Most texts have no such run, and then no sign
of these shapes has to be looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from agenttrace.core.jsonable import to_json
from agenttrace.tracing.secrets import Shape

SHORTEST_RUN = 12
"""A shape that promises a shorter run counts as one that promises none: words are as long."""

_TOKEN = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_CLASSES = bytes(ord("x") if byte in _TOKEN else ord(" ") for byte in range(256))
_LOWERED_TO_ASCII = tuple(character.encode() for character in "\u212a\u0130")
"""The only characters beyond ASCII whose lower case begins with an ASCII letter: bytes do not show it."""

_RAREST = b"jqxzkvwybgpfmucldrhsnioate"
"""Letters from rare to frequent in texts: a byte is found in a tenth of the time that a word takes."""

# In JSON a quote inside a text is escaped, and so is white space but for the blank.
_QUOTES = ('\\"', "'")
_LONGEST_NAME = 64
_NAME = re.compile(r"[^\W\d_][\w. -]{0,63}")
_TO_COLON = re.compile(r"""(?:[^\S"'\\]|\\[nrtf]|\\u00[0-9a-f][0-9a-f])*:""")


def classes_of(json: bytes) -> bytes:
    """The text with ``x`` for each byte that a token may hold, and a blank for all others."""
    return json.translate(_CLASSES)


class SecretScan:
    """Looks for what may be a secret, for one table of shapes and one rule for names.

    `is_secret` says whether the field of a name, in JSON or Python's repr within a text, is secret. The names
    of the JSON's own mappings are not looked at.
    """

    def __init__(self, shapes: Iterable[Shape], is_secret: Callable[[str], bool]) -> None:
        shapes = list(shapes)
        in_runs = [shape for shape in shapes if shape.run >= SHORTEST_RUN]
        others = [shape for shape in shapes if shape.run < SHORTEST_RUN]
        self._is_secret = is_secret
        self._shortest_run = b"x" * min((shape.run for shape in in_runs), default=1)
        self._runs = re.compile(rb"x{%d,}" % len(self._shortest_run))
        self._in_runs = _signs(in_runs)
        self._anywhere = [(_rarest(sign), sign) for sign in _signs(s for s in others if not s.beside)]
        self._beside = [(written(shape.beside), _signs([shape])) for shape in others if shape.beside]

    def may_hold(self, json: bytes, classes: bytes) -> bool:
        """Returns False only if no text in the JSON, key or value, holds a secret.

        `classes` is what `classes_of` makes of it.
        """
        lowered = json.lower()
        for rare, sign in self._anywhere:
            if rare in lowered and sign in lowered:
                return True
        for beside, signs in self._beside:
            if beside in lowered and _has_any(signs, lowered):
                return True
        if self._in_runs and self._shortest_run in classes:
            runs = b" ".join([lowered[run.start() : run.end()] for run in self._runs.finditer(classes)])
            if _has_any(self._in_runs, runs):
                return True
        if not json.isascii() and _has_any(_LOWERED_TO_ASCII, json):
            return True
        # A backslash, as it is sought in a third of the time.
        return (b"'" in json or b"\\" in json) and self._has_secret_field(json)

    def _has_secret_field(self, json: bytes) -> bool:
        """Returns True if a text has a secret name between two quotes, and a colon after them."""
        text = json.decode()
        for quote in _QUOTES:
            before, *pieces = text.split(quote)  # no name has a quote in it, so none is torn
            for piece in pieces:
                if _TO_COLON.match(piece):
                    name = before.rstrip("\\")
                    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) and self._is_secret(name):
                        return True
                before = piece
        return False


def written(sign: str) -> bytes:
    """A sign as it stands in JSON."""
    return to_json(sign)[1:-1].encode()


def _signs(shapes: Iterable[Shape]) -> tuple[bytes, ...]:
    return tuple({written(sign): None for shape in shapes for sign in shape.signs})


def _rarest(sign: bytes) -> bytes:
    """The byte of a sign that is the least likely to stand in a text."""
    letters = [letter for letter in _RAREST if letter in sign]
    others = [byte for byte in sign if byte not in _RAREST and byte not in b" "]
    return bytes([(letters or others or list(sign))[0]])


def _has_any(signs: Iterable[bytes], text: bytes) -> bool:
    for sign in signs:  # noqa: SIM110 - a generator in `any` takes half as long again
        if sign in text:
            return True
    return False
