"""Core values as database rows, there and back: spans, tools, datasets, scores, runs and their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from agenttrace.core.annotation import Annotation
from agenttrace.core.errors import StoreError
from agenttrace.core.jsonable import clean_text, json_text, jsonable, to_json
from agenttrace.core.numbers import is_number
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.span import EMPTY, Frame, Span, SpanError
from agenttrace.core.span_rows import SpanKind, SpanRow
from agenttrace.core.summary import RunSummary
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_text import tool_of_entry
from agenttrace.store.function_ids import FunctionKey
from agenttrace.store.sound_rows import is_sound_score, sound_mapping, sound_number, sound_rest, sound_text

SPAN_COLUMNS = (
    *("trace", "span", "parent", "seq", "function", "start_ns", "end_ns"),
    *("input", "output", "rest"),
)
"""The columns of `span_rows` as `flat_rows` fills them and `span_of` reads them.

Each one costs about 0.2 µs a span, so what is rare shares the column `rest`.
"""

_TOP = 1 << 63
_WRAP = 1 << 64
_LATEST = _TOP - 1


def flat_rows(
    spans: Sequence[Span | SpanRow],
    traces: Mapping[int, int],
    functions: Mapping[FunctionKey, int],
    number: Callable[[Span | SpanKind], int],
    nothing: object = None,
) -> list[Any]:
    """All columns of all spans in one list, as one statement takes them.

    `functions` has the numbers of functions that are cached; `number` looks up the others. `nothing` stands
    in the last column where there is no rest.

    Raises:
        Exception: of any kind, for a span whose fields hold values of other types than declared.
    """
    flat: list[Any] = []
    add = flat.extend
    function: int | None = None
    kind_before: SpanKind | None = None
    for item in spans:
        if isinstance(item, tuple):
            trace, key, parent, index, kind, start, end, input_text, output_text, more = item
            if kind is not kind_before:  # most spans are of the same function as the one before
                function = functions.get(kind)
                function, kind_before = number(kind) if function is None else function, kind
            add(
                (
                    traces[trace],
                    key if key < _TOP else key - _WRAP,
                    parent if parent is None or parent < _TOP else parent - _WRAP,
                    index,
                    function,
                    start if start < _TOP else _LATEST,
                    end if end < _TOP else _LATEST,
                    input_text,
                    output_text,
                    nothing if more is None or is_plain(more) else _rest(more),
                )
            )
            continue
        known = functions.get((item.project, item.name, item.span_type, id(item.tool)))
        add(_columns(item, traces[item.trace_key], number(item) if known is None else known, nothing))
    return flat


def _columns(span: Span, trace: int, function: int, nothing: object) -> tuple[Any, ...]:
    """The columns of a span that was made: by another process, by an import, or for a callback."""
    from pydantic_core import to_json as encode  # on the writer's thread: making a tracer must stay light

    parent = span.parent_key
    index, start, end = span.index, span.start_ns, span.end_ns
    arguments, output = span.input, span.output
    return (
        trace,
        signed(span.span_key),
        None if parent is None else signed(parent),
        index if index < _TOP else _LATEST,
        function,
        start if start < _TOP else _LATEST,
        end if end < _TOP else _LATEST,
        None if arguments is None else encode(arguments, inf_nan_mode="strings").decode(),
        None if output is None else encode(output, inf_nan_mode="strings").decode(),
        nothing if is_plain(span) else _rest(span),
    )


def is_plain(span: Span) -> bool:
    """Returns True if there is nothing for the column `rest`."""
    return span.status == "ok" and span.error is None and not span.attributes and span.usage is None


def signed(key: int) -> int:
    """A 64-bit id as SQLite's integers hold it.

    Raises:
        ValueError: more than 64 bits.
    """
    if 0 <= key < _TOP:
        return key
    if _TOP <= key < _WRAP:
        return key - _WRAP
    raise ValueError(f"a span's id has 64 bits, got {key!r}")


def unsigned(key: int) -> int:
    """The id of an integer that `signed` made."""
    return key if key >= 0 else key + _WRAP


def _rest(span: Span) -> str:
    fields: dict[str, Any] = {}
    if span.status != "ok":
        fields["status"] = span.status
    if span.error is not None:
        fields["error"] = {
            "type": span.error.type,
            "message": span.error.message,
            "frames": [(frame.file, frame.line, frame.function) for frame in span.error.frames],
        }
    if span.attributes:
        fields["attributes"] = span.attributes
    if span.usage is not None:
        fields["usage"] = span.usage
    from pydantic_core import to_json

    return to_json(fields, inf_nan_mode="strings").decode()


def tidied(span: Span) -> Span:
    """A copy of a span that could not be stored, with every field forced into its declared type."""
    error = span.error
    return Span(
        trace_key=span.trace_key,
        span_key=span.span_key,
        parent_key=span.parent_key,
        index=max(span.index, -_TOP),
        name=_text(span.name),
        span_type=_text(span.span_type),
        start_ns=max(span.start_ns, -_TOP),
        end_ns=max(span.end_ns, -_TOP),
        input=None if span.input is None else jsonable(dict(span.input)),
        output=jsonable(span.output),
        status=span.status,
        error=None
        if error is None
        else SpanError(
            _text(error.type),
            _text(error.message),
            tuple(Frame(_text(f.file), int(f.line), _text(f.function)) for f in error.frames),
        ),
        attributes=jsonable(dict(span.attributes)),
        usage=None if span.usage is None else jsonable(dict(span.usage)),
        project=_text(span.project),
        tool=span.tool,
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is expected, got {type(value).__name__}")
    return clean_text(str.__str__(value))


SPAN_FIELDS = ", ".join(
    ["f.name, f.span_type, f.project, f.definition", *(f"s.{column}" for column in SPAN_COLUMNS)]
)
"""What `span_of` reads: columns of `span_rows` AS s JOIN `functions` AS f."""


def span_of(trace_key: int, row: Sequence[Any], tools: dict[tuple[str, str], ToolDefinition | None]) -> Span:
    """The span of a row of `SPAN_FIELDS`; `tools` remembers the definitions read so far."""
    name, span_type, project, definition, _, span, parent, seq, _, start, end, arguments, output, rest = row
    if not type(span) is type(seq) is type(start) is type(end) is int:
        start = sound_number(start)
        span, seq, end = sound_number(span), sound_number(seq), sound_number(end, start)
    if not type(name) is type(span_type) is type(project) is str:
        name, span_type, project = sound_text(name), sound_text(span_type), sound_text(project)
    if arguments is not None and type(arguments := loaded(arguments)) is not dict:
        arguments = sound_mapping(arguments)
    read = _new(Span)  # field by field: half the time of sixteen keyword arguments
    read.trace_key = trace_key
    read.span_key = span if span >= 0 else unsigned(span)
    read.parent_key = parent if parent is None else unsigned(sound_number(parent))
    read.index = seq
    read.name = name
    read.span_type = span_type
    read.start_ns = start
    read.end_ns = end
    read.input = arguments
    read.output = None if output is None else loaded(output)
    read.project = project
    read.tool = tool_of(name, definition, tools) if definition else None
    if rest is None:
        read.status, read.error, read.attributes, read.usage = "ok", None, EMPTY, None
    else:
        _read_rest(read, sound_rest(loaded(rest)))
    return read


_new = Span.__new__


def _read_rest(span: Span, rest: Mapping[str, Any]) -> None:
    """Set what most spans do not have: an error, attributes, usage."""
    error = rest.get("error")
    span.status = rest.get("status", "ok")
    span.error = (
        None
        if error is None
        else SpanError(error["type"], error["message"], tuple(Frame(*frame) for frame in error["frames"]))
    )
    span.attributes = rest.get("attributes", EMPTY)
    span.usage = rest.get("usage")


@cache
def _json_reader() -> Callable[[str | bytes], Any]:
    import pydantic_core  # on use: stores can be imported without it

    return pydantic_core.from_json


def loaded(text: str | bytes) -> Any:
    """The value of a JSON text; where bytes of the file are damaged, ``{"$unreadable": text}``.

    A text may be given as it lies in the file, in UTF-8: to make a string of it costs as much as to read it.
    """
    try:
        return _json_reader()(text)
    except (ValueError, TypeError):  # the latter: a number, where somebody else wrote one
        if isinstance(text, bytes):
            return loaded(text.decode("utf-8", "replace"))
        return {"$unreadable": text if isinstance(text, str | int | float) else repr(text)}


def tool_of(
    name: str, definition: str, definitions: dict[tuple[str, str], ToolDefinition | None]
) -> ToolDefinition | None:
    """The tool of a text that `definition_text` wrote, None for any other text.

    `definitions` remembers those read so far.
    """
    if (name, definition) not in definitions:
        definitions[name, definition] = tool_of_entry(name, loaded(definition))
    return definitions[name, definition]


def dataset_text(alias: str, content: Any) -> str:
    """Strict JSON text; the alias is any name, never a path.

    Raises:
        StoreError: the data is not JSON data, or the alias is no name.
    """
    if not isinstance(alias, str) or not alias.strip():
        raise StoreError(f"a dataset needs a name, got {alias!r}")
    try:
        text = to_json(content)
        text.encode()
        alias.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"the dataset {alias!r} is not JSON data: {error}; give dicts, lists, texts, finite numbers"
        ) from error
    return text


def dataset_value(text: str) -> Any:
    """The data of a text that `dataset_text` made."""
    return json.loads(text)


SCORE_COLUMNS = "name, value, threshold, outcome, reason, error, model, cost, duration, rest"
_RARE = (
    *("details", "diff", "strict", "usage", "metadata", "lower_is_better"),
    *("options", "example", "evidence"),
)


def score_row(score: Score) -> tuple[Any, ...]:
    """A score as values for `SCORE_COLUMNS`."""
    rare = {field: getattr(score, field) for field in _RARE}
    present = {field: value for field, value in rare.items() if value}
    if not score.gate:
        present["gate"] = False
    return (
        clean_text(score.name),
        score.value,
        score.threshold,
        score.outcome,
        clean_text(score.reason),
        _text_or_none(score.error),
        score.model,
        score.cost,
        score.duration,
        json_text({k: dict(v) if isinstance(v, Mapping) else v for k, v in present.items()})
        if present
        else None,
    )


def score_of(row: Sequence[Any]) -> Score:
    """The score of a row of `SCORE_COLUMNS`."""
    fields = dict(zip(SCORE_COLUMNS.split(", "), row, strict=True))
    rest = fields.pop("rest")
    rare = {} if rest is None else loaded(rest)
    for name in ("name", "reason", "error", "model"):
        if type(fields[name]) is bytes:
            fields[name] = sound_text(fields[name])
    if not is_sound_score(fields["value"], fields["threshold"], fields["outcome"]):
        threshold = fields["threshold"] if is_number(fields["threshold"]) else 0.0
        error = fields["error"] or "its row in the store is damaged"
        fields |= {"value": None, "threshold": threshold, "outcome": "errored", "error": error}
    return Score.from_dict({**rare, **fields})  # what a newer version has added is left out


def result_row(result: ScoringResult) -> tuple[Any, ...]:
    """A result as values for `RESULT_COLUMNS`."""
    return (
        result.position,
        _text_or_none(result.name),
        result.outcome,
        result.trial,
        result.trials,
        result.trace_id,
        result.run_duration,
        _text_or_none(result.error),
        _text_or_none(result.source),
        json_text(result.example.to_dict()),
    )


RESULT_COLUMNS = "position, name, outcome, trial, trials, trace_id, run_duration, error, source, example"


def result_of(row: Sequence[Any], scores: Sequence[Score]) -> dict[str, Any]:
    """The dict that `ScoringResult.to_dict` makes, from its row and the scores stored for it."""
    entry: dict[str, Any] = dict(zip(RESULT_COLUMNS.split(", "), row, strict=True))
    entry["example"] = loaded(entry["example"])
    entry["scores"] = [score.to_dict() for score in scores]
    return entry


def _text_or_none(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


RUN_COLUMNS = "run_id, name, project, model, started_ns, duration, passed, failed, errored, metadata"


def run_summary(row: Sequence[Any]) -> RunSummary:
    """A run as `RUN_COLUMNS` have it."""
    entry = dict(zip(RUN_COLUMNS.split(", "), row, strict=True))
    entry["metadata"] = loaded(entry["metadata"])
    return RunSummary(**entry)


ANNOTATION_COLUMNS = (
    "id, project, trace_id, span_id, run_id, result, label, thumbs, score, note, expected, author, created_ns"
)


def annotation_of(row: Sequence[Any]) -> Annotation:
    """What somebody said, as `ANNOTATION_COLUMNS` have it."""
    fields = dict(zip(ANNOTATION_COLUMNS.split(", "), row, strict=True))
    fields["annotation_id"], fields["by"] = fields.pop("id"), fields.pop("author")
    if fields["expected"] is not None:
        fields["expected"] = loaded(fields["expected"])
    return Annotation(**fields)


def numbers_of(text: str | None) -> tuple[float, ...]:
    """The numbers in a list's JSON; none where there is no text, or no list."""
    values = None if text is None else loaded(text)
    return tuple(one for one in values if is_number(one)) if isinstance(values, list) else ()
