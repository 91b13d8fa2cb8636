"""The file formats of datasets by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.datasets.csv_format import read_csv, write_csv
from agenttrace.datasets.document import Loaded
from agenttrace.datasets.json_format import read_json, write_json
from agenttrace.datasets.jsonl_format import read_jsonl, write_jsonl
from agenttrace.datasets.yaml_format import read_yaml, write_yaml


@dataclass(frozen=True)
class Format:
    """How a dataset is read from a file and made into its text."""

    read: Callable[[Path], Loaded]
    write: Callable[[Sequence[Mapping[str, Any]], Mapping[str, Any]], str]


FORMATS: Mapping[str, Format] = {
    "json": Format(read_json, write_json),
    "jsonl": Format(read_jsonl, write_jsonl),
    "csv": Format(read_csv, write_csv),
    "yaml": Format(read_yaml, write_yaml),
}
_SUFFIXES = {**{f".{name}": name for name in FORMATS}, ".yml": "yaml"}


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        DatasetError: there is none.
    """
    if name not in FORMATS:
        raise DatasetError(f"unknown format {name!r}{did_you_mean(str(name), FORMATS)}")
    return FORMATS[name]


def format_of(path: Path) -> Format:
    """The format that a file's name tells.

    Raises:
        DatasetError: an unknown suffix.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise DatasetError(f"unknown kind of file {suffix!r}{did_you_mean(suffix, _SUFFIXES)}", path=path)
    return FORMATS[_SUFFIXES[suffix]]
