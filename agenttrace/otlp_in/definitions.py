"""Finds the tools that models were offered, with their JSON schemas, wherever instrumentations put these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from agenttrace.otlp_in.model_tables import MIXED_DEFINITIONS, NUMBERED_DEFINITIONS
from agenttrace.otlp_in.numbered import Lists
from agenttrace.otlp_in.present import Present
from agenttrace.otlp_in.values import bare_name, is_schema, value_of

_SCHEMAS = (
    "parameters",
    "parameters_json_schema",
    "parametersJsonSchema",
    "inputSchema",
    "input_schema",
    "json_schema",
)
_LISTS = ("tools", "function_tools", "function_declarations", "functionDeclarations", "functions", "config")
_HOLDERS = ("function", "data", "tool", "json_schema", "schema")
_DEEPEST = 5
_LONGEST_CACHED = 100_000
_MOST = 1_000
_WORTH_READING = ("tool", "function")


def offered_in(attributes: Mapping[str, Any], has: Present, lists: Lists) -> list[dict[str, Any]]:
    """The tools in an attribute of a span, each with its ``name`` and, where known, its ``parameters``."""
    for key in has.definitions:
        raw = attributes[key]
        if raw is None or (isinstance(raw, str) and not any(word in raw for word in _WORTH_READING)):
            continue
        is_list = key not in MIXED_DEFINITIONS
        tools = list(_tools_in(raw, 0, is_list))
        if tools:
            return tools[:_MOST]
    for beginning in NUMBERED_DEFINITIONS:
        if beginning in lists:
            return list(_tools_in(lists[beginning], 0, True))[:_MOST]
    return []


@lru_cache(maxsize=64)
def _tools_of_text(raw: str, is_list_of_tools: bool) -> list[dict[str, Any]]:
    """The tools in a text: every request of an agent offers the same ones."""
    value = value_of(raw)
    return [] if isinstance(value, str) else list(_tools_in(value, 0, is_list_of_tools))


def _tools_in(value: Any, depth: int, is_list_of_tools: bool) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        if len(value) <= _LONGEST_CACHED:
            yield from _tools_of_text(value, is_list_of_tools)
            return
        value = value_of(value)
    if isinstance(value, list):
        for part in value if is_list_of_tools else ():
            yield from _tools_in(part, depth + 1, True)
    elif isinstance(value, dict):
        yield from _tools_of(value, depth, is_list_of_tools)


def _tools_of(value: Mapping[str, Any], depth: int, is_list_of_tools: bool) -> Iterator[dict[str, Any]]:
    """The tools of a mapping: itself, a list in it, or the one that it wraps."""
    name = bare_name(value.get("name"))
    if isinstance(name, str) and name and is_list_of_tools:
        schema = _schema_of(value)
        yield {"name": name} if schema is None else {"name": name, "parameters": schema}
        return
    for key in _LISTS:
        if isinstance(value.get(key), list | dict):
            yield from _tools_in(value[key], depth + 1, True)
            if key != "config":
                return
    for key in _HOLDERS if is_list_of_tools else ():
        inner = value.get(key)
        if isinstance(inner, dict) or (isinstance(inner, str) and inner[:1] == "{"):
            yield from _tools_in(inner, depth + 1, True)
            return


def _schema_of(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for key in _SCHEMAS:
        schema = value_of(tool.get(key))
        if isinstance(schema, dict):
            inner = schema.get("json", schema.get("jsonSchema"))
            return inner if isinstance(inner, dict) else schema
    return None


def own_schema(attributes: Mapping[str, Any], has: Present) -> Mapping[str, Any] | None:
    """The schema of its parameters that a tool's span has."""
    for key in has.own_schemas:
        schema = value_of(attributes[key])
        if is_schema(schema):
            inner = schema.get("json") if isinstance(schema.get("json"), dict) else schema
            return inner if isinstance(inner, dict) else None
    return None
