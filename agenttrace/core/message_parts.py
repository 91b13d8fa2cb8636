"""What one chat message asks for, and what it answers, in the form of any provider.

Read by `Trace.from_messages`, and in the requests and answers that spans of models hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.errors import DatasetError
from agenttrace.core.hosted_calls import hosted_result
from agenttrace.core.jsonable import jsonable
from agenttrace.core.recorded_calls import read_arguments
from agenttrace.core.text import short_repr

_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_IDS = ("call_id", "toolCallId", "toolUseId", "tool_use_id", "tool_call_id", "id")
"""Where providers and frameworks put the name, the arguments and the id of a call, the first one wins."""

CALL_KEYS = frozenset({*_NAMES, *_ARGUMENTS, *_IDS, "type", "status", "output", "error", "function"})
"""The keys of a call's own fields; what stands beside them is its metadata."""

_ASKS = frozenset({"tool_call", "tool-call", "function_call"})
_ANSWERS = frozenset({"tool_call_response", "tool-result"})
"""The types of blocks that are a call, or the answer to one, beside Anthropic's."""
_ASKS_INSIDE = ("functionCall", "function_call", "toolUse", "tool_call")
_ANSWERS_INSIDE = ("functionResponse", "function_response", "toolResult", "tool_call_result")
"""Under which name a block has a call, or the answer to one, inside it: Gemini's, Bedrock's, Haystack's."""
_HOLDERS = frozenset({*_ASKS_INSIDE, *_ANSWERS_INSIDE})
_CONTENTS = ("response", "result", "output", "content")
_FAILURES = ("is_error", "isError", "error")

_PLAIN_TYPES = frozenset({dict, str, list, type(None)})
_TEXTS = ("text", "output_text", "input_text")
_PLAIN_BLOCKS = frozenset({*_TEXTS, "refusal"})


class Request(NamedTuple):
    """A call that a message asks for: `arguments` as they came, `key` the call's id or None."""

    name: Any
    arguments: Any
    key: Any
    entry: Mapping[str, Any]


class Result(NamedTuple):
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
    inside = [part for block in blocks(message) if (part := part_of(block)) is not None]
    if _is_an_answer(message, kind) and not (inside and any(isinstance(part, Result) for part in inside)):
        failed = _marked_as_failed(message)
        yield Result(message.get("tool_call_id"), _content(message), failed, message.get("name"))
    elif kind.endswith("_call_output"):
        yield Result(message.get("call_id"), message.get("output"), _marked_as_failed(message))
    elif kind in ("function_call", "custom_tool_call"):
        yield Request(*name_and_arguments(message), _id_of(message), message)
    for field in ("tool_calls", "invalid_tool_calls"):
        calls = message.get(field)
        for call in () if calls is None else _list(calls, f"{place}.{field}"):
            entry = as_mapping(call)
            if entry is None:
                raise DatasetError(f"got {short_repr(call)}, wanted a tool call", field=f"{place}.tool_calls")
            yield Request(*name_and_arguments(entry), entry.get("id"), entry)
    legacy = as_mapping(message.get("function_call"))
    if legacy is not None:
        yield Request(*name_and_arguments(legacy), None, legacy)
    yield from inside


def _is_an_answer(message: Mapping[str, Any], kind: str) -> bool:
    is_tools = message.get("role") in ("tool", "function") or kind in ("tool", "function")
    return is_tools and ("parts" not in message or message.get("tool_call_id") is not None)


def part_of(block: Mapping[str, Any]) -> Request | Result | None:
    """The call that one block of a message asks for or answers; None for a block of another kind."""
    kind = _type_of(block)
    if kind in _TEXTS:
        return None
    if not _HOLDERS.isdisjoint(block):
        for name in _ASKS_INSIDE:
            asked = as_mapping(block.get(name))
            if asked is not None:
                return Request(*name_and_arguments(asked), _id_of(asked), {})
        for name in _ANSWERS_INSIDE:
            answered = as_mapping(block.get(name))
            if answered is not None:
                return _answer_inside(answered)
    if kind in _ASKS or kind.endswith("tool_use"):
        return Request(*name_and_arguments(block), _id_of(block), block)
    if kind in _ANSWERS:
        name = _first(block, _NAMES)
        return Result(_id_of(block), _first(block, _CONTENTS), _marked_as_failed(block), name)
    if kind == "tool_result":  # it is no failure unless it says so
        return Result(_id_of(block), block.get("content"), _marked_as_failed(block) or False)
    if kind.endswith("tool_result"):
        content, error = hosted_result(block)
        return Result(_id_of(block), content if error is None else error, error is not None)
    return None


