"""Datasets as JSON lines, one example a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.datasets.document import Document, Loaded, load_example
from agenttrace.datasets.files import read_text
from agenttrace.datasets.json_format import json_text
from agenttrace.datasets.json_text import JSONRefused, strict_json

MAX_BYTES = 256_000_000


def read_jsonl(path: Path) -> Loaded:
    """Read one example from each line that is not blank.

    Raises:
        DatasetError: a line that is no example; it names the line.
    """
    document = Document(path, None)
    examples = []
    for number, line in enumerate(read_text(path, MAX_BYTES).split("\n"), start=1):
        if not line.strip():
            continue
        document.lines = {(): number}
        try:
            entry = strict_json(line)
        except JSONRefused as refused:
            raise document.error(f"this line is not one JSON value: {refused}") from None
        examples.append(load_example(document, entry, (), ""))
    if not examples:
        raise Document(path, None).error("the file is empty; write one example a line")
    return Loaded(examples)


def write_jsonl(rows: Sequence[Mapping[str, Any]], platform_fields: Mapping[str, Any]) -> str:
    """The text of a JSON lines file. Platform fields have no place in it."""
    del platform_fields
    return "".join(json_text(row) + "\n" for row in rows)
