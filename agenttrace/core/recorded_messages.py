"""Spans from a list of chat messages, in the form of any provider.

Understood are OpenAI's chat messages (``tool_calls``, ``role: tool``, the older ``function_call``) and
Responses items (``function_call``, ``function_call_output``), Anthropic's content blocks (``tool_use``,
``tool_result``), and the dicts of LangChain (``type: ai``, ``tool_calls`` with ``name`` and ``args``), in any
mixture. Message objects with a ``model_dump()`` are read through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.jsonable import jsonable
from agenttrace.core.recorded_calls import RecordedCall, RecordedText, build, read_arguments
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
_CALL_KEYS = frozenset(
    {"name", "arguments", "input", "args", "id", "call_id", "type", "status", "output", "error", "function"}
)


def spans_of_messages(messages: Sequence[Mapping[str, Any]]) -> list[Span]:
    """The spans of the tool calls and answers in a list of messages.

    Each text of the user begins a turn; the first turn is 1. Calls of one message (or Responses items in a
    row) were made at the same moment. The root's input is the user's first text; its output is the model's
    last text, or None where a call was made beside or after it, because then the run did not finish. Results
    keep their text as it is. Arguments that cannot be read are kept as `arguments_error`.

    Raises:
        DatasetError: an entry that is not a message, or a result of a call that is missing; it names the
            position.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise DatasetError(f"got {short_repr(messages)}, wanted a list of messages", field="messages")
    reader = _Reader()
    for index, message in enumerate(messages):
        reader.read(message, f"messages[{index}]")
    return build(reader.calls, reader.answers, first_input=reader.first_input, output=reader.output)


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

    def read(self, message: Any, place: str) -> None:
        entry = _mapping(message)
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
        if kind.endswith("_call"):
            name = item.get("name") or kind.removesuffix("_call")
            arguments = item.get("arguments", item.get("input"))
            if arguments is None:
                arguments = {k: v for k, v in item.items() if k not in _CALL_KEYS}
            call = self._call(name, arguments, item.get("call_id") or item.get("id"), place, item)
            call.output = jsonable(item.get("output"), limit=None)
            if item.get("error"):
                call.error = SpanError("ToolError", _text(item["error"]))
        elif kind.endswith("_call_output"):
            self._result(item.get("call_id"), item.get("output"), failed=False, place=place)
        elif kind not in _IGNORED_ITEMS:
            kinds = {"function_call", "function_call_output", "message", *_IGNORED_ITEMS}
            raise DatasetError(f"unknown type {kind!r}{did_you_mean(kind, kinds)}", field=place)

    def _message(self, message: Mapping[str, Any], role: str, place: str) -> None:
        if role == "tool":
            failed = message.get("status") == "error" or message.get("is_error") is True
            call_id = message.get("tool_call_id")
            self._result(
                call_id, message.get("content"), failed=failed, place=place, name=message.get("name")
            )
            return
        text = _text(message.get("content"))
        if role == "assistant":
            self._assistant(message, text, place)
            return
        for block in _blocks(message):
            if str(block.get("type", "")).endswith("tool_result"):
                self._block_result(block, place)
        if text:
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
        text = text or _text(message.get("refusal"))
        self.moment += 1
        self.answers.append(RecordedText(text, self.input_messages, self.moment, max(self.turn, 1)))
        self.input_messages, self.user_spoke = [], False
        self.moment += 1
        self.output = text or None
        for tool_call in _list(message.get("tool_calls"), f"{place}.tool_calls"):
            self._tool_call(tool_call, place)
        for invalid_call in _list(message.get("invalid_tool_calls"), f"{place}.invalid_tool_calls"):
            self._tool_call(invalid_call, place)
        legacy = _mapping(message.get("function_call"))
        if legacy is not None:
            self._call(legacy.get("name"), legacy.get("arguments"), None, place, {})
        for block in _blocks(message):
            kind = str(block.get("type", ""))
            if kind.endswith("tool_use"):
                self._call(block.get("name"), block.get("input"), block.get("id"), place, block)
            elif kind.endswith("tool_result"):  # a tool that ran on the provider's side
                self._block_result(block, place)

    def _tool_call(self, tool_call: Any, place: str) -> None:
        entry = _mapping(tool_call)
        if entry is None:
            raise DatasetError(
                f"got {short_repr(tool_call)}, wanted a tool call", field=f"{place}.tool_calls"
            )
        name, arguments = name_and_arguments(entry)
        self._call(name, arguments, entry.get("id"), place, entry)

    def _call(
        self, name: Any, raw_arguments: Any, key: Any, place: str, entry: Mapping[str, Any]
    ) -> RecordedCall:
        if not isinstance(name, str) or not name:
            raise DatasetError(
                f"got {short_repr(dict(entry))}, wanted a tool call with a 'name'", field=place
            )
        if entry.get("type") in ("custom", "custom_tool_call") and isinstance(raw_arguments, str):
            raw_arguments = {"input": raw_arguments}  # a custom tool takes plain text, not JSON
        arguments, arguments_error = read_arguments(raw_arguments)
        metadata = {k: v for k, v in entry.items() if k not in _CALL_KEYS and k != "custom" and v is not None}
        if key is not None:
            metadata["id"] = key
        call = RecordedCall(
            name, arguments, self.moment, arguments_error, turn=max(self.turn, 1), metadata=metadata
        )
        self.calls.append(call)
        self.waiting.append((key, call))
        self.output = None
        return call

    def _block_result(self, block: Mapping[str, Any], place: str) -> None:
        failed = block.get("is_error") is True
        self._result(block.get("tool_use_id"), block.get("content"), failed=failed, place=place)

    def _result(self, key: Any, output: Any, *, failed: bool, place: str, name: Any = None) -> None:
        """Give the result to the earliest waiting call of this id, or of this name where there is no id."""
        for position, (call_id, call) in enumerate(self.waiting):
            if call_id == key if key is not None else call.name == name:
                del self.waiting[position]
                call.output = _output(output)
                call.error = SpanError("ToolError", _text(output)) if failed else call.error
                self.moment += 1
                return
        key_text = f"the id {key!r}" if key is not None else f"the name {name!r}"
        raise DatasetError(
            f"got a tool's result, but no call before it waits for one with {key_text}", field=place
        )