def _answer_inside(answered: Mapping[str, Any]) -> Result:
    """The answer that a block has inside it: Gemini's and Bedrock's, or Haystack's, which names its call."""
    origin = as_mapping(answered.get("origin")) or answered
    content, failed = _first(answered, _CONTENTS), _marked_as_failed(answered)
    if failed is None and "response" in answered:
        content, failed = _function_response(content)
    return Result(_id_of(origin), content, failed, _first(origin, _NAMES))


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """What stands under the first of the names that is there."""
    for name in names:
        value = fields.get(name)
        if value is not None:
            return value
    return None


def _id_of(call: Mapping[str, Any]) -> Any:
    return _first(call, _IDS)


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


def says_arguments(request: Request) -> bool:
    """Returns False if a call's entry leaves its arguments out. A call inside a block, as in protobuf's JSON,
    leaves out what is empty."""
    entry = request.entry
    return not entry or any(name in _call_in(entry) for name in _ARGUMENTS)


def metadata_of(request: Request) -> dict[str, Any]:
    """What the message says of the call beside its name and arguments, with its id."""
    entry = request.entry
    metadata = {k: v for k, v in entry.items() if k not in CALL_KEYS and k != "custom" and v is not None}
    return metadata if request.key is None else {**metadata, "id": request.key}


def name_and_arguments(call: Mapping[str, Any]) -> tuple[Any, Any]:
    """The name and the raw arguments of a tool call: a provider's, a framework's, or as `wrap` records it."""
    inner = _call_in(call)
    return _first(inner, _NAMES), _first(inner, _ARGUMENTS)


def _call_in(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_mapping(entry.get("function")) or as_mapping(entry.get("custom")) or entry


def as_mapping(value: Any) -> Mapping[str, Any] | None:
    """A mapping as it is, a message object by its ``model_dump()``, anything else as None."""
    if type(value) in _PLAIN_TYPES:  # asking whether something is a Mapping takes a while
        return value if type(value) is dict else None
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    fields = dump() if callable(dump) else None
    return fields if isinstance(fields, Mapping) else None


def blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a message's content (OpenTelemetry: its parts), empty where it is a text."""
    content = _content(message)
    if not isinstance(content, list | tuple):
        return []
    return [block for block in map(as_mapping, content) if block is not None]


def _content(message: Mapping[str, Any]) -> Any:
    return message.get("content") or message.get("parts", message.get("content"))


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
        if all(part is not None and _is_text(part) for part in parts):
            return text_in(content)
        content = [part if part is not None else raw for part, raw in zip(parts, content, strict=True)]
    return jsonable(content, limit=None)


def _marked_as_failed(answer: Mapping[str, Any]) -> bool | None:
    """Whether an answer says that its call failed, in LangChain's and Bedrock's ``status`` or in a flag; None
    where it does not say."""
    for name in _FAILURES:
        flag = answer.get(name)
        if isinstance(flag, bool):
            return flag
    return {"error": True, "success": False}.get(str(answer.get("status")))


def _is_text(block: Mapping[str, Any]) -> bool:
    return _type_of(block) in _TEXTS or block.keys() == {"text"}


def _type_of(block: Mapping[str, Any], default: str = "") -> str:
    """The type of a block; what stands there and is no text is none that is known."""
    kind = block.get("type", default)
    return kind if isinstance(kind, str) else ""


def _block_text(block: Mapping[str, Any]) -> str:
    if _type_of(block, "text") not in _PLAIN_BLOCKS:
        return ""
    text = block.get("text") or block.get("content") or block.get("refusal")
    return text if isinstance(text, str) else ""


def _list(value: Any, place: str) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise DatasetError(f"got {short_repr(value)}, wanted a list", field=place)
