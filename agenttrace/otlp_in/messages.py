"""Chat messages of any dialect in one form: OpenAI's, which everything here reads.

A message is ``{"role", "content"}``, with ``tool_calls`` where it asks for calls; the answer to a call is
``{"role": "tool", "tool_call_id", "name", "content"}``, with ``is_error`` where it says whether it failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agenttrace.otlp_in.numbered import Lists
from agenttrace.otlp_in.tables import EVENT_CONTENT, MASKS, MESSAGE_EVENTS
from agenttrace.otlp_in.values import bare_name, value_of

Message = dict[str, Any]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
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
_GEMINI_CALLS = ("function_call", "functionCall")
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
    role_named, text = message.get("role"), message.get("content")
    if len(message) == 2 and type(text) is str and type(role_named) is str and role_named in _PLAIN_ROLES:
        return [{"role": role_named, "content": text}]  # most are no more than that
    if message.get("type") == "function_call":
        return [_asking([_call(message.get("call_id", message.get("id")), message)])]
    if message.get("type") == "function_call_output":
        return [_answer(message.get("call_id"), None, value_of(message.get("output")), None)]
    word = message.get("role") or message.get("type")
    who = _ROLES.get(str(word), str(word)) if isinstance(word, str) and word != "message" else role
    content = message.get("parts") or message.get("content")
    key = message.get("tool_call_id", message.get("id"))
    if who == "tool" and key is not None and not _has_parts(content):
        return [_answer(key, message.get("name"), _plain(content), _failed(message))]
    calls = _calls_of(message)
    texts = [content] if isinstance(content, str) else []
    answers: list[Message] = []
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, dict):
            _read_part(part, texts, calls, answers)
        elif isinstance(part, str):
            texts.append(part)
    calls = _each_once(calls)
    if answers and not texts and not calls:
        return answers
    ours: Message = {"role": who, "content": "\n".join(texts)}
    if calls:
        ours["tool_calls"] = calls
    for word in ("finish_reason", "name"):
        if isinstance(message.get(word), str):
            ours[word] = message[word]
    return [*answers, ours]


def _calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls that stand beside a message's content."""
    entries = _mappings(message.get("tool_calls"))
    extra = message.get("additional_kwargs")
    if not entries and isinstance(extra, dict):
        entries = _mappings(extra.get("tool_calls"))
    calls = [_call(entry.get("id"), entry) for entry in entries]
    legacy = message.get("function_call")
    return [*calls, _call(None, legacy)] if isinstance(legacy, dict) else calls


def _failed(answer: Mapping[str, Any]) -> bool | None:
    """Whether an answer says that its call failed; None where it does not say."""
    for word in ("is_error", "isError", "error"):
        if isinstance(answer.get(word), bool):
            return bool(answer[word])
    return {"error": True, "success": False}.get(str(answer.get("status")))


def _has_parts(content: Any) -> bool:
    kinds = (
        "tool_call_response",
        "tool-result",
        "tool_result",
        "functionResponse",
        "function_response",
        "toolResult",
    )
    return any(
        part.get("type") in kinds or any(kind in part for kind in kinds) for part in _mappings(content)
    )


def _read_part(
    part: Mapping[str, Any], texts: list[str], calls: list[dict[str, Any]], answers: list[Message]
) -> None:
    """One part of a message's content: a text, a call that is asked for, or the answer to one."""
    kind = part.get("type")
    for name in ("function_call", "functionCall", "toolUse", "tool_call"):
        inner = part.get(name)
        if isinstance(inner, dict):
            call = _call(inner.get("id", inner.get("toolUseId")), inner)
            if name in _GEMINI_CALLS:
                call["function"].setdefault("arguments", {})  # protobuf leaves out what is empty
            calls.append(call)
            return
    for name in ("function_response", "functionResponse", "toolResult", "tool_call_result"):
        inner = part.get(name)
        if isinstance(inner, dict):
            origin = inner.get("origin") if isinstance(inner.get("origin"), dict) else inner
            key = origin.get("id", inner.get("toolUseId")) if isinstance(origin, dict) else None
            result = next((inner[k] for k in ("response", "result", "content") if k in inner), None)
            named = inner.get("name", inner.get("tool_name"))
            answers.append(_answer(key, named, _plain(result), _failed(inner)))
            return
    if kind in ("tool_call", "tool-call", "tool_use", "function_call", "server_tool_use", "mcp_tool_use"):
        calls.append(_call(part.get("id", part.get("toolCallId", part.get("call_id"))), part))
    elif kind in ("tool_call_response", "tool-result", "tool_result"):
        key = part.get("id", part.get("toolCallId", part.get("tool_use_id", part.get("tool_call_id"))))
        result = next((part[k] for k in ("response", "result", "output", "content") if k in part), None)
        name = part.get("name", part.get("toolName"))
        answers.append(_answer(key, name, _plain(result), _failed(part)))
    else:
        text = part.get("text", part.get("content"))
        if isinstance(text, str) and kind not in ("reasoning", "thinking"):
            texts.append(text)


def _plain(result: Any) -> Any:
    """What an answer holds, out of its wrapping."""
    result = value_of(result)
    if (
        isinstance(result, dict)
        and result.get("type") in ("text", "json", "error-text")
        and "value" in result
    ):
        return result["value"]
    if isinstance(result, list) and len(result) == 1 and isinstance(result[0], dict):
        text = result[0].get("text")
        if isinstance(text, str):
            return text
    return result


def _call(key: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """A call that is asked for; without ``arguments`` where these were left out."""
    inner = entry.get("function") if isinstance(entry.get("function"), dict) else entry
    assert isinstance(inner, dict)
    name = bare_name(inner.get("name", inner.get("toolName", inner.get("tool_name"))))
    found = [inner[k] for k in ("arguments", "args", "input", "parameters") if k in inner]
    raw = next((one for one in found if one is not None), None)
    function: dict[str, Any] = {"name": name}
    if found and not (isinstance(raw, str) and raw in MASKS):
        function["arguments"] = {} if raw is None else value_of(raw)
    return {"id": key, "type": "function", "function": function}


def _each_once(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls without those that stand twice: a message may have them as parts, and as a list beside them."""
    seen: set[str] = set()
    once = []
    for call in calls:
        if call["id"] is None or str(call["id"]) not in seen:
            once.append(call)
            seen.add(str(call["id"]))
    return once


def _asking(calls: list[dict[str, Any]]) -> Message:
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _answer(key: Any, name: Any, content: Any, failed: bool | None) -> Message:
    answer: Message = {"role": "tool", "tool_call_id": key, "content": content}
    if isinstance(name, str):
        answer["name"] = name
    if failed is not None:
        answer["is_error"] = failed
    return answer


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
