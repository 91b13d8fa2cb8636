"""`errors_in`: all that is wrong in a file of examples, each error with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.datasets.dataset import format_of
from agenttrace.datasets.document import Columns, FileContents
from agenttrace.datasets.selection import same_names
from agenttrace.expectations.parse import parse_expectation


def errors_in(path: Path, columns: Columns = ()) -> tuple[FileContents, list[DatasetError]]:
    """What can be read of a file, and the errors of the other examples, in their order.

    Two that are to be run and have one name are an error, too. Where the file as a whole cannot be read,
    there is that one error and no example. `columns` are the keys that no field has, see `Columns`.
    """
    errors: list[DatasetError] = []
    try:
        contents = format_of(path).read(path, errors=errors, columns=columns)
    except DatasetError as error:
        return FileContents([]), [error]
    errors += same_names(contents.examples)
    return contents, sorted(errors, key=lambda error: error.line or 0)


def misspelt_tools(examples: Sequence[Example], known: Collection[str]) -> Iterator[DatasetError]:
    """An error for each expected tool that no known tool has the name of, where one has nearly that name.

    Others may be made later, so that one that is like no known tool is no error.
    """
    for example in examples:
        if example.expected_tools is None:
            continue
        names = dict.fromkeys(call.name for call in parse_expectation(example.expected_tools).calls)
        for name in names:
            near = get_close_matches(name, known, n=1, cutoff=0.6)
            if name not in known and near:
                path, _, line = (example.source or "").rpartition(":")
                yield DatasetError(
                    f"no tool {name!r} is known; did you mean {near[0]!r}?",
                    path=path or None,
                    line=int(line) if line.isdigit() else None,
                    field="expected_tools",
                )
