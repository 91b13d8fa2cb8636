"""Rows that a call returns for a statement among its arguments: ``SELECT name, password FROM users``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import is_
from typing import Any, NamedTuple

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.asked import texts_of
from agenttrace.redaction.json_text import without_secrets_of_data
from agenttrace.redaction.naming import Names
from agenttrace.redaction.result_words import RESULTS
from agenttrace.redaction.tables import is_list
from agenttrace.redaction.values import is_opaque, is_placeholder

_SELECT = re.compile(
    r"(?i)\bselect\s+(?:(?:distinct|all|top\s*\(?\d+\)?)\s+)*(?P<items>(?:'(?:[^']|'')*+'|[^;']){1,2000}?)\sfrom\s"
)
_RETURNING = re.compile(r"(?i)\sreturning\s+(?P<items>[^;']{1,2000})")
_NAME = r"[\w$]+"
_ITEM = re.compile(
    rf"""(?i)\A\s*(?:(?P<before>.*\S)\s+(?:as\s+)?)?(?:["`\[]?{_NAME}["`\]]?\.)*["`\[]?(?P<name>{_NAME})["`\]]?\s*\Z""",
    re.DOTALL,
)
_MAY_SELECT = re.compile(r"(?i)\b(?:select|returning)\s")
_LONGEST_STATEMENT, _LONGEST_ROWS, _MOST_ROWS = 8_000, 100_000, 10_000


class Selected(NamedTuple):
    """Which columns of the rows of a statement are secret: their names by place, and how many there are."""

    secret: dict[int, str]
    width: int


def selected(arguments: Iterable[Any], names: Names) -> Selected | None:
    """The secret columns of the first statement among arguments that has one."""
    for text in texts_of(arguments):
        if _MAY_SELECT.search(text) is not None:
            for pattern in (_SELECT, _RETURNING):
                statement = pattern.search(text[:_LONGEST_STATEMENT])
                if statement is not None:
                    columns = [_ITEM.match(item) for item in _items(statement["items"])]
                    named = [column["name"] if column else "" for column in columns]
                    secret = {place: name for place, name in enumerate(named) if names.is_secret(name)}
                    if secret:
                        return Selected(secret, len(named))
    return None


def without_selected(output: Any, columns: Selected, names: Names, taken_out: Any) -> Any:
    """The result without the values of secret columns: rows, one row, one value, and a text that spells them.

    The same object where nothing is taken out.
    """
    if isinstance(output, str):
        return _without_spelled(output, columns, names, taken_out)
    if type(output) is dict:
        fields = {
            key: without_selected(item, columns, names, taken_out)
            for key, item in output.items()
            if is_list(item) or (key in RESULTS and isinstance(item, str))
        }
        return output if all(fields[key] is output[key] for key in fields) else {**output, **fields}
    if type(output) is list and len(output) == 1 and type(output[0]) is dict:
        clean = without_selected(output[0], columns, names, taken_out)
        return output if clean is output[0] else [clean]
    return _without_rows(output, columns, names, taken_out)


def _items(text: str) -> Iterator[str]:
    """What is between the commas that are in no brackets."""
    depth, begin = 0, 0
    for place, sign in enumerate(text):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]


def _without_rows(rows: Any, columns: Selected, names: Names, taken_out: Any) -> Any:
    if not is_list(rows) or not rows:
        return rows
    if is_list(rows[0]):
        clean = [_without_row(row, columns, names, taken_out) for row in rows[:_MOST_ROWS]]
        return rows if all(map(is_, clean, rows)) else clean + list(rows[_MOST_ROWS:])
    if columns.width == 1:
        clean = [taken_out(one) if _is_secret(columns.secret[0], one, names) else one for one in rows]
        return rows if all(map(is_, clean, rows)) else clean
    return _without_row(rows, columns, names, taken_out)


def _without_row(row: Any, columns: Selected, names: Names, taken_out: Any) -> Any:
    if not is_list(row) or len(row) != columns.width:
        return row
    places = [place for place, name in columns.secret.items() if _is_secret(name, row[place], names)]
    if not places:
        return row
    return [taken_out(one) if place in places else one for place, one in enumerate(row)]


def _is_secret(name: str, value: Any, names: Names) -> bool:
    if not names.hides(name, value) or value is None or type(value) is bool:
        return False
    return not isinstance(value, str) or (is_opaque(value) and not is_placeholder(value))


def _without_spelled(text: str, columns: Selected, names: Names, taken_out: Any) -> Any:
    """A text without secrets where it is one, or spells rows as `repr` does: ``[('ann', '…')]``."""
    if columns.width == 1 and text[:1] not in "[({" and _is_secret(columns.secret[0], text.strip(), names):
        return taken_out(text)
    if len(text) > _LONGEST_ROWS:
        return text
    lines = _without_cells(text, columns, names)
    if lines is not None:
        return lines
    return without_secrets_of_data(text, lambda rows: without_selected(rows, columns, names, taken_out))[0]


def _without_cells(text: str, columns: Selected, names: Names) -> str | None:
    """Lines with a cell for each column, as ``sqlite3`` and ``psql -tA`` print them; None for others."""
    lines = text.splitlines(keepends=True)
    for separator in "|\t,":
        rows = [line.split(separator) for line in lines]
        if all(len(row) == columns.width or row == ["\n"] for row in rows) and _begins_no_data(rows):
            for row in rows:
                for place, name in columns.secret.items() if len(row) == columns.width else ():
                    cell = row[place].strip()
                    if cell and " " not in cell and _is_secret(name, cell, names):
                        row[place] = row[place].replace(cell, REDACTED)
            return "".join(map(separator.join, rows))
    return None


def _begins_no_data(rows: list[list[str]]) -> bool:
    return rows != [] and rows[0][0][:1] not in ("[", "(", "{")
