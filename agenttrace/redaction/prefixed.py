"""Secrets in lines that something stands before: their numbers, the sign of a diff, a service's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.texts import has_any

_PREFIXES = {
    "number": re.compile(r"[ \t]{0,9}\d{1,7}(?:\t|→[ \t]?|[ ]?\|[ ]?)"),
    "diff": re.compile(r"[ \t]{0,40}\+(?!\+\+ )"),
    "quotation": re.compile(r">[ ]?"),
    "comment": re.compile(r"[ \t]{0,40}(?:#|//|--)[ \t]"),
    "grep": re.compile(r"\d{1,7}:(?!\d)"),
    "place": re.compile(r"[\w./-]{1,160}:\d{1,7}[:-]"),
    "service": re.compile(r"[A-Za-z][\w.-]{0,60}[ ]{1,20}\|[ ]"),
}
"""What stands before a line, as ``cat -n``, ``git diff``, a mail, comments of code, ``grep -n`` and
``docker compose logs`` write it."""
_TWO_LINES = re.compile(
    r"(?m)^(?:[ \t]{0,9}\d{1,7}(?:\t|→|[ ]?\|).*\n[ \t]{0,9}\d{1,7}(?:\t|→|[ ]?\|)"
    r"|\d{1,7}:(?!\d).*\n\d{1,7}:(?!\d)"
    r"|[ \t]{0,40}\+.*\n[ \t]{0,40}\+|>.*\n>"
    r"|[ \t]{0,40}(?P<comment>#|//|--)[ \t].*\n[ \t]{0,40}(?P=comment)[ \t]"
    r"|(?P<path>[\w./-]{1,160}):\d{1,7}[:-].*\n(?P=path):\d{1,7}[:-]"
    r"|(?P<service>[A-Za-z][\w.-]{0,60}[ ]{1,20}\|[ ]).*\n(?P=service))"
)
_NUMBER = re.compile(r":\d{1,7}[:-]")
_NUMBER_ALONE = re.compile(r"\n\d{1,7}:")
_PLACE = re.compile(r"(?m)^[\w./-]{1,160}:\d{1,7}[:-]")
_LONGEST = 1_000_000


def may_be_prefixed(text: str) -> bool:
    """Returns True if lines of a text have something before them."""
    may_be = (  # to look for one letter takes next to nothing
        "\t" in text
        or "|" in text
        or "→" in text
        or "+" in text
        or (">" in text and "\n>" in text)
        or ("#" in text and "# " in text)
        or ("/" in text and "// " in text)
        or ("-" in text and "-- " in text)
        or (":" in text and _NUMBER_ALONE.search(text) is not None)
        or (":" in text and _NUMBER.search(text) is not None and _PLACE.search(text) is not None)
    )
    return may_be and len(text) <= _LONGEST and _TWO_LINES.search(text) is not None


def without_prefixed(text: str, clean: Callable[[str], str]) -> tuple[str, int]:
    """The text with the secrets that `clean` finds in such lines taken out, and how many runs had some."""
    lines, count = text.split("\n"), 0
    for first, last, prefixes in reversed(list(_runs(lines))):
        bare = [line[len(prefix) :] for line, prefix in zip(lines[first:last], prefixes, strict=True)]
        if not has_any(NAME_SIGNS, "\n".join(bare).lower()):
            continue
        joined = "\n".join(bare)
        cleaned = clean(joined)
        if cleaned is joined or REDACTED not in cleaned:
            continue
        count += 1
        # Of a block of several lines one may be left: the prefixes of the others go.
        lines[first:last] = [
            prefix + line for prefix, line in zip(prefixes, cleaned.split("\n"), strict=False)
        ]
    return ("\n".join(lines), count) if count else (text, 0)


def _runs(lines: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    """The first and the last place of two lines or more with a prefix of one kind, and the prefixes."""
    place = 0
    while place < len(lines) - 1:
        kind = next((kind for kind, prefix in _PREFIXES.items() if prefix.match(lines[place])), None)
        if kind is None:
            place += 1
            continue
        prefixes: list[str] = []
        for line in lines[place:]:
            prefix = _PREFIXES[kind].match(line)
            if prefix is None or (kind == "service" and prefixes and prefix[0] != prefixes[0]):
                break
            prefixes.append(prefix[0])
        if len(prefixes) > 1:
            yield place, place + len(prefixes), prefixes
        place += len(prefixes)
