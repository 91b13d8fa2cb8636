"""Values that stand beside their secret's name in data: pairs of headers, arguments of a command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.texts import Names, is_secret_path
from agenttrace.redaction.values import is_name, is_opaque

_LONGEST_NAME = 64
_NAMES_OF_VALUES = ("name", "key", "header", "field")


def places_of_named(items: Sequence[Any], names: Names) -> list[int]:
    """The places of values after a secret's name: ``["Authorization", …]``, ``["--password", …]``."""
    return [
        place
        for place in range(1, len(items))
        if type(name := items[place - 1]) is str
        and type(value := items[place]) is str
        and ((len(items) == 2 and len(name) <= _LONGEST_NAME) or name[:2] == "--")
        and names.is_secret(name := name.lstrip("-"))
        and names.hides(name, value)
        and not is_name(value)
        and is_opaque(value.rpartition(" ")[2])
    ]


def holds_named(lists: Iterable[Sequence[Any]], names: Names) -> bool:
    """Returns True if in one of the lists a value stands after a secret's name."""
    return any(type(items[0]) is str and places_of_named(items, names) for items in lists if items)


def is_named_value(value: dict[str, Any], names: Names) -> bool:
    """Returns True if a mapping has a secret's name beside its ``value``, and that is hidden."""
    for key in _NAMES_OF_VALUES:
        name = value.get(key)
        if type(name) is str and len(name) <= _LONGEST_NAME and names.is_secret(name):
            return names.hides(name, value["value"])
    return False


def without_differences(data: Any, names: Names) -> Any:
    """A score's details, whose differences name a value by its ``path``."""
    if type(data) is list:
        return [without_differences(item, names) for item in data]
    if type(data) is not dict:
        return data
    path = data.get("path")
    is_secret = type(path) is str and is_secret_path(path, names.is_secret)
    return {
        key: REDACTED
        if is_secret and key in ("expected", "got") and item is not None
        else without_differences(item, names)
        for key, item in data.items()
    }
