"""Spans from a list of chat messages, in the form of any provider.

Understood are OpenAI's chat messages (``tool_calls``, ``role: tool``, the older ``function_call``) and
Responses items (``function_call``, ``function_call_output``), Anthropic's content blocks (``tool_use``,
``tool_result``), the parts of OpenTelemetry, Gemini, Bedrock, Vercel's AI SDK and Haystack, and the dicts of
LangChain (``type: ai``, ``tool_calls`` with ``name`` and ``args``), in any mixture. Message objects with a
``model_dump()`` are read through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.hosted_calls import hosted_item, is_hosted, requested_item
from agenttrace.core.jsonable import jsonable
from agenttrace.core.message_parts import (
    Request,
    Result,
    arguments_of,
    as_mapping,
    metadata_of,
    parts_of,
    text_in,
)
from agenttrace.core.recorded_calls import RecordedCall, RecordedRoot, RecordedText, build
from agenttrace.core.span import Span, SpanError
from agenttrace.core.text import short_repr

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_IGNORED_ITEMS = frozenset(
    {
        "compaction",
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_list_tools",
        "reasoning",
    }
)


def spans_of_messages(messages: Sequence[Mapping[str, Any]]) -> list[Span]:
    """The spans of the tool calls and answers in a list of messages.

    Each text of the user begins a turn; the first turn is 1. Calls of one message (or Responses items in a
    row) were made at the same moment. The root's input is the user's first text; its output is the model's
    last text, or None where a call was made beside or after it, because then the run did not finish. Results
    keep their text as it is. What a call's status is, `ToolCall` says: *answered* where the messages have no
    place to say whether it failed (OpenAI's), *requested* where nothing answers it, *attempted* where its
    arguments cannot be read; these are kept as `arguments_error`.

    Raises:
        DatasetError: an entry that is not a message, or a result of a call that is missing; it names the
            position.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise DatasetError(f"got {short_repr(messages)}, wanted a list of messages", field="messages")
    reader = _Reader()
    for index, message in enumerate(messages):
        reader.read(message, f"messages[{index}]")
    for call in reader.unanswered:
        call.status = call.status or "requested"
    return build(reader.calls, reader.answers, RecordedRoot(input=reader.first_input, output=reader.output))


class _Reader:
    """One pass over the messages."""

    def __init__(self) -> None:
        self.calls: list[RecordedCall] = []
        self.answers: list[RecordedText] = []
        self.first_input: str | None = None
        self.output: str | None = None
        self.turn = 0
        self.moment = 1
        self.input_messages: list[dict[str, Any]] = []
        self.user_spoke = False
        self.waiting: list[tuple[str | None, RecordedCall]] = []

    @property
    def unanswered(self) -> list[RecordedCall]:
        """The calls that nothing has answered."""
        return [call for _, call in self.waiting]

    def read(self, message: Any, place: str) -> None:
        entry = as_mapping(message)
        if entry is None:
            raise DatasetError(
                f"got {short_repr(message)}, wanted a message: a mapping with 'role'", field=place
            )
        kind = entry.get("type")
        if isinstance(entry.get("data"), Mapping) and kind in _ROLES:  # langchain's messages_to_dict
            entry = {"type": kind, **entry["data"]}
        role = entry.get("role") or (kind if kind in _ROLES else None)
        if role is None and isinstance(kind, str):
            self._item(entry, kind, place)
        elif role in _ROLES:
            self._message(entry, _ROLES[role], place)
        else:
            problem = f"unknown role {role!r}{did_you_mean(str(role), _ROLES)}" if role else "no 'role'"
            raise DatasetError(f"got {short_repr(dict(entry))}, wanted a message: {problem}", field=place)

    def _item(self, item: Mapping[str, Any], kind: str, place: str) -> None:
        """One item of a Responses list that is not a message."""
        if is_hosted(item):
            hosted = hosted_item(item)
            call = self._call(Request(hosted.name, hosted.arguments, hosted.key, item), place)
            call.output = jsonable(hosted.output, limit=None)
            call.error = None if hosted.error is None else SpanError("ToolError", hosted.error)
            call.status = call.status or "ok"
            call.metadata = {**hosted.metadata, "id": hosted.key} if hosted.key else dict(hosted.metadata)
        elif kind.endswith("_call"):
            key, name, arguments = requested_item(item)
            call = self._call(Request(name, arguments, key, item), place)
            call.output = jsonable(item.get("output"), limit=None)
            if item.get("error"):
                call.error = SpanError("ToolError", text_in(item["error"]))
        elif kind.endswith("_call_output"):
            self._parts(item, place)
        elif kind not in _IGNORED_ITEMS:
            kinds = {"function_call", "function_call_output", "message", *_IGNORED_ITEMS}
            raise DatasetError(f"unknown type {kind!r}{did_you_mean(kind, kinds)}", field=place)

    def _message(self, message: Mapping[str, Any], role: str, place: str) -> None:
        if role == "assistant":
            self._assistant(message, text_in(message.get("content")), place)
        self._parts(message, place)
        if role in ("system", "user") and (text := text_in(message.get("content"))):
            self._add_input(role, text)

    def _add_input(self, role: str, text: str) -> None:
        self.input_messages.append({"role": role, "content": text})
        if role == "user":
            if self.first_input is None:
                self.first_input = text
            if not self.user_spoke:
                self.turn += 1
            self.user_spoke = True

    def _assistant(self, message: Mapping[str, Any], text: str, place: str) -> None:
        text = text or text_in(message.get("refusal"))
        self.moment += 1
        self.answers.append(RecordedText(text, self.input_messages, self.moment, max(self.turn, 1)))
        self.input_messages, self.user_spoke = [], False
        self.moment += 1
        self.output = text or None

    def _parts(self, message: Mapping[str, Any], place: str) -> None:
        for part in parts_of(message, place):
            if isinstance(part, Request):
                self._call(part, place)
            else:
                self._result(part, place)

    def _call(self, request: Request, place: str) -> RecordedCall:
        if not isinstance(request.name, str) or not request.name:
            raise DatasetError(
                f"got {short_repr(dict(request.entry))}, wanted a tool call with a 'name'", field=place
            )
        arguments, arguments_error = arguments_of(request)
        call = RecordedCall(
            request.name,
            arguments,
            self.moment,
            arguments_error,
            status=None if arguments_error is None else "attempted",
            turn=max(self.turn, 1),
            metadata=metadata_of(request),
        )
        self.calls.append(call)
        self.waiting.append((request.key, call))
        self.output = None
        return call

    def _result(self, result: Result, place: str) -> None:
        """Give the result to the earliest waiting call of this id, or of this name where there is no id."""
        key, name = result.key, result.name
        for position, (call_id, call) in enumerate(self.waiting):
            if call_id == key if key is not None else call.name == name:
                del self.waiting[position]
                call.output, call.from_answer = result.output, True
                if result.failed:
                    call.error = SpanError("ToolError", text_in(result.output))
                elif result.failed is None and call.error is None:
                    call.status = call.status or "answered"
                self.moment += 1
                return
        key_text = f"the id {key!r}" if key is not None else f"the name {name!r}"
        raise DatasetError(
            f"got a tool's result, but no call before it waits for one with {key_text}", field=place
        )
