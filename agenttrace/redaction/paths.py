"""Paths to a value, ``user.password`` or ``keys[0].token``, whose keys may be secrets themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agenttrace.core.marks import REDACTED

_BETWEEN = re.compile(r"[.\]]+")
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_MOST_DOTS = 12
"""Dots that a key may have itself."""


def path_without_secrets(path: str, key: Callable[[str], str]) -> str:
    """The path without secrets in its keys; `key` redacts one.

    A key may have dots itself, so that nothing tells where it ends: all that it may be is looked at. Of the
    path as a whole a secret may not be known: ``?api_key=….page`` reads as code.
    """
    path, begin = key(path), 0
    while True:
        ends = [*(place.start() for place in _BETWEEN.finditer(path, begin)), len(path)]
        for end in reversed(ends[:_MOST_DOTS]):
            part = path[begin:end]
            if (clean := key(part)) != part:
                path = path[:begin] + clean + path[end:]
                break
        between = _BETWEEN.search(path, begin)
        if between is None:
            return path
        begin = between.end()


def secret_part(path: str, is_secret: Callable[[str], bool]) -> str:
    """The last part of a path that is the name of a secret; an empty text where none is."""
    names = [name for _, name in _PART.findall(path) if name and is_secret(name)]
    return names[-1] if names else ""


def value_at_path(path: str, value: Any, redact: Callable[[Any], Any]) -> Any:
    """What `redact` makes of a value that stands at this path: a secret's name hides no flags and states."""
    parts = _PART.findall(path)
    for index, name in reversed(parts):
        value = [value] if index else {name: value}
    clean: Any = redact(value)
    for index, _ in parts:
        items: Any = clean if index else clean.values() if isinstance(clean, dict) else ()
        if not isinstance(clean, list if index else dict) or len(items) != 1:
            return REDACTED
        (clean,) = items
    return clean