def name_and_arguments(call: Mapping[str, Any]) -> tuple[Any, Any]:
    """The name and the raw arguments of a tool call: a provider's, LangChain's, or as `wrap` records it."""
    inner = _mapping(call.get("function")) or _mapping(call.get("custom")) or call
    keys = ("arguments", "args", "input")
    return inner.get("name"), next((inner[key] for key in keys if inner.get(key) is not None), None)


def _mapping(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    fields = dump() if callable(dump) else None
    return fields if isinstance(fields, Mapping) else None


def _list(value: Any, place: str) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise DatasetError(f"got {short_repr(value)}, wanted a list", field=place)


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if not isinstance(content, list | tuple):
        return []
    return [block for block in map(_mapping, content) if block is not None]


def _text(content: Any) -> str:
    """The text of a message's content: a string as it is, or its text blocks, one a line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return "" if content is None else str(content)
    parts = [part if isinstance(part, str) else _block_text(_mapping(part) or {}) for part in content]
    return "\n".join(part for part in parts if part)


def _block_text(block: Mapping[str, Any]) -> str:
    if block.get("type") not in ("text", "input_text", "output_text", "refusal"):
        return ""
    return str(block.get("text") or block.get("refusal") or "")


def _output(content: Any) -> Any:
    """A result's value: one text where all blocks are text, else the blocks as data."""
    if isinstance(content, list | tuple) and content:
        blocks = [_mapping(block) for block in content]
        if all(
            block is not None and block.get("type") in ("text", "output_text", "input_text")
            for block in blocks
        ):
            return _text(content)
        return jsonable(
            [block if block is not None else raw for block, raw in zip(blocks, content, strict=True)],
            limit=None,
        )
    return jsonable(content, limit=None)
