"""What a model answered, whoever provides it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

MAX_TEXT = 256 * 1024
"""Characters of one streamed text that are kept; the snapshot of a span keeps fewer."""


@dataclass(slots=True)
class Choice:
    """One answer of possibly several.

    `tool_calls` are the calls that the model asks for: ``{"id", "name", "arguments"}``, the arguments as a
    mapping, or as the text itself where it is no JSON object.
    """

    text: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None
    reasoning: str = ""
    refusal: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The parts that are there; text and finish reason always."""
        told: dict[str, Any] = {"text": self.text}
        for name in ("tool_calls", "reasoning", "refusal"):
            if getattr(self, name):
                told[name] = getattr(self, name)
        told["finish_reason"] = self.finish_reason
        return told


@dataclass(slots=True)
class Answer:
    """What is recorded of one call: `usage` counts tokens by the words of `semconv.USAGE`."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)


class Reader(Protocol):
    """Reads one provider's replies: a whole one, or the items of a stream in order.

    Replies are looked at through `part`, because foreign servers leave fields out.
    """

    def reply(self, reply: Any) -> None:
        """Take a whole reply: the library's object, or its JSON."""
        ...

    def item(self, item: Any) -> bool:
        """Take one item of a stream; true when it brought a part of the answer."""
        ...

    def answer(self) -> Answer:
        """What was read so far."""
        ...


def part(whole: Any, name: str) -> Any:
    """A field of a reply, or None where it is absent."""
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


def parts(whole: Any, name: str) -> list[Any]:
    """A list in a reply, empty where it is absent."""
    found = part(whole, name)
    return list(found) if isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping) else []


def text_of(whole: Any, name: str) -> str:
    """A text in a reply, empty where it is absent."""
    found = part(whole, name)
    return found if isinstance(found, str) else ""


def count_of(whole: Any, *path: str) -> int | None:
    """A count in a reply by its path, or None where it is absent."""
    for name in path:
        whole = part(whole, name)
    return whole if isinstance(whole, int) and not isinstance(whole, bool) else None


def counts(**found: int | None) -> dict[str, int]:
    """The counts that are known."""
    return {name: count for name, count in found.items() if count is not None}


def tool_call(id: Any, name: Any, arguments: Any) -> dict[str, Any]:  # noqa: A002 - the providers' word
    """A call that the model asks for; arguments as text are read as JSON."""
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments or "{}")
        except ValueError:
            read = arguments
        arguments = read if isinstance(read, dict) else arguments
    return {"id": id, "name": name, "arguments": {} if arguments is None else arguments}


class Text:
    """A text that arrives in pieces, bounded."""

    __slots__ = ("_pieces", "_room")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._room = MAX_TEXT

    def add(self, piece: Any) -> bool:
        """Take a piece; true when it was a text with something in it."""
        if not isinstance(piece, str) or not piece:
            return False
        if self._room > 0:
            self._pieces.append(piece[: self._room])
            self._room -= len(piece)
        return True

    def __str__(self) -> str:
        return "".join(self._pieces)
