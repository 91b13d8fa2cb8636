"""Datasets as JSON or JSON Lines, also in the form of judgeval's exports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.core.errors import DatasetError
from agenttrace.core.json_reader import InvalidJSON, decode_at, skip_space, strict_json
from agenttrace.core.jsonable import readable_json
from agenttrace.datasets.document import (
    PLATFORM_EXAMPLE_KEYS,
    Columns,
    Document,
    FileContents,
    Place,
    columns_of,
    load_example,
    load_examples,
    noted,
)
from agenttrace.datasets.files import read_text

MAX_BYTES = 64_000_000


def read_json(path: Path, errors: list[DatasetError] | None = None, columns: Columns = ()) -> FileContents:
    """Read ``{"examples": […]}``; see `load_examples` for `errors`, `Document` for `columns`.

    The extra keys of the platform's export are kept: those of the dataset as its platform fields, those of
    an example in `additional_metadata`, under ``"platform"``. ``//`` comments and trailing commas are
    ignored.

    Raises:
        DatasetError: the file holds something else; it names path, line and field.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    document.columns = columns_of(columns)
    return load_examples(document, PLATFORM_EXAMPLE_KEYS, errors)


def parse_json(text: str, path: Path, depth: int = 2) -> Document:
    """Read one JSON value, with the lines of what stands up to so many levels deep.

    Raises:
        DatasetError: the text is not JSON; it names path and line.
    """
    document = Document(path, None)
    _Scanner(without_comments(text), document, depth).read()
    return document


def write_json(rows: Sequence[Mapping[str, Any]], platform_fields: Mapping[str, Any]) -> str:
    """The text of a JSON file."""
    return readable_json({**platform_fields, "examples": list(rows)}, indent=2) + "\n"


def without_comments(text: str) -> str:
    """Replace ``//`` comments, and commas before a closing bracket, by blanks, so that positions stay valid.

    Hand-written files have them, and so does the export in the judgeval platform's documentation.
    """
    text = _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else " " * len(match[0]), text)
    return _COMMA.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)


# A string that is never closed runs to the end of the text, so that scanning stays linear.
_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_COMMENT = re.compile(_STRING + r"|//[^\r\n]*", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=[ \t\r\n]*[}\]])", re.DOTALL)


class _Scanner:
    """Reads the outer levels key by key and item by item, to record the line of each."""

    def __init__(self, text: str, document: Document, depth: int) -> None:
        self.text = text
        self.document = document
        self.depth = depth
        self.pos = 0
        self.counted = (0, 1)

    def read(self) -> None:
        try:
            self._space()
            if self.pos < len(self.text):
                self.document.data = self._inner(())
                self._space()
                if self.pos < len(self.text):
                    raise InvalidJSON("there is more text after the JSON value", self.pos)
        except InvalidJSON as error:
            at = self.pos if error.pos is None else error.pos
            self.document.lines = {(): self._line(at)}
            raise self.document.error(str(error)) from None

    def _inner(self, place: Place) -> Any:
        if len(place) < self.depth and self._sees("{"):
            return self._object(place)
        return self._list(place) if 0 < len(place) < self.depth and self._sees("[") else self._value()

    def _object(self, place: Place) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        self._take("{")
        while not self._sees("}"):
            self._space()
            if not self._sees('"'):
                raise InvalidJSON("wanted a key in double quotes", self.pos)
            line = self._line(self.pos)
            key = self._value()
            if key in entries:
                raise InvalidJSON(f"the key {key!r} stands twice in one object", self.pos)
            self._space()
            self._take(":")
            self._space()
            self.document.lines[(*place, key)] = line
            entries[key] = self._inner((*place, key))
            self._space()
            if not self._sees("}"):
                self._take(",")
        self._take("}")
        return entries

    def _list(self, place: Place) -> list[Any]:
        items: list[Any] = []
        self._take("[")
        self._space()
        while not self._sees("]"):
            self._space()
            self.document.lines[(*place, len(items))] = self._line(self.pos)
            items.append(self._inner((*place, len(items))))
            self._space()
            if not self._sees("]"):
                self._take(",")
        self._take("]")
        return items

    def _value(self) -> Any:
        value, self.pos = decode_at(self.text, self.pos)
        return value

    def _space(self) -> None:
        self.pos = skip_space(self.text, self.pos)

    def _sees(self, mark: str) -> bool:
        return self.text.startswith(mark, self.pos)

    def _take(self, mark: str) -> None:
        if not self._sees(mark):
            raise InvalidJSON(f"wanted {mark!r}", self.pos)
        self.pos += 1

    def _line(self, pos: int) -> int:
        start, line = self.counted if self.counted[0] <= pos else (0, 1)
        line += self.text.count("\n", start, pos)
        self.counted = (pos, line)
        return line


MAX_JSONL_BYTES = 256_000_000


def read_jsonl(path: Path, errors: list[DatasetError] | None = None, columns: Columns = ()) -> FileContents:
    """Read one example from each line that is not blank; the error of one goes to `errors`, where there are.

    Raises:
        DatasetError: a line that is no example; it names the line.
    """
    document = Document(path, None, columns=columns_of(columns))
    examples = []
    for number, line in enumerate(read_text(path, MAX_JSONL_BYTES).split("\n"), start=1):
        if not line.strip():
            continue
        document.lines = {(): number}
        with noted(errors):
            try:
                entry = strict_json(line)
            except InvalidJSON as error:
                raise document.error(f"this line is not one JSON value: {error}") from None
            examples.append(load_example(document, entry, (), ""))
    if not examples and not errors:
        raise Document(path, None).error("the file is empty; write one example a line")
    return FileContents(examples)


def write_jsonl(rows: Sequence[Mapping[str, Any]], platform_fields: Mapping[str, Any]) -> str:
    """The text of a JSON lines file. Platform fields have no place in it."""
    del platform_fields
    return "".join(readable_json(row) + "\n" for row in rows)
