"""Reads the answers of OpenAI's ``responses``."""

from __future__ import annotations

from typing import Any

from agenttrace.providers.answer import Answer, Choice, Text, parts, text_of, tool_call
from agenttrace.providers.usage import part, read_usage

_CONTENT_EVENTS = ("delta", "function_call_arguments.done", "output_text.done")


class ResponsesReader:
    """A response: whole, or as events, of which the last one holds the whole.

    The finish reason is the response's status; where it is *incomplete*, the reason for that. Calls of tools
    that the provider itself runs (web search and the like) are not calls that the model asks the caller for.
    """

    def __init__(self) -> None:
        self._answer = Answer()
        self._texts: dict[Any, Text] = {}
        self._items: dict[Any, Any] = {}

    def reply(self, reply: Any) -> None:
        """Take a whole response."""
        self._answer = Answer(
            part(reply, "id"),
            part(reply, "model"),
            [_choice(parts(reply, "output"), _finish_reason(reply))],
            read_usage(part(reply, "usage")),
        )

    def item(self, item: Any) -> bool:
        """Take one event."""
        kind = text_of(item, "type")
        response = part(item, "response")
        if response is not None:
            self.reply(response)
            choice = self._answer.choices[0]
            if not choice.text and not choice.tool_calls:  # some servers leave the output out here
                self._answer.choices = [self._streamed(choice.finish_reason)]
            if choice.finish_reason in ("queued", "in_progress"):
                self._answer.choices[0].finish_reason = None
        elif kind == "response.output_text.delta":
            place = (part(item, "output_index"), part(item, "content_index"))
            self._texts.setdefault(place, Text()).add(part(item, "delta"))
        elif kind == "response.output_item.done":
            self._items[part(item, "output_index")] = part(item, "item")
        return kind.endswith(_CONTENT_EVENTS)

    def answer(self) -> Answer:
        """Return the answer as far as it was read."""
        choices = self._answer.choices
        if (self._texts or self._items) and (not choices or choices[0].finish_reason is None):
            self._answer.choices = [self._streamed(None)]
        return self._answer

    def _streamed(self, finish_reason: str | None) -> Choice:
        choice = _choice(list(self._items.values()), finish_reason)
        choice.text = choice.text or "".join(map(str, self._texts.values()))
        return choice


def _choice(output: list[Any], finish_reason: str | None) -> Choice:
    choice = Choice(finish_reason=finish_reason)
    for item in output:
        kind = part(item, "type")
        if kind == "message":
            for content in parts(item, "content"):
                choice.text += text_of(content, "text")
                choice.refusal += text_of(content, "refusal")
        elif kind == "reasoning":
            choice.reasoning += "".join(text_of(piece, "text") for piece in parts(item, "summary"))
        elif kind == "function_call":
            choice.tool_calls.append(
                tool_call(part(item, "call_id"), part(item, "name"), part(item, "arguments"))
            )
        elif kind == "custom_tool_call":
            arguments = {"input": part(item, "input")}
            choice.tool_calls.append(
                {"id": part(item, "call_id"), "name": part(item, "name"), "arguments": arguments}
            )
    return choice


def _finish_reason(reply: Any) -> str | None:
    reason = text_of(part(reply, "incomplete_details"), "reason")
    return reason or text_of(reply, "status") or None
