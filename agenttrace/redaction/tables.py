"""Secrets in data that is a table: rows beside the names of their columns, or below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_name, is_opaque, is_placeholder

COLUMNS = (
    *("columns", "header", "headers", "fields", "column_names", "columnNames"),
    *("schema", "cols", "keys", "meta", "fieldnames"),
    *("Columns", "columnMetadata", "ColumnMetadata", "ResultSetMetadata", "resultSetMetaData", "ColumnInfo"),
)
_HEADS = (*COLUMNS, "description")
"""Python's DB-API calls the columns of a cursor its description, which elsewhere is a text."""
ROWS = ("data", "rows", "values", "records", "body", "Rows", "Records", "data_array")
"""Some in the words of Kusto, Athena, RDS, Redshift, Snowflake and Databricks, whose answers are tables."""
_TITLES = (
    *("name", "field", "key", "id", "label", "title", "header"),
    *("Name", "column_name", "columnName", "ColumnName"),
)
"""What a column's name is called, where a column is a mapping."""
_HEADS_WITHIN = ("fields", "ColumnInfo", "rowType", "columns")
"""Under what the columns stand in what tells of them."""
_LONGEST_TITLE = 64


def is_list(value: Any) -> bool:
    """Returns True for a list, and for a tuple, which is recorded as one."""
    return type(value) is list or type(value) is tuple


def without_columns_beside(table: Mapping[str, Any], rows: Any, names: Names, taken_out: Any) -> Any:
    """The rows of a table without the values of its secret columns, or of secret names in its index."""
    columns: Any = next((heads for key in _HEADS if is_list(heads := _heads(table.get(key)))), [])
    is_table = bool(columns) or any(key in table for key in COLUMNS)
    if not is_table and "rows" in table and "index" not in table:
        return rows
    titles = [_secret_title(column, names) for column in (columns if is_table else [table.get("name")])]
    labels: Any = table.get("index")
    is_labelled = is_list(labels) and len(labels) == len(rows)
    by_row = [_secret_title(label, names) for label in labels] if is_labelled else [None] * len(rows)
    if not any(titles) and not any(by_row):
        return rows

    def cell(title: str | None, label: str | None, item: Any) -> Any:
        is_secret = item is not None and any(name and names.hides(name, item) for name in (title, label))
        return taken_out(item) if is_secret else item

    def row_of(label: str | None, row: Any) -> Any:
        if is_table and is_list(row):
            return [cell(title, label, item) for title, item in zip(_for_each(titles, row), row, strict=True)]
        if is_table and type(row) is dict and len(row) == 1:  # ``{"values": […]}``
            (key, inner), *_ = row.items()
            if is_list(inner):
                return {key: row_of(label, inner)}
        is_record = is_table and type(row) is dict  # it has the names itself
        return cell(None if is_record else next(iter(titles), None), label, row)

    if len(titles) == len(rows) > 1 and not any(is_list(row) or type(row) is dict for row in rows):
        return [
            cell(title if _is_secret(title, item, names) else None, label, item)
            for title, label, item in zip(titles, by_row, rows, strict=True)
        ]
    return [row_of(label, row) for label, row in zip(by_row, rows, strict=True)]


def _heads(columns: Any) -> Any:
    """The columns, which a schema or other metadata may hold."""
    if type(columns) is not dict:
        return columns
    return next((columns[key] for key in _HEADS_WITHIN if key in columns), None)


def _for_each(titles: Sequence[str | None], row: Sequence[Any]) -> list[str | None]:
    """The titles of the items of a row, which may be shorter or longer than the head of its table."""
    return [*titles[: len(row)], *[None] * (len(row) - len(titles))]


def _secret_title(column: Any, names: Names) -> str | None:
    """The secret's name that a column has: a text, the last of several levels, or what a mapping calls it."""
    if type(column) is dict:
        titles = [column[key] for key in _TITLES if key in column]
    else:
        titles = [column[-1], column[0]] if is_list(column) and column else [column]
    return next((title for title in titles if _is_secret_title(title, names)), None)


def _is_secret_title(title: Any, names: Names) -> bool:
    return type(title) is str and len(title) <= _LONGEST_TITLE and names.is_secret(title)


def places_below_titles(rows: Sequence[Any], names: Names) -> list[tuple[int, int]]:
    """Where secrets stand in a list of rows of which the first has names: ``[["user", "password"], …]``."""
    titles = rows[0]
    secret = {place: title for place, title in enumerate(titles) if _is_secret_title(title, names)}
    if not secret or not all(type(title) is str and len(title) <= _LONGEST_TITLE for title in titles):
        return []
    width = len(titles)
    *whole, last = rows
    if not all(is_list(row) and len(row) == width for row in whole):
        return []
    if not is_list(last) or len(last) > width:  # of what was cut, the last is shorter
        return []
    return [
        (number, place)
        for number, row in enumerate(rows)
        for place, title in secret.items()
        if number
        and place < len(row)
        and _is_secret(title, row[place], names)
        # Two columns may be pairs, too: then what stands here is another name, such as address2.
        and (width != 2 or place or type(row[0]) is not str or not is_name(row[0].rstrip("0123456789")))
    ]


def places_beside_head(parts: Sequence[Any], names: Names) -> list[tuple[int, int]]:
    """Where secrets stand in the rows of a table that is its titles and its rows, ``(["user", "password"],
    [("ann", …)])``."""
    if len(parts) != 2 or not parts[0] or not is_list(parts[1]) or not parts[1] or not is_list(parts[1][0]):
        return []
    return [(number - 1, place) for number, place in places_below_titles([parts[0], *parts[1]], names)]


def _is_secret(title: str | None, item: Any, names: Names) -> bool:
    if title is None or item is None or not names.hides(title, item):
        return False
    if type(item) is not str:
        return True
    return is_opaque(item.rpartition(" ")[2]) and not is_name(item) and not is_placeholder(item)
