"""`TaskFile`: what a task file may hold, as strict models; errors name file, line and nearest key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from agenttrace.core.errors import ConfigError, DatasetError, ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.text import short_repr
from agenttrace.datasets.document import OWN_KEYS, PLATFORM_DATASET_KEYS, SCHEMA_KEY, Document, Place
from agenttrace.datasets.files import read_text
from agenttrace.datasets.json_format import parse_json
from agenttrace.datasets.yaml_format import MAX_BYTES, parse_yaml
from agenttrace.evaluation.requirement import Requirement
from agenttrace.scoring.written_scorers import name_and_options, type_and_options
from agenttrace.tasks.metric_entries import METRICS, Metrics, Strict

Purpose = Literal["score", "qa"]

_DEPTH = 6
SUFFIXES = (".yaml", ".yml", ".json")
"""The suffixes of task files."""


def _path_alone(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class DatasetEntry(Strict):
    """A file of examples, by its path from the task file, and which of them are evaluated."""

    path: str = Field(
        min_length=1, description="A .yaml, .json, .jsonl or .csv file, from the task file's folder."
    )
    columns: list[str] = Field(
        default_factory=list, description="Columns that are no fields of an example: the sample has them."
    )
    only: list[str] = Field(default_factory=list, description="Names or globs of names.")
    tags: list[str] = Field(default_factory=list, description="Examples with one of these tags.")
    limit: int | None = Field(default=None, ge=1, description="At most so many.")

    @field_validator("columns")
    @classmethod
    def _no_fields(cls, names: list[str]) -> list[str]:
        field = next((name for name in names if name in Example.model_fields), None)
        if field is not None:
            raise ValueError(f"{field!r} is a field of an example; columns are the others")
        return names


class TracesEntry(Strict):
    """Recorded runs: those in a file (OTLP or a transcript), or those of a store that match a query."""

    path: str | None = Field(default=None, min_length=1, description="A file of exported traces.")
    store: str | None = Field(
        default=None, min_length=1, description="The store's file. By default the one of --store."
    )
    where: str | None = Field(default=None, description="A query, such as failed:refund since:2d.")
    project: str | None = None
    limit: int | None = Field(default=None, ge=1, description="At most so many, the newest first.")
    by: Literal["trace_id", "input"] | None = Field(
        default=None,
        description="How examples of a dataset find their trace; by default by trace_id where they have one.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> TracesEntry:
        others = [name for name in ("store", "where", "project") if getattr(self, name) is not None]
        if self.path is not None and others:
            raise ValueError(f"path reads a file, {others[0]} a store; give one of them")
        if self.path is None and not others:
            raise ValueError("give path (a file of traces), or where (a query for those of a store)")
        return self


class ScorerEntry(BaseModel):
    """A scorer by its type, with its options beside these keys; each may be a template over ``sample``."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    type: str = Field(
        min_length=1, description="A scorer's name, such as tool_order, or package.module:name."
    )
    key: str | None = Field(default=None, min_length=1, description="An id within the task.")
    display_name: str | None = Field(default=None, min_length=1, description="Its name in reports.")
    purpose: Purpose = Field(
        default="score",
        description="score: decides. qa: looks at the data's quality, informs, and decides nothing.",
    )
    metrics: Metrics = Field(default_factory=list, description="Numbers over all samples.")

    @property
    def options(self) -> dict[str, Any]:
        """The options of the scorer itself."""
        return dict(self.__pydantic_extra__ or {})


def scorer_as_mapping(value: Any) -> Any:
    """A short entry (``Name:option=value``, ``{Name: {option: value}}``) in the long form."""
    try:
        if isinstance(value, str):
            name, options = type_and_options(value)
        elif isinstance(value, Mapping) and "type" not in value and len(value) == 1 and _is_short(value):
            name, options = name_and_options(value)
        else:
            return value
    except ScorerError as error:
        raise ValueError(str(error)) from None
    return {"type": name, **options}


