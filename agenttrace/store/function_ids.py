"""`FunctionIds`: the numbers of recorded functions in one file or database, as far as they were looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agenttrace.core.span import Span
from agenttrace.core.span_rows import SpanKind
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_text import definition_text

FunctionKey: TypeAlias = tuple[str, str, str, str | int]
"""The kind of a row; of a span the same with the identity of its tool, whose text would take too long."""

_MOST_FUNCTIONS = 10_000


class FunctionIds:
    """The numbers of recorded functions; `cached` are those that this process has looked up."""

    def __init__(self) -> None:
        self.cached: dict[FunctionKey, int] = {}
        self._tools: list[ToolDefinition] = []  # kept alive, so that no other object gets the `id` of one

    def number(self, function: Span | SpanKind, look_up: Callable[[SpanKind], int]) -> int:
        """The number of the function that a span is a call of, or of this kind; it is cached."""
        if len(self.cached) >= _MOST_FUNCTIONS:  # names that carry ids: no set of them is worth keeping
            self.forget()
        if isinstance(function, tuple):
            number = self.cached[function] = look_up(function)
            return number
        project, name, span_type, tool = function.project, function.name, function.span_type, function.tool
        definition = ""
        if tool is not None:
            definition = definition_text(tool)
            self._tools.append(tool)
        number = look_up((project, name, span_type, definition))
        self.cached[project, name, span_type, id(tool)] = number
        return number

    def forget(self) -> None:
        """Empty the cache after a rollback: numbers of that transaction are not in the file."""
        self.cached.clear()
        self._tools.clear()
