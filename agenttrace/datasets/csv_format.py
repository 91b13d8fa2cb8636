"""Datasets as CSV, one example a row.

A cell is a text as it stands, with four exceptions: an empty cell is None; a cell that begins with ``{``,
``[`` or ``"`` is JSON, and so is what follows ``json:`` (``json:42`` is the number, ``42`` the text); an
apostrophe before a character that spreadsheets take for a formula (or before another apostrophe) is removed.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import readable_json
from agenttrace.core.text import shorten
from agenttrace.datasets.document import (
    OWN_COLUMNS,
    Columns,
    Document,
    FileContents,
    columns_of,
    load_example,
    noted,
)
from agenttrace.datasets.files import read_text

MAX_BYTES = 256_000_000
MAX_FIELD = 16_000_000
"""Characters in one cell."""

_DELIMITERS = (",", ";", "\t")
_FIELDS = tuple(Example.model_fields)
_limit_lock = threading.Lock()


def read_csv(
    path: Path,
    header_mapping: Mapping[str, str] | None = None,
    *,
    errors: list[DatasetError] | None = None,
    columns: Columns = (),
) -> FileContents:
    """Read a table whose first row names Example fields; cells as `read_cell` reads them.

    `header_mapping` names the column of each field where the file has names of its own; columns outside it
    are ignored then. `columns` are those that are no fields, see `Columns`. The delimiter is whichever of
    comma, semicolon and tab splits the first row into the most known names. Rows without any text are
    ignored. The error of a row goes to `errors`, where there are.

    Raises:
        DatasetError: an unknown or repeated column, a row with more or fewer cells than the first, a cell
            that its field cannot hold; it names line and row (the header is row 1).
    """
    text = read_text(path, MAX_BYTES)
    document = Document(path, None, columns=columns_of(columns))
    if not text.strip():
        raise document.error("the file is empty; its first row names Example fields")
    if "\0" in text:
        document.lines[()] = text.count("\n", 0, text.index("\0")) + 1
        raise document.error("there is a NUL character; save the file as UTF-8 text")
    field_of = {column: field for field, column in (header_mapping or {}).items()}
    rows = _rows(text, _delimiter(text, [*(field_of or _FIELDS), *columns]), document)
    header = [name.strip() for name in next(rows)[1]]
    places = _columns(header, field_of, document)
    examples = []
    for number, row in rows:
        if not any(row):
            continue
        with noted(errors):
            if len(row) != len(header):
                raise document.error(
                    f"got {len(row)} cells, wanted {len(header)} as in the first row; "
                    "put a cell with a delimiter or a line break in double quotes, and double those in it",
                    (number,),
                    f"row {number}",
                )
            entry = {field: _value(row[at], document, number, field) for field, at in places.items()}
            examples.append(load_example(document, entry, (number,), f"row {number}"))
    return FileContents(examples)


def write_csv(rows: Sequence[Mapping[str, Any]], platform_fields: Mapping[str, Any]) -> str:
    """The text of a CSV file with the columns that any example uses. CSV cannot hold platform fields."""
    del platform_fields
    columns = [field for field in _FIELDS if not rows or any(field in row for row in rows)]
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([write_cell(row.get(field)) for field in columns] for row in rows)
    return target.getvalue()


def _rows(text: str, delimiter: str, document: Document) -> Iterator[tuple[int, list[str]]]:
    """Every row with its number, from 1; sets the document's line for it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    while True:
        number += 1
        document.lines = {(number,): reader.line_num + 1}
        try:
            with _limit_lock:  # the limit is process-wide: raised for one step at a time, then restored
                before = csv.field_size_limit(MAX_FIELD)
                try:
                    row = next(reader)
                finally:
                    csv.field_size_limit(before)
        except StopIteration:
            return
        except csv.Error as error:
            raise document.error(f"this is not CSV: {error}", (number,), f"row {number}") from None
        yield number, row


def _delimiter(text: str, column_names: Sequence[str] | Mapping[str, str]) -> str:
    first = text[:100_000].splitlines()[0]

    def names(delimiter: str) -> int:
        return sum(name.strip().strip('"') in column_names for name in first.split(delimiter))

    return max(_DELIMITERS, key=names)


