"""Chat messages of any dialect in one form: OpenAI's, which everything here reads.

A message is ``{"role", "content"}``, with ``tool_calls`` where it asks for calls; the answer to a call is
``{"role": "tool", "tool_call_id", "name", "content"}``, with ``is_error`` where it says whether it failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.core.message_parts import Request, Result, parts_of, says_arguments, text_in
from agenttrace.otlp_in.numbered import Lists
from agenttrace.otlp_in.tables import EVENT_CONTENT, MASKS, MESSAGE_EVENTS
from agenttrace.otlp_in.values import bare_name, value_of

Message = dict[str, Any]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "function_call": "assistant",
    "function_call_output": "tool",
    "tool-response": "user",
}
_PLAIN_ROLES = frozenset({"system", "user", "assistant", "tool"})
_LISTS = (
    "messages",
    "replies",
    "contents",
    "events",
    "input",
    "prompts",
    "prompt",
    "choices",
    "generations",
    "output",
)
_WRAPPED_VALUES = ("text", "json", "error-text", "error-json")
_WRAPPED = ("message", "data", "kwargs", "content")
_DEEPEST = 8
_MOST = 10_000


def messages_in(raw: Any, role: str) -> list[Message]:
    """The messages that an attribute holds, whatever it wraps them in; `role` where one says none."""
    messages: list[Message] = []
    _collect(value_of(raw), role, messages, 0)
    return messages[:_MOST]


def _collect(value: Any, role: str, into: list[Message], depth: int) -> None:
    if depth > _DEEPEST or len(into) >= _MOST:
        return
    if isinstance(value, str):
        if value:
            into.append({"role": role, "content": value})
    elif isinstance(value, list | tuple):
        if len(value) == 2 and all(isinstance(part, str) for part in value):  # LangChain: role and text
            into.append({"role": _ROLES.get(value[0], value[0]), "content": value[1]})
            return
        for part in value:
            _collect(value_of(part) if depth < 2 else part, role, into, depth + 1)
    elif isinstance(value, dict):
        _collect_mapping(value, role, into, depth)


def _collect_mapping(value: Mapping[str, Any], role: str, into: list[Message], depth: int) -> None:
    event = value.get("event.name")
    if isinstance(event, str) and event in MESSAGE_EVENTS:
        into.extend(event_messages(event, value, value.get("message")))
        return
    if _is_message(value):
        into.extend(_messages_of(value, role))
        return
    for key in _WRAPPED:
        inner = value.get(key)
        if isinstance(inner, dict) and (
            "role" in inner or "content" in inner or "parts" in inner or "kwargs" in inner
        ):
            _collect(inner, str(value.get("type") or role), into, depth + 1)
            return
    for key in _LISTS:
        inner = value.get(key)
        if isinstance(inner, list | tuple | dict):
            _collect(inner, role, into, depth + 1)
            return
        if isinstance(inner, str) and key in ("prompt", "input") and inner:
            into.append({"role": role, "content": inner})
            return


def _is_message(value: Mapping[str, Any]) -> bool:
    if "function_call" in value and "content" not in value and "parts" not in value and "role" not in value:
        return isinstance(value["function_call"], dict)
    if value.get("type") in ("function_call", "function_call_output"):
        return True
    if "role" in value and ("content" in value or "parts" in value or "tool_calls" in value):
        return True
    if "parts" in value and isinstance(value["parts"], list):
        return True
    return (
        "content" in value
        and not isinstance(value["content"], dict)
        and (
            "type" in value or "tool_calls" in value or "role" in value or isinstance(value["content"], list)
        )
    )


def _messages_of(message: Mapping[str, Any], role: str) -> list[Message]:
    """A message in our form; answers to calls that stand inside it become messages of their own."""
    word, content = message.get("role") or message.get("type"), message.get("content")
    if len(message) == 2 and type(content) is str and type(word) is str and word in _PLAIN_ROLES:
        return [{"role": word, "content": content}]  # most are no more than that
    who = _ROLES.get(word, word) if isinstance(word, str) and word != "message" else role
    calls: list[dict[str, Any]] = []
    answers: list[Message] = []
    for part in parts_of(_readable(message, who)):
        if isinstance(part, Request):
            calls.append(_call(part))
        else:
            answers.append(_answer(part))
    text = text_in(content or message.get("parts")) if who != "tool" or not answers else ""
    if answers and not text and not calls:
        return answers
    ours: Message = {"role": who, "content": text}
    if calls:
        ours["tool_calls"] = _each_once(calls)
    for word in ("finish_reason", "name"):
        if isinstance(message.get(word), str):
            ours[word] = message[word]
    return [*answers, ours]


def _readable(message: Mapping[str, Any], who: str) -> Mapping[str, Any]:
    """The message with the calls and the id where the reader of messages looks for them."""
    changes: dict[str, Any] = {}
    calls, extra = message.get("tool_calls"), message.get("additional_kwargs")
    if not calls and isinstance(extra, dict):
        calls = changes["tool_calls"] = _mappings(extra.get("tool_calls"))
    mappings = _mappings(calls)
    if calls is not None and (type(calls) is not list or len(mappings) != len(calls)):
        changes["tool_calls"] = mappings
    if who == "tool" and "tool_call_id" not in message:
        changes["tool_call_id"] = message.get("id")
    if who == "tool" and message.get("role") != who:
        changes["role"] = who
    return {**message, **changes} if changes else message


def _call(request: Request) -> dict[str, Any]:
    """A call that is asked for; without ``arguments`` where these were left out."""
    function: dict[str, Any] = {"name": bare_name(request.name)}
    raw = request.arguments
    if says_arguments(request) and not (isinstance(raw, str) and raw in MASKS):
        arguments = value_of(raw)
        function["arguments"] = {} if arguments is None else arguments
    return {"id": request.key, "type": "function", "function": function}


def _each_once(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls without those that stand twice: a message may have them as parts, and as a list beside them."""
    if len(calls) == 1:
        return calls
    seen: set[str] = set()
    once = []
    for call in calls:
        if call["id"] is None or str(call["id"]) not in seen:
            once.append(call)
            seen.add(str(call["id"]))
    return once


