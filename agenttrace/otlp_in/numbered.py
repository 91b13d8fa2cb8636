"""Lists that attributes spell by numbers in their names: ``llm.input_messages.0.message.role``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agenttrace.otlp_in.model_tables import NUMBERED_DEFINITIONS, NUMBERED_INPUT, NUMBERED_OUTPUT

Lists = Mapping[str, list[Any]]
"""For the beginning of the names, the list that they spell."""

_BEGINNINGS = (*NUMBERED_INPUT, *NUMBERED_OUTPUT, *NUMBERED_DEFINITIONS)
_DEEPEST = 8
_MOST_KEPT = 8_192
_DIGITS = 6
_Step = int | str
_Path = tuple[_Step, ...]
_Node = dict[_Step, Any]


def numbered_lists(attributes: Mapping[str, Any]) -> Lists:
    """The lists that attributes spell, with mappings and lists inside."""
    nodes: dict[_Path, _Node] = {}
    for key, value in attributes.items():
        place = _place(key)
        if place is not None:
            path, last = place
            (nodes.get(path) or _node(nodes, path)).setdefault(last, value)
    lists: dict[str, list[Any]] = {}
    for path, node in reversed(nodes.items()):  # what is inside another node comes after it
        numbers = sum([type(step) is int for step in node])
        if not numbers:
            continue
        whole = [node[step] for step in sorted(node)] if numbers == len(node) else _named(node)
        if len(path) == 1:
            if isinstance(whole, list):
                lists[str(path[0])] = whole
        else:
            nodes[path[:-1]][path[-1]] = whole
    return lists


@lru_cache(maxsize=_MOST_KEPT)
def _place(key: str) -> tuple[_Path, _Step] | None:
    """The way to a value and its last step; None where the name spells no list."""
    beginning = next((beginning for beginning in _BEGINNINGS if key.startswith(beginning)), None)
    if beginning is None:
        return None
    *path, last = (
        int(step) if step.isdecimal() and len(step) <= _DIGITS else step
        for step in key[len(beginning) :].split(".")
    )
    return (beginning, *path[:_DEEPEST]), last


def _node(nodes: dict[_Path, _Node], path: _Path) -> _Node:
    """What stands at the end of a path, made where it is not there yet."""
    node = nodes.get(path)
    if node is None:
        node = {}
        if len(path) > 1:
            _node(nodes, path[:-1])[path[-1]] = node
        nodes[path] = node
    return node


def _named(node: _Node) -> dict[str, Any]:
    return {str(step): value for step, value in node.items()}
