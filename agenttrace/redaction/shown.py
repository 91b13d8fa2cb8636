"""Secrets in the texts of scores, which show the arguments of calls and the changes of a state."""

from __future__ import annotations

import re
from collections.abc import Callable

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.texts import has_any

_SHOWN = re.compile(r"""(?<![\w.-])([^\W\d_][\w.\[\]-]{0,127})(?:=|: (?=(?:not )?expected\b))(?!"?\[redac)""")
_SIGNS = ("=", ": ", " added ", " changed ", " removed ", " end ")
"""One of these is in each text with an argument, a difference or a change."""
_SHOWN_CHANGE = re.compile(r" {4}[✓~+!-] (?:added|changed|removed|end) +(.+?)(?=\s{3}|\s*\Z)")


def without_shown_arguments(text: str, is_secret: Callable[[str], bool], signs: tuple[str, ...]) -> str:
    """The text of a score without the arguments of secret names in its calls, ``f(password="…``, and in its
    differences, ``user.password: expected …``, and its changes of a state, ``changed  db.api_key   …``.

    Such a line ends there: values may be cut off, so that nothing says where one does.
    """
    if not has_any(_SIGNS, text):
        return text
    lowered = text.lower()
    if not (has_any(NAME_SIGNS, lowered) or has_any(signs, lowered)):
        return text
    lines, hidden = [], False
    for line in text.split("\n"):
        place = _SHOWN_CHANGE.match(line)
        if place is not None:
            hidden = is_secret_path(place[1], is_secret)
        elif line[:6].strip():
            hidden = False
        if hidden and place is None:  # what is said of a change on lines of its own
            continue
        lines.append(f"{place[0]}   {REDACTED}" if hidden and place else _shown_line(line, is_secret))
    return "\n".join(lines)


def _shown_line(line: str, is_secret: Callable[[str], bool]) -> str:
    for shown in _SHOWN.finditer(line):
        if is_secret_path(shown[1], is_secret):
            return f"{line[: shown.end()]}{REDACTED}"
    return line


def is_secret_path(path: str, is_secret: Callable[[str], bool]) -> bool:
    """Returns True if a part of a path, ``user.password`` or ``keys[0].token``, is the name of a secret."""
    return any(is_secret(part) for part in re.split(r"[.\[\]]+", path) if part)
