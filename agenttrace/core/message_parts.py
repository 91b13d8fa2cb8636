"""What one chat message asks for, and what it answers, in the form of any provider.

Read by `Trace.from_messages`, and in the requests and answers that spans of models hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import DatasetError
from agenttrace.core.jsonable import jsonable
from agenttrace.core.recorded_calls import read_arguments
from agenttrace.core.text import short_repr

CALL_KEYS = frozenset(
    {"name", "arguments", "input", "args", "id", "call_id", "type", "status", "output", "error", "function"}
)
"""The keys of a call's own fields; what stands beside them is its metadata."""

_TEXTS = ("text", "output_text", "input_text")


@dataclass(frozen=True, slots=True)
class Request:
    """A call that a message asks for: `arguments` as they came, `key` the call's id or None."""

    name: Any
    arguments: Any
    key: Any
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a call: to that of id `key`, or without one to that of `name`.

    `failed` is None where the message has no place to say so: OpenAI's chat messages and Responses items.
    """

    key: Any
    content: Any
    failed: bool | None
    name: Any = None

    @property
    def output(self) -> Any:
        """The content as a value: one text where all its blocks are text, else the blocks as data."""
        return as_output(self.content)


def parts_of(message: Mapping[str, Any], place: str = "") -> Iterator[Request | Result]:
    """The calls that a message (or an item of a Responses list) asks for and answers, as they stand in it.

    Raises:
        DatasetError: its calls are no list of mappings; it names the `place`.
    """
    kind = str(message.get("type", ""))
    if (
        message.get("role") in ("tool", "function") or kind in ("tool", "function")
    ) and "parts" not in message:
        key, failed = message.get("tool_call_id"), _marked_as_failed(message)
        yield Result(key, message.get("content"), failed, message.get("name"))
    elif kind.endswith("_call_output"):
        yield Result(message.get("call_id"), message.get("output"), _marked_as_failed(message))
    elif kind in ("function_call", "custom_tool_call"):
        arguments = message.get("arguments", message.get("input"))
        yield Request(message.get("name"), arguments, message.get("call_id") or message.get("id"), message)
    for field in ("tool_calls", "invalid_tool_calls"):
        for call in _list(message.get(field), f"{place}.{field}"):
            entry = as_mapping(call)
            if entry is None:
                raise DatasetError(f"got {short_repr(call)}, wanted a tool call", field=f"{place}.tool_calls")
            yield Request(*name_and_arguments(entry), entry.get("id"), entry)
    legacy = as_mapping(message.get("function_call"))
    if legacy is not None:
        yield Request(legacy.get("name"), legacy.get("arguments"), None, {})
    for block in blocks(message):
        yield from _part_of(block)


def _part_of(block: Mapping[str, Any]) -> Iterator[Request | Result]:
    """The call that one block of a message asks for or answers: Anthropic's, OpenTelemetry's, Gemini's."""
    kind = str(block.get("type", ""))
    asked, answered = as_mapping(block.get("functionCall")), as_mapping(block.get("functionResponse"))
    if asked is not None:
        yield Request(asked.get("name"), asked.get("args"), asked.get("id"), {})
    elif answered is not None:
        content, failed = _function_response(answered.get("response"))
        yield Result(answered.get("id"), content, failed, answered.get("name"))
    elif kind == "tool_call":
        yield Request(block.get("name"), block.get("arguments"), block.get("id"), block)
    elif kind == "tool_call_response":
        response = block.get("response", block.get("result"))
        yield Result(block.get("id"), response, _marked_as_failed(block))
    elif kind.endswith("tool_use"):
        yield Request(block.get("name"), block.get("input"), block.get("id"), block)
    elif kind.endswith("tool_result"):  # it is no failure unless it says so
        failed = block.get("is_error") is True
        yield Result(block.get("tool_use_id"), block.get("content"), failed)


def _function_response(response: Any) -> tuple[Any, bool | None]:
    """What a function gave, in Gemini's form: the value alone where its name says no more."""
    if not isinstance(response, Mapping) or len(response) != 1:
        return response, None
    ((name, value),) = response.items()
    return value if name in ("result", "output", "error") else response, True if name == "error" else None


def arguments_of(request: Request) -> tuple[Mapping[str, Any], str | None]:
    """The arguments by name, or an empty mapping with the reason why they could not be read."""
    raw = request.arguments
    if request.entry.get("type") in ("custom", "custom_tool_call") and isinstance(raw, str):
        raw = {"input": raw}  # a custom tool takes plain text, not JSON
    return read_arguments(raw)


def metadata_of(request: Request) -> dict[str, Any]:
    """What the message says of the call beside its name and arguments, with its id."""
    entry = request.entry
    metadata = {k: v for k, v in entry.items() if k not in CALL_KEYS and k != "custom" and v is not None}
    return metadata if request.key is None else {**metadata, "id": request.key}


def name_and_arguments(call: Mapping[str, Any]) -> tuple[Any, Any]:
    """The name and the raw arguments of a tool call: a provider's, LangChain's, or as `wrap` records it."""
    inner = as_mapping(call.get("function")) or as_mapping(call.get("custom")) or call
    keys = ("arguments", "args", "input")
    return inner.get("name"), next((inner[key] for key in keys if inner.get(key) is not None), None)


def as_mapping(value: Any) -> Mapping[str, Any] | None:
    """A mapping as it is, a message object by its ``model_dump()``, anything else as None."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    fields = dump() if callable(dump) else None
    return fields if isinstance(fields, Mapping) else None


def blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a message's content (OpenTelemetry: its parts), empty where it is a text."""
    content = message.get("content", message.get("parts"))
    if not isinstance(content, list | tuple):
        return []
    return [block for block in map(as_mapping, content) if block is not None]


def text_in(content: Any) -> str:
    """The text of a message's content: a string as it is, or its text blocks, one a line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return "" if content is None else str(content)
    parts = [part if isinstance(part, str) else _block_text(as_mapping(part) or {}) for part in content]
    return "\n".join(part for part in parts if part)


def as_output(content: Any) -> Any:
    """A result's value: one text where all blocks are text, else the blocks as data."""
    if isinstance(content, list | tuple) and content:
        parts = [as_mapping(block) for block in content]
        if all(part is not None and part.get("type") in _TEXTS for part in parts):
            return text_in(content)
        content = [part if part is not None else raw for part, raw in zip(parts, content, strict=True)]
    return jsonable(content, limit=None)


def _marked_as_failed(message: Mapping[str, Any]) -> bool | None:
    """What LangChain's ``status``, or an ``is_error`` that a program added, says; None without either."""
    if isinstance(message.get("is_error"), bool):
        return bool(message["is_error"])
    return {"error": True, "success": False}.get(str(message.get("status")))


def _block_text(block: Mapping[str, Any]) -> str:
    if block.get("type") not in (*_TEXTS, "refusal"):
        return ""
    return str(block.get("text") or block.get("refusal") or "")


def _list(value: Any, place: str) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise DatasetError(f"got {short_repr(value)}, wanted a list", field=place)
