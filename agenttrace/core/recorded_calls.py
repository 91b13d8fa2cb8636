"""Spans from a run that was recorded as plain data: a list of tool calls.

Such a trace has an artificial clock: the n-th event lasts from 2n to 2n+1 nanoseconds. Calls made at the
same moment overlap, so they count as parallel; all others follow each other. Every trace has one root, called
``recorded run`` unless it is given a name, with the calls below it; a run without calls is a root alone,
which is not the same as no trace.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.identity import new_span_key, new_trace_key
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.jsonable import jsonable
from agenttrace.core.span import Span, SpanError
from agenttrace.core.text import short_repr
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import OUTPUT_NOT_NAMED, UNRECORDED_STATUSES, CallStatus, ToolCall

ROOT_NAME = "recorded run"

_NAMES = ("name", "tool_name")
_ARGUMENTS = ("arguments", "args", "parameters", "input_parameters")
_ALSO_ARGUMENTS = ("input", "tool_input", "kwargs", "params", "tool_args", "tool_arguments")
"""Other libraries' words for the arguments. Where a call has one of the first, these are something else."""
_IS_ERROR = ("is_error", "isError")
"""What messages of Anthropic and results of the Model Context Protocol say of a call that failed."""
_KNOWN_KEYS = frozenset(
    {*_NAMES, *_ARGUMENTS, "arguments_error", "output", "error", "agent", "turn", "from_answer"}
)


@dataclass
class RecordedCall:
    """One tool call while its trace is built; its result may be filled in later.

    `status` None means *ok*, or *error* where there is one.
    """

    name: str
    arguments: Mapping[str, Any]
    moment: int
    arguments_error: str | None = None
    output: Any = None
    error: SpanError | None = None
    agent: str | None = None
    turn: int | None = None
    status: CallStatus | None = None
    from_answer: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    names_output: bool = True

    def attributes(self) -> dict[str, Any]:
        """The span attributes that hold the call's agent, turn and metadata."""
        facts = {
            semconv.AGENT_NAME: self.agent,
            semconv.TURN: self.turn,
            semconv.ARGUMENTS_ERROR: self.arguments_error,
            semconv.CALL_STATUS: self.status if self.status in UNRECORDED_STATUSES else None,
            semconv.FROM_ANSWER: self.from_answer or None,
            semconv.CALL_METADATA: jsonable(self.metadata, limit=None) or None,
            semconv.NOT_RECORDED: None if self.names_output else OUTPUT_NOT_NAMED,
        }
        return {key: value for key, value in facts.items() if value is not None}


@dataclass
class RecordedText:
    """One answer of the model, with the messages that are new since its last one."""

    text: str
    input_messages: list[dict[str, Any]]
    moment: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRoot:
    """What is known of a whole run. An `input` that is a text stands under the name ``input``.

    Raises:
        DatasetError: a value of the wrong type; it names the field.
    """

    name: str | None = None
    input: str | Mapping[str, Any] | None = None
    output: Any = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        wanted: Mapping[str, tuple[bool, str]] = {
            "name": (self.name is None or isinstance(self.name, str), "a string"),
            "input": (
                self.input is None or isinstance(self.input, str | Mapping),
                "a string, or a mapping of argument names to values",
            ),
            "tags": (
                isinstance(self.tags, list | tuple) and all(isinstance(tag, str) for tag in self.tags),
                "a list of strings",
            ),
            "metadata": (self.metadata is None or isinstance(self.metadata, Mapping), "a mapping"),
        }
        for field_name, (fits, what) in wanted.items():
            if not fits:
                raise DatasetError(
                    f"got {short_repr(getattr(self, field_name))}, wanted {what}", field=field_name
                )

    def span(self, trace_key: int, end_ns: int) -> Span:
        """The root of the run's spans."""
        run_input = {"input": self.input} if isinstance(self.input, str) else self.input
        facts = {
            semconv.TAGS: [*self.tags],
            semconv.METADATA: jsonable(dict(self.metadata or {}), limit=None),
        }
        return Span(
            trace_key=trace_key,
            span_key=new_span_key(),
            name=self.name or ROOT_NAME,
            end_ns=end_ns,
            input=None if run_input is None else jsonable(dict(run_input), limit=None),
            output=jsonable(self.output, limit=None),
            attributes={semconv.RECORDED: True, **{key: value for key, value in facts.items() if value}},
        )


