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


def numbered_lists(attributes: Mapping[str, Any]) -> Lists:
    """The lists that attributes spell, with mappings and lists inside."""
    names = [key for key in attributes if key.startswith(_BEGINNINGS)]
    if not names:
        return {}
    trees: dict[str, dict[_Step, Any]] = {}
    for key in names:
        beginning, path, last = _place(key)
        node = trees.get(beginning)
        if node is None:
            node = trees[beginning] = {}
        for step in path:
            inner = node.get(step)
            if type(inner) is not dict:
                inner = node[step] = {}
            node = inner
        node.setdefault(last, attributes[key])
    lists = {beginning: _as_list(tree) for beginning, tree in trees.items()}
    return {beginning: entries for beginning, entries in lists.items() if isinstance(entries, list)}


@lru_cache(maxsize=_MOST_KEPT)
def _place(key: str) -> tuple[str, tuple[_Step, ...], _Step]:
    """Where in which list a value belongs: the list's name, the way there, and the last step."""
    beginning = next(beginning for beginning in _BEGINNINGS if key.startswith(beginning))
    *path, last = (
        int(step) if step.isdecimal() and len(step) <= _DIGITS else step
        for step in key[len(beginning) :].split(".")
    )
    return beginning, tuple(path[:_DEEPEST]), last


def _as_list(node: dict[_Step, Any]) -> Any:
    """A list of what stands under numbers alone; else a mapping."""
    whole = {step: _as_list(value) if type(value) is dict else value for step, value in node.items()}
    numbers = sum([type(step) is int for step in whole])
    if not numbers:
        return whole
    if numbers == len(whole):
        return [whole[step] for step in sorted(whole)]
    return {str(step): value for step, value in whole.items()}