def _answer(result: Result) -> Message:
    key = {} if result.key is None else {"tool_call_id": result.key}
    answer: Message = {"role": "tool", **key, "content": _plain(result)}
    if isinstance(result.name, str):
        answer["name"] = result.name
    if result.failed is not None:
        answer["is_error"] = result.failed
    return answer


def _plain(answer: Result) -> Any:
    """What an answer holds, out of its wrapping. A text that spells a number stays the text that it is."""
    content = answer.content
    if isinstance(content, str):
        return value_of(content) if content.lstrip()[:1] in ("{", "[") else content
    if isinstance(content, dict) and content.get("type") in _WRAPPED_VALUES and "value" in content:
        return content["value"]
    return answer.output if isinstance(content, list | tuple) else content


def event_messages(event: str, attributes: Mapping[str, Any], body: Any) -> list[Message]:
    """The messages of an event that is one: what it says stands in its body, or in its attributes."""
    body = value_of(attributes.get(EVENT_CONTENT)) if body is None else body
    fields: dict[str, Any] = (
        dict(body) if isinstance(body, dict) else {"content": body} if isinstance(body, str) else {}
    )
    role = MESSAGE_EVENTS[event]
    inner = value_of(fields.get("message", attributes.get("message")))
    if isinstance(inner, dict):
        fields = {**fields, **inner}
    elif inner is not None:
        fields["content"] = inner
    for key in ("content", "tool_calls", "id", "role", "name"):
        if key in attributes:
            fields.setdefault(key, value_of(attributes[key]))
    fields["role"] = {"answer": "assistant"}.get(role, role)
    if isinstance(fields.get("content"), dict):
        fields["content"] = [fields["content"]]
    reason = attributes.get("finish_reason", fields.get("finish_reason"))
    return _messages_of(
        {"content": "", **fields, **({"finish_reason": reason} if reason else {})}, fields["role"]
    )


def numbered_messages(lists: Lists, beginnings: Iterable[str]) -> list[Message]:
    """The messages that attributes such as ``llm.input_messages.0.message.role`` spell."""
    for beginning in beginnings:
        if beginning in lists:
            return [message for entry in lists[beginning] for message in _numbered_message(entry)]
    return []


def _numbered_message(entry: Any) -> list[Message]:
    if not isinstance(entry, dict):
        return []
    message = dict(entry["message"]) if isinstance(entry.get("message"), dict) else dict(entry)
    if "tool_calls" in message:
        calls = [one.get("tool_call", one) for one in _mappings(message["tool_calls"])]
        message["tool_calls"] = [one if isinstance(one, dict) else {} for one in calls]
    content = message.get("content")
    if "contents" in message:
        contents = [c.get("message_content", c) for c in _mappings(message.pop("contents"))]
        content = contents if contents and content is None else content
    if type(content) is str and content[:1] == "[":
        value = value_of(content)
        content = value if isinstance(value, list) else content
    message["content"] = content or ""
    return _messages_of(message, "user")


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list | tuple) else []
