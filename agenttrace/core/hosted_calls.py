"""Calls of tools that a model's provider runs itself, as they stand in an answer.

OpenAI's Responses have an item for each (``mcp_call``, ``web_search_call`` …), which holds arguments and
result. Anthropic has two blocks, ``server_tool_use`` or ``mcp_tool_use``, and a result that names its id.
An item with a ``call_id`` is a call that the caller is to run (``computer_call``, ``local_shell_call``),
unless the same answer has its output. ``mcp_list_tools`` is no call of a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agenttrace.core.marks import not_read

HostedStatus = Literal["ok", "error", "abandoned"]
"""How it ended: *abandoned* where the answer broke off meanwhile."""

CALL, OUTPUT = "_call", "_call_output"
"""How the types of Responses items end that are calls, and their outputs."""

_CALLERS = frozenset({"function_call", "custom_tool_call"})
_RUNNING = ("in_progress", "incomplete", "searching", "interpreting", "generating", "calling")
_OWN_KEYS = frozenset(
    {"arguments", "call_id", "created_by", "error", "id", "name", "output", "status", "type"}
)
_OUTPUTS: Mapping[str, str] = {
    "mcp": "output",
    "file_search": "results",
    "code_interpreter": "outputs",
    "image_generation": "result",
    "mcp_list_tools": "tools",
}
"""The field with the result of each kind of call; a web search has its sources inside its action."""
_METADATA = frozenset({"server_label", "server_name", "container_id", "approval_request_id", "caller"})
_BULK = frozenset({"encrypted_content", "encrypted_stdout"})
"""Fields of a search's results that only the provider can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCall:
    """One call: `arguments` are a mapping or JSON text, or None where they were not recorded.

    `output` is the mark of what was not recorded (`core.marks`) where the answer does not hold it.
    """

    name: str
    arguments: Any = None
    key: str | None = None
    output: Any = None
    error: str | None = None
    status: HostedStatus = "ok"
    metadata: Mapping[str, Any] = field(default_factory=dict)


def part(whole: Any, name: str) -> Any:
    """Return a field of a reply, the library's object or its JSON, or None where it is absent."""
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


def is_hosted(item: Any, answered: Iterable[Any] = ()) -> bool:
    """Whether an item of a Response is a call that the provider ran.

    `answered` has the ids of the calls whose outputs stand in the same answer.
    """
    kind = part(item, "type")
    if not isinstance(kind, str) or not kind.endswith(CALL) or kind in _CALLERS:
        return False
    call_id = part(item, "call_id")
    return call_id is None or call_id in answered


def requested_item(item: Any) -> tuple[Any, Any, Any]:
    """The id, name and arguments of a call that the caller is to run, or to approve."""
    fields = _fields(item)
    kind = str(fields.get("type"))
    arguments = fields.get("arguments")
    if arguments is None:
        arguments = {"input": fields["input"]} if "input" in fields else _arguments(kind, fields)
    return fields.get("call_id") or fields.get("id"), fields.get("name") or kind.removesuffix(CALL), arguments


def hosted_item(item: Any, output: Any = None) -> HostedCall:
    """The call that an item of a Response stands for; `output` is the item with its output, if any."""
    fields = _fields(item)
    kind = str(fields["type"]).removesuffix(CALL)
    failed = fields.get("error") is not None or fields.get("status") == "failed"
    result = part(output, "output") if output is not None else _result(kind, fields)
    status: HostedStatus = "abandoned" if fields.get("status") in _RUNNING else "ok"
    arguments = fields.get("arguments")
    if arguments is None:
        arguments = _arguments(f"{kind}{CALL}", fields)
    if status == "abandoned" and (not arguments or "" in _values(arguments)):
        arguments = None  # they had not arrived
    return HostedCall(
        name=fields.get("name") or kind,
        arguments=arguments,
        key=fields.get("approval_request_id") or fields.get("call_id") or fields.get("id"),
        output=None if failed else not_read() if result is None else result,
        error=error_text(fields.get("error")) if failed else None,
        status="error" if failed else status,
        metadata={name: fields[name] for name in fields if name in _METADATA},
    )


