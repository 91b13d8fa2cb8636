"""Reads the answers of OpenAI: of ``chat/completions`` and of ``responses``."""

from __future__ import annotations

from typing import Any

from agenttrace.core.hosted_calls import (
    hosted_item,
    is_hosted,
    outputs_by_call,
    part,
    requested_item,
)
from agenttrace.providers.answer import Answer, Choice, Text, parts, text_of, tool_call
from agenttrace.providers.usage import count_of, read_usage

_REASONING = ("reasoning_content", "reasoning")
"""Fields in which compatible servers put the model's reasoning; OpenAI's own has none."""


class ChatReader:
    """A chat completion: whole, or in chunks.

    The legacy ``function_call`` is a tool call without an id; a custom tool's text is its ``input``.
    """

    def __init__(self) -> None:
        self._id: str | None = None
        self._model: str | None = None
        self._usage: dict[str, int] = {}
        self._choices: dict[int, Choice | _StreamedChoice] = {}

    def reply(self, reply: Any) -> None:
        """Take a whole completion."""
        self._note(reply)
        for place, choice in enumerate(parts(reply, "choices")):
            self._choices[place] = _whole(choice)

    def item(self, item: Any) -> bool:
        """Take one chunk."""
        self._note(item)
        has_content = False
        for place, choice in enumerate(parts(item, "choices")):
            index = count_of(choice, "index")
            partial = self._choices.setdefault(place if index is None else index, _StreamedChoice())
            if isinstance(partial, _StreamedChoice):
                has_content |= partial.add(choice)
        return has_content

    def answer(self) -> Answer:
        """Return the answer as far as it was read."""
        choices = [self._choices[index] for index in sorted(self._choices)]
        complete = [choice.whole() if isinstance(choice, _StreamedChoice) else choice for choice in choices]
        return Answer(self._id, self._model, complete, self._usage)

    def _note(self, message: Any) -> None:
        self._id = text_of(message, "id") or self._id
        self._model = text_of(message, "model") or self._model
        usage = part(message, "usage")
        if usage is not None:
            self._usage = read_usage(usage)


def _whole(choice: Any) -> Choice:
    message = part(choice, "message")
    calls = [_call(part(call, "id"), call) for call in parts(message, "tool_calls")]
    legacy = part(message, "function_call")
    if legacy is not None:
        calls.append(tool_call(None, part(legacy, "name"), part(legacy, "arguments")))
    return Choice(
        text=text_of(message, "content"),
        tool_calls=calls,
        finish_reason=part(choice, "finish_reason"),
        reasoning=next(filter(None, (text_of(message, name) for name in _REASONING)), ""),
        refusal=text_of(message, "refusal"),
    )


def _call(id: Any, call: Any) -> dict[str, Any]:  # noqa: A002 - the provider's word
    custom = part(call, "custom")
    if custom is not None:
        return {"id": id, "name": part(custom, "name"), "arguments": {"input": part(custom, "input")}}
    function = part(call, "function")
    return tool_call(id, part(function, "name"), part(function, "arguments"))


class _StreamedCall:
    """A tool call whose arguments arrive in pieces."""

    __slots__ = ("arguments", "custom", "id", "name")

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = Text()
        self.arguments = Text()
        self.custom = False

    def add(self, call: Any) -> bool:
        self.id = text_of(call, "id") or self.id
        function = part(call, "function")
        if function is None and part(call, "custom") is not None:
            self.custom, function = True, part(call, "custom")
        elif function is None:
            function = call  # the legacy function_call is itself the function
        has_name = self.name.add(part(function, "name"))
        return self.arguments.add(part(function, "input" if self.custom else "arguments")) or has_name

    def whole(self) -> dict[str, Any]:
        if self.custom:
            return {"id": self.id, "name": str(self.name), "arguments": {"input": str(self.arguments)}}
        return tool_call(self.id, str(self.name), str(self.arguments))


class _StreamedChoice:
    """One choice whose text and tool calls arrive in pieces."""

    __slots__ = ("calls", "finish_reason", "reasoning", "refusal", "text")

    def __init__(self) -> None:
        self.text, self.refusal, self.reasoning = Text(), Text(), Text()
        self.calls: dict[Any, _StreamedCall] = {}
        self.finish_reason: str | None = None

    def add(self, choice: Any) -> bool:
        self.finish_reason = part(choice, "finish_reason") or self.finish_reason
        delta = part(choice, "delta")
        has_content = self.text.add(part(delta, "content"))
        has_content |= self.refusal.add(part(delta, "refusal"))
        for name in _REASONING:
            if self.reasoning.add(part(delta, name)):
                has_content = True
                break
        for place, call in enumerate(parts(delta, "tool_calls")):
            index = count_of(call, "index")
            has_content |= self.calls.setdefault(place if index is None else index, _StreamedCall()).add(call)
        legacy = part(delta, "function_call")
        if legacy is not None:
            has_content |= self.calls.setdefault("legacy", _StreamedCall()).add(legacy)
        return has_content

    def whole(self) -> Choice:
        calls = [call.whole() for call in self.calls.values()]
        return Choice(str(self.text), calls, self.finish_reason, str(self.reasoning), str(self.refusal))


_CONTENT_EVENTS = ("delta", "function_call_arguments.done", "output_text.done")


class ResponsesReader:
    """A response: whole, or as events, of which the last one holds the whole.

    The finish reason is the response's status; where it is *incomplete*, the reason for that. Calls of tools
    that the provider itself runs (web search and the like) are hosted calls, not calls that the model asks
    the caller for; one that waits for the caller's approval is asked for.
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
            # Some servers leave the output out here.
            if not choice.text and not choice.tool_calls and not choice.hosted_calls:
                self._answer.choices = [self._streamed(choice.finish_reason)]
            if choice.finish_reason in ("queued", "in_progress"):
                self._answer.choices[0].finish_reason = None
        elif kind == "response.output_text.delta":
            place = (part(item, "output_index"), part(item, "content_index"))
            self._texts.setdefault(place, Text()).add(part(item, "delta"))
        elif kind == "response.output_item.done":
            self._items[part(item, "output_index")] = part(item, "item")
        elif kind == "response.output_item.added" and is_hosted(part(item, "item")):
            self._items[part(item, "output_index")] = part(item, "item")  # it may break off before it is done
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
    outputs = outputs_by_call(output)
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
        elif kind == "mcp_list_tools":
            choice.listings.append(hosted_item(item))
        elif is_hosted(item, outputs):
            choice.hosted_calls.append(hosted_item(item, outputs.get(part(item, "call_id"))))
        elif isinstance(kind, str) and (kind.endswith("_call") or kind == "mcp_approval_request"):
            choice.tool_calls.append(tool_call(*requested_item(item)))
    return choice


def _finish_reason(reply: Any) -> str | None:
    reason = text_of(part(reply, "incomplete_details"), "reason")
    return reason or text_of(reply, "status") or None
