"""`harmless_copy`: the quick way for named values in which there is nothing to redact."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from agenttrace.core.snapshot import EXACT_INT
from agenttrace.redaction.answers import holds_answers
from agenttrace.redaction.asked import may_ask
from agenttrace.redaction.naming import Names
from agenttrace.redaction.pairs import holds_beside, holds_named, may_be_entry
from agenttrace.redaction.tool_messages import TOOL_KEYS


class Rules(Names, Protocol):
    """What a redaction says of names and texts.

    `call` is the user's own function. Texts below `shortest` and integers below `largest_number` are not
    looked into; `harmless_keys` are names that are known to be no secret's.
    """

    call: Any
    shortest: int
    largest_number: int
    harmless_keys: set[str]

    def looks_into(self, text: str) -> bool:
        """Returns False for a text that is too short for a secret."""
        ...

    def holds_nothing(self, texts: Collection[str]) -> bool:
        """Returns True if nothing is taken out of any of these texts."""
        ...


_MOST_PLAIN = 100  # items of one plain container
_MOST_TEXTS = 2_000
"""Containers and longer texts in plain data."""
_DEEPEST_PLAIN = 20
_LARGEST_PLAIN = 2**63
MOST_CACHED = 10_000
LONGEST_CACHED = 256
"""Names that are remembered in each of a redaction's caches, and letters in one."""


def harmless_copy(values: Mapping[str, Any], redaction: Rules) -> dict[str, Any] | None:
    """A copy of named values, where they are plain JSON data with nothing in it to take out.

    None where they have to be looked at closely: by `fields` or `inside`, in several times as long.
    """
    if type(values) is not dict:
        return None
    copies = harmless_copies([values], redaction)
    return None if copies is None else copies[0]


def harmless_copies(several: Sequence[Any], redaction: Rules) -> list[Any] | None:
    """Copies of several mappings or lists, as `harmless_copy` makes one: one look at the texts of all of them
    tells. None where any of them has to be looked at closely."""
    if redaction.call is not None:
        return None
    texts: list[str] = []
    keys: set[str] = set()
    try:
        copies = [_plain(values, texts, keys, redaction, _DEEPEST_PLAIN) for values in several]
        texts += keys
        unique = [text for text in dict.fromkeys(texts) if _is_looked_at(text, redaction)]
        text = "\n".join(unique)
        text.encode()
    except (TypeError, UnicodeEncodeError):
        return None
    if " #" in text or "chars]" in text or not redaction.holds_nothing(unique):
        return None
    if not TOOL_KEYS.isdisjoint(keys) and may_ask(unique):  # whose result a tool's is
        return None
    if len(redaction.harmless_keys) < MOST_CACHED:
        redaction.harmless_keys.update(key for key in keys if len(key) <= LONGEST_CACHED)
    return copies


def _plain(value: Any, texts: list[str], keys: set[str], redaction: Rules, levels: int) -> Any:  # noqa: C901 - calls would cost too much
    """A copy of a plain list or mapping; its longer texts are added to `texts`, keys not known yet to `keys`.

    Raises:
        TypeError: it is not plain, has a secret name, or is deep or large.
    """
    texts.append("")  # counts the containers, of which one may stand in many places
    if not levels or len(value) > _MOST_PLAIN or len(texts) > _MOST_TEXTS:
        raise TypeError
    copy, shortest = value.copy(), redaction.shortest
    largest = redaction.largest_number if redaction.largest_number < EXACT_INT else _LARGEST_PLAIN
    if type(value) is list:
        pairs: Any = enumerate(value)
        if value and type(value[0]) is not dict and holds_named((value,), redaction):
            raise TypeError
        if len(value) > 1 and holds_answers(value, redaction):
            raise TypeError
    else:
        pairs = value.items()
        _check_keys(value, keys, redaction)
        if "value" in value or (may_be_entry(value) and holds_beside(value, redaction)):
            raise TypeError
    for place, item in pairs:
        kind = type(item)
        if kind is str:
            if len(item) >= shortest or not item.isascii():
                texts.append(item)
        elif item is None or kind is bool:
            pass
        elif kind is int:
            if not -_LARGEST_PLAIN < item < largest:
                raise TypeError
        elif kind is float:
            if not -1e308 <= item <= 1e308:
                raise TypeError
        elif kind is dict or kind is list:
            copy[place] = _plain(item, texts, keys, redaction, levels - 1)
        else:
            raise TypeError
    return copy


def _check_keys(value: dict[Any, Any], keys: set[str], redaction: Rules) -> None:
    if not TOOL_KEYS.isdisjoint(value):
        keys.update(TOOL_KEYS.intersection(value))
    for key in value.keys() - redaction.harmless_keys:
        if type(key) is not str or key[:1] == "$" or redaction.is_secret(key):
            raise TypeError
        keys.add(key)


def _is_looked_at(text: str, redaction: Rules) -> bool:
    return (len(text) >= redaction.shortest and redaction.looks_into(text)) or not text.isascii()
