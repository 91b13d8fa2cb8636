"""The name that stands before a value in a text."""

from __future__ import annotations

import re

WINDOW = 80
"""Letters before a separator among which its name is looked for."""
_NOT_IN_NAME = re.compile(r"[^\w.\\$-]")
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_OPERATORS = ("|", "?")
_AFTER_QUOTE = frozenset(".,)]+;")
"""What code has after a quote that ends a text."""
_BEFORE_TYPES = ('-> "', "-> '")


def name_before(text: str, place: int) -> tuple[str, bool]:
    """The name before a separator at a place, as `name_at_end` has it."""
    window = text[max(0, place - WINDOW) : place]
    if window[-1:] in _OPERATORS:  # ``||=`` and ``?=`` assign what has none yet
        window = window.rstrip("|?")
    return name_at_end(window)


def name_at_end(window: str) -> tuple[str, bool]:
    """The name at the end of a text, or an empty one; and whether it stands in quotes."""
    closed = window.rstrip()
    quote = closed[-1:]
    if quote == '"' or quote == "'":
        window = closed
    else:
        window = window.rstrip(" \t:*`")
        quote = window[-1:]
    if quote == '"' or quote == "'":
        inside = window[:-1].rstrip("\\")
        begin = inside.rfind(quote) + 1
        name = inside[begin:]
        if "=" in name or "\n" in name or name[:1] in _AFTER_QUOTE or inside[:begin].endswith(_BEFORE_TYPES):
            name = ""  # of code: a quoted sign is compared, or a type is named
    else:
        quote = ""
        name = window[window.rfind(" ") + 1 :]
        if not name.isidentifier():
            name = _NOT_IN_NAME.split(name)[-1]
    return unescaped(name).strip("\\-. "), bool(quote)


def unescaped(name: str) -> str:
    """A name without JSON's escapes of letters."""
    return _ESCAPE.sub(lambda code: chr(int(code[1], 16)), name) if "\\u" in name else name
