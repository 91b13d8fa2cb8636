"""Whether any of several texts could have a value after a secret's name: told of all of them at once."""

from __future__ import annotations

from collections.abc import Iterator

from agenttrace.redaction.calls import OF_ONE_TEXT, OF_VALUES
from agenttrace.redaction.codes import holds_code
from agenttrace.redaction.declared import declared_names
from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.html_attributes import SIGNS as ATTRIBUTE_SIGNS
from agenttrace.redaction.html_attributes import holds_attributes
from agenttrace.redaction.listed import LISTED_SIGNS, MARKED_FORMS, last_name
from agenttrace.redaction.name_before import WINDOW, name_before
from agenttrace.redaction.naming import Names
from agenttrace.redaction.texts import OTHER_MARKS, has_any, has_sign

_DENSE = 30
"""Characters for each separator from which on the signs of all names are looked for first."""
_NO_WORDS = ("",)
_QUOTES = frozenset("\"'")
_QUOTES_AND_SPACES = _QUOTES.union(filter(str.isspace, map(chr, range(0x3001))))


def may_hold_named(text: str, lowered: str, marks: str, names: Names, signs: tuple[str, ...]) -> bool:
    """Returns False only if none of several texts, one after the other, has a value after a secret's name.

    Each of them ends before a new line of this text. `marks` and `signs` as in `may_have_names`.
    """
    count = marks.count(":") + marks.count("=")
    if not count and not any(mark in marks for mark in OTHER_MARKS):
        return False
    if count * _DENSE > len(text) and not has_sign(lowered, signs):  # of names without one, such as *puk*
        named = _names_in(text, marks)
        return any(map(names.is_secret, named)) or holds_code(text, named, names)
    named = _names_in(text, marks) if count else set()
    if "=" in marks:
        named.update(declared_names(text))
    if ("'," in marks or '",' in marks) and has_any(LISTED_SIGNS, text):
        named |= _listed_names_in(text)
        for signs_of_call, call in OF_VALUES if "(" in text else ():
            if has_any(signs_of_call, text) and call.search(text) is not None:
                named.add("password")
    if "(" in text and any(
        has_any(signs, text) and call.search(text) is not None for signs, call in OF_ONE_TEXT
    ):
        named.add("password")
    for name in named:
        if names.is_secret(name):
            return True
    if "<" in marks and has_any(ATTRIBUTE_SIGNS, text) and holds_attributes(text, names):
        return True
    if holds_code(text, named, names):
        return True
    return any(
        names.is_secret(last_name(match["name"])) or name_of_field(match["name"], names) is not None
        for mark, forms in MARKED_FORMS.items()
        if mark in marks
        for _, signs_of_it, pattern in forms
        if has_any(signs_of_it, text)
        for match in pattern.finditer(text)
    )


def _names_in(text: str, marks: str) -> set[str]:
    """The names before ``:`` and ``=`` in several texts, whether or not a text ends before one.

    `marks` is their punctuation.
    """
    names: set[str] = set()
    done: set[str] = set()
    others = marks.count(":") + marks.count("=")
    for sign in ('":', "':"):  # as in JSON: all of them at once
        if sign in marks:
            pieces = text.split(sign)
            del pieces[-1]
            quoted = {piece.rpartition(sign[0])[2] for piece in pieces}
            if quoted and all(map(str.isidentifier, quoted)) and max(map(len, quoted)) < WINDOW - 2:
                names |= quoted
                others -= len(pieces)
                done.add(sign)
    if others:
        for separator in ":=":
            if separator in marks:
                names |= _other_names_in(text, separator, done)
    return names


def _other_names_in(text: str, separator: str, done: set[str]) -> set[str]:
    """The names before a separator, but for those before the signs in `done`."""
    pieces = text.split(separator)
    del pieces[-1]
    # Most are one word of letters, such as https: those are told with few steps.
    words = {(piece.rsplit(None, 1) or _NO_WORDS)[-1] for piece in pieces}
    together = "".join(words)
    if together.isidentifier() and (len(together) < WINDOW or max(map(len, words)) < WINDOW):
        return words
    return set(_names_at_ends(text, pieces, [sign[0] for sign in done if sign[1] == separator]))


def _names_at_ends(text: str, pieces: list[str], done: list[str]) -> Iterator[str]:
    """The names at the ends of pieces, each with one letter between it and the next, but for those that end
    with a quote in `done`."""
    place = -1
    for piece in pieces:
        place += len(piece) + 1
        if piece[-1:] in done:
            continue
        name = piece.rpartition("\n")[2].rpartition(" ")[2]
        if not name.isidentifier() or len(name) >= WINDOW:
            name, _ = name_before(text, place)
            if "\n" in name:
                yield name.rpartition("\n")[2]
        yield name


def _listed_names_in(text: str) -> set[str]:
    """The names in quotes before a comma, as `listed` finds them."""
    ends = {part.rstrip() for part in text.split(",") if part[-1:] in _QUOTES_AND_SPACES}
    names = {end[:-1].rstrip("\\").rpartition(end[-1])[2] for end in ends if end[-1:] in _QUOTES}
    return {name.lstrip("-") for name in names}
