"""Take what has a secret's shape out of a text, but for what reads like words."""

from __future__ import annotations

import re
from functools import lru_cache

from agenttrace.redaction.shape import BEGIN, Shape

_NO_WORD = 20
_PARTS = re.compile(r"[-_.]")


_AFTER_ESCAPE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfv])|(?<=\\u[0-9a-fA-F]{4})|(?<=\\x[0-9a-fA-F]{2}))"
"""Where a value begins in a text with escapes: what belongs to one is no letter before it."""


@lru_cache(maxsize=512)
def pattern_in(shape: Shape, *, has_escapes: bool) -> re.Pattern[str]:
    """What finds a shape in a text, which may have escapes."""
    if not has_escapes:
        return shape.pattern
    return re.compile(shape.pattern.pattern.replace(BEGIN, _AFTER_ESCAPE), shape.pattern.flags)


def looks_random(text: str) -> bool:
    """Returns True if a part of a text is no word: letters and digits mixed, or capitals within."""
    digits = 0
    for part in _PARTS.split(text):
        if part.isalpha():
            if len(part) >= _NO_WORD or (
                len(part) >= 12 and not (part.islower() or part.isupper() or part.istitle())
            ):
                return True
            continue
        count = sum(map(str.isdigit, part))
        digits += count
        if len(part) >= 8 and 0 < count < len(part):
            return True
        if len(part) >= 12 and count == len(part):
            return True
    return digits >= 3 and not text.islower()


def without_shape(shape: Shape, text: str) -> tuple[str, int]:
    """The text without what has this shape, and how many were found."""
    pattern = pattern_in(shape, has_escapes="\\" in text)
    if not shape.random:
        return pattern.subn(shape.replacement, text)
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        if not looks_random(match[0][len(match[1]) if match.re.groups else 0 :]):
            return match[0]
        count += 1
        return match.expand(shape.replacement)

    cleaned = pattern.sub(replace, text)
    return (cleaned, count) if count else (text, 0)
