"""`Document`: a file's data with line numbers, from which examples are loaded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from agenttrace.core.errors import DatasetError, ExpectationError, did_you_mean, with_article
from agenttrace.core.example import Example
from agenttrace.datasets.expected_outputs import read_output
from agenttrace.expectations.expected_state import parse_expected_state
from agenttrace.expectations.matcher import read_value
from agenttrace.expectations.parse import parse_expectation

Place = tuple[str | int, ...]

Columns: TypeAlias = "Collection[str] | Mapping[str, str | None]"
"""The keys of an example beside its fields: they go to its `additional_metadata`. A mapping says which field
each one is; None leaves it out."""

METADATA = "additional_metadata"

OWN_COLUMNS = (
    "; a column of your own: --column NAME puts it into additional_metadata, --column NAME=FIELD makes it a "
    "field, --column NAME= leaves it out (in Python: columns={'NAME': 'FIELD'}, None leaves it out)"
)
"""What to do with a key that is no field."""

PLATFORM_DATASET_KEYS = frozenset(
    {"comments", "created_at", "dataset_alias", "dataset_id", "organization_id", "source_file"}
)
"""The keys of the dataset itself in an export of the judgeval platform."""

PLATFORM_EXAMPLE_KEYS = frozenset(
    {"comments", "dataset_id", "eval_results_id", "example_index", "source_file", "trace_id"}
)
"""The keys of an example in such an export, or in judgeval's own saved file, that are no fields of ours."""

OWN_KEYS = ("examples", "scorers")
"""The keys at the top of a file that are ours."""

SCHEMA_KEY = "$schema"
"""By which editors find the schema of a JSON file. It is kept as the platform's fields are."""

_HOW = "write a mapping with the key 'examples' that holds a list"


@dataclass
class Document:
    """The data of one file; `lines` are 1-based and go as deep as the reader records them.

    `columns` are the keys that an example may have beside its fields, as `columns_of` returns them.
    """

    path: Path
    data: Any
    lines: dict[Place, int] = field(default_factory=dict)
    columns: Mapping[str, str | None] = field(default_factory=dict)

    def line(self, place: Place) -> int | None:
        """The line of a place, or of the nearest place that contains it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place)

    def error(self, message: str, place: Place = (), field: str | None = None) -> DatasetError:
        """Make an error that names the path, the line and the field."""
        return DatasetError(message, path=self.path, line=self.line(place), field=field)


def columns_of(columns: Columns) -> Mapping[str, str | None]:
    """The field of each column.

    Raises:
        DatasetError: a column is to be a field that there is not.
    """
    if not isinstance(columns, Mapping):
        return dict.fromkeys(columns, METADATA)
    for column, name in columns.items():
        if name is not None and name not in Example.model_fields:
            known = did_you_mean(str(name), Example.model_fields)
            raise DatasetError(f"the column {column!r} is to be {name!r}, which is no field{known}")
    return columns


@dataclass
class FileContents:
    """The contents of a file: its examples in order, and the fields of the dataset itself.

    `shared` has the scorers at the top of the file with their place; each example has them before its own.
    """

    examples: list[Example]
    platform_fields: dict[str, Any] = field(default_factory=dict)
    shared: Example = field(default_factory=Example)

    def own_scorers(self) -> Iterator[Example]:
        """What names scorers, each once: the top of the file, then each example with its own alone."""
        yield self.shared
        count = len(self.shared.scorers or ())
        yield from (example.changed(scorers=(example.scorers or [])[count:]) for example in self.examples)


def load_examples(
    document: Document, example_extras: Collection[str] = (), errors: list[DatasetError] | None = None
) -> FileContents:
    """Read ``{"examples": […]}``, beside which may stand ``scorers``: those of each example, before its own.

    The keys of an example that are in `example_extras` are kept in its `additional_metadata`, under
    ``"platform"``. The error of an example goes to `errors`, where there are.

    Raises:
        DatasetError: anything else; it names path, line and field.
    """
    data = document.data
    if data is None:
        raise document.error(f"the file is empty; {_HOW}")
    if isinstance(data, list):
        raise document.error(f"the file holds a list at its top; {_HOW}")
    if not isinstance(data, Mapping):
        raise document.error(f"the file holds {with_article(type(data).__name__)} at its top; {_HOW}")
    if "examples" not in data:
        near = next((key for key in data if did_you_mean(key, ["examples"]).startswith("; did")), None)
        hint = f"; did you mean 'examples' by {near!r}?" if near else f"; {_HOW}"
        raise document.error(
            f"there is no key 'examples', but {', '.join(map(repr, data)) or 'nothing'}{hint}"
        )
    for key in data:
        if key not in OWN_KEYS and key not in PLATFORM_DATASET_KEYS and key != SCHEMA_KEY:
            keys = {*OWN_KEYS, *PLATFORM_DATASET_KEYS}
            raise document.error(f"unknown key {key!r} beside 'examples'{did_you_mean(key, keys)}", (key,))
    entries = data["examples"]
    if not isinstance(entries, list):
        kind = "nothing" if entries is None else with_article(type(entries).__name__)
        raise document.error(f"'examples' holds {kind}, wanted a list (``[]`` for none)", ("examples",))
    examples: list[Example] = []
    for index, entry in enumerate(entries):
        with noted(errors):
            examples.append(
                load_example(document, entry, ("examples", index), f"examples[{index}]", example_extras)
            )
    shared = _shared(document, data.get("scorers"))
    for example in examples if shared.scorers else ():
        example.scorers = [*(shared.scorers or ()), *(example.scorers or ())]
    platform_fields = {key: value for key, value in data.items() if key not in OWN_KEYS}
    return FileContents(examples, platform_fields, shared)


def _shared(document: Document, entries: Any) -> Example:
    """The file's scorers, as those of an example that stands where they do."""
    line = document.line(("scorers",))
    source = str(document.path) if line is None else f"{document.path}:{line}"
    try:
        return Example.from_dict({"scorers": entries}, source=source)
    except DatasetError as error:
        message = str(error).removeprefix(f"{error.field}: ")
        raise document.error(message, _parts(error.field, {}), error.field) from None