def _columns(header: list[str], field_of: Mapping[str, str], document: Document) -> dict[str, int]:
    """The column of each field, by its number from 0."""
    columns: dict[str, int] = {}
    if not any(header):
        raise document.error("the first row is blank, wanted names of Example fields", (1,), "row 1")
    for at, name in enumerate(header):
        field = name if not field_of or name in document.columns else field_of.get(name)
        if field is None:
            continue
        if field not in _FIELDS and field not in document.columns:
            raise document.error(f"unknown column {field!r}{_remedy(field, document)}", (1,), "row 1")
        if field in columns:
            raise document.error(f"the column {name!r} stands there twice", (1,), "row 1")
        columns[field] = at
    missing = [column for column, field in field_of.items() if field not in columns]
    if missing:
        raise document.error(f"no column {missing[0]!r}{did_you_mean(missing[0], header)}", (1,), "row 1")
    return columns


def _remedy(column: str, document: Document) -> str:
    """The nearest field, or what to do with a column of one's own before the many that there are."""
    known = did_you_mean(column, [*_FIELDS, *document.columns])
    return known + OWN_COLUMNS if known.startswith("; did you mean") else OWN_COLUMNS + known


def _value(text: str, document: Document, number: int, column: str) -> Any:
    field = document.columns.get(column, column)
    try:
        value = read_cell(text)
    except InvalidJSON as error:
        raise document.error(
            f"got {text[:80]!r}, which begins like JSON but cannot be read ({error}); {_as_json(text)}",
            (number,),
            f"row {number}.{column}",
        ) from None
    if isinstance(value, str) and field in _LISTS:
        raise document.error(
            f"got {shorten(repr(value), 80)}, wanted a list; {_as_list(value, field)}",
            (number,),
            f"row {number}.{column}",
        )
    return value


_LISTS = ("context", "retrieval_context", "expected_tools", "tools_called", "tags", "scorers", "turns")
"""Fields whose cell is a list, which has to be JSON."""

_LISTS_OF_NAMES = ("expected_tools", "tools_called", "tags")
"""Those whose items have no commas, unless in brackets."""

_HINT = 200
"""Characters of a cell that an error writes for the user."""


def _as_json(text: str) -> str:
    """How to write a cell that is no JSON: a literal of Python, as pandas writes lists, has its value."""
    try:
        value = ast.literal_eval(text) if len(text) <= _HINT else None
        literal = None if value is None else readable_json(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        literal = None
    if literal is not None:
        return f"write {_cell(literal)}"
    return "write a text that begins so as a JSON string, in double quotes"


def _as_list(text: str, field: str) -> str:
    """How to write a cell of a list that is a text."""
    is_plain = field in _LISTS_OF_NAMES and not set("()[]{}") & set(text)
    items = [part.strip() for part in re.split(r"[,;\n]", text)] if is_plain else [text]
    return f"write the cell as JSON: {_cell(shorten(readable_json([one for one in items if one]), _HINT))}"


def _cell(text: str) -> str:
    """A cell as a spreadsheet shows it; in the file's own text, one with a comma is quoted."""
    if "," not in text:
        return text
    quoted = text.replace('"', '""')
    return f'{text} (in the text of the file: "{quoted}")'


_JSON_STARTS = ("{", "[", '"')
_JSON_MARK = "json:"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_APOSTROPHE_STARTS = ("'", *_FORMULA_STARTS)


def write_cell(value: Any) -> str:
    """Write a JSON value so that `read_cell` returns an equal one, and no spreadsheet runs it."""
    if value is None:
        return ""
    if isinstance(value, str) and not _needs_json(value):
        return f"'{value}" if _needs_guard(value) else value
    text = readable_json(value)
    return text if text.startswith(_JSON_STARTS) else _JSON_MARK + text


def read_cell(text: str) -> Any:
    """Read a cell.

    Raises:
        InvalidJSON: the cell begins like JSON, but is not JSON.
    """
    if not text:
        return None
    if text.startswith(_JSON_MARK):
        return strict_json(text.removeprefix(_JSON_MARK))
    if text.startswith(_JSON_STARTS):
        return strict_json(text)
    return text[1:] if text[0] == "'" and text[1:].startswith(_APOSTROPHE_STARTS) else text


def _needs_guard(text: str) -> bool:
    return text.startswith(_FORMULA_STARTS) or (text[0] == "'" and text[1:].startswith(_APOSTROPHE_STARTS))


def _needs_json(text: str) -> bool:
    if not text or text.startswith((*_JSON_STARTS, _JSON_MARK)) or "\0" in text:
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
