"""Secrets on the lines below their name: a block or a list of YAML, a key as ``openssl`` prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.name_before import name_at_end
from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_made_up, is_opaque, is_placeholder

_OPENING = re.compile(
    r":[ \t]*(?:![\w:/.-]{1,40}[ \t]+(?=[|>]))?(?P<mark>[|>][+\-0-9]{0,2})?[ \t]*\r?\n(?=[ \t]*\S)"
)
_FENCED = re.compile(
    r"[ \t]*(?P<fence>```+|~~~+)\w*[ \t]*\r?\n[ \t]*(?P<value>\S+)[ \t]*\r?\n[ \t]*(?P=fence)"
)
_TWO_WORDS = re.compile(r"([^\W_]\w*)[ \t](\w+)[*`]*[ \t]*\Z")
_WINDOW = 80
_ONE_WORD = re.compile(r"[ \t]*([^\s:=]+)[ \t]*(?=\r?\n|\Z)")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}:)+[0-9a-fA-F]{0,2}")
_TABLE = re.compile(r"(?m)^[ \t]*\[(?P<name>[\w.-]{2,80})\][ \t]*\r?\n")
_PAIR = re.compile(
    r"""(?P<indent>[ \t]*)(?:#[^\n]*|(?=\r?\n)|["']?(?P<name>[\w./-]{1,80})["']?[ \t]*[:=][ \t]*"""
    r"""(?:(?P<quote>["'])(?P<quoted>[^\n]*?)(?:(?P=quote)|\Z)|(?P<bare>[^\s#"'{\[&*!|>]\S*))?"""
    r"""[ \t]*(?:\#[^\n]*)?)\r?(?:\n|\Z)"""
)
"""A line of YAML, TOML or INI with a name and one value, or none; a comment, or an empty one."""
_NAME_ALONE = re.compile(r"""[ \t-]*["']?[\w./-]{1,80}["']?[ \t]*""")
_OF_SCHEMAS = frozenset({"type", "$ref", "description", "schema", "format", "required", "enum", "properties"})
_OF_KEYS = frozenset({"priv", "privateExponent", "prime1", "prime2", "exponent1", "exponent2", "coefficient"})
"""What ``openssl`` calls the parts of a private key."""


class Line(NamedTuple):
    """A line below a name: where its text begins and ends, and whether it is an item of a list."""

    begin: int
    end: int
    text: str
    is_item: bool