@contextmanager
def noted(errors: list[DatasetError] | None) -> Iterator[None]:
    """Append a DatasetError to `errors` instead of raising it, where there are."""
    try:
        yield
    except DatasetError as error:
        if errors is None:
            raise
        errors.append(error)


def load_example(
    document: Document, entry: Any, place: Place, label: str, extras: Collection[str] = ()
) -> Example:
    """Read one example; `place` is its key in the document's lines, `label` its name in errors."""
    if not isinstance(entry, Mapping):
        kind = "nothing" if entry is None else f"{type(entry).__name__} {entry!r:.80}"
        raise document.error(f"got {kind}, wanted a mapping of Example fields", place, label)
    line = document.line(place)
    source = str(document.path) if line is None else f"{document.path}:{line}"
    try:
        entry = _with_columns(entry, document.columns)
        example = Example.from_dict(_with_extras(entry, extras), source=source)
        example.expected_output = read_output(example.expected_output)
        _check_expectation(example.expected_tools)
        _check_state(example.expected_state)
        _check_turns(example.turns)
        _check_simulation(example.simulate)
        return example
    except DatasetError as error:
        name = f"{label}.{error.field}" if error.field and label else error.field or label
        message = str(error).removeprefix(f"{error.field}: ")
        if "has no field" in message and "did you mean" not in message:
            message += OWN_COLUMNS
        raise document.error(message, (*place, *_parts(error.field, entry)), name) from None


def _check_expectation(raw: Any) -> None:
    """Raise a DatasetError where the expected tools cannot be understood, naming the first such item."""
    if raw is None:
        return
    try:
        parse_expectation(raw)
    except ExpectationError as error:
        for index, item in enumerate(raw if isinstance(raw, list) else ()):
            try:
                parse_expectation([item])
            except ExpectationError as cause:
                raise DatasetError(str(cause), field=f"expected_tools[{index}]") from None
        raise DatasetError(str(error), field="expected_tools") from None


def _with_columns(entry: Mapping[str, Any], columns: Mapping[str, str | None]) -> Mapping[str, Any]:
    """The entry with its columns as the fields that they are, or in its metadata."""
    own = {key: value for key, value in entry.items() if key in columns}
    if not own:
        return entry
    fields = {key: value for key, value in entry.items() if key not in own}
    metadata = {}
    for key, value in own.items():
        name = columns[key]
        if name == METADATA and key != METADATA:
            metadata[key] = value
        elif name in fields:
            raise DatasetError(f"the column {key!r} is to be {name!r}, which is there already", field=key)
        elif name is not None:
            fields[name] = value
    before = fields.get(METADATA) or {}
    if metadata and isinstance(before, Mapping):
        fields[METADATA] = {**before, **metadata}
    return fields


def _check_state(raw: Any) -> None:
    """Raise a DatasetError where the expected state cannot be understood, naming the state."""
    for name, expected in (raw or {}).items():
        try:
            parse_expected_state({name: expected})
        except ExpectationError as error:
            field = f"expected_state.{name}"
            below, _, message = str(error).removeprefix(field).partition(": ")
            raise DatasetError(message, field=field + below) from None


def _check_turns(raw: Any) -> None:
    """Raise a DatasetError where what is expected of a turn cannot be understood, naming the turn."""
    for number, turn in enumerate(raw or ()):
        try:
            if turn and turn.get("expected_tools") is not None:
                parse_expectation(turn["expected_tools"])
            read_value((turn or {}).get("expected_output"))
        except ExpectationError as error:
            raise DatasetError(str(error), field=f"turns[{number}]") from None


def _check_simulation(raw: Any) -> None:
    """Raise a DatasetError where what tools answer cannot be understood, naming the part."""
    if raw is None:
        return
    from agenttrace.stubs.parse import StubError, parse_plan, without_imports  # on use: few files simulate

    try:
        parse_plan(without_imports(raw))
    except StubError as error:
        raise DatasetError(error.message, field=error.place) from None


def _with_extras(entry: Mapping[str, Any], extras: Collection[str]) -> Mapping[str, Any]:
    extra_fields = {key: value for key, value in entry.items() if key in extras}
    if not extra_fields:
        return entry
    fields = {key: value for key, value in entry.items() if key not in extra_fields}
    platform_fields = {key: value for key, value in extra_fields.items() if value is not None}
    metadata = fields.get("additional_metadata") or {}
    if platform_fields and isinstance(metadata, Mapping):
        fields["additional_metadata"] = {
            **metadata,
            "platform": {**platform_fields, **metadata.get("platform", {})},
        }
    return fields


def _parts(place: str | None, entry: Mapping[str, Any]) -> Place:
    """The place of an error in an entry: the parts of ``expected_tools[1].name``, or the unknown field."""
    if not place:
        unknown = [key for key in entry if key not in Example.model_fields]
        return (unknown[0],) if unknown else ()
    return tuple(int(p) if p.isdigit() else p for p in re.findall(r"[^.\[\]']+", place))
