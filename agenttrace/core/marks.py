"""The marks that recording leaves in the place of what it did not keep.

A mark is no value: nothing can be said of what it stands for but what `known_part` gives. The marks are

- ``{"$type": "module.Name"}`` an object that was not opened, ``{"$cycle": "list"}`` a container inside
  itself;
- ``abc…[+7 chars]`` a text of which the end was cut off, ``abc…[+7 chars #9f86…]`` with a digest of the whole
  (`core.digests`); ``{"$truncated": 7}``, the last item of a list or one entry of a mapping, that many items
  left out; ``{"$truncated": "depth"}`` all below a level; ``{"$bytes": base64, "size": n}`` with fewer than n
  bytes, ``"base64 #9f86…"`` with a digest; ``{"$int": "0xab…[+7 digits]"}``;
- ``[redacted]``, alone or inside a text; in the process that recorded it, a `Redacted`;
- ``{"$truncated": "memory"}`` and ``"span"``, ``{"$type": "unreadable"}``, ``{"$unreadable": text}``: there
  was no room, reading failed, the store's file is damaged; ``{"$not_recorded": text}``: another library made
  the record without it, and the text says what would have had it recorded.
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
NOT_RECORDED = "$not_recorded"

_CUT = re.compile(r"…\[\+(\d+) (?:chars|digits)(?: #([^\]]*))?\]\Z")
_DIGEST = re.compile(r"[0-9a-f]{32}")
_DIGEST_WITHIN = re.compile(r"(?<=chars) #[0-9a-f]{32}\]")
_DIGEST_OF_BYTES = re.compile(r"""(\$bytes\\*["']: ?\\*["'][A-Za-z0-9+/=]*) #[0-9a-f]{32}""")
_NO_ROOM = ("memory", "span")
_NOT_READ = "unreadable"


def not_opened(type_name: str) -> dict[str, Any]:
    """The mark of an object of this type."""
    return {TYPE: type_name}


def not_read() -> dict[str, Any]:
    """The mark of a value that recording failed to read."""
    return {TYPE: _NOT_READ}


def not_recorded(remedy: str) -> dict[str, Any]:
    """The mark of a value that another library did not record; `remedy` would have it recorded."""
    return {NOT_RECORDED: remedy}


def remedy_in(value: Any) -> str:
    """What would have a value recorded, as its mark says; empty where it says nothing of that."""
    text = value.get(NOT_RECORDED) if type(value) is dict and len(value) == 1 else None
    return text if type(text) is str else ""


def inside_itself(type_name: str) -> dict[str, Any]:
    """The mark of a container of this type that stands inside itself."""
    return {CYCLE: type_name}


def left_out(what: int | LeftOut) -> dict[str, Any]:
    """The mark of so many items, or of a value for which there was no room."""
    return {TRUNCATED: what}


def cut(text: str, size: int, digest: str | None = None) -> str:
    """Return the text, or its first `size` characters and how many more there were: ``abc…[+7 chars]``.

    `digest` is that of the whole text. One that was cut before has one mark afterwards.
    """
    if len(text) <= size:
        return text
    total, mark = len(text), _CUT.search(text) if text.endswith("]") else None
    if mark is not None:
        if mark.start() <= size:
            return text
        total, digest = mark.start() + int(mark[1]), _digest(mark[2])
    return f"{text[:size]}…[+{total - size} chars{'' if digest is None else f' #{digest}'}]"


def cut_digits(digits: str, count: int) -> str:
    """The first of a number's digits, and how many more there were."""
    return f"{digits}…[+{count} digits]"


def bytes_data(head: bytes, size: int, digest: str | None = None) -> dict[str, Any]:
    """The first of `size` bytes as JSON data: a mark where they are fewer, else the value."""
    text = base64.b64encode(head).decode()
    return {"$bytes": text if digest is None else f"{text} #{digest}", "size": size}


def bytes_of(data: Mapping[str, Any]) -> bytes | None:
    """The bytes that `bytes_data` was given; None for other data."""
    text, size = data.get("$bytes"), data.get("size")
    if len(data) != 2 or type(text) is not str or type(size) is not int:
        return None
    try:
        return base64.b64decode(text.partition(" #")[0], validate=True)
    except (ValueError, binascii.Error):
        return None


def spelled(content: bytes) -> str:
    """The text that bytes are in UTF-8, also where they were cut within a letter; others as Latin-1."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        if error.start > len(content) - 4 and error.reason == "unexpected end of data":
            return content[: error.start].decode()
        return content.decode("latin-1")


class Redacted(str):
    """A text with ``[redacted]`` in it, in the process that recorded it: it still knows its secret's digest.

    `digest` (`core.digests.secret_digest`) is that of the whole value, None where it is unknown. Whatever
    writes, copies or pickles a text has a plain one afterwards.
    """

    __slots__ = ("digest",)
    digest: bytes | None

    def __new__(cls, text: str, digest: bytes | None) -> Redacted:
        """The text that is shown, and the digest."""
        self = super().__new__(cls, text)
        self.digest = digest
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str.__str__(self),)

    def __copy__(self) -> Redacted:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Redacted:
        return self


@dataclass(frozen=True, slots=True)
class KnownPart:
    """What is still known of a value that was not recorded whole.

    `part` is the beginning of a text or of bytes, the first items of a list, some entries of a mapping; of a
    redacted text, its `known_pieces`. `total` is the length of the whole, None if unknown. `digest` is that
    of the whole text, or of the bytes, None if there is none.
    """

    part: Any
    total: int | None
    digest: str | None = None


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
    return "redacted" if kind is Redacted else None


def cause_within(value: Any) -> Cause | None:
    """Why a recorded value, a part of it or a key in it is not known whole; None where all of it is."""
    cause = cause_of(value)
    if cause is not None or not isinstance(value, Mapping | list | tuple):
        return cause
    if isinstance(value, Mapping) and (hidden := hidden_keys(value)):
        return _cause_of_text(hidden[0])
    for part in value.values() if isinstance(value, Mapping) else value:
        cause = cause_within(part)
        if cause is not None:
            return cause
    return None


def known_part(value: Any) -> KnownPart | None:
    """What is known of a recorded value whose cause is *cut*, or of a redacted text; None for all others."""
    cause = cause_of(value)
    if cause == "redacted" and isinstance(value, str):
        return KnownPart(known_pieces(value), None)
    if cause != "cut":
        return None
    if type(value) is str:
        mark = _CUT.search(value)
        return mark and KnownPart(value[: mark.start()], mark.start() + int(mark[1]), _digest(mark[2]))
    if type(value) is list:
        return KnownPart(value[:-1], len(value) - 1 + value[-1][TRUNCATED])
    if TRUNCATED in value:
        entries = {key: item for key, item in value.items() if key != TRUNCATED}
        count = value[TRUNCATED]
        return KnownPart(entries, len(entries) + count) if type(count) is int else None
    head = bytes_of(value)
    return (
        None if head is None else KnownPart(head, value["size"], _digest(value["$bytes"].partition(" #")[2]))
    )


def parted_at_cut(items: list[Any]) -> tuple[list[Any], list[Any]]:
    """The items of a recorded list, and in a list of its own the mark at its end; an empty one for none."""
    return (items, []) if _count_left_out(items) is None else (items[:-1], items[-1:])


def known_pieces(text: str) -> tuple[str, ...]:
    """The pieces that are known of a recorded text, with an unknown one between any two of them.

    A text that is known whole is one piece; one that is cut has an empty last piece. Quotes around what was
    redacted are no part of a piece: redaction writes them around a number.
    """
    mark = _CUT.search(text) if text.endswith("]") else None
    pieces = (text if mark is None else text[: mark.start()]).split(REDACTED)
    for at in range(1, len(pieces)):
        if pieces[at - 1].endswith('"') and pieces[at].startswith('"'):
            pieces[at - 1], pieces[at] = pieces[at - 1][:-1], pieces[at][1:]
    return tuple(pieces) if mark is None else (*pieces, "")


def hidden_keys(value: Mapping[Any, Any]) -> list[str]:
    """The keys of a recorded mapping that are not known whole: redacted, or cut."""
    return [key for key in value if type(key) is str and _cause_of_text(key) is not None]


def may_be_key(hidden: str, key: str) -> bool:
    """Whether a key that is not known whole may have been this one."""
    mark = _CUT.search(hidden)
    if mark is not None and len(key) != mark.start() + int(mark[1]) and REDACTED not in hidden:
        return False
    pieces = known_pieces(hidden.rstrip("'"))  # which tell keys apart that are redacted alike
    return key.startswith(pieces[0]) and (key.endswith(pieces[-1]) or hidden.endswith("'"))


def without_digests(value: Any) -> Any:
    """A recorded value as it leaves the process: without digests in its marks; itself where it has none."""
    kind = type(value)
    if kind is str:
        mark = _CUT.search(value) if value.endswith("]") else None
        return value if mark is None or mark[2] is None else f"{value[: mark.start(2) - 2]}]"
    if kind is Redacted:
        return str.__str__(value)
    if kind is dict:
        items = {key: without_digests(item) for key, item in value.items()}
        if "$bytes" in items and bytes_of(items) is not None:
            items["$bytes"] = items["$bytes"].partition(" #")[0]
        return value if all(items[key] is item for key, item in value.items()) else items
    if kind is list or kind is tuple:
        parts = [without_digests(item) for item in value]
        return value if all(part is item for part, item in zip(parts, value, strict=True)) else parts
    return value


def text_without_digests(text: str) -> str:
    """A text, such as a diff, in which marks may stand anywhere, without their digests."""
    return _DIGEST_OF_BYTES.sub(r"\1", _DIGEST_WITHIN.sub("]", text)) if " #" in text else text


def _digest(text: Any) -> str | None:
    """The digest of a mark; None where it has none, or one that cannot be one."""
    return text if type(text) is str and _DIGEST.fullmatch(text) else None


def _cause_of_text(text: str) -> Cause | None:
    if REDACTED in text:
        return "redacted"
    return "cut" if text.endswith("]") and _CUT.search(text) else None


def _cause_of_mapping(value: dict[str, Any]) -> Cause | None:
    if TRUNCATED in value:
        what = value[TRUNCATED]
        if len(value) == 1 and what in _NO_ROOM:
            return "not recorded"
        return "cut" if _is_count(what) or (what == "depth" and len(value) == 1) else None
    if len(value) == 1:
        ((key, content),) = value.items()
        if type(content) is not str:
            return None
        if key == TYPE:
            return "not recorded" if content == _NOT_READ else "not opened"
        if key == CYCLE:
            return "not opened"
        if key in (UNREADABLE, NOT_RECORDED):
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
    return count if _is_count(count) else None


def _is_count(what: Any) -> bool:
    return type(what) is int and what > 0
