"""A tool's definition as text, there and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.tool import REQUIRED, Parameter, ParameterKind, ToolDefinition

_KINDS = frozenset(get_args(ParameterKind))


def definition_text(tool: ToolDefinition) -> str:
    """A tool's parameters, tags and description as JSON; equal texts are the same definition."""
    return to_json(_entry(tool))


def _entry(tool: ToolDefinition) -> Any:
    parameters = []
    for parameter in tool.parameters:
        entry = {"name": parameter.name, "kind": parameter.kind}
        if parameter.default is not REQUIRED:
            entry["default"] = jsonable(parameter.default)
        parameters.append(entry)
    described = {"description": tool.description} if tool.description else {}
    return jsonable({"parameters": parameters, "tags": list(tool.tags), **described})


def tools_text(tools: Iterable[ToolDefinition], most: int) -> str:
    """All tools there are, as JSON; where that has more than `most` characters, how many are left out."""
    entries = [{"name": tool.name, **_entry(tool)} for tool in tools]
    text = to_json({"definitions": entries})
    return text if len(text) <= most else to_json({"left_out": len(entries)})


def tools_of_entry(entry: Any) -> dict[str, ToolDefinition] | None:
    """The tools of what a text that `tools_text` wrote reads as; None where it does not say all of them."""
    entries = entry.get("definitions") if isinstance(entry, dict) else None
    if not isinstance(entries, list):
        return None
    tools: dict[str, ToolDefinition] = {}
    for each in entries:
        name = each.get("name") if isinstance(each, dict) else None
        tool = tool_of_entry(name, each) if isinstance(name, str) else None
        if tool is None:
            return None
        tools[tool.name] = tool
    return tools


_MOST_TEXTS = 1_000
_texts: dict[int, tuple[ToolDefinition, str]] = {}
"""The texts of definitions, by their `id`; with the definition, so that no other gets that `id`."""


def remembered_text(tool: ToolDefinition) -> str:
    """The `definition_text` of a tool, which most likely is asked for again."""
    entry = _texts.get(id(tool))
    if entry is None:
        entry = tool, definition_text(tool)
        if len(_texts) < _MOST_TEXTS:
            _texts[id(tool)] = entry
    return entry[1]


def tool_of_entry(name: str, entry: Any) -> ToolDefinition | None:
    """The tool of what a text that `definition_text` wrote reads as; None for anything else."""
    try:
        parameters = tuple(
            Parameter(item["name"], item["kind"], item.get("default", REQUIRED))
            for item in entry["parameters"]
        )
        tags, description = tuple(entry["tags"]), entry.get("description", "")
    except (AttributeError, KeyError, TypeError):  # damaged, or written by other hands
        return None
    texts = (*tags, description, *(parameter.name for parameter in parameters))
    if not all(isinstance(text, str) for text in texts) or any(p.kind not in _KINDS for p in parameters):
        return None
    return ToolDefinition(name=name, parameters=parameters, tags=tags, description=description)