def without_blocks(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets on lines below their name, and how many were found."""
    pieces: list[str] = []
    done = 0
    opening = _OPENING.search(text)
    while opening is not None:
        place, end = opening.start(), opening.end()
        name, _ = name_at_end(text[max(0, place - _WINDOW) : place])
        is_key = name in _OF_KEYS
        if name and not is_key and not names.is_secret(name):  # of two words, such as *API key*
            words = _TWO_WORDS.search(text, max(0, place - _WINDOW), place)
            name = f"{words[1]}_{words[2]}" if words else name
        if name and names.is_secret("private_key" if is_key else name):
            is_block = opening["mark"] is not None
            fenced = _FENCED.match(text, end)
            if fenced is not None and is_made_up(fenced["value"]) and names.hides(name, fenced["value"]):
                pieces += (text[done : fenced.start("value")], REDACTED)
                done = end = fenced.end("value")
            column = _column(text, place)
            is_alone = _NAME_ALONE.fullmatch(text, text.rfind("\n", 0, place) + 1, place) is not None
            if is_alone and not is_block and not is_key and names.hides(name, {"": ""}):
                pairs, last_line = _pairs_below(text, end, column)
                for first, last in pairs:
                    if names.hides(name, text[first:last]):
                        pieces += (text[done:first], REDACTED)
                        done = last
                end = max(end, last_line)
            lines = list(_lines_below(text, end, column, is_block or is_key))
            for first, last in _values(lines, is_block, is_key):
                if names.hides(name, text[first:last]):
                    pieces += (text[done:first], REDACTED)
                    done = last
            if not lines and not is_block and (below := _line_below(text, end)) is not None:
                first, last = below
                if names.hides(name, text[first:last]):
                    pieces += (text[done:first], REDACTED)
                    done = end = last
            end = lines[-1].end if lines else end
        opening = _OPENING.search(text, end)
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def without_tables(text: str, names: Names) -> tuple[str, int]:
    """The text without secrets in tables of TOML and INI, ``[secrets]``, and how many were found."""
    pieces: list[str] = []
    done = 0
    for table in _TABLE.finditer(text):
        name = table["name"].rpartition(".")[2]
        if names.is_secret(name) and names.hides(name, {"": ""}):
            pairs, _ = _pairs_below(text, table.end(), -1)
            for first, last in pairs:
                if first >= done and names.hides(name, text[first:last]):
                    pieces += (text[done:first], REDACTED)
                    done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _pairs_below(text: str, place: int, column: int) -> tuple[list[tuple[int, int]], int]:
    """Where values stand that are made up, in lines of a name and a value that are further in than a column;
    and where the last of these lines ends. Of what describes a field, as in OpenAPI, only its value, which
    GitLab has beside a description."""
    values: list[tuple[int, int]] = []
    own: list[tuple[int, int]] = []
    begin, is_described = place, False
    while (line := _PAIR.match(text, place)) is not None:
        if line["name"] is not None and len(line["indent"]) <= column:
            break
        is_described = is_described or line["name"] in _OF_SCHEMAS
        value = line["quoted"] or line["bare"]
        is_code = line["bare"] is not None and any(sign in line["bare"] for sign in "()[]{}")
        if value is not None and not is_code and is_made_up(value) and REDACTED not in value:
            values.append(line.span("quoted" if line["quoted"] else "bare"))
            own += values[-1:] if line["name"] == "value" else []
        place = line.end()
    if is_described:
        return own, (place if own else begin)
    return values, place


def _column(text: str, place: int) -> int:
    """Where the line begins that has a name before this place: what is further in belongs to the name."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return len(line) - len(line.lstrip(" \t-"))


def _lines_below(text: str, place: int, column: int, is_block: bool) -> Iterator[Line]:
    """The lines from a place on that are further in than a column, or items of a list at it.

    Unless they are a block, they end before the first of several words, which is a name with its value.
    """
    while place < len(text):
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop
        content = text[place:stop].strip()
        begin = place + len(text[place:stop]) - len(text[place:stop].lstrip())
        is_item = content[:2] == "- "
        if content:
            if begin - place <= column and not (is_item and begin - place == column):
                return
            item = content[2:].lstrip() if is_item else content
            if not is_block and (" " in item or item[-1] == ":"):
                return
            first = begin + len(content) - len(item)
            yield Line(first, first + len(item), item, is_item)
        place = stop + 1


def _line_below(text: str, place: int) -> tuple[int, int] | None:
    """Where the one word of the next line stands, if it is made up: as people write down a password."""
    word = _ONE_WORD.match(text, place)
    return word.span(1) if word is not None and is_made_up(word[1]) and REDACTED not in word[1] else None


def _values(lines: list[Line], is_block: bool, is_key: bool) -> list[tuple[int, int]]:
    """Where the values stand that belong to a name: one block, the items of a list, or one value."""
    values = [line.text for line in lines]
    if not lines or any(" " in value or REDACTED in value for value in values):
        return []
    whole = (lines[0].begin, lines[-1].end)
    if is_key:
        return [whole] if all(map(_HEX.fullmatch, values)) else []
    if is_block:
        is_secret = not any(map(is_placeholder, values)) and any(map(is_opaque, values))
        return [whole] if is_secret else []
    if len(lines) > 1 and not all(line.is_item for line in lines):
        return []
    return [(line.begin, line.end) for line in lines if is_made_up(line.text.strip("\"'"))]
