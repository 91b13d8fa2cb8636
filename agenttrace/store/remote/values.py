"""The values that stores take and give as JSON text, and back: each record says its type's name.

``{"$": "WorkItem", "project": …}`` is a record; ``tuple``, ``set``, ``mapping``, ``float`` and ``span`` stand
for what JSON has no word for. A record from a later version may have more fields, which are left out, and one
from an earlier version fewer, where the field has a default. What is read is of the declared types.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from pydantic import InstanceOf, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from agenttrace.core import query, trace_facts, trace_figures, trace_reads, watch
from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.example import Example
from agenttrace.core.failure import Failure, Fingerprint
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.jsonable import clean_text, to_json
from agenttrace.core.pending import Claim, WorkCounts, WorkItem
from agenttrace.core.people import StoredScore
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.span import Frame, Span, SpanError, Status
from agenttrace.core.summary import RunSummary, TraceSummary
from agenttrace.core.tool import REQUIRED, Parameter, ToolDefinition
from agenttrace.core.trace import Trace

TYPE = "$"
DEEPEST = 200
"""Levels that a value may have: a stored value has 64 at most, and stands in a few records."""

_RECORDS: Mapping[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Annotation, Batch, Claim, EvaluationReport, Failure, Fingerprint, Frame, Parameter, RunSummary),
        *(Score, ScoreRow, ScoringResult, SpanError, StoredScore, ToolDefinition, TraceSummary, WorkCounts),
        *(WorkItem, watch.ScoreCounts, watch.TraceCounts, watch.WriterState),
        *(trace_facts.CallFacts, trace_facts.ResultFacts, trace_facts.ScoreFacts, trace_facts.TraceFacts),
        *(trace_figures.GroupFigures, trace_figures.ScoreFigures, trace_figures.ToolFigures),
        *(trace_reads.Bar, trace_reads.Count, trace_reads.Cursor, trace_reads.Facet, trace_reads.Histogram),
        *(trace_reads.Page, trace_reads.Sort),
        *(query.Called, query.Compared, query.Holds, query.Identified, query.Labelled, query.Present),
        *(query.Query, query.Scored, query.Started, query.Words),
    )
}
_STAYS_HERE = {
    "Batch": ("send_to", "recorder"),
    "EvaluationReport": ("analyses",),
    "ScoringResult": ("trace", "example", "stored_trace_id"),
}
"""Fields that mean something in their own process alone, or are written otherwise."""


class Unreadable(ValueError):
    """The text holds no values as they are written here; it says what is wrong."""


def written(value: Any) -> bytes:
    """A value as JSON text in UTF-8.

    Raises:
        TypeError: there is something in it that is no value of ours, nor JSON data.
    """
    return to_json(_data(value, DEEPEST)).encode()


def read(text: bytes) -> Any:
    """The value of a text that `written` wrote.

    Raises:
        Unreadable: it is no such text.
    """
    try:
        return _value(lenient_json(text))
    except (InvalidJSON, RecursionError) as error:
        raise Unreadable(f"this is not JSON: {error}") from None


def _data(value: Any, room: int) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else clean_text(value)
    if kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else {TYPE: "float", "text": str(value)}
    if room <= 0:
        raise TypeError(f"a value is nested more than {DEEPEST} levels deep")
    if kind is list:
        return [_data(item, room - 1) for item in value]
    if kind is dict:
        return _mapping(value, room)
    return _other(value, room)


def _mapping(value: Mapping[Any, Any], room: int) -> Any:
    if TYPE not in value and all(type(key) is str for key in value):
        return {clean_text(key): _data(item, room - 1) for key, item in value.items()}
    return {TYPE: "mapping", "items": [[_data(part, room - 1) for part in pair] for pair in value.items()]}


def _other(value: Any, room: int) -> Any:
    kind = type(value)
    if kind is Span:
        fields = {name: _data(getattr(value, name), room - 1) for name in Span.__slots__}
        return {TYPE: "span", **fields}
    if kind is Trace:
        tools = value._known_tools
        of_trace = {"trace_key": value.trace_key, "spans": list(value.spans), "tools": dict(tools)}
        return {TYPE: "trace", **{name: _data(item, room - 1) for name, item in of_trace.items()}}
    if value is REQUIRED:
        return {TYPE: "required"}
    if _RECORDS.get(kind.__name__) is kind:
        fields = {name: _data(getattr(value, name), room - 1) for name in _names(kind)}
        if kind is ScoringResult:
            fields |= {"trace_id": value.trace_id, "example": _data(value.example.to_dict(), room - 1)}
        return {TYPE: kind.__name__, **fields}
    return _plainer(value, room)


def _plainer(value: Any, room: int) -> Any:
    """A value of another type that is one of JSON's, or near it."""
    if isinstance(value, str | int | float):  # an enum's member, a mean
        return _data(_plain(value), room)
    if isinstance(value, Mapping):
        return _mapping(value, room)
    if isinstance(value, tuple):
        return {TYPE: "tuple", "items": [_data(item, room - 1) for item in value]}
    if isinstance(value, frozenset | set):
        return {TYPE: "set", "items": [_data(item, room - 1) for item in value]}
    if isinstance(value, Sequence):  # rows, of which spans are made now
        return [_data(item, room - 1) for item in value]
    raise TypeError(f"a service takes no {type(value).__name__}")


