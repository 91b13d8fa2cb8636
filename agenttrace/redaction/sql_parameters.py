"""Secrets that a database's error repeats: the parameters of a statement, the key that stands already."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_opaque, is_placeholder

SIGNS = (")=(", "[parameters:")
"""One of these stands in each such text, in lower case."""
_STATEMENT = re.compile(
    r"\[SQL:(?P<sql>[^\[\]]{1,20000})\](?:\s|\\[nrt]){0,20}\[parameters: ?(?P<values>[(\[].*)"
)
_COLUMNS = re.compile(r"""(?i)\binto\s[^()]{1,300}\((?P<columns>[^()]{1,4000})\)""")
_COMPARED = re.compile(r"""(?i)(?P<column>\w+)["`\]]?\s*(?:=|<>|!=|like|in)\s*\(?(?:\?|%s|\$\d+|:\w+)""")
_TEXTS = r"""\\?'(?P<one>(?:[^'\\\n]|\\[^'\n])*+)\\?'|\\?"(?P<two>(?:[^"\\\n]|\\[^"\n])*+)\\?\""""
_ROW = re.compile(r"""\((?P<row>(?:[^()'"\n]|\\?'[^'\n]*+'|\\?"[^"\n]*+"){1,20000}+)\)""")
_VALUE = re.compile(rf"""\s*(?:{_TEXTS}|[^,'"()]+)\s*(?:,|\Z)""")
_LONGEST = 20_000
_KEY = re.compile(r"""\((?P<columns>[\w", ]{1,400})\)=\((?P<values>[^()\n]{1,4000})\)""")


def without_sql_parameters(text: str, names: Names) -> tuple[str, int]:
    """The text without secret parameters and keys, and how many were found."""
    places: list[tuple[int, int]] = []
    for statement in _STATEMENT.finditer(text):
        places += _parameters(text, statement, names)
    for key in _KEY.finditer(text):
        columns = [column.strip(' "') for column in key["columns"].split(",")]
        begin = key.start("values")
        for column, value in zip(columns, key["values"].split(","), strict=False):
            if _is_secret(column, value.strip(), names):
                first = text.index(value.strip(), begin)
                places.append((first, first + len(value.strip())))
            begin += len(value) + 1
    pieces: list[str] = []
    done = 0
    for first, last in places:
        if first >= done:
            pieces += (text[done:first], REDACTED)
            done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def secret_parameters(sql: str, values: Sequence[Any], names: Names) -> list[int]:
    """The places of secrets among the values that a statement is given for its placeholders."""
    if len(sql) > _LONGEST:
        return []
    columns = enumerate(_columns_of(sql)[: len(values)])
    return [
        place
        for place, column in columns
        if values[place] is not None
        and column
        and names.is_secret(column)
        and names.hides(column, values[place])
    ]


def _columns_of(sql: str) -> list[str]:
    """The column that each placeholder stands for."""
    into = _COLUMNS.search(sql)
    if into is not None:
        return [column.strip(" \"'`[]\\n") for column in into["columns"].split(",")]
    return [compared["column"] for compared in _COMPARED.finditer(sql)]


def _parameters(text: str, statement: re.Match[str], names: Names) -> list[tuple[int, int]]:
    columns = _columns_of(statement["sql"])
    if not any(map(names.is_secret, columns)):
        return []
    places: list[tuple[int, int]] = []
    for row in _ROW.finditer(text, *statement.span("values")):
        for column, value in zip(columns, _VALUE.finditer(text, *row.span("row")), strict=False):
            kind = "one" if value["one"] is not None else "two"
            if value[kind] and _is_secret(column, value[kind], names):
                places.append(value.span(kind))
    return places


def _is_secret(column: str, value: str, names: Names) -> bool:
    if not column or not names.is_secret(column) or is_placeholder(value) or value.startswith(REDACTED):
        return False
    return names.hides(column, value) and is_opaque(value)
