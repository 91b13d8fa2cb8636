"""The tools that a request to a model offers, as definitions: names and parameters, in any provider's form.

OpenAI's chat completions have ``{"type": "function", "function": {…}}``, its Responses the same without the
inner mapping, Anthropic ``input_schema``, Gemini ``functionDeclarations``. Tools of the provider's own have
a type and no name: their calls are named after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import cause_of
from agenttrace.core.tool import REQUIRED, Parameter, ToolDefinition

_LISTS = ("tools", "functions")
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_HOSTED = (
    "web_search",
    "file_search",
    "code_interpreter",
    "image_generation",
    "computer",
    "local_shell",
    "shell",
    "apply_patch",
)
"""OpenAI's own tools; a type may go on (``web_search_preview``), and the call keeps the first words."""
_GEMINI = {
    "googleSearch": "google_search",
    "google_search": "google_search",
    "codeExecution": "code_execution",
    "code_execution": "code_execution",
    "urlContext": "url_context",
    "url_context": "url_context",
}
_SEVERAL = {"code_execution": ("bash_code_execution", "text_editor_code_execution")}
"""Anthropic's tools that are called by other names than their own."""


def offered_names(request: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """The names of the tools that a request offers, and whether these are all.

    They are not where the request has none, where one stands for several that it does not name (an MCP
    server's), or where the list was cut.
    """
    lists = [request[name] for name in _LISTS if request.get(name)]
    complete = bool(lists) and not request.get("mcp_servers")
    names: set[str] = set()
    for tools in lists:
        complete = complete and isinstance(tools, list | tuple) and cause_of(tools) is None
        for tool in tools if isinstance(tools, list | tuple) else ():
            own = list(_names_of(tool))
            names.update(own)
            complete = complete and bool(own) and _is_whole(tool)
    return frozenset(names), complete


def tool_definitions(request: Mapping[str, Any]) -> dict[str, ToolDefinition]:
    """The definitions of the tools that a request offers, as far as it says which parameters they take."""
    definitions: dict[str, ToolDefinition] = {}
    for name in _LISTS:
        tools = request.get(name)
        for tool in tools if isinstance(tools, list | tuple) else ():
            for holder in _holders(tool):
                definition = _definition(holder)
                if definition is not None:
                    definitions.setdefault(definition.name, definition)
    return definitions


def _definition(holder: Mapping[str, Any]) -> ToolDefinition | None:
    name = holder.get("name")
    schema = next((holder[key] for key in _SCHEMAS if isinstance(holder.get(key), Mapping)), None)
    return definition_of(name, schema) if isinstance(name, str) and name and cause_of(name) is None else None


def definition_of(name: str, schema: Mapping[str, Any] | None) -> ToolDefinition | None:
    """The definition of a tool by the JSON schema of its parameters, or by a schema for each of them.

    None where these are not known, or where the tool takes any other names, too: nothing can be checked
    against it. A parameter without a default in the schema has none, required or not.
    """
    properties = None if schema is None else _properties(schema)
    if properties is None:
        return None
    parameters = [
        Parameter(str(key), "keyword_only", jsonable(entry["default"]) if _has_default(entry) else REQUIRED)
        for key, entry in properties.items()
    ]
    return ToolDefinition(name, tuple(parameters), described=True)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schemas of the parameters by name; None where they do not all stand there."""
    if schema.get("additionalProperties", False) is not False or "patternProperties" in schema:
        return None
    if "properties" in schema:
        properties = schema["properties"]
    elif isinstance(schema.get("type"), str):
        return {} if "additionalProperties" in schema else None
    else:
        properties = schema if schema and all(isinstance(part, Mapping) for part in schema.values()) else None
    if not isinstance(properties, Mapping) or cause_of(properties) is not None or "$truncated" in properties:
        return None
    return properties


def _has_default(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "default" in entry and cause_of(entry["default"]) is None


def _holders(tool: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings in a tool that have a name and a schema."""
    if not isinstance(tool, Mapping):
        return
    declared = next((tool[key] for key in _DECLARATIONS if isinstance(tool.get(key), list)), None)
    if declared is not None:
        yield from (entry for entry in declared if isinstance(entry, Mapping))
        return
    inner = next((tool[key] for key in ("function", "custom") if isinstance(tool.get(key), Mapping)), tool)
    yield inner


def _names_of(tool: Any) -> Iterator[str]:
    for holder in _holders(tool):
        name = holder.get("name")
        if isinstance(name, str) and cause_of(name) is None:
            yield name
            yield from _SEVERAL.get(name, ()) if "type" in holder else ()
        elif holder is tool:
            yield from _own_names(tool)


def _own_names(tool: Mapping[str, Any]) -> Iterator[str]:
    kind = tool.get("type")
    if isinstance(kind, str):
        name = next((name for name in _HOSTED if kind == name or kind.startswith(f"{name}_")), None)
        allowed = tool.get("allowed_tools")
        if name is not None:
            yield name
        elif kind == "mcp" and isinstance(allowed, list) and all(isinstance(one, str) for one in allowed):
            yield from allowed
    yield from {name: None for key, name in _GEMINI.items() if key in tool}


def _is_whole(tool: Any) -> bool:
    """Whether all tools that it stands for have names."""
    holders = list(_holders(tool))
    return holders == [tool] or all(isinstance(holder.get("name"), str) for holder in holders)