def input_of_run(root: Span) -> Any:
    """What a run was given: keyword arguments, a text, or None where it is unknown.

    A text without a parameter's name stands under ``input`` in runs that were recorded as plain data or that
    were imported. The argument ``input`` of an observed function stays one.
    """
    if root.input is None:
        return None
    text = root.input.get("input")
    is_wrapped = any(root.attributes.get(name) is True for name in (semconv.RECORDED, semconv.TEXT_INPUT))
    return text if is_wrapped and len(root.input) == 1 and isinstance(text, str) else dict(root.input)


def spans_of_calls(
    calls: Sequence[Mapping[str, Any] | str | ToolCall], root: RecordedRoot | None = None
) -> list[Span]:
    """The spans of a run of plain tool calls, in the order given, one after the other.

    Each is a name, a `ToolCall`, or a mapping with ``name`` (or ``tool_name``) and optionally ``arguments``
    (or ``args``, ``parameters``, ``input_parameters``, and where there is none of these ``input``,
    ``tool_input``, ``kwargs`` or ``params``: a mapping or its JSON text), ``output`` (null where it
    returned nothing; where it is left out, that is not recorded), ``error`` (text, ``{"type", "message"}``,
    or true), ``agent``, ``turn``, ``status`` (*ok*, *error*, *answered*, *requested*, *attempted*: see
    `ToolCall`); other keys (``kind``, ``id`` …) are kept in the call's `metadata`, unless one is a
    misspelling of a known key that is missing. Arguments whose JSON text cannot be read are a fact about the
    run: the call is kept, with `arguments_error`.

    Raises:
        DatasetError: an entry of another kind, or a misspelled key; it names the position.
    """
    recorded_calls = read_calls(calls, "calls")
    return build(recorded_calls, (), root or RecordedRoot())


def call_to_mapping(call: ToolCall) -> dict[str, Any]:
    """A call as a mapping that reads back as an equal call, without its times and place in the trace."""
    fields = {
        "name": call.name,
        "arguments": dict(call.arguments),
        "arguments_error": call.arguments_error,
        "output": call.output,
        "error": True if call.status not in UNRECORDED_STATUSES and call.failed else None,
        "status": call.status if call.status in UNRECORDED_STATUSES else None,
        "from_answer": call.from_answer or None,
        "agent": call.agent or None,
        "turn": call.turn,
    }
    if call.error is not None:
        fields["error"] = {"type": call.error.type, "message": call.error.message}
    mapping = {key: value for key, value in fields.items() if value is not None}
    if call.output is None and call.remedy is None and call.status == "ok":
        mapping["output"] = None  # it is known to have returned nothing
    return {**call.metadata, **mapping}


def read_calls(calls: Sequence[Any], place: str) -> list[RecordedCall]:
    """Read the entries of a list of calls; `place` names the list in errors.

    Raises:
        DatasetError: as `spans_of_calls`.
    """
    if isinstance(calls, str | bytes | Mapping) or not isinstance(calls, Iterable):
        raise DatasetError(f"got {short_repr(calls)}, wanted a list of tool calls", field=place)
    return [_read_call(entry, f"{place}[{n}]", n + 1) for n, entry in enumerate(calls)]


def _read_call(entry: Any, place: str, moment: int) -> RecordedCall:
    if isinstance(entry, str):
        entry = {"name": entry}
    elif isinstance(entry, ToolCall):
        entry = call_to_mapping(entry)
    if not isinstance(entry, Mapping):
        raise DatasetError(
            f"got {short_repr(entry)}, wanted a tool's name or a mapping with 'name'", field=place
        )
    name = _one_of(entry, _NAMES, place)
    if not isinstance(name, str) or not name:
        near = "" if name is not None else next((did_you_mean(str(k), _KNOWN_KEYS) for k in entry), "")
        raise DatasetError(f"got {short_repr(dict(entry))}, wanted a 'name' that is text{near}", field=place)
    _refuse_misspelled(entry, place)
    raw_arguments = _one_of(entry, _ARGUMENTS, place)
    word = None
    if raw_arguments is None and not any(key in entry for key in _ARGUMENTS):
        word = next((key for key in _ALSO_ARGUMENTS if isinstance(entry.get(key), str | Mapping)), None)
        raw_arguments = None if word is None else entry[word]
    if raw_arguments is not None and not isinstance(raw_arguments, str | Mapping):
        raise DatasetError(f"got {short_repr(raw_arguments)}, wanted arguments by name", field=place)
    arguments, arguments_error = read_arguments(raw_arguments)
    arguments_error = arguments_error or entry.get("arguments_error")
    agent, turn = entry.get("agent"), entry.get("turn")
    if agent is not None and not isinstance(agent, str):
        raise DatasetError(f"got {short_repr(agent)}, wanted the agent's name", field=f"{place}.agent")
    if turn is not None and (isinstance(turn, bool) or not isinstance(turn, int)):
        raise DatasetError(f"got {short_repr(turn)}, wanted the turn's number", field=f"{place}.turn")
    status: CallStatus | None = None
    for one in UNRECORDED_STATUSES:
        status = one if entry.get("status") == one else status
    error = entry.get("error")
    if error is None and (entry.get("status") == "error" or any(entry.get(key) is True for key in _IS_ERROR)):
        error = True
    is_status = status is not None or entry.get("status") in ("ok", "error")
    known = _KNOWN_KEYS | {"status"} if is_status else _KNOWN_KEYS  # another status is the caller's own
    return RecordedCall(
        name=name,
        arguments=arguments,
        arguments_error=arguments_error,
        output=jsonable(entry.get("output"), limit=None),
        error=read_error(error),
        agent=agent,
        turn=turn,
        status=status,
        from_answer=entry.get("from_answer") is True,
        moment=moment,
        metadata={str(key): value for key, value in entry.items() if key not in known and key != word},
        names_output="output" in entry or status is not None or error is not None,
    )


