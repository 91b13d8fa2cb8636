"""`Example`: an input with what is expected of the agent, as users write it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from agenttrace.core.errors import AgentTraceError, DatasetError, did_you_mean
from agenttrace.core.expected_turns import check_turns
from agenttrace.core.file_form import from_file_form, lossy, to_file_form
from agenttrace.core.recorded_calls import call_to_mapping, read_calls
from agenttrace.core.state import check_expected_state
from agenttrace.core.text import short_repr, shorten
from agenttrace.core.tool_call import ACTUAL_CALL_HINT, ExpectedToolCall, ToolCall
from agenttrace.core.trace import Trace

_STRINGS = "a list of strings"
_FIELD_VALUES = {
    "input": "a string (the one argument), a mapping of argument names to values, or nothing",
    "context": _STRINGS,
    "retrieval_context": _STRINGS,
    "tools_called": "a list of tool names or of mappings with 'name'",
    "additional_metadata": "a mapping with text keys",
    "expected_state": "a mapping of states' names to what is expected of each",
    "turns": "a list with what is expected of each turn",
    "skip": "a reason, or true",
    "xfail": "a reason, or true",
    "quarantine": "a string 'OWNER until YYYY-MM-DD: WHY'",
    "tags": _STRINGS,
    "simulate": "a mapping of tools to what they answer",
    "scorers": "a list of scorers, each a name with options as in 'ToolOrder:threshold=0.5', "
    "or {name: {option: value}}",
    "name": "a string",
    "example_id": "a string",
    "created_at": "a string with a date in ISO format",
}


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _new_id() -> str:
    return str(uuid4())


class Example(BaseModel):
    """What should happen, and for recorded runs what did.

    Every field is optional; a scorer says which it needs. `input` is passed to the agent: a mapping as
    keyword arguments, a string as the one argument, None as none. `actual_output`, `tools_called` and
    `retrieval_context` hold a recorded run; where an agent is run, its output takes the place of
    `actual_output`. `expected_output` and `actual_output` are any value. `expected_tools` is a list of
    names, of mappings with ``tool_name`` and ``parameters``, of ``call(…)``, or any expectation.
    `tools_called` takes a trace's `tool_calls`, too, and keeps them as mappings. `expected_state` says what
    the run leaves behind, by the name that `tracer.state` was given: ``changed``, ``added``, ``removed``,
    ``end``, ``only``, ``ignore``, ``state_from`` (docs/outcome.md). `turns` says of each turn of a
    conversation which `expected_tools` and `expected_output` it has.
    `skip` and `xfail` (a reason, or true) and `quarantine` (``"OWNER until 2027-01-15: WHY"``) say what
    pytest makes of the example's test.
    `tags` select examples. `scorers` are asked for this example beside those of the suite, or in their place:
    names with options, or ``{"ToolOrder": {"threshold": 0.5}}`` (see `scoring.example_scorers`).
    `simulate` says what tools answer while the agent runs on this example (see `Tracer.simulate`).
    `created_at` is ISO text, now (UTC) by default; None for it or for `example_id` means the default.

    Fields are checked when they are given and when they are assigned; values are never converted
    (but for tuples, which become lists).

    Raises:
        DatasetError: an unknown field (with the nearest known one), or a value of the wrong type; it names
            the field, what was got, what was wanted.
    """

    model_config = ConfigDict(extra="forbid", strict=True, validate_assignment=True)

    input: str | dict[str, Any] | None = None
    actual_output: Any = None
    expected_output: Any = None
    context: list[str] | None = None
    retrieval_context: list[str] | None = None
    if TYPE_CHECKING:
        tools_called: Sequence[str | Mapping[str, Any] | ToolCall] | None = None
        expected_tools: ExpectedTools | None = None
        expected_state: Mapping[str, Mapping[str, Any]] | None = None
        turns: Sequence[Mapping[str, Any] | None] | None = None
    else:
        tools_called: list[Any] | None = None
        expected_tools: Any = None
        expected_state: Any = None
        turns: Any = None
    additional_metadata: dict[str, Any] | None = None
    skip: str | bool | None = None
    xfail: str | bool | None = None
    quarantine: str | None = None
    tags: list[str] | None = None
    scorers: list[str | dict[str, Any]] | None = None
    simulate: dict[str, Any] | None = None
    name: str | None = None
    example_id: str = Field(default_factory=_new_id)
    created_at: str = Field(default_factory=_now)

    _source: str | None = PrivateAttr(default=None)

    # Behind the guard, so that type checkers keep pydantic's own signature with every field.
    if not TYPE_CHECKING:

        def __init__(self, /, **fields: Any) -> None:
            """Make an example of its fields, each by name: ``Example(input=…, expected_tools=…)``.

            All are optional; ``help(Example)`` has the whole list, and says what each is for.

            Raises:
                DatasetError: an unknown field, or a value of the wrong type.
            """
            known = type(self).model_fields
            if not fields.keys() <= known.keys():
                unknown = (f"{key!r}{did_you_mean(key, known)}" for key in fields if key not in known)
                raise DatasetError(f"an Example has no field {' And no field '.join(unknown)}")
            defaults = {k for k in ("example_id", "created_at") if k in fields and fields[k] is None}
            try:
                super().__init__(**{k: v for k, v in fields.items() if k not in defaults})
            except ValidationError as error:
                raise _dataset_error(error) from None

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_") and name not in type(self).model_fields:
                raise DatasetError(
                    f"an Example has no field {name!r}" + did_you_mean(name, type(self).model_fields)
                )
            try:
                super().__setattr__(name, value)
            except ValidationError as error:
                raise _dataset_error(error) from None

    @field_validator("context", "retrieval_context", "tools_called", "tags", "scorers", mode="before")
    @classmethod
    def _tuples_are_lists(cls, value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value

    @field_validator("tools_called", mode="before")
    @classmethod
    def _no_whole_trace(cls, value: Any) -> Any:
        if isinstance(value, Trace):
            raise DatasetError(
                "got a Trace, wanted its calls; write tools_called=trace.tool_calls, "
                "actual_output=trace.output",
                field="tools_called",
            )
        return value

    @field_validator("tools_called")
    @classmethod
    def _readable_calls(cls, value: list[Any] | None) -> list[Any] | None:
        if value is None:
            return None
        read_calls(value, "tools_called")
        return [call_to_mapping(call) if isinstance(call, ToolCall) else call for call in value]

    @field_validator("expected_tools")
    @classmethod
    def _readable_expectation(cls, value: Any) -> Any:
        check_expected_tools(value)
        return value

    @field_validator("expected_state")
    @classmethod
    def _known_words(cls, value: Any) -> Any:
        if value is not None:
            check_expected_state(value)
        return value

    @field_validator("turns", mode="before")
    @classmethod
    def _readable_turns(cls, value: Any) -> Any:
        value = list(value) if isinstance(value, tuple) else value
        if value is not None:
            check_turns(value)
        return value

    @field_validator("scorers")
    @classmethod
    def _one_scorer_each(cls, value: list[str | dict[str, Any]] | None) -> Any:
        for index, entry in enumerate(value or ()):
            place = f"scorers[{index}]"
            if isinstance(entry, str):
                if not entry.strip():
                    raise DatasetError("a scorer's name is empty", field=place)
                continue
            if len(entry) != 1:
                raise DatasetError(
                    f"got {short_repr(entry)}, wanted one scorer's name with its options: "
                    "{ToolOrder: {threshold: 0.5}}",
                    field=place,
                )
            ((name, options),) = entry.items()
            if options is not None and not isinstance(options, dict):
                raise DatasetError(
                    f"the options of {name!r} are a mapping of names to values, got {short_repr(options)}",
                    field=place,
                )
        return value

    @field_validator("created_at")
    @classmethod
    def _iso_date(cls, value: str) -> str:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise DatasetError(
                f"got {value!r}, wanted a date in ISO format such as {_now()!r}", field="created_at"
            ) from None
        return value

    @property
    def source(self) -> str | None:
        """Where the example was read from (``path:line``), or None. No part of equality or of `to_dict`."""
        private = self.__pydantic_private__  # as an attribute pydantic takes a hundred times as long
        source: str | None = None if private is None else private.get("_source")
        return source

    def changed(self, **fields: Any) -> Example:
        """A copy with other values in some fields, which are not checked. Containers are shared."""
        copy = type(self).__new__(type(self))
        object.__setattr__(copy, "__dict__", self.__dict__ | fields)
        object.__setattr__(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__ | fields.keys())
        object.__setattr__(copy, "__pydantic_extra__", None)
        private = self.__pydantic_private__
        object.__setattr__(copy, "__pydantic_private__", None if private is None else private.copy())
        return copy

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, None included, as JSON data that `from_dict` reads back.

        Matchers and ``call(…)`` are written in their file form. An object that has no JSON form becomes
        ``{"$type": …}``; saving a dataset refuses it instead.
        """
        return {field: to_file_form(getattr(self, field), lossy, field) for field in type(self).model_fields}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, source: str | None = None) -> Example:
        """Make an example from what `to_dict` wrote, or from what a file holds.

        Raises:
            DatasetError: `data` is not a mapping of known fields to values of their types.
        """
        if not isinstance(data, Mapping):
            raise DatasetError(f"an example is a mapping of fields to values, got {short_repr(data)}")
        example = cls(**{str(key): from_file_form(value, str(key)) for key, value in data.items()})
        example._source = source
        return example

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Example):
            return NotImplemented
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # an example can change

    def __repr__(self) -> str:
        """One short line: `to_dict` has the fields whole."""
        fields = (f"{key}={shorten(repr(value), 60)}" for key, value in self.__repr_args__())
        return f"{type(self).__name__}({shorten(', '.join(fields), 160)})"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Those with a value, the name first."""
        fields = {key: value for key, value in super().__repr_args__() if value is not None}
        return iter([(key, fields.pop(key)) for key in ("name",) if key in fields] + list(fields.items()))


def _dataset_error(error: ValidationError) -> DatasetError:
    """Turn a pydantic error into one line that names the field, the value got and what was wanted."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, DatasetError):
        return cause
    where = [part for part in first["loc"] if part not in ("str", "dict[str,any]", "[key]")]
    field = "".join(f"[{part!r}]" if n else str(part) for n, part in enumerate(where))
    if isinstance(cause, AgentTraceError):
        return DatasetError(str(cause), field=field)
    top, value = str(where[0]), first["input"]
    description = "a string" if len(where) > 1 and _FIELD_VALUES[top] is _STRINGS else _FIELD_VALUES[top]
    hint = (
        f"; write [{value!r}]" if isinstance(value, str) and _FIELD_VALUES[top].startswith("a list") else ""
    )
    return DatasetError(f"got {short_repr(value)}, wanted {description}{hint}", field=field)


