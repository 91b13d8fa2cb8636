"""Where the values of arguments came from: which earlier output held them, and under which path.

Only what looks like an id is followed: a text without white space that has a digit, or a number of three
digits and more. Other values (``"economy"``, 2) stand in many outputs by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.marks import cause_of
from agenttrace.core.tagged import may_be_ours
from agenttrace.core.tool_call import ToolCall

MAX_LEAVES = 20_000
"""Values of one output that are looked at."""

Path = tuple[str | int, ...]
"""Keys and indexes, from the outermost on."""

_ID = re.compile(r"(?=.*\d)\S{3,200}")
_PLAIN_KEY = re.compile(r"[^.\[\]]+")
_NEXT_DIGIT = str.maketrans("0123456789", "1234567890")


class Sources:
    """The ids in the outputs of a run's calls, each with the calls that gave it and the path to it there."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._places: dict[str, list[tuple[int, str]]] = {}
        self._calls = calls
        for position, call in enumerate(calls):
            if call.failed or call.output is None:
                continue
            for path, leaf in islice(leaves(_opened(call.output)), MAX_LEAVES):
                if is_id(leaf):
                    self._places.setdefault(_key(leaf), []).append((position, _reference(path)))

    def of(self, value: Any, position: int) -> list[str]:
        """The references (``find.output.items[*].id``) to this id among the calls before a position."""
        places = self._places.get(_key(value), ()) if is_id(value) else ()
        return list(
            dict.fromkeys(f"{self._calls[at].name}.output{path}" for at, path in places if at < position)
        )

    def passes_on(self, first: int, second: int) -> bool:
        """Whether an argument of the second call stands in the output of the first."""
        return any(
            at == first
            for _, leaf in leaves(self._calls[second].arguments)
            if is_id(leaf)
            for at, _ in self._places.get(_key(leaf), ())
        )

    def invented(self, value: Any) -> Any:
        """An id of the same shape that no output of the run has."""
        text = str(value)
        for _ in range(9):
            text = text.translate(_NEXT_DIGIT)
            if text not in self._places and (isinstance(value, str) or text[0] not in "0-"):
                break
        else:
            text = f"{text}7"
        return text if isinstance(value, str) else int(text)


def is_id(value: Any) -> bool:
    """Whether a value looks like an id."""
    if type(value) is int:
        return abs(value) >= 100
    return type(value) is str and cause_of(value) is None and _ID.fullmatch(value) is not None


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that is no container, with the path to it; no marks, no tagged values."""
    if cause_of(value) is not None and not isinstance(value, list):
        return
    if isinstance(value, dict):
        if not may_be_ours(value):
            for key, item in value.items():
                yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def with_leaf(value: Any, path: Path, leaf: Any) -> Any:
    """The value with another leaf at a path."""
    if not path:
        return leaf
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, key: with_leaf(value[key], rest, leaf)}
    assert isinstance(key, int)
    return [*value[:key], with_leaf(value[key], rest, leaf), *value[key + 1 :]]


def _opened(output: Any) -> Any:
    """An output as data: one that is JSON text is read."""
    if type(output) is not str or cause_of(output) is not None:
        return output
    try:
        return lenient_json(output)
    except InvalidJSON:
        return output


def _key(value: Any) -> str:
    return str(value)


def _reference(path: Path) -> str:
    return "".join(
        "[*]" if isinstance(key, int) else f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{key!r}]"
        for key in path
    )
