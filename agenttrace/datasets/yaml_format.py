"""Datasets as YAML, the format for writing by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.datasets.document import FileContents, load_examples
from agenttrace.datasets.files import read_text
from agenttrace.datasets.yaml_text import MAX_BYTES, parse_yaml, plain_scalar


def read_yaml(path: Path) -> FileContents:
    """Read a mapping with ``examples``.

    Raises:
        DatasetError: the file holds something else, or exceeds the limits of `yaml_text`.
    """
    return load_examples(parse_yaml(read_text(path, MAX_BYTES), path))


def get_examples_from_yaml(path: str | Path) -> list[Example]:
    """The examples of a YAML file, each knowing its line (`Example.source`).

    Raises:
        DatasetError: the file is missing, empty, not YAML, or holds something other than examples; it names
            path, line and field.
    """
    return read_yaml(Path(path)).examples


def write_yaml(rows: Sequence[Mapping[str, Any]], platform_fields: Mapping[str, Any]) -> str:
    """The text of a YAML file, read back once to make sure that nothing is lost.

    Raises:
        DatasetError: YAML cannot hold this data, or the file would exceed the limits for reading.
    """
    data = {**platform_fields, "examples": list(rows)}
    text: str = yaml.dump(
        data,
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=float("inf"),
        default_flow_style=False,
    )
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise DatasetError(f"more than {MAX_BYTES / 1e6:.0f} MB cannot be read back as YAML; save as jsonl")
    try:
        same = parse_yaml(text, Path("yaml")).data == data
    except DatasetError as error:
        raise DatasetError(f"cannot be kept in YAML ({error}); save as json or jsonl") from None
    if not same:
        raise DatasetError("cannot be kept in YAML without a change; save as json or jsonl")
    return text


class _Dumper(yaml.SafeDumper):
    """Block style, no aliases, long texts as blocks, quotes around texts that look like another type."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if not text.replace("\n", "").isprintable() or _looks_typed(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _looks_typed(text: str) -> bool:
    try:
        return plain_scalar(text) is not text
    except ValueError:
        return True


_Dumper.add_representer(str, _represent_text)
