"""What stands in the place of an object in a copy of a value: its snapshot, or its fields."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from agenttrace.core.handlers import register_snapshot
from agenttrace.core.reading_types import type_name


class StandIn:
    """Holds the snapshot of an object in its place; hashable, so that sets and keys can hold it."""

    __slots__ = ("content", "kind")

    def __init__(self, kind: str, content: Any) -> None:
        self.kind = kind
        self.content = content


class Fields:
    """Holds the declared fields of an object in its place, as they are: a snapshot is still to be made."""

    __slots__ = ("content", "kind")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.content: dict[str, Any] = {}

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.content = content


register_snapshot(StandIn, lambda stand_in: stand_in.content)


def kind_name(value: Any) -> str:
    """The name of a value's type, or of that of the object in whose place it stands."""
    kind = type(value)
    return str(value.kind) if kind is StandIn or kind is Fields else type_name(kind)


def unused_key(text: str, key: Any, entries: Container[str]) -> str:
    """A key's text where other keys of the mapping have it: ``1`` beside ``"1"`` is ``1 (int)``."""
    while text in entries:
        text += f" ({kind_name(key)})"
    return text