class _HasFileForm(Protocol):
    """A pattern, an expected call or a whole expectation. A `ToolCall` has no ``to_data``."""

    def to_data(self) -> Any: ...


ExpectedTools: TypeAlias = _HasFileForm | Mapping[str, Any] | Sequence["str | ExpectedTools"]
"""The type of `Example.expected_tools`, as far as type checkers can express it."""

_PATTERN_WORDS = frozenset({"call", "seq", "par", "opt", "any_of", "many", "path"})
"""The keys of a mapping in a list of expected tools that is not one flat tool."""


def check_expected_tools(value: Any) -> None:
    """Check names and flat tools (``{"tool_name": …, "parameters": {…}}``), not the richer forms.

    Raises:
        DatasetError: a string, number, set or trace in place of a list, an actual call, an entry of another
            type, an unknown key in an expected tool. It names the entry.
    """
    if isinstance(value, Trace):
        raise DatasetError(f"got a Trace, wanted expected calls{ACTUAL_CALL_HINT}", field="expected_tools")
    if isinstance(value, str):
        raise DatasetError(
            f"got the string {value!r}, wanted a list; write [{value!r}]", field="expected_tools"
        )
    if isinstance(value, bool | int | float | bytes | set | frozenset):
        raise DatasetError(
            f"got {type(value).__name__} {value!r}, wanted a list of tool names, "
            "of mappings with 'tool_name', or an expectation",
            field="expected_tools",
        )
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_item(item, f"expected_tools[{index}]")


