"""What spans are calls of, each kept once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agenttrace.core.jsonable import clean_text
from agenttrace.core.span import Span
from agenttrace.core.tool_call import ToolDefinition
from agenttrace.store.rows import FunctionKey, definition_text

_MOST_FUNCTIONS = 10_000


class Functions:
    """The numbers of recorded functions in one file; `known` are those that this process has met."""

    def __init__(self) -> None:
        self.known: dict[FunctionKey, int] = {}
        self._tools: list[ToolDefinition] = []  # held, so that no other object gets the identity of one

    def number(self, db: sqlite3.Connection, span: Span) -> int:
        """The number of the function that a span is a call of, made known."""
        tool = span.tool
        definition = ""
        if len(self.known) >= _MOST_FUNCTIONS:  # names that carry ids: no set of them is worth keeping
            self.forget()
        if tool is not None:
            definition = definition_text(tool)
            self._tools.append(tool)
        number = _function_number(db, (span.project, span.name, span.span_type, definition))
        self.known[span.name, span.span_type, span.project, id(tool)] = number
        return number

    def forget(self) -> None:
        """After a rollback: numbers given in it are not in the file."""
        self.known.clear()
        self._tools.clear()


def _function_number(db: sqlite3.Connection, row: tuple[str, str, str, str]) -> int:
    query = "SELECT id FROM functions WHERE project = ? AND name = ? AND span_type = ? AND definition = ?"
    found = db.execute(query, row).fetchone()
    if found is None:
        db.execute("INSERT INTO functions (project, name, span_type, definition) VALUES (?, ?, ?, ?)", row)
        found = db.execute(query, row).fetchone()
    number: int = found[0]
    return number


def insert_tools(db: sqlite3.Connection, project: str, tools: Sequence[ToolDefinition]) -> None:
    """Keep the definitions of tools, called or not."""
    for tool in tools:
        _function_number(db, (project, clean_text(tool.name), "tool", definition_text(tool)))
