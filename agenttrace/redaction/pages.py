"""Secrets in text that stands in a page: in ``<pre>``, and where quotes and brackets are entities of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import zip_longest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.escaped import with_places_of
from agenttrace.redaction.html_attributes import SIGNS as ATTRIBUTE_SIGNS
from agenttrace.redaction.html_attributes import without_attributes
from agenttrace.redaction.naming import Names
from agenttrace.redaction.texts import has_any

_ENTITY = re.compile(r"&(?:quot|apos|lt|gt|amp|nbsp|#\d{2,5}|#[xX][0-9a-fA-F]{2,5});")
_SIGNS = ("&quot;", "&#", "&lt;", "&gt;", "&amp;", "&apos;")
_AS_IT_IS = re.compile(r"<(?:pre|code|textarea)\b[^<>]{0,200}>(?=[^<])")
_OPENINGS = ("<pre", "<code", "<textarea")
_LONGEST = 1_000_000


def may_be_page(text: str) -> bool:
    """Returns True if a text has ``<pre>`` or the like, or quotes and brackets written as entities."""
    is_page = ("<" in text and has_any(_OPENINGS, text)) or ("&" in text and has_any(_SIGNS, text))
    return is_page and len(text) <= _LONGEST


def without_secrets_of_page(text: str, clean: Callable[[str], str], names: Names) -> tuple[str, int]:
    """The text without secrets that stand in such parts, or that only what it spells shows, and how many
    parts held one. `clean` does not look for pages again: what is nested for ever would take for ever."""
    # First: a quote that is written as an entity does not end an attribute.
    text, count = without_attributes(text, names) if has_any(ATTRIBUTE_SIGNS, text) else (text, 0)
    pieces: list[str] = []
    done = 0
    openings = list(_AS_IT_IS.finditer(text))
    for opening, following in zip_longest(openings, openings[1:]):
        begin, last = opening.end(), len(text) if following is None else following.start()
        end = text.find("</", begin, last)
        content = text[begin : end if end >= 0 else last]
        cleaned = clean(content)
        if cleaned is not content and REDACTED in cleaned:
            pieces += (text[done:begin], cleaned)
            done = begin + len(content)
    if pieces:
        text = "".join((*pieces, text[done:]))
    text, more = _without_entities(text, clean)
    return text, count + len(pieces) // 2 + more


def _without_entities(text: str, clean: Callable[[str], str]) -> tuple[str, int]:
    spelled = _ENTITY.sub(_letter, text)
    cleaned = text if spelled == text else clean(spelled)
    if cleaned is text or cleaned is spelled:
        return text, 0
    changed = with_places_of(text, spelled, cleaned, _places)
    return (text, 0) if changed is None else (changed, 1)


def _letter(entity: re.Match[str]) -> str:
    letter = unescape(entity[0])
    return letter if len(letter) == 1 else " "


def _places(text: str) -> list[int]:
    """Where each letter of what a text spells begins in it, and where the last one ends."""
    places: list[int] = []
    done = 0
    for entity in _ENTITY.finditer(text):
        places += range(done, entity.start() + 1)
        done = entity.end()
    return [*places, *range(done, len(text) + 1)]