def _check_item(item: Any, place: str) -> None:
    if isinstance(item, ToolCall):
        raise DatasetError(
            f"got a ToolCall of {item.name!r}, wanted an expected call{ACTUAL_CALL_HINT}", field=place
        )
    if item is None or isinstance(item, bool | int | float | bytes):
        raise DatasetError(
            f"got {type(item).__name__} {item!r}, wanted a tool's name or a mapping with 'tool_name'",
            field=place,
        )
    if isinstance(item, Mapping) and not ({"tool_name", "name"} & item.keys()):
        if not (_PATTERN_WORDS & item.keys()) and not _is_short_call(item):
            words = {"tool_name", *_PATTERN_WORDS}
            near = next((did_you_mean(str(key), words) for key in item), "; write {'tool_name': '…'}")
            raise DatasetError(f"got {dict(item)!r}, wanted a mapping with 'tool_name'{near}", field=place)
    elif isinstance(item, str | Mapping):
        try:
            ExpectedToolCall.of(item)
        except AgentTraceError as error:
            raise DatasetError(str(error), field=place) from None


def _is_short_call(item: Mapping[Any, Any]) -> bool:
    """Whether this is ``{tool: {parameter: value}}``."""
    return len(item) == 1 and all(value is None or isinstance(value, Mapping) for value in item.values())


def label_of(position: int, example: Example) -> str:
    """The text that stands for an example in messages: number from 1, ``file:line``, name."""
    place = f"{example.source}: " if example.source else ""
    return f"{place}example {position}" + (f" ({example.name!r})" if example.name else "")