def _is_short(value: Mapping[str, Any]) -> bool:
    ((key, options),) = value.items()
    return key not in ScorerEntry.model_fields and (options is None or isinstance(options, Mapping))


def _lines(value: Any) -> Any:
    """A line or a list of lines, each one that can be read; whether its scorer is there is seen later."""
    lines = [value] if isinstance(value, str) else value
    try:
        for line in lines if isinstance(lines, list) else (lines,):
            Requirement.parse(line)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return lines


class TaskFile(Strict):
    """An evaluation as a file: examples, what runs them, scorers with their metrics."""

    key: str | None = Field(default=None, min_length=1, description="An id, and the project by default.")
    display_name: str | None = Field(default=None, min_length=1, description="The task's name in reports.")
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    dataset: Annotated[DatasetEntry, BeforeValidator(_path_alone)] | None = None
    examples: list[Any] | None = Field(
        default=None, description="The examples themselves, in place of dataset."
    )
    function: str | None = Field(
        default=None, min_length=1, description="package.module:function, run on each input."
    )
    traces: Annotated[TracesEntry, BeforeValidator(_path_alone)] | None = None
    scorers: list[Annotated[ScorerEntry, BeforeValidator(scorer_as_mapping)]] = Field(default_factory=list)
    require: Annotated[list[str], BeforeValidator(_lines)] = Field(
        default_factory=list, description="What must hold for the run to pass, such as pass_rate >= 0.8."
    )


TASK_KEYS = frozenset(TaskFile.model_fields) - {"examples", "scorers", "tags"}
"""The keys by which a file is a task: a file of examples has none of them."""


def read_document(path: Path) -> Document:
    """The data of a YAML or JSON file, with lines. Raises as the readers of datasets do."""
    text = read_text(path, MAX_BYTES)
    return parse_json(text, path, _DEPTH) if path.suffix.lower() == ".json" else parse_yaml(text, path)


def is_task_file(path: str | Path) -> bool:
    """Whether a file is a task rather than a file of examples.

    It has a key of a task, or a scorer with a `type`, or a key that is nearly one of a task.
    A file that cannot be read is none: reading it as examples says what is wrong.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        return False
    try:
        data = read_document(path).data
    except DatasetError:
        return False
    if not isinstance(data, Mapping):
        return False
    scorers = data.get("scorers")
    if TASK_KEYS & data.keys() or any("type" in one for one in _mappings(scorers)):
        return True
    known = {*OWN_KEYS, *PLATFORM_DATASET_KEYS}
    return any("did you mean" in did_you_mean(key, TASK_KEYS) for key in data if key not in known)


def _mappings(entries: Any) -> list[Mapping[str, Any]]:
    return [one for one in entries if isinstance(one, Mapping)] if isinstance(entries, list) else []


def read_task_file(path: Path) -> tuple[TaskFile, Document]:
    """Read and check a task file; what its values name (files, functions, scorers) is not looked at.

    Raises:
        DatasetError: it cannot be read, has an unknown key, a value of the wrong type, or contradicts itself;
            it names path, line and field.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DatasetError(f"a task is a file of YAML or JSON, {', '.join(SUFFIXES)}", path=path)
    document = read_document(path)
    data = document.data
    if not isinstance(data, Mapping):
        got = "nothing" if data is None else short_repr(data)
        raise document.error(
            f"got {got}, wanted a mapping with the keys of a task: dataset, function, scorers"
        )
    try:
        task = TaskFile.model_validate({key: value for key, value in data.items() if key != SCHEMA_KEY})
    except ValidationError as error:
        raise first_error(error, document, TaskFile) from None
    _check_sources(task, document)
    _check_keys(task, document)
    return task, document


