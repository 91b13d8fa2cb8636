"""Reads the answers of Anthropic's ``v1/messages``."""

from __future__ import annotations

from typing import Any

from agenttrace.core.hosted_calls import HostedCall, hosted_block, part
from agenttrace.providers.answer import Answer, Choice, Text, parts, text_of, tool_call
from agenttrace.providers.usage import read_usage

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
)


class MessagesReader:
    """A message: whole, or as events.

    A call of a tool that the provider itself runs is a hosted call, with the result that the same message
    has. The result alone, of a call in an earlier message (the turn was paused), is one without arguments.
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
            return block.is_call
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
        blocks = list(self._blocks.values())
        results = {part(block.whole, "tool_use_id"): block for block in blocks if block.is_result}
        for block in blocks:
            if block.is_hosted and (block.id in results or self._finish_reason is None):
                result = results.pop(block.id, None)
                choice.hosted_calls.append(block.hosted_call(None if result is None else result.whole))
            elif block.is_call:  # a hosted one without a result waits for the next request
                choice.tool_calls.append(block.call())
            elif block.kind == "text":
                choice.text += str(block.text)
            elif block.kind == "thinking":
                choice.reasoning += str(block.text)
        choice.hosted_calls += [block.lone_result() for block in results.values()]
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

    __slots__ = ("arguments", "id", "input", "kind", "name", "text", "whole")

    def __init__(self, block: Any) -> None:
        self.whole = block
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

    @property
    def is_call(self) -> bool:
        return str(self.kind).endswith("tool_use")

    @property
    def is_hosted(self) -> bool:
        return self.is_call and self.kind != "tool_use"

    @property
    def is_result(self) -> bool:
        return str(self.kind).endswith("_tool_result")

    def hosted_call(self, result: Any) -> HostedCall:
        arrived = result is not None or str(self.arguments) or self.input
        return hosted_block(self.whole, self.call()["arguments"] if arrived else None, result)

    def lone_result(self) -> HostedCall:
        name = str(self.kind).removesuffix("_tool_result")
        return hosted_block({"name": name, "id": part(self.whole, "tool_use_id")}, None, self.whole)

    def call(self) -> dict[str, Any]:
        return tool_call(self.id, self.name, str(self.arguments) or self.input)
