"""Secrets in a tag whose other attributes say their name: ``<input name="csrf_token" value="…">``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.fields import name_of_field
from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_placeholder

SIGNS = ("value=", "content=")
"""One of these stands in each such text."""
_TAG = re.compile(r"""<[A-Za-z][\w:-]{0,60}\s(?P<attributes>[^<>]{1,8192})""")
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
_OF_VALUES = ("value", "content")


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
        if name is not None:
            for one in attributes:
                if one["key"].lower() in _OF_VALUES and _is_secret(name, one["value"], names):
                    yield one.span("value")


def _is_secret(name: str, value: str, names: Names) -> bool:
    return names.hides(name, value) and not value.startswith(REDACTED) and not is_placeholder(value)