def _check_sources(task: TaskFile, document: Document) -> None:
    if task.dataset is not None and task.examples is not None:
        raise at(
            document, ("examples",), "dataset names a file of examples, and examples are here too; keep one"
        )
    if task.function is not None and task.traces is not None:
        raise at(document, ("traces",), "function makes the calls, traces have recorded ones; keep one")
    if task.dataset is None and task.examples is None and task.traces is None:
        raise document.error("there are no examples: give dataset (a path), examples (a list), or traces")
    if task.examples is not None and not task.examples:
        raise at(
            document,
            ("examples",),
            "there are no examples: an evaluation of nothing can neither pass nor fail",
        )


def _check_keys(task: TaskFile, document: Document) -> None:
    """No two scorers of one key, no two metrics of one name."""
    keys: dict[str, int] = {}
    for index, scorer in enumerate(task.scorers):
        if scorer.key is not None and scorer.key in keys:
            raise at(
                document,
                ("scorers", index),
                f"the key {scorer.key!r} is that of scorers[{keys[scorer.key]}] already",
            )
        keys[scorer.key or f"\0{index}"] = index


_WANTED = {
    "string_type": "a text",
    "list_type": "a list",
    "int_type": "a whole number",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping with the key 'type'",
    "string_too_short": "a text that is not empty",
}


def first_error(error: ValidationError, document: Document, model_of_file: type[BaseModel]) -> DatasetError:
    """The first trouble that pydantic tells of, in the house's words, with its place."""
    errors = error.errors(include_url=False)
    first = next(
        (one for one in errors if one["type"] == "extra_forbidden"), errors[0]
    )  # what is missing is misspelt
    place, model = _located(first["loc"], document.data, model_of_file)
    kind, last = first["type"], first["loc"][-1] if first["loc"] else ""
    if kind == "extra_forbidden":
        known = () if model is None else model.model_fields
        return document.error(
            f"unknown key {str(last)!r}{did_you_mean(str(last), known)}", place, _label(place)
        )
    if kind == "missing":
        return at(document, place, f"the key {str(last)!r} is missing")
    if kind == "union_tag_not_found":
        return at(document, place, "a metric needs the key 'type', such as mean")
    if kind == "union_tag_invalid":
        tag = str(first.get("ctx", {}).get("tag"))
        return at(document, place, f"there is no metric {tag!r}{did_you_mean(tag, METRICS)}")
    if kind == "value_error":
        return at(document, place, str(first.get("ctx", {}).get("error")))
    if kind == "greater_than_equal":
        return at(
            document, place, f"got {short_repr(first['input'])}, wanted at least {first.get('ctx', {})['ge']}"
        )
    wanted = _WANTED.get(kind) or first["msg"].removeprefix("Input should be ")
    return at(document, place, f"got {short_repr(first['input'])}, wanted {wanted}")


_ABSENT = object()
_MODELS: dict[str, type[BaseModel]] = {
    "dataset": DatasetEntry,
    "traces": TracesEntry,
    "scorers": ScorerEntry,
}
"""The model of what stands under a key, wherever it stands."""


def _located(loc: tuple[str | int, ...], data: Any, model: type[BaseModel]) -> tuple[Place, type[BaseModel]]:
    """The place of an error in the file's data, and the model of the mapping that it is about.

    Pydantic's own place has the names of types in it.
    """
    place: list[str | int] = []
    models = _MODELS
    for part in loc:
        inner = data.get(part, _ABSENT) if isinstance(data, Mapping) else _ABSENT
        if isinstance(data, list) and isinstance(part, int) and part < len(data):
            inner = data[part]
        if inner is _ABSENT:
            model = METRICS.get(str(part), model)
            continue
        data = inner
        place.append(part)
        model = models.get(str(part), model)
    return tuple(place), model


def _label(place: Place) -> str | None:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".") or None


def at(document: Document, place: Place, error: Exception | str) -> DatasetError:
    """An error about a place in the file, with its line and its keys."""
    return document.error(str(error), place, _label(place))
