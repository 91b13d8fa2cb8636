"""`Repeats`: which calls were made before, the same tool with the same arguments.

What was not recorded whole tells by its digest whether it is the same, or not at all. Calls that lack the
same parts are looked up by the others and the digests; only calls that lack different parts are compared one
by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.marks import Cause, Redacted, cause_of, hidden_keys, known_part
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.value_key import value_key
from agenttrace.expectations.matcher import PLAIN
from agenttrace.expectations.partly_recorded import with_doubts
from agenttrace.expectations.reading import cannot_tell, comparing, reversed_reading
from agenttrace.expectations.values import agree


class Repeats:
    """Counts the earlier calls that were the same: the same tool with the same arguments.

    Arguments that could not be read are the same where their text is. Where it cannot be told whether two
    calls are the same, being the same is what breaks the verdict.
    """

    def __init__(self) -> None:
        self._calls: dict[str, dict[_Lacks, dict[_Content, list[ToolCall]]]] = {}

    def count(self, call: ToolCall) -> int:
        """How many of the calls that were added were the same as this one."""
        lacks, content = _described(call)
        total = 0
        for other_lacks, calls_by_content in self._calls.get(call.name, {}).items():
            if other_lacks == lacks:
                same = calls_by_content.get(content, [])
                total += len(same) if same and _counts_as_same(call, lacks) else 0
            else:
                for calls in calls_by_content.values():
                    total += len(calls) if _are_the_same(calls[0], call) else 0
        return total

    def add(self, call: ToolCall) -> None:
        """Add a call to those that later ones are compared with."""
        lacks, content = _described(call)
        self._calls.setdefault(call.name, {}).setdefault(lacks, {}).setdefault(content, []).append(call)


@dataclass(frozen=True, slots=True)
class _Lack:
    """A part of the arguments that was not recorded whole: where it is, and why; `size` of it is known, and
    with a digest the whole can be compared."""

    path: str
    cause: Cause
    size: int | None
    has_digest: bool


_Lacks = tuple[_Lack, ...]
_Content = tuple[str, tuple[Any, ...], str | None]
"""The arguments without what they lack, what is known of that, and the error of arguments not read."""


def _described(call: ToolCall) -> tuple[_Lacks, _Content]:
    parts = sorted(_parts_not_whole(call.arguments, ""), key=lambda part: part[0].path)
    lacks, known = tuple(lack for lack, _ in parts), tuple(content for _, content in parts)
    arguments = _without(call.arguments) if parts else call.arguments
    return lacks, (value_key(arguments), known, call.arguments_error)


def _parts_not_whole(value: Any, path: str) -> Iterator[tuple[_Lack, Any]]:
    """Each part that was not recorded whole, with what is known of it."""
    cause = _cause(value)
    if cause is not None:
        yield _known_of(value, path, cause)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _parts_not_whole(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _parts_not_whole(item, f"{path}[{index}]")


def _known_of(value: Any, path: str, cause: Cause) -> tuple[_Lack, Any]:
    if type(value) is Redacted:
        return _Lack(path, cause, None, value.digest is not None), value.digest
    known = known_part(value)
    if known is None or not isinstance(known.part, str | bytes):
        return _Lack(path, cause, None, has_digest=False), None
    content = (known.part, known.total, known.digest)
    return _Lack(path, cause, len(known.part), known.digest is not None), content


def _without(value: Any) -> Any:
    """A value with None in the place of what was not recorded whole."""
    if _cause(value) is not None:
        return None
    if isinstance(value, Mapping):
        return {key: _without(item) for key, item in value.items()}
    return [_without(item) for item in value] if isinstance(value, list | tuple) else value


def _cause(value: Any) -> Cause | None:
    cause = cause_of(value)
    if cause is None and isinstance(value, Mapping) and (hidden := hidden_keys(value)):
        cause = cause_of(hidden[0])
    return cause


def _counts_as_same(call: ToolCall, lacks: _Lacks) -> bool:
    """Whether a call is taken to be the same as one that lacks the same parts, and agrees in all others."""
    untold = [lack for lack in lacks if not lack.has_digest]
    if not untold:
        return True
    comparing(call)
    with reversed_reading():
        return all(cannot_tell(lack.cause, lack.path) == 1.0 for lack in untold)


def _are_the_same(first: ToolCall, second: ToolCall) -> bool:
    if first.arguments_error is not None or second.arguments_error is not None:
        return first.arguments_error == second.arguments_error
    comparing(second)
    with reversed_reading():
        return agree(with_doubts(first.arguments), second.arguments, PLAIN) == 1.0
