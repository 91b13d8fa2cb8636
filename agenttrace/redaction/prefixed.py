"""Secrets in lines that something stands before: their numbers, the sign of a diff, a service's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.commands import may_have_command
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.texts import has_any

_PREFIXES = {
    "number": re.compile(r"[ \t]{0,9}\d{1,7}(?:\t|→[ \t]?|[ ]?\|[ ]?)"),
    "diff": re.compile(r"[ \t]{0,40}\+(?!\+\+ )"),
    "quotation": re.compile(r">[ ]?"),
    "comment": re.compile(r"[ \t]{0,40}(?:#|//|--)[ \t]"),
    "grep": re.compile(r"\d{1,7}:(?!\d)"),
    "place": re.compile(r"(?=[\d./-]{0,20}[^\W\d])[\w./-]{1,160}?(?::\d{1,7}[:-]|-\d{1,7}-)"),
    "removed": re.compile(r"-(?!-- )"),
    "service": re.compile(r"[A-Za-z][\w.-]{0,60}[ ]{1,20}\|[ ]"),
}
"""What stands before a line, as ``cat -n``, ``git diff``, a mail, comments of code, ``grep -n`` and
``docker compose logs`` write it."""
_TWO_LINES = re.compile(
    r"(?m)^(?:[ \t]{0,9}\d{1,7}(?:\t|→|[ ]?\|).*\n[ \t]{0,9}\d{1,7}(?:\t|→|[ ]?\|)"
    r"|\d{1,7}:(?!\d).*\n\d{1,7}:(?!\d)"
    r"|[ \t]{0,40}\+.*\n[ \t]{0,40}\+|>.*\n>"
    r"|[ \t]{0,40}(?P<comment>#|//|--)[ \t].*\n[ \t]{0,40}(?P=comment)[ \t]"
    r"|(?P<path>[\w./-]{1,160}?)(?::\d{1,7}[:-].*\n(?P=path)[:-]|-\d{1,7}-.*\n(?P=path):)\d{1,7}[:-]"
    r"|@@ -\d.*\n[ +-]|```diff\n[ +-]|-[^\s-].*\n-"
    r"|(?P<service>[A-Za-z][\w.-]{0,60}[ ]{1,20}\|[ ]).*\n(?P=service))"
)
_HUNK = re.compile(r"@@ -\d|```diff\Z")
_IN_HUNK = re.compile(r"(?!--- |\+\+\+ )[ +-]|\Z")
"""A line of a diff, which may be an empty one."""
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
        or ("-" in text and ("\n-" in text or text[0] == "-"))
        or (":" in text and _NUMBER_ALONE.search(text) is not None)
        or (":" in text and _NUMBER.search(text) is not None and _PLACE.search(text) is not None)
    )
    return may_be and len(text) <= _LONGEST and _TWO_LINES.search(text) is not None


def without_prefixed(text: str, clean: Callable[[str], str]) -> tuple[str, int]:
    """The text with the secrets that `clean` finds in such lines taken out, and how many runs had some."""
    lines: list[str | None] = [*text.split("\n")]
    count = 0
    for places, prefixes in _runs(text.split("\n")):
        bare = [(lines[place] or "")[len(prefix) :] for place, prefix in zip(places, prefixes, strict=True)]
        joined = "\n".join(bare)
        lowered = joined.lower()
        if not has_any(NAME_SIGNS, lowered) and not may_have_command(lowered):
            continue
        cleaned = clean(joined)
        if cleaned is joined or REDACTED not in cleaned:
            continue
        count += 1
        # Of a block of several lines one may be left: the prefixes of the others go.
        for place, prefix, line in zip_longest(places, prefixes, cleaned.split("\n")):
            if place is not None:
                lines[place] = None if line is None else prefix + line
    return ("\n".join([line for line in lines if line is not None]), count) if count else (text, 0)


def _runs(lines: list[str]) -> Iterator[tuple[Sequence[int], list[str]]]:
    """The places of two lines or more with a prefix of one kind, and the prefixes; of a hunk of a diff those
    of the lines as they were, and as they are."""
    place = 0
    while place < len(lines) - 1:
        if _HUNK.match(lines[place]):
            stop = _end_of_hunk(lines, place + 1)
            for sign in "-+":
                places = [at for at in range(place + 1, stop) if lines[at][:1] in ("", " ", sign)]
                if any(lines[at][:1] == sign for at in places):
                    yield places, [lines[at][:1] for at in places]
            place = max(stop, place + 1)
            continue
        kind = next((kind for kind, prefix in _PREFIXES.items() if prefix.match(lines[place])), None)
        if kind is None or (kind == "removed" and lines[place][1:2].isspace()):  # an item of a list
            place += 1
            continue
        prefixes: list[str] = []
        for at in range(place, len(lines)):
            prefix = _PREFIXES[kind].match(lines[at])
            if prefix is None or (kind == "service" and prefixes and prefix[0] != prefixes[0]):
                break
            prefixes.append(prefix[0])
        if len(prefixes) > 1:
            yield range(place, place + len(prefixes)), prefixes
        place += len(prefixes)


def _end_of_hunk(lines: list[str], place: int) -> int:
    while place < len(lines) and _IN_HUNK.match(lines[place]):
        place += 1
    return place
