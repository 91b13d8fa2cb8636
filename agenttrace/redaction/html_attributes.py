"""Secrets in a tag that says their name: ``<input name="token" value="…">``, ``<Password value="…"/>``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.values import is_opaque, is_placeholder

SIGNS = ("value=", "content=", "val=", "Value=", "VALUE=")
"""One of these stands in each such text."""
_TAG = re.compile(r"""<(?P<element>[A-Za-z][\w:.-]{0,60})\s(?P<attributes>[^<>]{1,8192})""")
_ATTRIBUTE = re.compile(
    r"""(?<![\w:.-])(?P<key>[\w:.-]{1,60})=\\{0,20}(?P<quote>["'])?"""
    r"""(?P<value>(?(quote)(?:(?!(?P=quote))[^<>\\…]|\\++(?!(?P=quote))){1,4096}|[^\s"'<>=`\\…]{1,4096}))"""
)
_OF_NAMES = (
    "name",
    "id",
    "key",
    "type",
    "property",
    "placeholder",
    "aria-label",
    "autocomplete",
    "data-testid",
)
_OF_VALUES: tuple[str, ...] = ("value", "content")
_OF_ELEMENTS = (*_OF_VALUES, "val")
"""Where an element that is named as a secret has it; `val` in files of Word and Excel."""
_LONGEST_COUNT = 20


def holds_attributes(text: str, names: Names) -> bool:
    """Returns True if a tag has a value beside the name of a secret."""
    return next(_secrets(text, names), None) is not None


def without_attributes(text: str, names: Names) -> tuple[str, int]:
    """The text without the values of tags whose names are those of secrets, and how many were found."""
    pieces: list[str] = []
    done = 0
    for first, last in _secrets(text, names):
        pieces += (text[done:first], REDACTED)
        done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _secrets(text: str, names: Names) -> Iterator[tuple[int, int]]:
    for tag in _TAG.finditer(text):
        attributes = list(_ATTRIBUTE.finditer(text, *tag.span("attributes")))
        called = [one["value"] for one in attributes if one["key"].lower() in _OF_NAMES]
        name = next((name for one in called if (name := name_of_field(one, names)) is not None), None)
        keys, is_hidden = _OF_VALUES, _is_secret
        if name is None:
            name, keys, is_hidden = name_of_field(tag["element"], names), _OF_ELEMENTS, _is_of_element
        for one in attributes if name is not None else ():
            key = one["key"].lower().rpartition(":")[2]
            if name is not None and key in keys and is_hidden(name, one["value"], names):
                yield one.span("value")


def _is_secret(name: str, value: str, names: Names) -> bool:
    return names.hides(name, value) and not value.startswith(REDACTED) and not is_placeholder(value)


def _is_of_element(name: str, value: str, names: Names) -> bool:
    """Returns True for the secret of an element, ``<password value="…"/>``; a word or a count stands in those
    of a parser, ``<token value="if"/>``."""
    is_count = value.isdecimal() and len(value) < _LONGEST_COUNT
    if not _is_secret(name, value, names) or (is_count and not names.hides(name, int(value))):
        return False
    return is_count or is_opaque(value) or may_be_word(name, names)
