"""A model's answer in one form for all providers, with readers for its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agenttrace.core.hosted_calls import HostedCall, part
from agenttrace.core.json_reader import json_object_in

MAX_TEXT = 256 * 1024
"""Characters of one streamed text that are held; the snapshot of a span holds fewer."""


@dataclass(slots=True)
class Choice:
    """One answer of possibly several.

    `tool_calls` are the calls that the model asks for: ``{"id", "name", "arguments"}``, the arguments as a
    mapping, or as the text itself where it is no JSON object. `hosted_calls` are those that the provider ran
    itself; `listings` what it did beside, without a call: the tools of an MCP server that it looked up.
    """

    text: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None
    reasoning: str = ""
    refusal: str = ""
    hosted_calls: list[HostedCall] = field(default_factory=list)
    listings: list[HostedCall] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the parts that are there; text and finish reason always."""
        fields: dict[str, Any] = {"text": self.text}
        for name in ("tool_calls", "reasoning", "refusal"):
            if getattr(self, name):
                fields[name] = getattr(self, name)
        fields["finish_reason"] = self.finish_reason
        return fields


@dataclass(slots=True)
class Answer:
    """The recorded answer of one call: `usage` counts tokens by the words of `semconv.USAGE`."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)


class Reader(Protocol):
    """Reads one provider's replies: a whole one, or the items of a stream in order.

    Replies are read through `part`, because some servers leave fields out.
    """

    def reply(self, reply: Any) -> None:
        """Take a whole reply: the library's object, or its JSON."""
        ...

    def item(self, item: Any) -> bool:
        """Take one item of a stream; return True if it holds a part of the answer."""
        ...

    def answer(self) -> Answer:
        """Return the answer as far as it was read."""
        ...


def parts(whole: Any, name: str) -> list[Any]:
    """Return a list in a reply, empty where it is absent."""
    items = part(whole, name)
    return list(items) if isinstance(items, Iterable) and not isinstance(items, str | bytes | Mapping) else []


def text_of(whole: Any, name: str) -> str:
    """Return a text in a reply, empty where it is absent."""
    text = part(whole, name)
    return text if isinstance(text, str) else ""


def tool_call(id: Any, name: Any, arguments: Any) -> dict[str, Any]:  # noqa: A002 - the providers' word
    """Return a call that the model asks for; arguments as text are read as JSON."""
    if isinstance(arguments, str):
        value = json_object_in(arguments or "{}")
        arguments = arguments if value is None else value
    return {"id": id, "name": name, "arguments": {} if arguments is None else arguments}


class Text:
    """A text that arrives in pieces, bounded."""

    __slots__ = ("_pieces", "_room")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._room = MAX_TEXT

    def add(self, piece: Any) -> bool:
        """Take a piece; return True if it is a text that is not empty."""
        if not isinstance(piece, str) or not piece:
            return False
        if self._room > 0:
            self._pieces.append(piece[: self._room])
            self._room -= len(piece)
        return True

    def __str__(self) -> str:
        return "".join(self._pieces)
