"""Arguments and results out of what instrumentations wrap them in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.file_form import MAX_DEPTH
from agenttrace.core.json_reader import InvalidJSON, json_or_literal, lenient_json, plain_json
from agenttrace.core.jsonable import clean, clean_text, jsonable

BARE = "input"
"""The name of the one argument of which only the value is known."""

TEXT = "text/plain"
"""The MIME type of a value that is the text as it stands, whatever that spells."""

_LONGEST = 16 * 1024 * 1024
_CALL_PARTS = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_RUN_PARTS = frozenset({"input_str", "inputs", "tags", "metadata", "kwargs", "name", "run_id"})
_INPUT_PARTS = frozenset({"input", "options"})
_ANSWER = re.compile(r"content=(?P<quote>['\"])(?P<text>.*?)(?P=quote) (?:name|tool_call_id|id)=", re.DOTALL)
_SERVER = re.compile(r"\Amcp__(?:(?!__).)+__(?=.)")
_SCHEMA_WORDS = frozenset({"properties", "$schema", "$defs", "anyOf", "additionalProperties"})
_CONTAINERS = (dict, list)
_STARTS = frozenset('{["-0123456789tfnTFN')


def value_of(raw: Any) -> Any:
    """The value of an attribute: of a text that spells JSON, or a Python literal, what it spells."""
    if type(raw) is not str:
        return raw
    text = raw.strip()
    if not text or text[0] not in _STARTS or len(text) > _LONGEST:
        return raw
    try:
        value = plain_json(text)
    except InvalidJSON:
        return _other_value(raw, text)
    if text.count("{") + text.count("[") > MAX_DEPTH and not _is_shallow(value, MAX_DEPTH):
        return jsonable(value)
    return clean(value) if _may_have_surrogates(text) else value


def _other_value(raw: str, text: str) -> Any:
    """The value of JSON with large numbers, or of a Python literal; else the text as it came."""
    try:
        return jsonable(lenient_json(text))
    except InvalidJSON:
        if text[0] not in "{[":
            return raw
        value = json_or_literal(text)
        return raw if value is text else jsonable(value)


def marked_value(attributes: Mapping[str, Any], raw: Any) -> Any:
    """The value of a result, as the MIME type beside it says: the text ``21`` is no number."""
    return raw if attributes.get(semconv.OUTPUT_MIME_TYPE) == TEXT else value_of(raw)


def _may_have_surrogates(text: str) -> bool:
    """Whether a JSON text holds halves of characters, or escapes of such."""
    return "\\ud" in text or "\\uD" in text or (not text.isascii() and clean_text(text) is not text)


def _is_shallow(value: Any, levels: int) -> bool:
    """Whether containers are nested no deeper than this."""
    if levels <= 0:
        return False
    for part in value.values() if type(value) is dict else value:
        if type(part) in _CONTAINERS and not _is_shallow(part, levels - 1):
            return False
    return True


def bare_name(name: Any) -> Any:
    """The name of a tool without that of the server it is on, which agents on MCP put before it."""
    return _SERVER.sub("", name) if isinstance(name, str) and name.startswith("mcp__") else name


def is_schema(value: Any) -> bool:
    """Whether this describes arguments instead of being some: a JSON schema, or one for each parameter."""
    if not isinstance(value, dict):
        return False
    if _SCHEMA_WORDS & value.keys() and isinstance(value.get("type", "object"), str):
        return True
    return bool(value) and all(
        isinstance(part, dict) and isinstance(part.get("type"), str | list) and "description" in part
        for part in value.values()
    )


def unwrapped_arguments(value: Any, order: Sequence[str]) -> Any:
    """The arguments by name, where they can be brought to names; else the bare value that was there.

    `order` are the tool's parameters: they name what was passed by position, and a bare value where there is
    only one of them.
    """
    if isinstance(value, str):
        return {order[0]: value} if len(order) == 1 else value
    if isinstance(value, list | tuple):
        return dict(zip(order, value, strict=False)) if order and len(value) <= len(order) else value
    if not isinstance(value, dict):
        return value
    if "input_str" in value and _RUN_PARTS.issuperset(value):
        inner = value.get("inputs") or value_of(value["input_str"])
        return unwrapped_arguments(inner, order)
    if "kwargs" in value and _CALL_PARTS.issuperset(value) and isinstance(value["kwargs"], dict):
        args = value.get("args") or ()
        if not args:
            return dict(value["kwargs"])
        if isinstance(args, list | tuple) and len(args) <= len(order):
            return {**dict(zip(order, args, strict=False)), **value["kwargs"]}
        return {"args": list(args) if isinstance(args, list | tuple) else args, **value["kwargs"]}
    if (
        "input" in value
        and _INPUT_PARTS.issuperset(value)
        and "input" not in order
        and (order or len(value) > 1)
    ):
        return value["input"] if isinstance(value["input"], dict) else value
    return value


def unwrapped_result(value: Any, *, result_wrapped: bool = False) -> tuple[Any, bool, Any]:
    """What a tool returned, whether its wrapping says that it failed, and the call's id where that has it.

    `result_wrapped`: the library puts whatever is no mapping under ``result``.
    """
    failed, call_id = False, None
    if isinstance(value, str):
        match = _ANSWER.match(value)
        return (value if match is None else match["text"]), "status='error'" in value and bool(match), None
    message = _answer_in(value)
    if message is not None:
        failed, call_id = message.get("status") == "error", message.get("tool_call_id")
        return value_of(_text_of_blocks(message["content"])), failed, call_id
    if isinstance(value, dict):
        if result_wrapped and value.keys() == {"result"}:
            return value["result"], False, None
        if (
            "blocks" in value
            and isinstance(value["blocks"], list)
            and ("tool_name" in value or len(value) == 1)
        ):
            return value_of(_text_of_blocks(value["blocks"])), bool(value.get("is_error")), None
        failed = value.get("isError") is True and "content" in value
    return value_of(_text_of_blocks(value)), failed, call_id


def _answer_in(value: Any) -> Mapping[str, Any] | None:
    """The message that answers a call, as LangChain writes it: bare, serialised, or under ``output``."""
    for _ in range(3):
        if not isinstance(value, dict):
            return None
        inner = value.get("data", value.get("kwargs", value.get("output")))
        is_tools = value.get("type") == "tool" or "tool_call_id" in value
        if is_tools and "content" in value:
            return value
        value = inner
    return None


def _text_of_blocks(value: Any) -> Any:
    """The text of a list of one block of text; anything else as it is."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        block = value[0]
        kind, text = block.get("type", block.get("block_type", "text")), block.get("text")
        if kind == "text" and isinstance(text, str) and len(block) <= 3:
            return text
    return value
