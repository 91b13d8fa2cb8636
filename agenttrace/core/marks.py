"""The marks that recording leaves in the place of what it did not keep.

A mark is no value: nothing can be said of what it stands for but what `known_part` gives. The marks are

- ``{"$type": "module.Name"}`` an object that was not opened, ``{"$cycle": "list"}`` a container inside
  itself;
- ``abc…[+7 chars]`` a text of which the end was cut off; ``{"$truncated": 7}``, the last item of a list or
  one entry of a mapping, that many items left out; ``{"$truncated": "depth"}`` all below a level;
  ``{"$bytes": base64, "size": n}`` with fewer than n bytes; ``{"$int": "0xab…[+7 digits]"}``;
- ``[redacted]``, alone or inside a text;
- ``{"$truncated": "memory"}`` and ``"span"``, ``{"$type": "unreadable"}``, ``{"$unreadable": text}``: there
  was no room, reading failed, the store's file is damaged.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Cause = Literal["cut", "redacted", "not opened", "not recorded"]
LeftOut = Literal["depth", "memory", "span"]

REDACTED = "[redacted]"
TYPE = "$type"
CYCLE = "$cycle"
TRUNCATED = "$truncated"
UNREADABLE = "$unreadable"

_CUT = re.compile(r"…\[\+(\d+) (?:chars|digits)\]\Z")
_NO_ROOM = ("memory", "span")
_NOT_READ = "unreadable"


def not_opened(type_name: str) -> dict[str, Any]:
    """The mark of an object of this type."""
    return {TYPE: type_name}


def not_read() -> dict[str, Any]:
    """The mark of a value that recording failed to read."""
    return {TYPE: _NOT_READ}


def inside_itself(type_name: str) -> dict[str, Any]:
    """The mark of a container of this type that stands inside itself."""
    return {CYCLE: type_name}


def left_out(what: int | LeftOut) -> dict[str, Any]:
    """The mark of so many items, or of a value for which there was no room."""
    return {TRUNCATED: what}


def cut(text: str, size: int) -> str:
    """Return the text, or its first `size` characters and how many more there were: ``abc…[+7 chars]``."""
    return text if len(text) <= size else f"{text[:size]}…[+{len(text) - size} chars]"


def cut_digits(digits: str, count: int) -> str:
    """The first of a number's digits, and how many more there were."""
    return f"{digits}…[+{count} digits]"


def bytes_data(head: bytes, size: int) -> dict[str, Any]:
    """The first of `size` bytes as JSON data: a mark where they are fewer, else the value."""
    return {"$bytes": base64.b64encode(head).decode(), "size": size}


def bytes_of(data: Mapping[str, Any]) -> bytes | None:
    """The bytes that `bytes_data` was given; None for other data."""
    text, size = data.get("$bytes"), data.get("size")
    if len(data) != 2 or type(text) is not str or type(size) is not int:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None


@dataclass(frozen=True, slots=True)
class KnownPart:
    """What is still known of a value that was not recorded whole.

    `part` is the beginning of a text or of bytes, the first items of a list, some entries of a mapping; of a
    redacted text, the pieces around what was taken out. `total` is the length of the whole, None if unknown.
    """

    part: Any
    total: int | None


def cause_of(value: Any) -> Cause | None:
    """Why a recorded value is not known whole; None where it is. The parts of a container are not looked at,
    only what stands for parts that were left out."""
    kind = type(value)
    if kind is str:
        return _cause_of_text(value)
    if kind is dict:
        return _cause_of_mapping(value)
    if kind is list:
        return "cut" if _count_left_out(value) is not None else None
    return None


def known_part(value: Any) -> KnownPart | None:
    """What is known of a recorded value whose cause is *cut*, or of a redacted text; None for all others."""
    cause = cause_of(value)
    if cause == "redacted" and type(value) is str:
        return KnownPart(tuple(value.split(REDACTED)), None)
    if cause != "cut":
        return None
    if type(value) is str:
        mark = _CUT.search(value)
        return mark and KnownPart(value[: mark.start()], mark.start() + int(mark[1]))
    if type(value) is list:
        return KnownPart(value[:-1], len(value) - 1 + value[-1][TRUNCATED])
    if TRUNCATED in value:
        entries = {key: item for key, item in value.items() if key != TRUNCATED}
        count = value[TRUNCATED]
        return KnownPart(entries, len(entries) + count) if type(count) is int else None
    head = bytes_of(value)
    return None if head is None else KnownPart(head, value["size"])


def _cause_of_text(text: str) -> Cause | None:
    if REDACTED in text:
        return "redacted"
    return "cut" if text.endswith("]") and _CUT.search(text) else None


def _cause_of_mapping(value: dict[str, Any]) -> Cause | None:
    if TRUNCATED in value:
        what = value[TRUNCATED]
        if len(value) == 1 and what in _NO_ROOM:
            return "not recorded"
        return "cut" if type(what) is int or (what == "depth" and len(value) == 1) else None
    if len(value) == 1:
        ((key, content),) = value.items()
        if type(content) is not str:
            return None
        if key == TYPE:
            return "not recorded" if content == _NOT_READ else "not opened"
        if key == CYCLE:
            return "not opened"
        if key == UNREADABLE:
            return "not recorded"
        return _cause_of_text(content) if key in ("$int", "$decimal") else None
    if "$bytes" in value and len(value) == 2:
        if value["$bytes"] == REDACTED:
            return "redacted"
        head = bytes_of(value)
        return "cut" if head is not None and len(head) < value["size"] else None
    return None


def _count_left_out(items: Sequence[Any]) -> int | None:
    """How many items a mark at the end of a list stands for; None where there is none."""
    last = items[-1] if items else None
    count = last.get(TRUNCATED) if type(last) is dict and len(last) == 1 else None
    return count if type(count) is int else None