def _refuse_misspelled(entry: Mapping[str, Any], place: str) -> None:
    for key in entry:
        near_key = None if key in _KNOWN_KEYS else _nearest_key(str(key))
        same = next((keys for keys in (_NAMES, _ARGUMENTS) if near_key in keys), (near_key,))
        if near_key is not None and not any(word in entry for word in same):
            raise DatasetError(f"unknown key {key!r}; did you mean {near_key!r}?", field=place)


@lru_cache(maxsize=256)
def _nearest_key(key: str) -> str | None:
    """The known key that this misspells, or None. ``kwargs``, ``agent_id``, ``error_type`` misspell none."""
    return next(iter(difflib.get_close_matches(key.lower(), _KNOWN_KEYS, n=1, cutoff=0.85)), None)


def _one_of(entry: Mapping[str, Any], keys: Sequence[str], place: str) -> Any:
    present = [key for key in keys if entry.get(key) is not None]
    if len(present) > 1:
        raise DatasetError(f"got both {present[0]!r} and {present[1]!r}, wanted one of them", field=place)
    return entry[present[0]] if present else None


def read_arguments(raw: Any) -> tuple[Mapping[str, Any], str | None]:
    """The arguments by name, or an empty mapping with the reason why they could not be read."""
    if raw is None or raw == "":
        return {}, None
    if isinstance(raw, str):
        try:
            value = lenient_json(raw)
        except InvalidJSON as error:
            return {}, f"the arguments are not JSON ({error}): {raw[:500]}"
    else:
        value = raw
    if not isinstance(value, Mapping):
        return {}, f"the arguments are not a mapping of names to values: {str(raw)[:500]}"
    return jsonable(dict(value), limit=None), None


def read_error(raw: Any) -> SpanError | None:
    """Read an error as recorded: text, a mapping with ``type`` and ``message``, an exception, or a flag."""
    if raw is None or raw is False or raw == "":
        return None
    if isinstance(raw, Mapping):
        return SpanError(str(raw.get("type") or "ToolError"), str(raw.get("message", jsonable(dict(raw)))))
    if isinstance(raw, BaseException):
        return SpanError(type(raw).__name__, str(raw))
    return SpanError("ToolError", "" if raw is True else str(raw))


def build(calls: Sequence[RecordedCall], texts: Sequence[RecordedText], facts: RecordedRoot) -> list[Span]:
    """Build the spans of a run: a root, the calls, the model's answers as ``llm`` spans."""
    trace_key = new_trace_key()
    events: list[RecordedCall | RecordedText] = [*texts, *calls]
    events.sort(key=lambda event: event.moment)
    root = facts.span(trace_key, 2 * events[-1].moment + 2 if events else 0)
    below = [
        Span(
            trace_key=trace_key,
            span_key=new_span_key(),
            parent_key=root.span_key,
            index=index,
            start_ns=2 * event.moment,
            end_ns=2 * event.moment + 1,
            **(_tool_span(event) if isinstance(event, RecordedCall) else _text_span(event)),
        )
        for index, event in enumerate(events, start=1)
    ]
    return [root, *below]


def _tool_span(call: RecordedCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "span_type": TOOL,
        "input": call.arguments,
        "output": call.output,
        "error": call.error,
        "status": "ok" if call.error is None else "error",
        "attributes": call.attributes(),
    }


def _text_span(answer: RecordedText) -> dict[str, Any]:
    return {
        "name": "assistant",
        "span_type": "llm",
        "input": {"messages": answer.input_messages},
        "output": answer.text or None,
        "attributes": {semconv.TURN: answer.turn},
    }
