"""Paths to a value, ``user.password`` or ``keys[0].token``, whose keys may be secrets themselves."""

from __future__ import annotations

import re
from collections.abc import Callable

_BETWEEN = re.compile(r"[.\]]+")
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
