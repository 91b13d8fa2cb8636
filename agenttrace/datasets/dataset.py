"""`EvalDataset`: a list of examples, loaded from files or made from traces, saved in any format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Self, overload

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.file_form import strict, to_file_form
from agenttrace.core.report import ScoringResult
from agenttrace.core.trace import Trace
from agenttrace.datasets.csv_format import read_csv, write_csv
from agenttrace.datasets.document import Columns, FileContents
from agenttrace.datasets.expected_outputs import output_to_write
from agenttrace.datasets.files import write_text
from agenttrace.datasets.from_results import ExpectOfResult, examples_from_results
from agenttrace.datasets.from_traces import Expect, examples_from_traces
from agenttrace.datasets.json_format import read_json, read_jsonl, write_json, write_jsonl
from agenttrace.datasets.yaml_format import read_yaml, write_yaml


class EvalDataset(Sequence[Example]):
    """Examples in order: it can be iterated, indexed, and given wherever examples are asked for.

    `platform_fields` are the fields of the dataset itself in an export of the judgeval platform
    (``dataset_alias``, ``dataset_id`` …); JSON and YAML files keep them, JSONL and CSV files cannot.
    Loading appends to the examples, and appends nothing where the file has an error.
    """

    def __init__(self, examples: Iterable[Example] = ()) -> None:
        self.examples: list[Example] = []
        self.platform_fields: dict[str, Any] = {}
        for example in examples:
            self.add_example(example)

    @classmethod
    def from_file(cls, path: str | Path, *, columns: Columns = ()) -> Self:
        """Load a file; its suffix selects the format: ``.yaml``, ``.yml``, ``.json``, ``.jsonl``, ``.csv``.

        `columns` are the keys that an example may have beside its fields: they are its `additional_metadata`.
        A mapping says which field each is, ``{"question": "input", "level": "additional_metadata"}``; one
        that is None there is left out.

        Raises:
            DatasetError: the file cannot be read as examples; it names path, line and field.
        """
        dataset = cls()
        dataset._add(format_of(_path(path)).read(_path(path), columns=columns))
        return dataset

    @classmethod
    def from_traces(
        cls, traces: Iterable[Trace], *, expect: Expect = "nothing", outputs: bool = False
    ) -> Self:
        """Make one example of each run: its input, its output, its tool calls; each with a name of its own.

        `expect` ``"names"`` or ``"calls"`` also makes the run's tool calls the expected ones. What the tools
        returned, often personal data, is kept with `outputs` only; without, a mark says that it is not known.
        """
        return cls(examples_from_traces(traces, expect, outputs=outputs))

    @classmethod
    def from_results(
        cls, results: Iterable[ScoringResult], *, expect: ExpectOfResult = "calls", outputs: bool = False
    ) -> Self:
        """Make examples of results of an evaluation: one of each example, of its first result among them.

        It is the evaluated example with what was called and answered; its calls become the expected ones.
        `expect` ``"names"`` expects the tools alone, ``"own"`` what the example expects itself, ``"nothing"``
        nothing. What the tools returned is kept with `outputs` only. The results that passed:
        ``[result for result in report if result.success]``.

        Raises:
            DatasetError: nothing says what was called: a result that was read back has no `trace`.
        """
        return cls(examples_from_results(results, expect, outputs=outputs))

    def add_example(self, example: Example) -> None:
        """Add one at the end.

        Raises:
            DatasetError: not an Example.
        """
        if not isinstance(example, Example):
            raise DatasetError(
                f"got {type(example).__name__}, wanted an Example (Example.from_dict makes one of a mapping)"
            )
        self.examples.append(example)

    def add_from_json(self, path: str | Path) -> None:
        """Add the examples of a JSON file, ``{"examples": […]}`` or a platform export.

        Raises:
            DatasetError: the file cannot be read as examples; it names path, line and field. All other
                formats raise it too.
        """
        self._add(read_json(_path(path)))

    def add_from_jsonl(self, path: str | Path) -> None:
        """Add the examples of a file with one JSON object a line."""
        self._add(read_jsonl(_path(path)))

    def add_from_csv(self, path: str | Path, header_mapping: Mapping[str, str] | None = None) -> None:
        """Add the examples of a table with a line of column names, which are those of the fields.

        `header_mapping` names the column of each field where they differ: ``{"input": "Question"}``.
        """
        self._add(read_csv(_path(path), header_mapping))

    def add_from_yaml(self, path: str | Path) -> None:
        """Add the examples of a YAML file with ``examples:``."""
        self._add(read_yaml(_path(path)))

    def save_as(self, file_type: str, dir_path: str | Path, save_name: str | None = None) -> Path:
        """Write a ``json``, ``jsonl``, ``csv`` or ``yaml`` file; return its path.

        The name is `save_name` with the format's suffix; without a name it is the time, to the second, with a
        number where that file exists. An existing file of that name is replaced in one step. Loading gives
        equal examples: fields that are None are left out, matchers and ``call(…)`` are written in their file
        form, tuples, dates and the like in their JSON form.

        Raises:
            DatasetError: an unknown format, a name that is a path, a value that has no file form, a
                directory that cannot be written.
        """
        form = format_named(file_type)
        target = _target(_path(dir_path), save_name, f".{file_type}")
        _write(self, form, target)
        return target

    def _add(self, contents: FileContents) -> None:
        self.examples.extend(contents.examples)
        self.platform_fields = {**contents.platform_fields, **self.platform_fields}

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        return self.examples[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EvalDataset):
            return NotImplemented
        return (self.examples, self.platform_fields) == (other.examples, other.platform_fields)

    __hash__ = None  # type: ignore[assignment]  # a dataset can change

    def __repr__(self) -> str:
        return f"<EvalDataset: {len(self.examples)} examples>"


def save_to(dataset: EvalDataset, path: Path) -> None:
    """Write a file whose suffix says the format; see `EvalDataset.save_as`.

    Raises:
        DatasetError: an unknown suffix, a value that has no file form, a file that cannot be written.
    """
    _write(dataset, format_of(path), path)


def _write(dataset: EvalDataset, form: Format, target: Path) -> None:
    rows = [row_of(example, position) for position, example in enumerate(dataset.examples)]
    write_text(target, form.write(rows, dataset.platform_fields))


def row_of(example: Example, position: int) -> dict[str, Any]:
    """The fields of an example that are set, as JSON data; `position` names it in errors."""
    fields = {key: getattr(example, key) for key in Example.model_fields}
    fields["expected_output"] = output_to_write(
        example.expected_output, f"examples[{position}].expected_output"
    )
    return {
        key: to_file_form(value, strict, f"examples[{position}].{key}")
        for key, value in fields.items()
        if value is not None
    }


def _target(directory: Path, name: str | None, suffix: str) -> Path:
    if name is None:
        stem = datetime.now().astimezone().strftime("%Y%m%d_%H%M%S")
        alternatives = (f"{stem}_{number}" for number in range(2, 10_000))
        name = stem
        while (directory / f"{name}{suffix}").exists():
            name = next(alternatives)
    if name in ("", ".", "..") or {"/", "\\", "\0"} & set(name):
        raise DatasetError(
            f"got the name {name!r}, wanted a file name without a directory; give that as dir_path"
        )
    return directory / (name if name.endswith(suffix) else name + suffix)


class Reader(Protocol):
    """Reads a file."""

    def __call__(
        self, path: Path, /, *, errors: list[DatasetError] | None = None, columns: Columns = ()
    ) -> FileContents:
        """The contents. The error of an example that cannot be read goes to `errors`, where there are.

        `columns` are the keys that an example may have beside its fields; see `Columns`.
        """
        ...


@dataclass(frozen=True)
class Format:
    """A file format: how it is read, and how its text is made."""

    read: Reader
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
        DatasetError: there is no such format.
    """
    if name not in FORMATS:
        raise DatasetError(f"unknown format {name!r}{did_you_mean(str(name), FORMATS)}")
    return FORMATS[name]


def _path(path: str | Path) -> Path:
    value: Any = path
    if not isinstance(value, str | os.PathLike):
        raise DatasetError(f"a file's path is a text or a Path, got {value!r:.200}")
    return Path(path)


def format_of(path: Path) -> Format:
    """The format that belongs to a file's suffix.

    Raises:
        DatasetError: an unknown suffix.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise DatasetError(f"unknown kind of file {suffix!r}{did_you_mean(suffix, _SUFFIXES)}", path=path)
    return FORMATS[_SUFFIXES[suffix]]