def _plain(value: str | int | float) -> str | int | float:
    if isinstance(value, str):
        return str.__str__(value)
    return int(value) if isinstance(value, int) else float(value)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a type that are written."""
    elsewhere = _STAYS_HERE.get(kind.__name__, ())
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind) if field.init)
    else:
        names = kind._fields
    return tuple(name for name in names if name not in elsewhere)


def _value(data: Any) -> Any:
    kind = type(data)
    if kind is list:
        return [_value(item) for item in data]
    if kind is not dict:
        return data
    if TYPE not in data:
        return {key: _value(item) for key, item in data.items()}
    name = data[TYPE]
    fields = {key: _value(item) for key, item in data.items() if key != TYPE}
    make = _MAKERS.get(name) if type(name) is str else None
    record = _RECORDS.get(name) if type(name) is str else None
    try:
        if make is not None:
            return make(fields)
        if record is not None:
            return _record(record, fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Unreadable(f"{name}.{place}: {first['msg']}") from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(f"this is no {name}: {type(error).__name__}: {error}") from None
    raise Unreadable(f"got a value of type {str(name)[:80]!r}, which is not known here")


def _record(kind: type, fields: dict[str, Any]) -> Any:
    if kind is ScoringResult:
        return ScoringResult(
            example=_example(fields.pop("example"), fields.get("source")),
            stored_trace_id=fields.pop("trace_id", None),
            **_checked(kind, fields),
        )
    return kind(**_checked(kind, fields))


def _example(data: Any, source: Any) -> Example:
    made = ScoringResult.from_dict({"example": data, "source": source, "outcome": "errored"})
    return made.example


def _checked(kind: type, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record, each of its declared type; those that the type does not have are left out."""
    known = {name: fields[name] for name in _names(kind) if name in fields}
    _types(kind).validate_python(known, strict=True)
    return known  # not what pydantic made of them: equal, but copied


@cache
def _types(kind: type) -> TypeAdapter[Any]:
    hints = get_type_hints(kind, localns=_IN_HINTS, include_extras=True)
    # Made of the hints, when they are needed, which no checker can follow.
    fields: Any = TypedDict(kind.__name__, {name: hints[name] for name in _names(kind)}, total=False)  # type: ignore[misc]  # pyright: ignore
    return TypeAdapter(fields)


class _OfSpan(TypedDict):
    trace_key: int
    span_key: int
    parent_key: int | None
    index: int
    name: str
    span_type: str
    start_ns: int
    end_ns: int
    input: dict[str, Any] | None
    output: Any
    status: Status
    error: InstanceOf[SpanError] | None
    attributes: dict[str, Any]
    usage: dict[str, Any] | None
    project: str
    tool: InstanceOf[ToolDefinition] | None


class _OfTrace(TypedDict):
    trace_key: int
    spans: list[InstanceOf[Span]]
    tools: dict[str, InstanceOf[ToolDefinition]]


_SPAN_TYPES, _TRACE_TYPES = TypeAdapter(_OfSpan), TypeAdapter(_OfTrace)


def _span(fields: dict[str, Any]) -> Span:
    known = {name: fields[name] for name in Span.__slots__}
    _SPAN_TYPES.validate_python(known, strict=True)
    if not (0 <= known["trace_key"] < 1 << 128 and 0 <= known["span_key"] < 1 << 64):
        raise ValueError("a trace's key has 128 bits, a span's 64")
    return Span(**known)


def _trace(fields: dict[str, Any]) -> Trace:
    known = {name: fields[name] for name in ("trace_key", "spans", "tools")}
    _TRACE_TYPES.validate_python(known, strict=True)
    return Trace(known["spans"], trace_key=known["trace_key"], tools=known["tools"])


_MAKERS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "float": lambda fields: float(fields["text"]),
    "mapping": lambda fields: dict(fields["items"]),
    "required": lambda _: REQUIRED,
    "set": lambda fields: frozenset(fields["items"]),
    "span": _span,
    "trace": _trace,
    "tuple": lambda fields: tuple(fields["items"]),
}

_instance_of: Any = InstanceOf  # of types that no checker knows
_IN_HINTS: Mapping[str, Any] = {
    **dict.fromkeys(("Analyses", "CountsRecording", "Example", "Term", "Trace"), Any),
    **{name: _instance_of[kind] for name, kind in (*_RECORDS.items(), ("Span", Span))},
}
"""What names in hints stand for: records inside records are made, and checked, before these."""


def error_data(error: Exception) -> dict[str, Any]:
    """An error of a store's as JSON data."""
    position = getattr(error, "position", None)
    return {"error": str(error), "type": type(error).__name__, "position": position}


def error_of(data: Any, otherwise: str) -> Exception:
    """The error of what `error_data` made; a `StoreError` with another text of anything else."""
    from agenttrace.core import errors

    if not isinstance(data, dict) or not isinstance(data.get("error"), str):
        return StoreError(otherwise)
    position = data.get("position")
    if data.get("type") == "QueryError":
        return errors.QueryError(data["error"], position=position if isinstance(position, int) else None)
    known: dict[Any, type[Exception]] = {"ConfigError": errors.ConfigError}
    return known.get(data.get("type"), StoreError)(data["error"])
