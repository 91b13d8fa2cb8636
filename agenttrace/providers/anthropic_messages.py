"""Reads the answers of Anthropic's ``v1/messages``."""

from __future__ import annotations

from typing import Any

from agenttrace.providers.answer import Answer, Choice, Text, parts, text_of, tool_call
from agenttrace.providers.usage import part, read_usage

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
)


class MessagesReader:
    """A message: whole, or as events.

    Calls of tools that the provider itself runs are left out.
    """

    def __init__(self) -> None:
        self._id: str | None = None
        self._model: str | None = None
        self._finish_reason: str | None = None
        self._counted: dict[str, Any] = {}
        self._blocks: dict[int, _Block] = {}

    def reply(self, reply: Any) -> None:
        """Take a whole message."""
        self._id = text_of(reply, "id") or self._id
        self._model = text_of(reply, "model") or self._model
        self._finish_reason = part(reply, "stop_reason") or self._finish_reason
        self._count(part(reply, "usage"))
        for place, block in enumerate(parts(reply, "content")):
            self._blocks[place] = _Block(block)

    def item(self, item: Any) -> bool:
        """Take one event."""
        kind = part(item, "type")
        if kind == "message_start":
            self.reply(part(item, "message"))
        elif kind == "content_block_start":
            block = self._blocks[part(item, "index")] = _Block(part(item, "content_block"))
            return bool(block.kind == "tool_use")
        elif kind == "content_block_delta":
            open_block = self._blocks.get(part(item, "index"))
            return open_block is not None and open_block.add(part(item, "delta"))
        elif kind == "message_delta":
            self._finish_reason = part(part(item, "delta"), "stop_reason") or self._finish_reason
            self._count(part(item, "usage"))
        return False

    def answer(self) -> Answer:
        """Return the answer as far as it was read."""
        choice = Choice(finish_reason=self._finish_reason)
        for block in self._blocks.values():
            if block.kind == "tool_use":
                choice.tool_calls.append(block.call())
            elif block.kind == "text":
                choice.text += str(block.text)
            elif block.kind == "thinking":
                choice.reasoning += str(block.text)
        return Answer(
            self._id, self._model, [choice] if self._id or self._blocks else [], read_usage(self._counted)
        )

    def _count(self, usage: Any) -> None:
        for name in _COUNTS:
            count = part(usage, name)
            if count is not None:  # a later event may repeat some of the counts, never all
                self._counted[name] = count


class _Block:
    """One block of a message's content, whole or arriving in pieces."""

    __slots__ = ("arguments", "id", "input", "kind", "name", "text")

    def __init__(self, block: Any) -> None:
        self.kind = part(block, "type")
        self.id, self.name, self.input = part(block, "id"), part(block, "name"), part(block, "input")
        self.text, self.arguments = Text(), Text()
        self.text.add(part(block, "thinking" if self.kind == "thinking" else "text"))

    def add(self, delta: Any) -> bool:
        return (
            self.text.add(part(delta, "text"))
            or self.text.add(part(delta, "thinking"))
            or self.arguments.add(part(delta, "partial_json"))
        )

    def call(self) -> dict[str, Any]:
        return tool_call(self.id, self.name, str(self.arguments) or self.input)
