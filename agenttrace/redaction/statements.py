"""A statement of SQL in data, with the values for its placeholders, or the rows that it gave, beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenttrace.redaction.naming import Names
from agenttrace.redaction.selected import selected, without_selected
from agenttrace.redaction.sql_parameters import secret_parameters
from agenttrace.redaction.tables import is_list

STATEMENTS = frozenset({"sql", "statement", "query", "text"})
PARAMETERS = ("params", "parameters", "args", "bindings", "values", "variables")
"""What a tool for databases calls a statement, and the values for its placeholders."""
_RESULTS = ("rows", "result", "results", "data", "records", "output", "row")
"""What it calls the rows that a statement gave."""
BESIDE_STATEMENTS = frozenset((*PARAMETERS, *_RESULTS))
ATTRIBUTES_OF_STATEMENTS = frozenset({"db.query.text", "db.statement"})
"""A statement among the attributes of a span of OpenTelemetry."""
_PARAMETER = "db.query.parameter."
"""How the attributes are called that have the values for its placeholders, each by its number or name."""
_BEGINNINGS = ("select", "insert", "update", "delete", "merge", "alter", "create", "replace", "with", "call")
_LONGEST_WORD = 7


def may_be_statement(items: Sequence[Any]) -> bool:
    """Returns True for a statement with the values for its placeholders: ``["SELECT …", ["…"]]``."""
    return (
        len(items) == 2
        and type(items[0]) is str
        and (is_list(items[1]) or type(items[1]) is dict)
        and items[0].lstrip()[:_LONGEST_WORD].lower().startswith(_BEGINNINGS)
    )


def without_of_statement(value: dict[str, Any], items: dict[str, Any], names: Names, taken_out: Any) -> None:
    """Put what `taken_out` makes of a secret in its place in `items`, where a statement stands beside it."""
    for key in STATEMENTS:
        sql = value.get(key)
        if type(sql) is not str:
            continue
        for parameters in PARAMETERS:
            if parameters in items and value.get(parameters):
                items[parameters] = without_parameters(
                    sql, value[parameters], items[parameters], names, taken_out
                )
        columns = (
            selected((sql,), names) if sql.lstrip()[:_LONGEST_WORD].lower().startswith(_BEGINNINGS) else None
        )
        for rows in _RESULTS if columns is not None else ():
            if columns is not None and value.get(rows):
                items[rows] = without_selected(items[rows], columns, names, taken_out)


def without_attributes_of_statement(
    value: dict[str, Any], items: dict[str, Any], names: Names, taken_out: Any
) -> None:
    """Put what `taken_out` makes of a secret in its place in `items`, the attributes of a span, of which one
    is a statement and others are the values for its placeholders."""
    keys = {key.removeprefix(_PARAMETER): key for key in value if key.startswith(_PARAMETER)}
    sql = next((value[key] for key in ATTRIBUTES_OF_STATEMENTS if type(value.get(key)) is str), "")
    if not keys or not sql:
        return
    values: Any = {name: value[key] for name, key in keys.items()}
    if all(name.isdecimal() for name in keys):
        ordered = sorted(keys, key=int)
        secrets = [
            ordered[place] for place in secret_parameters(sql, [values[one] for one in ordered], names)
        ]
    else:
        secrets = secret_parameters(sql, values, names)
    for name in secrets:
        if keys.get(name) in items:
            items[keys[name]] = taken_out(value[keys[name]])


def without_parameters(sql: str, values: Any, items: Any, names: Names, taken_out: Any) -> Any:
    """What is left of the values for the placeholders of a statement, or of rows of them, without secrets."""
    if isinstance(items, str):  # all of them are hidden already
        return items
    if is_list(values) and all(is_list(row) or type(row) is dict for row in values):
        rows = [
            without_parameters(sql, row, item, names, taken_out)
            for row, item in zip(values, items, strict=True)
        ]
        return items if all(row is item for row, item in zip(rows, items, strict=True)) else rows
    if not (is_list(values) or type(values) is dict):
        return items
    secrets = secret_parameters(sql, values, names)
    clean: Any = dict(items) if type(values) is dict else list(items)
    for place in secrets:
        if type(values) is not dict or place in clean:  # a key that held a secret is another one
            clean[place] = taken_out(values[place])
    return clean if secrets else items
