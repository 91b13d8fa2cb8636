"""Chat messages in the shape that OpenTelemetry's GenAI conventions give them.

A message there is ``{"role", "parts"}``, and each part has a ``type``: ``text``, ``reasoning``,
``tool_call``, ``tool_call_response``, ``blob``, ``uri``. The input is what `wrap` and the LangGraph handler
record, or a list of messages in a provider's own shape. A block of an unknown type becomes a part unchanged,
which the conventions allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.json_reader import json_object_in
from agenttrace.core.message_parts import name_and_arguments

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_TEXTS = frozenset({"text", "input_text", "output_text"})
_IMAGES = frozenset({"image", "image_url", "input_image"})

Part = dict[str, Any]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """The input of a model call; `rest` holds the remaining parameters."""

    messages: list[Message]
    instructions: list[Part]
    tools: list[Any]
    rest: dict[str, Any]


def read_request(parameters: Mapping[str, Any]) -> Request | None:
    """The messages in an LLM span's input, or None where it holds none (or several conversations)."""
    for key in ("messages", "input", "prompts"):
        messages = _messages(key, parameters.get(key), parameters)
        if messages is not None:
            break
    else:
        return None
    rest = {name: value for name, value in parameters.items() if name != key}
    instructions = [part for name in ("system", "instructions") for part in _parts(rest.pop(name, None))]
    tools = rest.pop("tools") if isinstance(rest.get("tools"), list) else []
    return Request(messages, instructions, [_definition(tool) for tool in tools], rest)


def read_answer(output: Any) -> list[Message] | None:
    """The messages in an LLM span's output, or None where it holds none."""
    answers = output if type(output) is list else [output]
    if not answers or not all(isinstance(answer, Mapping) for answer in answers):
        return None
    if all("text" in answer and "finish_reason" in answer for answer in answers):
        return [_choice(answer) for answer in answers]
    return [_message(answer) for answer in answers] if all("role" in answer for answer in answers) else None


def text_message(role: str, text: str) -> Message:
    """A message of one text."""
    return {"role": role, "parts": [_text(text)]}


def _messages(key: str, value: Any, parameters: Mapping[str, Any]) -> list[Message] | None:
    if key == "prompts":
        value = value[0] if type(value) is list and len(value) == 1 else None
    if isinstance(value, str) and (key == "prompts" or (key == "input" and "model" in parameters)):
        return [text_message("user", value)]
    if type(value) is not list or not value or not isinstance(value[0], Mapping):
        return None
    return [_message(entry) for entry in value] if "role" in value[0] or "type" in value[0] else None


def _message(entry: Any) -> Message:
    if not isinstance(entry, Mapping):
        return {"role": "unknown", "parts": [_part(entry)]}
    role = entry.get("role") or _ROLES.get(str(entry.get("type")))
    if not isinstance(role, str):
        return _item(entry)
    if role == "tool":
        parts = [_response(entry.get("tool_call_id"), entry.get("content"))]
    else:
        reasoning = entry.get("reasoning_content")
        parts = [_reasoning(reasoning)] if isinstance(reasoning, str) and reasoning else []
        parts += _parts(entry.get("content")) + _parts(entry.get("refusal"))
        parts += _calls(entry.get("tool_calls")) + _calls([entry.get("function_call")])
    name_field = {"name": entry["name"]} if isinstance(entry.get("name"), str) else {}
    return {"role": role, "parts": parts, **name_field}


def _item(item: Mapping[str, Any]) -> Message:
    """An item of OpenAI's Responses that is not a message."""
    kind = str(item.get("type"))
    key = item.get("call_id") or item.get("id")
    if kind.endswith("_call_output"):
        return {"role": "tool", "parts": [_response(key, item.get("output"))]}
    if kind in ("function_call", "custom_tool_call"):
        return {"role": "assistant", "parts": _calls([{**item, "id": key}])}
    return {"role": "assistant" if "type" in item else "unknown", "parts": [_part(item)]}