def hosted_block(block: Any, arguments: Any, result: Any = None) -> HostedCall:
    """The call of a ``server_tool_use`` or ``mcp_tool_use`` block, with the block of its result.

    Without one the answer broke off before it came.
    """
    status: HostedStatus = "abandoned"
    output, error = not_read(), None
    if result is not None:
        output, error = hosted_result(result)
        status = "ok" if error is None else "error"
    metadata = {name: value for name in sorted(_METADATA) if (value := part(block, name)) is not None}
    return HostedCall(
        name=str(part(block, "name") or "tool"),
        arguments=arguments,
        key=part(block, "id"),
        output=output,
        error=error,
        status=status,
        metadata=metadata,
    )


def hosted_result(block: Any) -> tuple[Any, str | None]:
    """The output, and the error if there was one, in a block whose type ends in ``tool_result``."""
    content = part(block, "content")
    kind = part(content, "type")
    if part(block, "is_error") is True:
        return None, error_text(content)
    if isinstance(kind, str) and kind.endswith("_error"):
        return None, error_text(content)
    texts = _texts(content)
    return (_without_bulk(content) if texts is None else texts), None


def error_text(error: Any) -> str:
    """What an error of a hosted tool says: its text, its message or its code."""
    if isinstance(error, str):
        return error
    texts = _texts(part(error, "content") if not isinstance(error, list | tuple) else error)
    if texts is not None:
        return texts
    words = (part(error, name) for name in ("message", "error_message", "error_code", "code", "type"))
    return next((str(word) for word in words if word), "")


def _texts(content: Any) -> str | None:
    """One text where the content is a list of texts, else None."""
    if not isinstance(content, list | tuple) or not content:
        return None
    if any(part(block, "type") != "text" for block in content):
        return None
    return "\n".join(str(part(block, "text") or "") for block in content)


def _without_bulk(content: Any) -> Any:
    if isinstance(content, list | tuple):
        return [_without_bulk(entry) for entry in content]
    if content is None or isinstance(content, str | int | float):
        return content
    return {name: value for name, value in _fields(content).items() if name not in _BULK}


def _fields(thing: Any) -> dict[str, Any]:
    """The fields of a library's object, or of its JSON, that are there."""
    if not isinstance(thing, Mapping):
        thing = {**vars(thing), **(getattr(thing, "model_extra", None) or {})}
    return {str(name): _as_json(value) for name, value in thing.items() if value is not None}


def _as_json(value: Any) -> Any:
    """A value as its JSON has it: a library's objects without the fields that it lacks."""
    if isinstance(value, list | tuple):
        return [_as_json(entry) for entry in value]
    return _fields(value) if hasattr(value, "model_fields_set") else value


def _arguments(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in the item beside its own fields; a search's ``action`` holds its arguments."""
    action = fields.get("action")
    if kind == "web_search_call" and action is not None:
        return {name: value for name, value in _fields(action).items() if name not in ("type", "sources")}
    result = _OUTPUTS.get(kind.removesuffix(CALL))
    skipped = _OWN_KEYS | _METADATA | {result}
    return {name: value for name, value in fields.items() if name not in skipped}


def _values(arguments: Any) -> Iterable[Any]:
    return arguments.values() if isinstance(arguments, Mapping) else ()


def _result(kind: str, fields: Mapping[str, Any]) -> Any:
    if kind == "web_search":
        return part(fields.get("action"), "sources") or fields.get("results")
    return fields.get(_OUTPUTS.get(kind, "output"))


def outputs_by_call(items: Sequence[Any]) -> dict[Any, Any]:
    """The items of an answer that hold the output of a call, by its id."""
    return {
        part(item, "call_id"): item
        for item in items
        if str(part(item, "type")).endswith(OUTPUT) and isinstance(part(item, "call_id"), str)
    }