def _choice(choice: Mapping[str, Any]) -> Message:
    """An answer as `wrap` records it."""
    parts = [_reasoning(choice["reasoning"])] if choice.get("reasoning") else []
    parts += _parts(choice["text"]) + _parts(choice.get("refusal")) + _calls(choice.get("tool_calls"))
    message = {"role": "assistant", "parts": parts}
    if choice["finish_reason"] is not None:
        message["finish_reason"] = choice["finish_reason"]
    return message


def _parts(content: Any) -> list[Part]:
    if content is None or content == "":
        return []
    return [_part(block) for block in (content if type(content) is list else [content])]


def _part(block: Any) -> Part:
    """One block of a message's content."""
    if isinstance(block, str):
        return _text(block)
    if not isinstance(block, Mapping):
        return {"type": "unknown", "content": block}
    kind = block.get("type")
    if kind in _TEXTS or (kind is None and isinstance(block.get("text"), str)):
        return _text(block.get("text"))
    if kind == "tool_use":
        return _call(block.get("id"), block.get("name"), block.get("input"))
    if kind == "tool_result":
        return _response(block.get("tool_use_id"), block.get("content"))
    if kind == "thinking" or kind == "reasoning":
        return _reasoning(_reasoning_text(block))
    if kind in _IMAGES:
        return _image(block)
    return {**block, "type": kind if isinstance(kind, str) else "unknown"}


def _text(text: Any) -> Part:
    return {"type": "text", "content": text}


def _reasoning(text: str) -> Part:
    return {"type": "reasoning", "content": text}


def _reasoning_text(block: Mapping[str, Any]) -> str:
    """Anthropic's ``thinking``, LangChain's ``reasoning``, or the texts of OpenAI's ``summary``."""
    for name in ("thinking", "reasoning", "text"):
        if isinstance(block.get(name), str):
            return str(block[name])
    pieces = block.get("summary")
    pieces = pieces if type(pieces) is list else []
    texts = [piece.get("text") for piece in pieces if isinstance(piece, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _response(key: Any, response: Any) -> Part:
    return {"type": "tool_call_response", **_id(key), "response": response}


def _calls(calls: Any) -> list[Part]:
    """The tool calls that a message asks for."""
    entries = [call for call in calls if isinstance(call, Mapping)] if type(calls) is list else []
    return [_call(entry.get("id"), *name_and_arguments(entry)) for entry in entries]


def _call(key: Any, name: Any, arguments: Any) -> Part:
    if isinstance(arguments, str):
        parsed = json_object_in(arguments)
        arguments = arguments if parsed is None else parsed
    return {"type": "tool_call", **_id(key), "name": name, "arguments": arguments}


def _id(key: Any) -> dict[str, Any]:
    return {} if key is None else {"id": key}


def _image(block: Mapping[str, Any]) -> Part:
    """OpenAI's link or data URL, or Anthropic's source."""
    source, url = block.get("source"), block.get("image_url")
    if isinstance(source, Mapping):
        if source.get("type") == "base64":
            return _blob(source.get("media_type"), source.get("data"))
        url = source.get("url")
    elif isinstance(url, Mapping):
        url = url.get("url")
    if not isinstance(url, str):
        return dict(block)
    if not url.startswith("data:"):
        return {"type": "uri", "modality": "image", "uri": url}
    head, _, content = url.removeprefix("data:").partition(",")
    return _blob(head.partition(";")[0], content)


def _blob(mime_type: Any, content: Any) -> Part:
    return {"type": "blob", "modality": "image", "mime_type": mime_type, "content": content}


def _definition(tool: Any) -> Any:
    """A tool that the model may call, in the form of OpenAI's Responses, which is the conventions'."""
    if not isinstance(tool, Mapping):
        return tool
    if isinstance(tool.get("function"), Mapping):
        return {"type": "function", **tool["function"]}
    definition = {"type": "function", **tool}
    if "input_schema" in definition:
        definition["parameters"] = definition.pop("input_schema")
    return definition
